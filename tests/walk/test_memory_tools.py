"""The contract's sections 3 and 4 through the real worker and real files."""

import json
import os
import re
import stat
import threading

import pytest

from nocturn import NocturnError
from nocturn.testing import FixedSecrets, RecordingApprover

LINA = b"---\ndescription: daughter, 7 years old\n---\nLikes dinosaurs. Starts school in August."
WRAPPER = """nocturn.memory.write(
  "people/lina.md",
  "daughter, 7 years old",
  "Likes dinosaurs. Starts school in August.",
)"""
CALL = """nocturn.call("memory_write", {
  path: "people/lina.md",
  summary: "daughter, 7 years old",
  content: "Likes dinosaurs. Starts school in August.",
})"""


def note(ws, path):
    return ws.path / "memory" / path


def by_hand(ws, path, data):
    file = note(ws, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    return file


def code_of(call, *args, **options):
    with pytest.raises(NocturnError) as refused:
        call(*args, **options)
    return refused.value.code


@pytest.mark.parametrize("source", [WRAPPER, CALL])
def test_the_seeds_example_gives_its_value_and_its_84_byte_file(ws, source):
    result = ws.run(source, mode="watched")
    assert result.value == {
        "path": "people/lina.md",
        "summary": "daughter, 7 years old",
        "bytesWritten": 84,
    }
    assert list(result.value) == ["path", "summary", "bytesWritten"]
    assert note(ws, "people/lina.md").read_bytes() == LINA
    (call,) = result.calls
    assert (call.tool, call.code, call.ruling, call.bytes) == ("memory_write", None, "allow", 84)
    assert call.effects == ({"kind": "memory", "verb": "write", "target": "people/lina.md"},)


def test_the_seeds_example_from_python(ws):
    written = ws.memory.write(
        "people/lina.md", "daughter, 7 years old", "Likes dinosaurs. Starts school in August."
    )
    assert written == {
        "path": "people/lina.md",
        "summary": "daughter, 7 years old",
        "bytesWritten": 84,
    }
    assert note(ws, "people/lina.md").read_bytes() == LINA


def test_every_wrapper_is_the_tool_of_its_name(ws):
    ws.memory.write("a.md", "s", "body")
    result = ws.run(
        """
        const { memory, call } = nocturn;
        const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
        [
          same(memory.read("a.md"), call("memory_read", {path: "a.md"})),
          same(memory.stat("a.md"), call("memory_stat", {path: "a.md"})),
          same(memory.list(), call("memory_list", {})),
          same(memory.list({limit: 1}), call("memory_list", {limit: 1})),
          same(memory.search("body"), call("memory_search", {query: "body"})),
          same(memory.search("s", {limit: 1}), [{path: "a.md", summary: "s", snippet: "body"}]),
          Object.keys(nocturn.now()).join(),
          memory.remove("a.md"),
        ]
        """,
        mode="watched",
    )
    assert result.value == [
        *[True] * 6,
        "iso,epochMs,timezone",
        {"path": "a.md", "removed": True},
    ]


@pytest.mark.parametrize(
    ("call", "field"),
    [
        ("memory.write('a.md', 's', 'x', {ifversion: 'stale'})", "options.ifversion"),
        ("memory.write('a.md', 's', 'x', {path: 'b.md'})", "options.path"),
        ("memory.write('a.md', 's', 'x', null)", "options"),
        ("memory.remove('a.md', 'stale')", "options"),
        ("memory.move('a.md', 'b.md', ['stale'])", "options.0"),
        ("memory.list(1)", "options"),
        ("memory.search('body', 1)", "options"),
        ("persona.add('x', 'user')", "options"),
        ("persona.add('x', {traget: 'user'})", "options.traget"),
    ],
)
def test_an_option_that_a_wrapper_does_not_know_is_refused_as_any_argument(ws, call, field):
    ws.memory.write("a.md", "s", "body")
    result = ws.run(f"nocturn.{call}", mode="watched")
    assert (result.error.code, result.error.detail) == ("BAD_ARGUMENTS", {"field": field})
    assert ws.memory.read("a.md").endswith("body")
    assert not (ws.path / "persona").exists()


def test_options_that_are_left_out_or_undefined_or_no_property_of_their_own_are_none(ws):
    ws.memory.write("a.md", "s", "body")
    result = ws.run(
        """
        class Given { limit = undefined; get more() { return 1; } }
        const hidden = Object.defineProperty({}, "more", {value: 1});
        [new Given(), hidden, {[Symbol()]: 1}, undefined].map((each) =>
          nocturn.memory.list(each).notes.length)
        """
    )
    assert result.value == [1] * 4


@pytest.mark.parametrize(
    "path",
    [
        "a.md",
        "A.MD",
        "x.Md",
        "a/b/c/d.md",
        "ü/é.md",
        "people.md/x.md",
        "%2e%2e/x.md",
        "..md",
        "a b.md",
    ],
)
def test_a_good_path_is_kept_and_its_folders_are_made(ws, path):
    assert ws.memory.write(path, "s", "c")["path"] == path
    assert note(ws, path).is_file()


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("", "BAD_ARGUMENTS"),
        ("a.txt", "BAD_ARGUMENTS"),
        ("a", "BAD_ARGUMENTS"),
        (".md", "BAD_ARGUMENTS"),
        ("a/.md", "BAD_ARGUMENTS"),
        ("a//b.md", "BAD_ARGUMENTS"),
        ("./b.md", "BAD_ARGUMENTS"),
        ("a/../b.md", "BAD_ARGUMENTS"),
        ("/people/x.md", "PATH_ESCAPE"),
        ("../x.md", "PATH_ESCAPE"),
        ("a/../../x.md", "PATH_ESCAPE"),
        ("..\\x.md", "BAD_ARGUMENTS"),
        ("C:\\x.md", "BAD_ARGUMENTS"),
        ("nul.md", "BAD_ARGUMENTS"),
        ("COM1.x.md", "BAD_ARGUMENTS"),
        ("a./b.md", "BAD_ARGUMENTS"),
        ("a /b.md", "BAD_ARGUMENTS"),
        ("a\x00.md", "BAD_ARGUMENTS"),
        ("a\n.md", "BAD_ARGUMENTS"),
        ("a\u202e.md", "BAD_ARGUMENTS"),
        ("a\u200b.md", "BAD_ARGUMENTS"),
        ("a\U000e0041.md", "BAD_ARGUMENTS"),
        *((f"a{character}.md", "BAD_ARGUMENTS") for character in ':*?"<>|'),
        ("x" * 253 + ".md", "BAD_ARGUMENTS"),
        ("x/" * 511 + "x.md", "TOO_LARGE"),
    ],
)
def test_a_bad_path_is_refused_and_leaves_nothing(ws, path, code):
    for call in (lambda: ws.memory.write(path, "s", "c"), lambda: ws.memory.read(path)):
        assert code_of(call) == code
    assert not ws.path.exists()


