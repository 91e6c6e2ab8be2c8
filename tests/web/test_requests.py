"""What the server lets in, and what it answers: real requests, byte for byte as an attacker's."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from nocturn.errors import GATE_DENIED

WRITE = "nocturn.memory.write('a/{}.md', 'a summary', 'a body')"
FILES = ["/", "/page.css", "/icon.svg", "/main.js", "/server.js", "/elements.js", "/questions.js"]


@pytest.fixture(scope="module")
def session(served):
    return served.sign_in()


@pytest.mark.parametrize("path", [*FILES, "/api/about", "/nowhere", "/api/login"])
def test_every_answer_forbids_foreign_script_frames_and_copies(served, path):
    _, headers, _ = served.request("GET", path)
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert not any(name.lower().startswith("access-control") for name in headers)
    assert "server" not in {name.lower() for name in headers}


@pytest.mark.parametrize("path", FILES)
def test_the_pages_own_files_need_no_session_and_hold_no_inline_script_or_style(served, path):
    status, _, data = served.request("GET", path)
    assert status == 200
    assert b"innerHTML" not in data
    if path == "/":
        assert b"<script>" not in data
        assert b"style=" not in data
        assert b"onclick" not in data
        assert b"//" not in data.replace(b"<!doctype html>", b""), "nothing comes from elsewhere"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "10.0.0.1:{port}",
        "localhost.evil.example:{port}",
        "127.0.0.1:{port}x",
        "[::1",
        "",
        None,
        ["{address}", "{address}"],
    ],
)
def test_a_host_that_is_not_this_place_is_refused(served, session, host):
    port = served.address.rpartition(":")[2]
    fill = lambda text: text.format(port=port, address=served.address)  # noqa: E731 - short
    given = [fill(h) for h in host] if isinstance(host, list) else host and fill(host)
    for path in ("/", "/api/about"):
        status, _, _ = served.request("GET", path, Host=given, Authorization=session)
        assert status in (400, 421), host  # the first is the HTTP library's own


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_the_names_of_this_machine_are_this_place(served, session, name):
    host = f"{name}:{served.address.rpartition(':')[2]}"
    assert served.request("GET", "/api/about", Host=host, Authorization=session)[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://{address}"},
        {"Origin": "http://{address}.evil.example"},
        {"Origin": "http://localhost:1"},
        {"Origin": None},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "none"},
    ],
)
def test_a_change_that_another_origin_sends_is_refused_even_with_a_session(
    served, session, asks, waiting, ws, headers
):
    run = asks(WRITE.format("other"))
    asked = waiting()
    filled = {k: v and v.format(address=served.address) for k, v in headers.items()}
    path = f"/api/questions/{asked.id}/answer"
    body = {"option": "once", "digest": asked.question["digest"]}
    assert served.request("POST", path, body, Authorization=session, **filled)[0] == 403
    assert ws.inbox.get(asked.id).state == "waiting"
    ws.inbox.answer(asked.id, None, "python")
    assert run.result().error.code == GATE_DENIED


def test_a_read_that_another_origin_sends_is_refused(served, session):
    for headers in ({"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site"}):
        assert served.request("GET", "/api/notes", Authorization=session, **headers)[0] == 403


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_change_that_a_form_could_send_is_refused(served, session, kind):
    answer = served.request("POST", "/api/logout", {}, Content_Type=kind, Authorization=session)
    assert answer[0] == 415
    assert served.request("GET", "/api/about", Authorization=session)[0] == 200


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", "Bearer ", "Bearer x", "Basic {session}", "{session}"]
)
def test_nothing_is_told_without_a_session(served, session, authorization):
    given = authorization and authorization.format(session=session.removeprefix("Bearer "))
    paths = ["/api/about", "/api/events", "/api/notes", "/api/note?path=a.md", "/api/grants"]
    for path in [*paths, "/api/journal?lines=1", "/api/journal/verdict", "/api/questions/abcd"]:
        assert served.request("GET", path, Authorization=given)[0] == 401
    for path in ("/api/logout", "/api/questions/abcd/answer", "/api/grants/x/revoke"):
        assert served.request("POST", path, {}, Authorization=given)[0] == 401


def test_a_link_works_once_and_the_next_one_is_shown(served):
    token = served.links[-1].partition("#in=")[2]
    first = served.sign_in()
    assert served.request("POST", "/api/login", {"token": token})[0] == 401
    assert served.request("POST", "/api/login", {"token": ""})[0] == 401
    second = served.sign_in()
    assert first != second
    assert served.request("GET", "/api/about", Authorization=first)[0] == 200


def test_a_session_that_was_left_is_dead(served):
    session = served.sign_in()
    assert served.request("POST", "/api/logout", {}, Authorization=session)[0] == 200
    assert served.request("GET", "/api/about", Authorization=session)[0] == 401


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        ({"option": "once"}, 400),
        ({"option": 1, "digest": "x"}, 400),
        ({"option": "once", "digest": "x", "more": 1}, 400),
        (b'{"digest":"' + b"x" * 20_000 + b'"}', 413),
    ],
)
def test_an_answer_that_is_none_is_refused(served, session, body, status):
    path = "/api/questions/abcd/answer"
    assert served.request("POST", path, body, Authorization=session)[0] == status


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "POST"])
def test_other_methods_do_nothing(served, session, method):
    assert served.request(method, "/api/notes", Authorization=session)[0] == 405


@pytest.mark.parametrize(
    "path",
    ["/../web/app.py", "/%2e%2e/app.py", "//etc/passwd", "/page/../app.py", "/app.py", "/main.js/"],
)
def test_no_other_file_is_served(served, path):
    assert served.request("GET", path)[0] == 404


@pytest.mark.parametrize("path", ["../secret.md", "/etc/passwd", "a\0b.md", "x.txt", "none.md", ""])
def test_a_note_that_is_none_is_an_error_that_shows_no_place(served, session, path):
    from urllib.parse import quote

    status, _, told = served.request("GET", f"/api/note?path={quote(path)}", Authorization=session)
    assert status in (400, 404)
    assert str(served.workspace) not in str(told)


def test_an_answer_is_for_the_question_that_was_seen(served, session, asks, waiting):
    run = asks(WRITE.format("seen"))
    asked = waiting()
    path = f"/api/questions/{asked.id}/answer"
    for digest in ("", "0" * 64):
        body = {"option": "once", "digest": digest}
        assert served.request("POST", path, body, Authorization=session)[0] == 409
    body = {"option": "forever", "digest": asked.question["digest"]}
    assert served.request("POST", path, body, Authorization=session)[0] == 400
    status, _, told = served.request("POST", path, body | {"option": "once"}, Authorization=session)
    assert (status, told["state"], told["taken"]) == (200, "answered", True)
    assert run.result().ok
    status, _, told = served.request("POST", path, body | {"option": None}, Authorization=session)
    assert (status, told["error"]["code"]) == (409, "CONFLICT")


def test_of_many_answers_at_once_one_counts(served, session, asks, waiting, ws):
    run = asks(WRITE.format("many"))
    asked = waiting()
    body = {"option": "once", "digest": asked.question["digest"]}

    def answer(at):
        if at % 2:
            return served.request(
                "POST", f"/api/questions/{asked.id}/answer", body, Authorization=session
            )[0]
        try:
            return bool(ws.inbox.answer(asked.id, None, "terminal"))
        except Exception as error:  # noqa: BLE001 - told below
            return error.code

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(answer, range(8)))
    assert sum(each in (200, True) for each in found) == 1
    assert {each for each in found if each not in (200, True)} <= {409, "CONFLICT"}
    assert run.result().ok == (200 in found)


def test_what_goes_out_is_redacted_and_shows_what_hides(served, session, ws):
    secret = "kSJ3-9fjA_0sLq7"
    file = served.workspace / "memory" / "b" / "note.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"---\ndescription: a \u202e summary\n---\ntext \u200b\nkey: {secret}\n")
    ws.vault.set("KEY", secret)
    try:
        _, _, note = served.request("GET", "/api/note?path=b/note.md", Authorization=session)
        assert "[REDACTED]" in note["text"]
        assert "\\u{200b}" in note["text"]
        paths = ("/api/notes", "/api/journal?lines=100", "/api/grants")
        found = [served.request("GET", each, Authorization=session)[2] for each in paths]
        everything = str([note, *found])
        assert secret not in everything
        assert "\u202e" not in everything
    finally:
        ws.vault.remove("KEY")


def test_files_that_cannot_be_used_are_told_and_left_as_they_are(served, session):
    grants = served.workspace / "grants.json"
    (head,) = (served.data / "journals").glob("*/head.json")
    before = head.read_bytes()
    try:
        grants.write_text('{"version": 2, "grants": []}')
        head.write_text("{")
        status, _, told = served.request("GET", "/api/grants", Authorization=session)
        assert (status, told["grants"]) == (200, [])
        assert "grants.json" in told["trouble"]
        status, _, told = served.request("GET", "/api/journal/verdict", Authorization=session)
        assert status == 500
        assert "head.json" in told["error"]["message"]
        assert str(served.data) not in str(told)
        path = "/api/grants/abcd/revoke"
        status, _, told = served.request("POST", path, {}, Authorization=session)
        assert (status, "grants.json" in told["error"]["message"]) == (500, True)
        assert grants.read_text() == '{"version": 2, "grants": []}'
    finally:
        grants.unlink()
        head.write_bytes(before)


def test_notes_are_paged_and_found_by_their_path(served, session):
    folder = served.workspace / "memory" / "many"
    folder.mkdir(parents=True)
    for i in range(130):
        (folder / f"n{i:03}.md").write_text("x")
    found, cursor = [], ""
    while cursor is not None:
        path = f"/api/notes?search=MANY/+n&cursor={cursor}".replace("&cursor=&", "&").rstrip("=")
        _, _, page = served.request("GET", path.removesuffix("&cursor"), Authorization=session)
        found += [each["path"] for each in page["notes"]]
        cursor = page["cursor"]
    assert found == [f"many/n{i:03}.md" for i in range(130)]
    _, _, page = served.request("GET", "/api/notes?search=n07+many", Authorization=session)
    assert len(page["notes"]) == 10


def test_a_connection_that_says_nothing_sensible_is_closed(served, session):
    host, _, port = served.address.rpartition(":")
    for nonsense in (b"\0\xff\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 10_000 + b"\r\n"):
        with socket.create_connection((host, int(port)), 10) as raw:
            raw.sendall(nonsense)
            assert b" 200 " not in raw.recv(1_000)
    assert served.request("GET", "/api/about", Authorization=session)[0] == 200
