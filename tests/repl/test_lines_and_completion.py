"""When a statement is whole, what may stand at the cursor, and how a pasted line looks."""

import io

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.layout.processors import TransformationInput

from nocturn import ConfigurationError, RunInterrupted, Workspace
from nocturn.repl.completion import NameCompleter, signature
from nocturn.repl.desk import Desk, statements
from nocturn.repl.painting import HiddenShown
from nocturn.repl.prompt import read_through

PATHS = ("people/lina.md", "people/it's ${x}.md", "plans.md")


@pytest.fixture(scope="module")
def ws(tmp_path_factory):
    with Workspace(tmp_path_factory.mktemp("repl") / "ws") as ws:
        for path in PATHS:
            ws.memory.write(path, f"about {path}", "c")
        # Made by hand: no note could be named so.
        (ws.path / "memory/pl\u202e.md").write_text("x")
        (ws.path / "memory/pl');evil('.md").write_text("x")
        yield ws


@pytest.fixture(scope="module")
def desk(ws):
    desk = Desk(ws, mode="watched")
    desk.begin()
    return desk


@pytest.fixture
def offered(desk):
    completer = NameCompleter(desk)

    def names(text):
        found = completer.get_completions(Document(text), CompleteEvent())
        return {each.text: each.display_meta_text for each in found}

    return names


def run(desk, text):
    return read_through(desk, io.BytesIO(text))


def test_names_are_offered_before_anything_has_run(offered):
    assert "Math" in offered("Ma")
    assert "nocturn" in offered("let x = noct")
    assert offered("nocturn.memory.re")["read"].startswith("Read one note")
    assert ".catalog" in offered(".c")


def test_live_values_are_looked_at_without_running_them(desk, offered):
    desk.session.eval("const o = { name: 1, get na() { for (;;); }, n\u3164: 2 }; var ran = 0")
    assert set(offered("f(1, o.n")) == {"name", "na"}  # not the one with the invisible letter
    assert desk.session.eval("ran").value == 0


def test_tools_and_notes_are_offered_within_strings(offered):
    assert "memory_write" in offered("nocturn.call('memory_w")
    assert offered(".tools memory_r")
    notes = offered('f("pe')
    assert notes["people/lina.md"] == "about people/lina.md"
    assert offered(".show plans") == {"plans.md": "about plans.md"}
    assert offered("f('pe') + pe") == offered("f('pe') + pe") != notes


def test_a_path_that_is_completed_stays_in_its_string_and_hides_nothing(offered):
    assert "people/it\\'s ${x}.md" in offered("'pe")
    assert "people/it's \\${x}.md" in offered("`pe")
    assert set(offered("f('pl")) == {"plans.md", "pl\\');evil(\\'.md", "pl\\\\u{202e}.md"}


def test_looking_leaves_no_line_in_the_journal(ws, offered):
    before = (ws.path / ".nocturn/journal.jsonl").read_bytes()
    offered('f("')
    assert (ws.path / ".nocturn/journal.jsonl").read_bytes() == before


def test_a_tools_signature_is_shown_within_its_call(desk):
    text = "nocturn.memory.write('a.md', f(1)"
    assert signature(desk, text).startswith("nocturn.memory.write(path, summary, content)")
    assert signature(desk, f"{text}, nocturn.now(").startswith("nocturn.now()")
    assert signature(desk, f"{text})") == ""


def test_statements_go_on_until_they_are_whole(desk):
    text = "1 +\n2\n\nf(`a\n${1}\n`)\n// c\n.help\n{ // {\n}\nx\n\n  .y\n/* a\n*/ 3\n["
    lines = text.split("\n")
    wanted = [
        *("1 +\n2", "", "f(`a\n${1}\n`)", "// c", ".help", "{ // {\n}", "x", "", "  .y"),
        *("/* a\n*/ 3", "["),
    ]
    for batches in ([lines], [[each] for each in lines], [lines[:3], [], lines[3:9], lines[9:]]):
        assert list(statements(batches, desk.ends)) == wanted


def test_a_command_is_one_also_where_it_would_go_on_as_javascript(desk):
    lines = ["a", ".load `x", "b`", "c"]
    assert list(statements([lines], desk.ends)) == ["a", ".load `x", "b`\nc"]


def test_typescript_goes_on_while_a_bracket_is_open(ws):
    typed = Desk(ws, mode="strict", lang="ts")
    assert typed.is_unfinished("interface A {")
    assert not typed.is_unfinished("interface A { a: ')' }")


def test_what_is_piped_in_runs_up_to_the_first_that_fails(desk, capsys):
    assert run(desk, b"const a = 1\r\nfunction f() {\n  return a\n}\nf() + 1\n") is True
    assert capsys.readouterr().out == "2\n"
    failed = run(desk, b"a\nthrow new TypeError('x')\nprint('never')")
    assert failed.status == "guest_error"
    assert "never" not in capsys.readouterr().out
    assert run(desk, b".bogus\n1") is False
    assert run(desk, b"a\n.quit\nnope") is True
    with pytest.raises(ConfigurationError):
        run(desk, b"'\xff'")


def test_a_line_that_runs_away_leaves_what_was_there(ws, capsys):
    from nocturn import Limits

    desk = Desk(ws, mode="strict", limits=Limits(wall_seconds=0.3))
    assert run(desk, b"const a = 1\n").__class__ is bool
    assert run(desk, b"for (;;);").rolled_back
    assert run(desk, b"a") is True
    assert capsys.readouterr().out == "1\n"
    assert desk.kept == ["const a = 1", "a"]


def test_ctrl_c_when_a_line_has_just_ended_ends_what_is_piped_in_and_not_the_line(
    desk, capsys, monkeypatch
):
    real = desk.session.eval

    def late(*given, **named):
        raise RunInterrupted(real(*given, **named))

    monkeypatch.setattr(desk.session, "eval", late)
    with pytest.raises(RunInterrupted):
        run(desk, b"var ended = 6 * 7; ended\n0\n")
    assert capsys.readouterr().out.splitlines() == ["42"]
    assert real("ended").value == 42


def test_what_hides_in_a_pasted_line_is_shown_and_the_cursor_stays_where_it_is():
    text = "a\u202eb\tc\x1b"
    given = TransformationInput(None, None, 0, lambda at: at, [("", text)], 80, 24)
    made = HiddenShown().apply_transformation(given)
    assert "".join(fragment[1] for fragment in made.fragments) == "a\\u{202e}b\tc\\x1b"
    places = [made.source_to_display(at) for at in range(len(text) + 1)]
    assert places == [0, 1, 9, 10, 11, 12, 16]
    assert [made.display_to_source(at) for at in places] == list(range(len(text) + 1))
    assert made.display_to_source(4) == 1