def test_a_path_at_its_limits_passes(ws):
    part = "x" * 252 + ".md"
    assert ws.memory.write(part, "s", "c")["path"] == part
    long = "/".join(["é" * 100] * 5) + "/" + "y" * 16 + ".md"
    assert len(long.encode()) == 1_024
    assert ws.memory.write(long, "s", "c")["path"] == long


def test_content_is_counted_in_bytes_to_the_byte(ws):
    for content in ("x" * 65_536, "é" * 32_768):
        ws.memory.write("a.md", "s", content)
        assert ws.memory.read("a.md").split("---\n", 2)[2] == content
    for content in ("x" * 65_537, "é" * 32_769):
        assert code_of(ws.memory.write, "a.md", "s", content) == "TOO_LARGE"


def test_a_preamble_that_was_read_back_is_not_counted(ws):
    ws.memory.write("a.md", "s", "x" * 65_536)
    text = ws.memory.read("a.md")
    assert len(text) > 65_536
    ws.memory.write("a.md", "s", text)
    assert ws.memory.read("a.md") == text


@pytest.mark.parametrize(
    ("raw", "stored"),
    [
        ("  a \t b\n\nc  ", "a b c"),
        ("x" * 120, "x" * 120),
        ("x" * 121, "x" * 120 + "…"),
        ("é" * 500, "é" * 120 + "…"),
        ("👩\u200d👧 family", "👩\u200d👧 family"),
    ],
)
def test_a_summary_is_one_line_of_at_most_120_characters(ws, raw, stored):
    assert ws.memory.write("a.md", raw, "c")["summary"] == stored
    assert ws.memory.stat("a.md")["summary"] == stored


