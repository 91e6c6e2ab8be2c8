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
READY = "Ctrl-D leaves\r\n"
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
    """Types something and gives all that is shown up to some words."""
    shell.shown = ""
    shell.type(typed)
    return shell.wait_for(words)


def test_a_session_is_typed_completed_interrupted_and_left(begin, command, tmp_path):
    shell = begin(*command, "repl")
    enter(shell, "const people = [{name: 'Lina', 'x y': 1}]\r", "\r\n")
    enter(shell, "people[0].na\t", "name")
    enter(shell, "\r", "= 'Lina'\r\n")
    enter(shell, "function f(a) {\r", "… ")
    enter(shell, "return a + 1\r", "… ")
    enter(shell, "}\rf(41)\r", "= 42\r\n")
    enter(shell, "console.log('begun'); for (;;);\r", "│ begun\r\n")
    assert "cancelled" in enter(shell, "\x03", "stay written")
    enter(shell, "nonsense(\x03f(1)\r", "= 2\r\n")
    shown = enter(shell, "nocturn.memory.write('a.md', 's', 'c').path\r", "= 'a.md'\r\n")
    assert re.search(r"\r\n· memory_write write a\.md allow 24 B \d+\.\d ms\r\n", shown)
    enter(shell, "people[0].name()\r", "│   1 | people[0].name()\r\n│     | ")
    enter(shell, ".undo\r", "│ a.md: in the trash\r\n")
    shell.type("\x04")
    assert shell.end() == 0
    assert "nonsense" not in (tmp_path / "ws/.nocturn/repl_history").read_text()


def test_a_question_is_asked_in_place_and_ctrl_c_is_a_no(begin, tmp_path):
    shell = begin(sys.executable, "-c", ASKING)
    shown = enter(shell, WRITE, "[n] no\r\nAnswer [n]: ")
    assert "\r\n│ Answer [n]: \r\n" in shown  # what the guest has printed
    assert "\r\n│ \\u{202e}never sent\r\n" in shown
    enter(shell, "\x03", "declined")
    assert not (tmp_path / "ws").exists()
    enter(shell, WRITE, "[n] no\r\nAnswer [n]: ")
    enter(shell, "1\n", "= 'a.md'\r\n")
    enter(shell, ".show a.md\r", "│ \\u{202e}never sent\r\n")
    shell.type(".quit\r")
    shell.wait_for("left")
    assert shell.end() == 0
    assert "\u202e" not in shell.shown


def test_a_paste_arrives_whole_and_much_output_is_shown_in_rows_with_a_bar(begin, command):
    shell = begin(*command, "repl")
    pasted = "\n".join(["let n = 0", *["n += 1 // a row"] * (LINES - 2), "n"])
    shell.type(f"\x1b[200~{pasted}\x1b[201~")
    enter(shell, "\r", f"= {LINES - 2}\r\n")
    termios.tcsetwinsize(shell.master, (30, 60))
    shown = enter(shell, "print('y'.repeat(1e6)); print('\\x1b[31mred\\u202e'); 7\r", "= 7\r\n")
    rows = [each for each in shown.split("\r\n") if each.startswith("│")]
    assert sum(each.count("y") for each in rows) == 1_000_000
    assert {len(each) for each in rows[:-2]} == {59}
    assert rows[-1] == "│ \\x1b[31mred\\u{202e}"
    enter(shell, "\x1b[200~'\u202egone\x1b[201~", "\\u{202e}gone")
    enter(shell, "'\r", "\\u{202e}")
    assert "\u202e" not in shell.shown
    shell.type("\x04")
    assert shell.end() == 0


def test_a_script_leaves_its_session_open(begin, command, tmp_path):
    (tmp_path / "s.js").write_text("const a = nocturn.args[0]; print('ran')")
    shell = begin(*command, "run", "-i", "s.js", "x")
    assert "│ ran\r\n" in shell.shown
    enter(shell, "a + a\r", "= 'xx'\r\n")
    shell.type("\x04")
    assert shell.end() == 0
