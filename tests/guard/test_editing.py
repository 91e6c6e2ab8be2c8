from __future__ import annotations

import os
import sys

import pytest

pytest.importorskip("termios", reason="a real terminal needs termios")

from nocturn.guard.editing import edit
from nocturn.guard.terminal import Terminal

EDITOR = "import os, sys; path = sys.argv[-1]; text = open(path, newline='').read(); "


@pytest.fixture
def edited(monkeypatch):
    """Edits a text at a real terminal with an editor that does ``act``."""
    person, program = os.openpty()

    def run(text, act, **variables):
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", f'"{sys.executable}" -I -c "{EDITOR}{act}"')
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return edit(Terminal(program, program), text)[0]

    yield run
    os.close(person)
    os.close(program)


@pytest.mark.parametrize("mine", ["", "mine", "mine\n", "\n\n mine \n\n", "d\u00f6gs\r\n\u202e\0"])
def test_what_was_saved_is_the_text_to_the_byte(edited, mine):
    assert edited("text", f"open(path, 'wb').write({mine.encode()!r})") == mine


@pytest.mark.parametrize("text", ["", "text", "a\r\nb", "\ufeffa\n", "a\x1b[2J"])
def test_the_editor_is_given_the_text_to_the_byte(edited, text):
    act = f"assert text.encode() == {text.encode()!r}; open(path, 'w').write('seen')"
    assert edited(text, act) == "seen"


def test_an_editor_may_put_another_file_in_its_place(edited):
    act = "open(path + '.new', 'w').write('mine'); os.replace(path + '.new', path)"
    assert edited("text", act) == "mine"


@pytest.mark.parametrize(
    "act",
    [
        "pass",
        "open(path, 'w').write(text + '\\n')",
        "open(path, 'w').write('mine'); sys.exit(1)",
        "open(path, 'wb').write(b'\\xff')",
        "open(path, 'w').write('x' * 5_000_000)",
        "os.unlink(path)",
        "os.unlink(path); os.symlink('/etc/passwd', path)",
        "os.unlink(path); os.mkfifo(path)",
        "os.unlink(path); os.mkdir(path)",
    ],
)
def test_what_is_no_other_text_is_none(edited, act):
    assert edited("text", act) is None


@pytest.mark.parametrize("name", ["/nowhere/editor", "a 'quote that is open"])
def test_an_editor_that_cannot_run_changes_nothing(edited, name, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))  # nor is there a vi
    assert edited("text", "pass", EDITOR=name) is None