def test_a_summary_has_limits(ws):
    assert code_of(ws.memory.write, "a.md", " \t\n", "c") == "BAD_ARGUMENTS"
    assert code_of(ws.memory.write, "a.md", "é" * 2_049, "c") == "TOO_LARGE"
    assert ws.memory.write("a.md", "é" * 2_048, "c")["summary"] == "é" * 120 + "…"


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_files_are_0600_and_folders_0700_whatever_the_umask(ws):
    before = os.umask(0)
    try:
        ws.memory.write("a/b/c.md", "s", "c")
        ws.memory.write("a/b/c.md", "s", "again")
        ws.memory.write("gone.md", "s", "c")
        ws.memory.remove("gone.md")
    finally:
        os.umask(before)
    for path in ws.path.rglob("*"):
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path


def test_a_replaced_note_is_another_file_and_no_temporary_one_is_left(ws):
    ws.memory.write("a.md", "s", "old")
    with note(ws, "a.md").open() as reader:
        ws.memory.write("a.md", "s", "new")
        assert reader.read().endswith("old")
    assert [each.name for each in note(ws, "").iterdir()] == ["a.md"]


def test_a_reader_sees_the_old_note_or_the_new_one(ws):
    texts = {f"---\ndescription: s\n---\n{letter * 5000}" for letter in "ab"}
    ws.memory.write("a.md", "s", "a" * 5000)
    seen, done = set(), threading.Event()

    def read():
        while not done.is_set():
            seen.add(note(ws, "a.md").read_text())

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(100):
        ws.memory.write("a.md", "s", "ab"[number % 2] * 5000)
    done.set()
    reader.join()
    assert seen <= texts


@pytest.mark.parametrize(
    "content",
    [
        "",
        "plain",
        "no newline at the end",
        "\n\n leading and trailing \n\n",
        "crlf\r\nlines\r\n",
        "---\nnot: a preamble\n---\nbody",
        "---\n- a list\n---\n",
        "--- three dashes",
        "---",
        "\ufeffbom",
        "tab\tand \x07 bell",
    ],
)
def test_a_body_comes_back_byte_for_byte_and_ten_round_trips_change_nothing(ws, content):
    ws.memory.write("a.md", "the summary", content)
    data = note(ws, "a.md").read_bytes()
    assert data == b"---\ndescription: the summary\n---\n" + content.encode()
    for _ in range(10):
        ws.memory.write("a.md", ws.memory.stat("a.md")["summary"], ws.memory.read("a.md"))
    assert note(ws, "a.md").read_bytes() == data


def test_ten_round_trips_of_a_hand_made_note_change_no_byte(ws):
    block = b"---\r\ntags: [a, b]  # mine\r\ndescription:   'it''s'\r\nother: 1e3\r\n---\r\n"
    data = block + b"\r\nbody\r\n"
    by_hand(ws, "a.md", data)
    result = ws.run(
        "for (let i = 0; i < 10; i++) nocturn.memory.write('a.md',"
        " nocturn.memory.stat('a.md').summary, nocturn.memory.read('a.md'))",
        mode="watched",
    )
    assert result.ok
    assert note(ws, "a.md").read_bytes() == data


