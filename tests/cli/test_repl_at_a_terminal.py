"""`nocturn repl` as a person has it: at a real terminal, with a real session behind it."""

import re
import sys
import termios

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="terminals are POSIX's")

ASKING = """
from nocturn import Workspace
from nocturn.guard.approver import TerminalApprover
from nocturn.repl.desk import Desk
from nocturn.repl.prompt import converse
with Workspace("ws", approver=TerminalApprover()) as ws:
    converse(Desk(ws, mode="guarded", agent="bob", barred=True))
print("left")
"""
WRITE = "console.log('Answer [n]: '); nocturn.memory.write('a.md', 's', '\\u202enever sent').path\r"
READY = "\x1b[?2004h"  # that a paste is told from typing: what is typed now is the prompt's
CODES = re.compile(r"\x1b\[[?\d;]*[A-Za-z]")
LINES = 500


@pytest.fixture
def environment(environment):
    """A terminal that answers no questions and has one colour."""
    return environment | {"PROMPT_TOOLKIT_NO_CPR": "1", "PROMPT_TOOLKIT_COLOR_DEPTH": "DEPTH_1_BIT"}


@pytest.fixture
def begin(terminal):
    def begun(*command):
        shell = terminal(*command)
        shell.wait_for(READY)
        return shell

    return begun


def enter(shell, typed, words):
    """Types something, and gives what is shown up to some words, without the prompt's colours."""
    shell.shown = ""
    shell.type(typed)
    return CODES.sub("", shell.wait_for(words))


def run(shell, typed, words):
    """Enters something; waits for some words, and for the prompt behind them."""
    enter(shell, f"{typed}\r", words)
    while READY not in shell.shown.rpartition(words)[2]:
        assert shell._read()
    return CODES.sub("", shell.shown)


def leave(shell):
    shell.type("\x04")
    assert shell.end() == 0


def test_a_session_is_typed_completed_interrupted_and_left(begin, command, tmp_path):
    shell = begin(*command, "repl")
    run(shell, "const people = [{name: 'Lina', 'x y': 1}]", "\r\n")
    enter(shell, "people[0].na\t", "name")
    run(shell, "", "= 'Lina'\r\n")
    enter(shell, "function f(a) {\r", "… ")
    enter(shell, "return a + 1\r", "… ")
    run(shell, "}", "\r\n")
    run(shell, "f(41)", "= 42\r\n")
    enter(shell, "console.log('begun'); for (;;);\r", "│ begun\r\n")
    shell.type("\x03")
    shell.wait_for("cancelled")
    shell.wait_for(READY)
    enter(shell, "nonsense(", "nonsense(")
    enter(shell, "\x03", READY)
    run(shell, "f(1)", "= 2\r\n")
    shown = run(shell, "nocturn.memory.write('a.md', 's', 'c').path", "= 'a.md'\r\n")
    assert re.search(r"\n· memory_write write a\.md allow 24 B \d+\.\d ms\r\n", shown)
    shown = run(shell, "people[0].name()", "│     | ")
    assert "│   1 | people[0].name()\r\n│     | " in shown
    run(shell, ".undo", "│ a.md: in the trash\r\n")
    leave(shell)
    assert "nonsense" not in (tmp_path / "ws/.nocturn/repl_history").read_text()


def test_a_question_is_asked_in_place_and_ctrl_c_is_a_no(begin, tmp_path):
    shell = begin(sys.executable, "-c", ASKING)
    shown = enter(shell, WRITE, "[n] no\r\nAnswer [n]: ")
    assert "│ Answer [n]: \r\n" in shown  # what the guest has printed
    assert "\r\n│ \\u{202e}never sent\r\n" in shown
    enter(shell, "\x03", "declined")
    shell.wait_for(READY)
    assert not (tmp_path / "ws/memory").exists()
    enter(shell, WRITE, "[n] no\r\nAnswer [n]: ")
    enter(shell, "1\n", "= 'a.md'\r\n")
    shell.wait_for(READY)
    run(shell, ".show a.md", "│ \\u{202e}never sent\r\n")
    leave(shell)
    assert shell.shown.endswith("left\r\n")


def test_a_paste_arrives_whole_and_much_output_is_shown_in_rows_with_a_bar(begin, command):
    shell = begin(*command, "repl")
    pasted = "\n".join(["let n = 0", *["n += 1 // a row"] * (LINES - 2), "n"])
    shell.type(f"\x1b[200~{pasted}\x1b[201~")
    run(shell, "", f"= {LINES - 2}\r\n")
    termios.tcsetwinsize(shell.master, (30, 60))
    shown = run(shell, "print('y'.repeat(1e6)); print('\\x1b[31mred\\u202e'); 7", "= 7\r\n")
    rows = re.findall("│ [^\r\n]*", shown)
    assert sum(each.count("y") for each in rows) == 1_000_000
    assert {len(each) for each in rows[:-2]} == {59}
    assert rows[-1] == "│ \\x1b[31mred\\u{202e}"
    enter(shell, "\x1b[200~'\u202egone\x1b[201~", "\\u{202e}gone")
    run(shell, "'", "= '\\u{202e}gone'\r\n")
    assert "\u202e" not in shell.shown
    leave(shell)


def test_a_script_leaves_its_session_open(begin, command, tmp_path):
    (tmp_path / "s.js").write_text("const a = nocturn.args[0]; print('ran')")
    shell = begin(*command, "run", "-i", "s.js", "x")
    assert "│ ran\r\n" in shell.shown
    run(shell, "a + a", "= 'xx'\r\n")
    leave(shell)
