"""The nine steps in their order: what is refused at one shows that the later ones never ran."""

import pytest

from nocturn import tool
from nocturn.testing import FixedSecrets, RecordingApprover

SECRET = "tr0ub4dor-and-3-horses"


@pytest.fixture
def person():
    return RecordingApprover()


@pytest.fixture
def ran():
    return []


@pytest.fixture
def ws(nocturn_workspace, person, ran):
    @tool(axis="write", effects=[("door", "open", "name")])
    def open_door(name: str, count: int = 1) -> str:
        ran.append((name, count))
        return "open"

    return nocturn_workspace(
        approver=person, tools=[open_door], secrets=[FixedSecrets(api_key=SECRET)]
    )


def code_of(ws, source, **options):
    options.setdefault("mode", "guarded")
    result = ws.run(source, **options)
    assert result.status == "guest_error", result
    return result.error.code


def write(path="a.md", summary="s", content="c"):
    return f"nocturn.memory.write({path!r}, {summary!r}, {content!r})"


@pytest.mark.parametrize(
    ("code", "source"),
    [
        ("UNKNOWN_TOOL", "nocturn.call('nope', {})"),
        ("UNKNOWN_TOOL", "nocturn.call('open_door ', {name: 'x'})"),
        ("UNKNOWN_TOOL", "nocturn.call(undefined)"),
        ("BAD_ARGUMENTS", "nocturn.call('open_door', {})"),
        ("BAD_ARGUMENTS", "nocturn.call('open_door', {name: 7})"),
        ("BAD_ARGUMENTS", "nocturn.call('open_door', {name: 'x', count: '2'})"),
        ("BAD_ARGUMENTS", "nocturn.call('open_door', {name: 'x', extra: 1})"),
        ("BAD_ARGUMENTS", "nocturn.call('open_door', [])"),
        ("BAD_ARGUMENTS", "nocturn.call('open_door', null)"),
        ("BAD_ARGUMENTS", write(path="a.txt")),
        ("BAD_ARGUMENTS", write(summary=" ")),
        ("PATH_ESCAPE", write(path="../a.md")),
        ("TOO_LARGE", "nocturn.memory.write('a.md', 's', 'x'.repeat(65537))"),
        ("LEAK_BLOCKED", write(content=SECRET)),
        ("LEAK_BLOCKED", f"nocturn.call('open_door', {{name: {SECRET!r}}})"),
        ("CONFLICT", "nocturn.memory.write('a.md', 's', 'c', {ifVersion: 'old'})"),
        ("NOT_FOUND", "nocturn.memory.remove('a.md')"),
    ],
)
def test_a_call_refused_before_the_gate_asks_nobody_and_leaves_nothing(
    ws, person, ran, code, source
):
    assert code_of(ws, source) == code
    assert person.questions == []
    assert ran == []
    assert not ws.path.exists()


def test_a_refusal_at_the_gate_leaves_no_file_no_folder_and_no_intent(ws, person):
    person.answer = False
    assert code_of(ws, write(path="deep/er/a.md")) == "GATE_DENIED"
    assert len(person.questions) == 1
    assert not ws.path.exists()


def test_a_write_that_carries_a_secret_leaves_a_workspace_as_it_was(ws, person, read_journal):
    ws.memory.write("seen.md", "s", "c")
    before = sorted(ws.path.rglob("*"))
    assert code_of(ws, write(path="new/a.md", content=f"it is {SECRET}!")) == "LEAK_BLOCKED"
    assert person.questions == []
    assert sorted(ws.path.rglob("*")) == before
    assert "intent" not in [row.get("phase") for row in read_journal(ws)[2:]]
    assert read_journal(ws)[-1]["code"] == "LEAK_BLOCKED"
    assert SECRET not in (ws.path / ".nocturn/journal.jsonl").read_text()


