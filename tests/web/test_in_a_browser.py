"""The page in real Chromium: what a person sees, reads, presses and hears."""

import re
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from nocturn.errors import GATE_DENIED

CHROMIUM = shutil.which("chromium")
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WAIT_MS = 20_000
PHONE = {"width": 390, "height": 844}
WRITE = "nocturn.memory.write({!r}, 'a summary', {!r})"
HOSTILE = "<img src=x onerror='window.pwned=1'><script>window.pwned=2</script>"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, served):
    """Opens the page with the link that was shown last; a page with a fault fails the test."""
    faults, contexts = [], []

    def fault(message):
        faults.append(str(message))

    def opened(link=None, **options):
        context = browser.new_context(reduced_motion="reduce", **options)
        context.set_default_timeout(WAIT_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", fault)
        page.on("dialog", fault)
        page.on("console", lambda told: "Content Security Policy" in told.text and fault(told.text))
        page.goto(link or served.links[-1])
        if link is None:
            page.get_by_role("navigation").wait_for()
            served.link()
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def page(opened):
    return opened()


def card_of(page, target):
    card = page.get_by_role("article").filter(has_text=target)
    card.wait_for()
    return card


def view(page, name):
    page.get_by_role("navigation").get_by_role("link", name=name).click()
    page.get_by_role("heading", name=name, exact=True).wait_for()


def test_a_question_appears_is_read_and_approved_and_the_note_is_there(page, asks, ws):
    ws.memory.write("people/lina.md", "daughter", "Likes dinosaurs.\n")
    run = asks("nocturn.memory.write('people/lina.md', 'daughter, 7', 'Likes birds.\\n')")
    card = card_of(page, "people/lina.md")
    assert card.get_by_role("heading").inner_text() == "scribe wants to write people/lina.md"
    assert card.locator(".removed .words").all_inner_texts() == [
        "description: daughter",
        "Likes dinosaurs.",
    ]
    assert card.locator(".added .words").all_inner_texts() == [
        "description: daughter, 7",
        "Likes birds.",
    ]
    assert "New question: scribe wants to write" in page.locator("#news").text_content()
    assert page.title() == "(1) nocturn"
    assert re.search(r"\d:\d\d left", card.inner_text())
    card.get_by_role("button", name="Allow once").click()
    card.get_by_text("Allowed (once).").wait_for()
    assert run.result().ok
    assert page.title() == "nocturn"
    view(page, "Notes")
    page.get_by_role("link", name="people/lina.md").click()
    page.get_by_role("heading", name="people/lina.md").wait_for()
    assert "Likes birds." in page.locator("pre").inner_text()
    assert "daughter, 7" in page.locator(".lead").inner_text()


def test_a_no_is_a_no(page, asks, ws):
    run = asks(WRITE.format("denied.md", "x"))
    card = card_of(page, "denied.md")
    card.get_by_role("button", name="Deny").click()
    card.get_by_text("Denied.").wait_for()
    error = run.result().error
    assert (error.code, error.detail["reason"]) == (GATE_DENIED, "declined")
    assert "denied.md" not in ws.memory.catalog()
    card.get_by_role("button", name="Put away").click()
    card.wait_for(state="detached")


def test_a_yes_for_a_folder_is_remembered_shown_and_taken_back(page, asks, ws):
    run = asks(WRITE.format("trips/lisbon.md", "x"), agent="planner")
    card = card_of(page, "trips/lisbon.md")
    card.get_by_text("Allow, and remember it").click()
    card.get_by_role("button", name='Always, for everything right in "trips/"').click()
    card.get_by_text("Allowed (widen).").wait_for()
    assert run.result().ok
    view(page, "Grants")
    row = page.get_by_role("listitem").filter(has_text="planner may write trips/*")
    assert "Covers 1 note now: trips/lisbon.md" in row.inner_text()
    row.get_by_role("button", name="Revoke").click()
    row.get_by_role("button", name="Keep").click()
    assert len(ws.grants.load()) == 1
    row.get_by_role("button", name="Revoke").click()
    row.get_by_role("button", name="Really revoke").click()
    page.get_by_text("There are no grants.").wait_for()
    assert ws.grants.load() == ()


def test_a_question_whose_time_is_over_says_so(page, asks):
    run = asks(WRITE.format("late.md", "x"), seconds=1.5)
    card = card_of(page, "late.md")
    card.get_by_text("Expired: nobody answered in time").wait_for()
    assert card.get_by_role("button", name="Allow once").count() == 0
    assert run.result().error.detail["reason"] == "timeout"


def test_an_answer_that_comes_late_is_told_what_happened(page, asks, ws, waiting):
    # The page hears nothing of it, as over a slow line.
    page.route("**/api/questions/*/answer", lambda route: (answer(), route.continue_()))
    run = asks(WRITE.format("both.md", "x"))

    def answer():
        ws.inbox.answer(waiting().id, None, "terminal")

    card = card_of(page, "both.md")
    card.get_by_role("button", name="Allow once").click()
    card.get_by_text("Too late: denied in the terminal already.").wait_for()
    assert run.result().error.code == GATE_DENIED


def test_an_answer_from_elsewhere_is_seen(page, asks, ws, waiting):
    run = asks(WRITE.format("elsewhere.md", "x"))
    card = card_of(page, "elsewhere.md")
    ws.inbox.answer(waiting().id, "once", "terminal")
    card.get_by_text("allowed (once) in the terminal already.").wait_for()
    assert run.result().ok


def test_what_a_guest_wrote_is_text_wherever_it_stands(page, asks, served):
    memory = served.workspace / "memory" / "h"
    memory.mkdir(parents=True, exist_ok=True)
    (memory / "<img src=x onerror=window.pwned=3>.md").write_text(
        f"---\ndescription: {HOSTILE}\n---\n{HOSTILE}\n"
    )
    source = WRITE.format("h/hostile.md", HOSTILE).replace("a summary", HOSTILE.replace("'", ""))
    run = asks(source)
    card = card_of(page, "h/hostile.md")
    assert HOSTILE in card.locator(".diff").inner_text()
    card.get_by_role("button", name="Allow once").click()
    card.get_by_text("Allowed (once).").wait_for()
    assert run.result().ok
    view(page, "Notes")
    page.get_by_role("link", name="<img src=x onerror=window.pwned=3>.md").click()
    page.get_by_text("This note cannot be shown.").wait_for()  # no tool could have made its name
    view(page, "Notes")
    page.get_by_role("link", name="h/hostile.md").click()
    page.locator("pre").filter(has_text=HOSTILE).wait_for()
    view(page, "Journal")
    page.get_by_text("h/hostile.md").first.wait_for()
    assert page.evaluate("window.pwned") is None
    assert page.locator("main img, main script, main iframe").count() == 0


def test_everything_can_be_done_by_keyboard(page, asks):
    run = asks(WRITE.format("keys.md", "x"))
    card_of(page, "keys.md")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Allow once":
            break
    page.keyboard.press("Enter")
    page.get_by_text("Allowed (once).").wait_for()
    assert page.evaluate("document.activeElement.className").startswith("outcome")
    assert run.result().ok
    for name in ("Notes", "Grants", "Journal", "Questions"):
        page.get_by_role("navigation").get_by_role("link", name=name).focus()
        page.keyboard.press("Enter")
        page.get_by_role("heading", name=name, exact=True).wait_for()
        assert page.evaluate("document.activeElement.id") == "main"


def test_a_link_that_was_used_is_dead_and_the_session_is_this_tabs(opened, served):
    link = served.links[-1]
    first = opened()
    assert "#in=" not in first.url
    first.reload()
    first.get_by_role("navigation").wait_for()
    for again in (link, f"{served.origin}/"):
        other = opened(again)
        other.get_by_role("heading", name="Sign in").wait_for()
        assert other.get_by_role("navigation").count() == 0
    first.get_by_role("button", name="Sign out").click()
    first.get_by_role("heading", name="Sign in").wait_for()
    first.reload()
    first.get_by_role("heading", name="Sign in").wait_for()


def test_a_page_of_another_origin_can_neither_read_nor_change_nor_frame(
    page, asks, ws, waiting, served
):
    class Evil(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f'<iframe src="{served.origin}/"></iframe>'.encode())

        def log_message(self, *_):
            pass

    run = asks(WRITE.format("foreign.md", "x"))
    card_of(page, "foreign.md")
    asked = waiting()
    session = page.evaluate("sessionStorage.getItem('nocturn session')")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        context = page.context.browser.new_context()
        evil = context.new_page()
        evil.goto(f"http://127.0.0.1:{server.server_address[1]}/")
        found = evil.evaluate(
            """async ([origin, id, digest, session]) => {
              const body = JSON.stringify({ option: "once", digest });
              const json = { "Content-Type": "application/json" };
              const headers = { Authorization: `Bearer ${session}`, ...json };
              const told = [];
              for (const options of [
                { method: "POST", body, headers },
                { method: "POST", body, mode: "no-cors" },
                { headers },
              ]) {
                const path = options.method ? `/api/questions/${id}/answer` : "/api/notes";
                told.push(await fetch(origin + path, options).then((r) => r.type, () => "refused"));
              }
              return told;
            }""",
            [served.origin, asked.id, asked.question["digest"], session],
        )
        assert found == ["refused", "refused", "refused"]
        framed = evil.frames[1]
        assert served.origin not in framed.url or framed.locator("nav").count() == 0
        assert ws.inbox.get(asked.id).state == "waiting"
        context.close()
    finally:
        server.shutdown()
        server.server_close()
    ws.inbox.answer(asked.id, None, "python")
    assert run.result().error.code == GATE_DENIED


def test_the_journal_is_shown_live_and_a_change_in_it_is_told(page, ws, served):
    view(page, "Journal")
    page.get_by_text("The chain is whole.").wait_for()
    ws.memory.write("live.md", "s", "x", agent="a-live-agent")
    row = page.get_by_role("row").filter(has_text="a-live-agent")
    row.first.wait_for()
    assert "write live.md" in row.first.inner_text()
    page.get_by_label("Only lines with").fill("no such line at all")
    page.get_by_text("No line has this.").wait_for()
    file = served.workspace / ".nocturn" / "journal.jsonl"
    whole = file.read_bytes()
    try:
        file.write_bytes(whole.replace(b"a-live-agent", b"another-one!", 1))
        page.get_by_role("button", name="Check again").click()
        page.get_by_text("The chain is not whole.").wait_for()
    finally:
        file.write_bytes(whole)


def test_it_fits_a_phone(opened, asks, ws, waiting):
    ws.memory.write("long/" + "a" * 200 + ".md", "w" * 119, "x" * 500)
    run = asks(WRITE.format("long/" + "b" * 200 + ".md", "y" * 500), agent="an-agent-" + "z" * 50)
    page = opened(viewport=PHONE, color_scheme="dark")
    card_of(page, "b" * 200)
    for name in ("Questions", "Notes", "Grants", "Journal"):
        view(page, name)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name
    ws.inbox.answer(waiting().id, None, "python")
    assert run.result().error.code == GATE_DENIED


def test_a_server_that_is_gone_is_told_and_found_again(opened, asks, ws, waiting):
    page = opened()
    page.context.set_offline(True)
    page.evaluate("fetch('/').catch(() => {})")
    run = asks(WRITE.format("offline.md", "x"))
    asked = waiting()
    page.context.set_offline(False)
    card_of(page, "offline.md").get_by_role("button", name="Deny").click()
    page.get_by_text("Denied.").wait_for()
    assert ws.inbox.get(asked.id).answered_by == "page"
    assert run.result().error.code == GATE_DENIED
