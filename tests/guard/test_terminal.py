from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import threading

import pytest

pytest.importorskip("termios", reason="a real terminal needs termios")

import select
import termios

from nocturn.effects import Effect, Mode, Preview, Recall
from nocturn.guard.approver import TerminalApprover
from nocturn.guard.page import PROMPT
from nocturn.guard.ports import NO_ANSWER
from nocturn.guard.question import Question, options_for

EFFECT = Effect("memory", "write", "people/lina.md")


def question_about(after="new text"):
    return Question(
        tool="memory_write",
        effects=(EFFECT,),
        agent="lina-bot",
        named=True,
        mode=Mode.GUARDED,
        script="remember.js",
        run="run-1",
        preview=Preview(after=after),
        size_bytes=len(after),
        digest="0" * 64,
        options=options_for({EFFECT: Recall.ALWAYS}, "lina-bot", named=True),
    )


class Terminal:
    """A real pseudo-terminal: the approver has one end, the person the other."""

    def __init__(self):
        self.person, program = os.openpty()
        self.reader = open(program, encoding="utf-8")  # noqa: SIM115 - closed below
        self.writer = open(os.dup(program), "w", encoding="utf-8")  # noqa: SIM115 - the same
        self.seen = ""

    def type(self, text):
        os.write(self.person, text.encode())

    def read_until(self, words):
        while words not in self.seen:
            assert select.select([self.person], [], [], 30)[0], f"not shown: {self.seen!r}"
            self.seen += os.read(self.person, 65_536).decode("utf-8", "replace")

    def hang_up(self):
        if self.person >= 0:
            os.close(self.person)
            self.person = -1

    def close(self):
        self.hang_up()
        self.reader.close()
        with contextlib.suppress(OSError):  # it may hold words for a person who hung up
            self.writer.close()


@pytest.fixture
def terminal():
    each = Terminal()
    yield each
    each.close()


def ask(terminal, act, seconds=60.0, question=None):
    """Asks, does ``act`` once the prompt is there, and returns the answer."""
    question = question or question_about()
    approver = TerminalApprover(terminal.reader, terminal.writer, timeout_seconds=seconds)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(approver.ask(question)))
    thread.start()
    terminal.read_until(PROMPT)
    act()
    thread.join()
    return answers[0]


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("1\n", "once"),
        (" 2 \n", "session"),
        ("3\n", "always"),
        ("4\n", "widen"),
        ("session\n", "session"),
    ],
)
def test_a_number_or_a_word_on_offer_is_the_answer(terminal, typed, value):
    answer = ask(terminal, lambda: terminal.type(typed))
    assert answer.value == value
    assert answer in question_about().options


@pytest.mark.parametrize(
    "typed", ["\n", "n\n", "no\n", "0\n", "5\n", "y\n", "1 2\n", "²\n", "11\n"]
)
def test_everything_else_is_a_no(terminal, typed):
    assert ask(terminal, lambda: terminal.type(typed)) is None


def test_the_end_of_file_is_a_no(terminal):
    assert ask(terminal, lambda: terminal.type("\x04")) is None


def test_ctrl_c_is_a_no_even_behind_a_yes(terminal):
    assert ask(terminal, lambda: terminal.type("1\x03")) is None


def test_a_terminal_that_is_closed_is_a_no(terminal):
    assert ask(terminal, terminal.hang_up) is None


def test_nobody_there_is_no_answer_and_no_no(terminal):
    assert ask(terminal, lambda: None, seconds=0.05) is NO_ANSWER
    terminal.read_until("Nobody answered in 0.05 s")


@pytest.mark.parametrize("typed", ["1\n", "1"])
def test_what_was_typed_before_the_question_answers_nothing(terminal, typed):
    terminal.type(typed)
    terminal.read_until(typed.replace("\n", "\r\n"))  # the echo: the terminal has it now
    assert ask(terminal, lambda: terminal.type("\n")) is None


def test_the_terminal_is_left_as_it_was(terminal):
    before = termios.tcgetattr(terminal.reader.fileno())
    ask(terminal, lambda: terminal.type("1\x03"))
    assert termios.tcgetattr(terminal.reader.fileno()) == before


def test_the_whole_page_is_shown_before_the_prompt(terminal):
    ask(terminal, lambda: terminal.type("\n"), question=question_about("line one\nline two"))
    assert "│ people/lina.md" in terminal.seen
    assert "│ line one\r\n│ line two\r\n" in terminal.seen
    assert terminal.seen.index("[n] no") < terminal.seen.index(PROMPT)


def test_streams_that_are_no_terminal_can_answer_too(tmp_path):
    answers = tmp_path / "answers"
    answers.write_text("2\n")
    shown = io.StringIO()
    with answers.open() as reader:
        answer = TerminalApprover(reader, shown).ask(question_about())
    assert answer.value == "session"
    assert shown.getvalue().endswith(PROMPT)


CHILD = """
import os, sys
os.open(sys.argv[1], os.O_RDWR)  # a session's leader gets its terminal by opening one
from nocturn.effects import Effect, Mode, Preview
from nocturn.errors import NocturnError
from nocturn.guard.approver import TerminalApprover
from nocturn.guard.caller import Caller
from nocturn.guard.gate import Gate
from nocturn.guard.policy import DEFAULT

class Nothing:
    def load(self): return ()
    def pause(self): pass
    resume = pause

caller = Caller("lina-bot", True, Mode.GUARDED, "r", None, "x.js", Nothing(), lambda: True)
gate = Gate(DEFAULT, Nothing(), TerminalApprover(), str)
effects = (Effect("memory", "write", "people/lina.md"),)
try:
    print(gate.clear(caller, "memory_write", effects, b"x", Preview(after="x")).ruling)
except NocturnError as error:
    print(error.detail["reason"])
"""


@pytest.mark.parametrize(("typed", "outcome"), [("2\n", "session"), ("\x03", "declined")])
def test_a_program_whose_streams_are_redirected_asks_at_its_terminal(terminal, typed, outcome):
    command = [sys.executable, "-c", CHILD, os.ttyname(terminal.reader.fileno())]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    ) as program:
        terminal.read_until(PROMPT)
        terminal.type(typed)
        said, _ = program.communicate(timeout=60)
    assert said.strip() == outcome
    assert program.returncode == 0