def test_the_summary_argument_wins_and_the_blocks_other_bytes_stay(ws):
    by_hand(ws, "a.md", "---\ntags: [x]  # keep\ndescription: old\nn: 1\n---\nbody")
    ws.memory.write("a.md", "new", ws.memory.read("a.md"))
    assert note(ws, "a.md").read_text() == (
        "---\ntags: [x]  # keep\ndescription: new\nn: 1\n---\nbody"
    )


def test_content_without_a_preamble_keeps_the_files_other_keys(ws):
    by_hand(ws, "a.md", "---\ntags: [x]\ndescription: old\n---\nbody")
    ws.memory.write("a.md", "new", "another body")
    assert note(ws, "a.md").read_text() == "---\ntags: [x]\ndescription: new\n---\nanother body"


def test_a_link_to_a_file_is_replaced_as_an_entry(ws, tmp_path):
    target = tmp_path / "outside.md"
    target.write_text("outside")
    note(ws, "").mkdir(parents=True)
    note(ws, "a.md").symlink_to(target)
    assert code_of(ws.memory.read, "a.md") == "PATH_ESCAPE"
    assert code_of(ws.memory.stat, "a.md") == "PATH_ESCAPE"
    ws.memory.write("a.md", "s", "c")
    assert target.read_text() == "outside"
    assert not note(ws, "a.md").is_symlink()
    assert ws.memory.read("a.md").endswith("c")