@pytest.mark.parametrize(
    "source",
    [
        write(path=f"{SECRET}.md"),
        write(summary="x" * 130 + SECRET),
        write(content=SECRET),
        write(content=SECRET[:9] + "\n" + SECRET[9:]),
        write(summary=SECRET[:9], content=SECRET[9:]),
        write(summary=SECRET[9:], content=SECRET[:9]),
        f"nocturn.memory.read({(SECRET + '.md')!r})",
        f"nocturn.memory.list({{cursor: {SECRET!r}}})",
        f"nocturn.memory.write('a.md', 's', btoa_({SECRET!r}))",
        f"nocturn.memory.write('a.md', 's', encodeURIComponent({SECRET!r}))",
        f"nocturn.memory.write('a.md', 's', hex({SECRET!r}))",
    ],
)
def test_every_string_and_each_pair_is_scanned_before_anyone_is_asked(ws, person, source):
    person.answer = True
    encoders = (
        "const hex = t => [...t].map(c => c.charCodeAt(0).toString(16)).join('');"
        "const btoa_ = t => { const A='ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        "0123456789+/'; let bits = [...t].map(c => c.charCodeAt(0).toString(2).padStart(8,'0'))"
        ".join(''); while (bits.length % 6) bits += '0'; "
        "return bits.match(/.{6}/g).map(b => A[parseInt(b,2)]).join('') };"
    )
    assert code_of(ws, encoders + source) == "LEAK_BLOCKED"
    assert not any(SECRET in str(question) for question in person.questions)
    assert not (ws.path / "memory/a.md").exists()


def test_the_scan_comes_before_what_the_disk_would_say(ws, person):
    # Step 6 would be NOT_FOUND; a guest must not learn that from a call that is blocked.
    assert code_of(ws, f"nocturn.memory.remove({(SECRET + '.md')!r})") == "LEAK_BLOCKED"
    assert person.questions == []


def test_the_size_cap_comes_before_the_scan_and_names_limit_and_size(ws):
    source = f"nocturn.memory.write('a.md', 's', {SECRET!r} + 'x'.repeat(70000))"
    error = ws.run(source, mode="guarded").error
    assert error.code == "TOO_LARGE"
    assert error.detail["limit"] == 65_536
    assert error.detail["size"] == 70_000 + len(SECRET)


def test_the_cage_comes_before_the_arguments(ws):
    source = "nocturn.call('open_door', 7)"
    assert code_of(ws, source, tools=["memory_read"]) == "UNKNOWN_TOOL"
    assert code_of(ws, source) == "BAD_ARGUMENTS"


def test_a_tool_outside_the_cage_does_not_exist(ws, ran):
    result = ws.run(
        "try { nocturn.call('open_door', {name: 'x'}) } catch (e) { e.message }",
        tools=["memory_read"],
        mode="watched",
    )
    assert result.calls[0].code == "UNKNOWN_TOOL"
    assert result.value.endswith("there are: memory_read")
    assert ran == []


def test_an_empty_cage_holds_nothing(ws):
    assert code_of(ws, "nocturn.now()", tools=[]) == "UNKNOWN_TOOL"


