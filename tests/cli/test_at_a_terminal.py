"""The command line and a question at a real terminal."""

import os
import re
import signal
import sys
import termios

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="terminals are POSIX's")

ASK = """
import sys
from nocturn import Workspace
from nocturn.guard.approver import TerminalApprover
source = "console.log('begun'); nocturn.memory.write('people/lina.md', 'a daughter', 'Likes cats.')"
with Workspace("ws", approver=TerminalApprover()) as ws:
    try:
        result = ws.run(source, mode="guarded", agent="bob")
    except KeyboardInterrupt as interrupt:
        result = interrupt.result
print("ended:", result.status, result.error and result.error.detail, "end")
"""


@pytest.fixture
def ask(terminal):
    def begin():
        asking = terminal(sys.executable, "-c", ASK)
        asking.wait_for("Answer [n]: ")
        return asking

    return begin


def test_a_run_at_a_terminal_is_watched(terminal, command, tmp_path):
    shell = terminal(*command, "eval", "nocturn.memory.write('a.md', 's', 'c').path")
    assert shell.end() == 0
    assert re.fullmatch(
        r"· memory_write write a\.md allow 24 B \d+\.\d ms\r\na\.md\r\n"
        r"nocturn: nocturn undo [0-9a-f]{8} takes back what it changed\r\n",
        shell.shown,
    )
    assert (tmp_path / "ws/memory/a.md").exists()


def test_a_run_at_a_terminal_may_be_strict(terminal, command, tmp_path):
    shell = terminal(*command, "eval", "--strict", "nocturn.memory.write('a.md', 's', 'c')")
    assert shell.end() == 3
    assert not (tmp_path / "ws").exists()


def test_no_escape_reaches_a_terminal(terminal, command):
    shell = terminal(*command, "eval", r"console.log('\x1b[31mred\x1b]0;t\x07'); throw '\x1b[2J'")
    assert shell.end() == 1
    assert "\x1b" not in shell.shown
    assert "\\x1b[31mred" in shell.shown


def test_ctrl_c_at_a_terminal_is_130(terminal, command):
    shell = terminal(*command, "eval", "console.log('begun'); for (;;);")
    shell.wait_for("begun")
    shell.type("\x03")
    assert shell.end() == 130
    assert "Traceback" not in shell.shown


@pytest.mark.parametrize("answer", ["1", "once", "3", "always"])
def test_a_yes_is_typed_by_number_or_by_word(ask, tmp_path, answer):
    asking = ask()
    assert "memory write" in asking.shown
    assert "people/lina.md" in asking.shown
    assert "Likes cats." in asking.shown
    asking.type(answer + "\n")
    asking.wait_for("ended: ok None end")
    assert asking.end() == 0
    assert (tmp_path / "ws/memory/people/lina.md").exists()
    assert (tmp_path / "ws/grants.json").exists() == (answer in ("3", "always"))


@pytest.mark.parametrize("answer", ["\n", "n\n", "y\n", "9\n", "\x03", "\x04"])
def test_anything_else_is_a_no(ask, tmp_path, answer):
    asking = ask()
    asking.type(answer)
    asking.wait_for("ended: guest_error {'reason': 'declined'} end")
    assert asking.end() == 0
    assert not (tmp_path / "ws").exists()


def test_a_signal_while_a_question_is_open_ends_the_run_and_leaves_a_sane_terminal(ask, tmp_path):
    asking = ask()
    assert not termios.tcgetattr(asking.master)[3] & termios.ISIG
    os.kill(asking.process.pid, signal.SIGINT)
    asking.wait_for("ended: cancelled")
    asking.wait_for("end\r\n")
    asking.process.wait(60)
    assert termios.tcgetattr(asking.master)[3] & termios.ISIG
    assert not (tmp_path / "ws").exists()