def test_reading_through_a_folder_link_that_leaves_is_refused(ws, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x.md").write_text("x")
    note(ws, "").mkdir(parents=True)
    note(ws, "esc").symlink_to(tmp_path / "outside")
    assert code_of(ws.memory.read, "esc/x.md") == "PATH_ESCAPE"
    assert code_of(ws.memory.remove, "esc/x.md") == "PATH_ESCAPE"
    assert ws.memory.list()["notes"] == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")
def test_a_device_or_a_fifo_never_blocks(ws):
    note(ws, "").mkdir(parents=True)
    os.mkfifo(note(ws, "f.md"))
    note(ws, "d.md").symlink_to("/dev/zero")
    assert code_of(ws.memory.read, "f.md") == "NOT_A_NOTE"
    assert code_of(ws.memory.write, "f.md", "s", "c") == "NOT_A_NOTE"
    assert code_of(ws.memory.read, "d.md") in ("PATH_ESCAPE", "NOT_A_NOTE")
    assert ws.memory.list()["notes"] == []
    ws.memory.catalog()


def test_what_is_no_note_is_said(ws):
    by_hand(ws, "latin.md", b"caf\xe9")
    note(ws, "folder.md").mkdir()
    assert code_of(ws.memory.read, "latin.md") == "NOT_A_NOTE"
    assert code_of(ws.memory.stat, "latin.md") == "NOT_A_NOTE"
    assert code_of(ws.memory.read, "folder.md") == "NOT_A_NOTE"
    assert code_of(ws.memory.remove, "folder.md") == "NOT_A_NOTE"
    assert code_of(ws.memory.read, "latin.md/x.md") in ("NOT_FOUND", "NOT_A_NOTE")
    assert code_of(ws.memory.write, "latin.md/x.md", "s", "c") == "NOT_A_NOTE"


def test_what_is_not_there_is_not_found(ws):
    for call in (ws.memory.read, ws.memory.stat, ws.memory.remove):
        assert code_of(call, "a.md") == "NOT_FOUND"
        assert code_of(call, "no/such/a.md") == "NOT_FOUND"
    assert ws.memory.list() == {"notes": [], "cursor": None}
    assert not ws.path.exists()


def test_a_large_hand_made_note_is_cut_and_its_last_line_says_so(ws):
    by_hand(ws, "a.md", "é" * 100_000)
    text = ws.memory.read("a.md")
    body, last = text.rsplit("\n", 1)
    assert len(body.encode()) <= 131_072 < len(body.encode()) + 3
    assert re.search(r"200,000", last)


def test_a_text_that_was_cut_must_not_be_written_back(ws):
    by_hand(ws, "a.md", "x" * 140_000)
    cut = ws.memory.read("a.md")
    tail = cut[-60_000:]
    assert code_of(ws.memory.write, "a.md", "s", tail) == "CONFLICT"
    assert note(ws, "a.md").stat().st_size == 140_000
    ws.memory.write("a.md", "s", "quite another text")


def test_stat_has_five_fields(ws):
    ws.memory.write("a.md", "s", "c")
    told = ws.memory.stat("a.md")
    assert list(told) == ["path", "summary", "bytes", "modified", "version"]
    assert told["bytes"] == note(ws, "a.md").stat().st_size
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", told["modified"])
    assert ws.memory.list()["notes"] == [told]


def test_a_list_is_sorted_by_path_and_paged(ws):
    paths = [f"n{number:03}.md" for number in range(203)]
    for path in reversed(paths):
        by_hand(ws, path, "x")
    by_hand(ws, "a.txt", "no note")
    first = ws.memory.list()
    assert [each["path"] for each in first["notes"]] == paths[:200]
    second = ws.memory.list(cursor=first["cursor"])
    assert [each["path"] for each in second["notes"]] == paths[200:]
    assert second["cursor"] is None
    assert ws.memory.list(limit=203 - 200, cursor=first["cursor"])["cursor"] is None
    for limit in (0, 201, -1):
        assert code_of(ws.memory.list, limit=limit) == "BAD_ARGUMENTS"


def test_a_removed_note_is_in_the_trash(ws):
    ws.memory.write("people/lina.md", "s", "c")
    data = note(ws, "people/lina.md").read_bytes()
    assert ws.memory.remove("people/lina.md") == {"path": "people/lina.md", "removed": True}
    assert not note(ws, "people/lina.md").exists()
    (kept,) = (ws.path / ".nocturn/trash").rglob("*.md")
    assert kept.read_bytes() == data
    assert ws.memory.list()["notes"] == []


def test_removing_has_its_own_verb(nocturn_workspace):
    person = RecordingApprover(answer="session")
    ws = nocturn_workspace(approver=person)
    ws.memory.write("a.md", "s", "c", mode="guarded")
    person.answer = False
    assert code_of(ws.memory.remove, "a.md", mode="guarded") == "GATE_DENIED"
    assert [q.effects[0].verb for q in person.questions] == ["write", "remove"]
    assert person.questions[1].preview.before == note(ws, "a.md").read_text()


def test_a_version_must_match(ws):
    ws.memory.write("a.md", "s", "one", if_version=None)
    version = ws.memory.stat("a.md")["version"]
    assert code_of(ws.memory.write, "a.md", "s", "two", if_version=None) == "CONFLICT"
    ws.memory.write("a.md", "s", "two", if_version=version)
    assert code_of(ws.memory.write, "a.md", "s", "three", if_version=version) == "CONFLICT"
    assert code_of(ws.memory.remove, "a.md", if_version=version) == "CONFLICT"
    result = ws.run(
        """
        const { version } = nocturn.memory.stat("a.md");
        let seen = "";
        for (const ifVersion of ["0", null]) {
          try { nocturn.memory.write("a.md", "s", "x", {ifVersion}) } catch (e) { seen += e.code }
        }
        nocturn.memory.write("a.md", "s", "three", {ifVersion: version});
        nocturn.memory.remove("a.md", {ifVersion: nocturn.memory.stat("a.md").version});
        seen
        """,
        mode="watched",
    )
    assert result.value == "CONFLICTCONFLICT"


def test_a_version_is_a_keyed_hash(nocturn_workspace):
    one, other = nocturn_workspace("one"), nocturn_workspace("other")
    for each in (one, other):
        each.memory.write("a.md", "s", "c")
        each.memory.write("b.md", "s", "c")
    version = one.memory.stat("a.md")["version"]
    assert version == one.memory.stat("b.md")["version"]
    assert version != other.memory.stat("a.md")["version"]


def test_reads_create_nothing_in_the_workspace(ws):
    source = "nocturn.memory.list(); nocturn.now(); try { nocturn.memory.read('a.md') } catch {}"
    assert ws.run(source).ok
    ws.memory.catalog()
    assert not ws.path.exists()
    by_hand(ws, "a.md", "x")
    ws.memory.read("a.md")
    ws.memory.stat("a.md")
    assert sorted(each.name for each in ws.path.rglob("*")) == ["a.md", "memory"]


def test_what_leaves_for_a_guest_is_redacted(nocturn_workspace):
    secret = "p4ssw0rd-of-the-house"
    ws = nocturn_workspace(secrets=[FixedSecrets(house=secret)])
    by_hand(ws, "a.md", f"---\ndescription: it is {secret}\n---\nbody {secret} end")
    by_hand(ws, f"{secret}.md", "named so")
    result = ws.run(
        "console.log(nocturn.memory.read('a.md'));"
        "[nocturn.memory.stat('a.md'), nocturn.memory.list()]"
    )
    told = result.to_json()
    assert result.ok
    assert secret not in told
    assert told.count("[REDACTED]") == 5
    assert secret not in ws.memory.catalog()
    assert secret not in json.dumps(ws.memory.list())


def test_a_redacted_text_must_not_be_written_back_over_the_truth(nocturn_workspace):
    secret = "p4ssw0rd-of-the-house"
    ws = nocturn_workspace(secrets=[FixedSecrets(house=secret)])
    by_hand(ws, "a.md", f"---\ndescription: s\n---\nbody {secret} end")
    result = ws.run(
        "nocturn.memory.write('a.md', 's', nocturn.memory.read('a.md') + ' more')", mode="watched"
    )
    assert result.error.code == "CONFLICT"
    assert secret in note(ws, "a.md").read_text()
    # The word alone is only a word where nothing is hidden.
    assert ws.run("nocturn.memory.write('b.md', 's', '[REDACTED]')", mode="watched").ok


def test_the_time_is_now(ws):
    told = ws.run("nocturn.now()").value
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d", told["iso"])
    assert isinstance(told["epochMs"], int)
    assert told["timezone"]


def test_a_redacted_preamble_must_not_be_written_back_over_the_truth(nocturn_workspace):
    ws = nocturn_workspace(secrets=[FixedSecrets(key="hunter2hunter2")])
    file = ws.path / "memory/n.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\ndescription: d\napi: hunter2hunter2\n---\nbody\n")
    source = "nocturn.memory.write('n.md', 'd', nocturn.memory.read('n.md'))"
    assert ws.run(source, mode="watched").error.code == "CONFLICT"
    assert "hunter2hunter2" in file.read_text()


def test_a_list_with_a_secret_in_a_path_ends_and_its_order_does_not_tell(nocturn_workspace):
    ws = nocturn_workspace(secrets=[FixedSecrets(key="hunter2hunter2", other="other2other2")])
    memory = ws.path / "memory"
    memory.mkdir(parents=True)
    for name in ("a", "hunter2hunter2", "other2other2", "z"):
        (memory / f"{name}.md").write_text(name)
    result = ws.run(
        """
        const found = [];
        let cursor = null;
        for (let page = 0; page < 9; page++) {
          const list = nocturn.memory.list({limit: 1, cursor});
          found.push(...list.notes.map(note => note.path));
          cursor = list.cursor;
          if (cursor === null) break;
        }
        const after = [..."ghijklmnop"].map(c => nocturn.memory.list({cursor: c}).notes.length);
        ({found, after})
        """
    )
    # Two that look the same are told apart; none is lost, and none comes twice.
    assert result.value == {
        "found": ["[REDACTED].md", "[REDACTED].md (2)", "a.md", "z.md"],
        "after": [1] * 10,
    }
    assert ws.memory.catalog().splitlines()[2] == "a.md — a"