def test_what_can_be_seen_to_fail_asks_nobody(ws, person, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    memory = ws.path / "memory"
    memory.mkdir(parents=True)
    (memory / "esc").symlink_to(outside)
    (memory / "Lina.md").write_text("x")
    (memory / "folder.md").mkdir()
    for source, code in (
        (write(path="esc/p.md"), "PATH_ESCAPE"),
        (write(path="lina.md"), "NAME_TAKEN"),
        (write(path="folder.md"), "NOT_A_NOTE"),
        ("nocturn.memory.write('Lina.md', 's', 'c', {ifVersion: null})", "CONFLICT"),
    ):
        assert code_of(ws, source) == code
    assert person.questions == []
    assert list(outside.iterdir()) == []
    assert not (ws.path / ".nocturn").exists()


def test_an_intent_is_written_before_the_effect_and_an_outcome_after(
    nocturn_workspace, read_journal
):
    seen = []

    @tool(axis="write", effects=[("door", "open", "name")])
    def open_door(name: str) -> str:
        seen.extend(read_journal(ws))
        return name

    ws = nocturn_workspace(tools=[open_door], approver=RecordingApprover())
    assert ws.run("nocturn.call('open_door', {name: 'x'})", mode="watched", agent="bob").ok
    assert [row["phase"] for row in seen] == ["intent"]
    intent, outcome = read_journal(ws)
    assert intent["call"] == outcome["call"]
    assert intent["agent"] == "bob"
    assert intent["effects"] == [{"kind": "door", "verb": "open", "target": "x"}]
    assert (outcome["phase"], outcome["code"], outcome["ruling"]) == ("outcome", None, "once")


def test_a_journal_that_cannot_be_written_refuses_the_write(ws, ran):
    ws.path.mkdir()
    (ws.path / ".nocturn").write_text("no folder")
    assert code_of(ws, write(), mode="watched") == "STORAGE"
    assert code_of(ws, "nocturn.call('open_door', {name: 'x'})", mode="watched") == "STORAGE"
    assert ran == []
    assert not (ws.path / "memory").exists()


def test_reads_and_refusals_are_journalled_once_the_workspace_exists(ws, read_journal):
    ws.run("nocturn.now(); try { nocturn.call('nope') } catch {}")
    assert not ws.path.exists()
    ws.memory.write("a.md", "s", "c")
    ws.run("nocturn.memory.read('a.md'); try { nocturn.call('nope') } catch {}")
    assert [(row["tool"], row["phase"], row["code"]) for row in read_journal(ws)[2:]] == [
        ("memory_read", "outcome", None),
        ("nope", "outcome", "UNKNOWN_TOOL"),
    ]


def test_a_journal_line_holds_no_content(ws):
    ws.memory.write("a.md", "the summary", "the content")
    text = (ws.path / ".nocturn/journal.jsonl").read_text()
    assert "the content" not in text
    assert "the summary" not in text


def test_what_was_approved_is_what_is_written(ws, person):
    assert ws.run(
        "nocturn.memory.write('a.md', '  two\\t words ', 'body')", mode="guarded", agent="bob"
    ).ok
    (question,) = person.questions
    assert question.preview.after == (ws.path / "memory/a.md").read_text()
    assert question.preview.after == "---\ndescription: two words\n---\nbody"
    assert question.size_bytes == len(question.preview.after)


def test_a_note_that_changed_while_the_question_was_open_is_a_conflict(ws, person):
    ws.memory.write("a.md", "s", "old")
    note = ws.path / "memory/a.md"

    def edit(_):
        note.write_text("edited by hand")
        return True

    person.answer = edit
    assert code_of(ws, write(content="new")) == "CONFLICT"
    assert note.read_text() == "edited by hand"


def test_a_link_swapped_in_while_the_person_decides_changes_nothing_outside(ws, person, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    ws.memory.write("people/a.md", "s", "old")
    people = ws.path / "memory/people"

    def swap(_):
        people.rename(ws.path / "memory/was")
        people.symlink_to(outside)
        return True

    person.answer = swap
    assert code_of(ws, write(path="people/a.md", content="new")) in ("PATH_ESCAPE", "CONFLICT")
    assert list(outside.iterdir()) == []


def test_a_call_that_has_not_begun_when_the_run_ends_never_begins(fresh_python, tmp_path):
    # The host is a process of its own here, so that Ctrl-C can end its run in mid-question.
    program = """
import os, signal, sys, threading
from nocturn import Workspace
over = threading.Event()
def ask(question):
    os.kill(os.getpid(), signal.SIGINT)
    over.wait()
    return True
ws = Workspace(sys.argv[1], approver=ask)
try:
    ws.run("nocturn.memory.write('a.md', 's', 'c')", mode="guarded")
except KeyboardInterrupt as interrupt:
    print(interrupt.result.status, [call.code for call in interrupt.result.calls])
over.set()
ws.close()
for thread in threading.enumerate():
    if thread.name in ("nocturn-question", "nocturn-run"):
        thread.join(10)
"""
    assert fresh_python(program) == "cancelled ['CANCELLED']\n"
    assert not (tmp_path / "ws/memory").exists()
