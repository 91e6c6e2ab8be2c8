"""A person at a real terminal sees all of a text, writes another one, and holds the guest back."""

import os
import re
import shlex
import shutil
import stat
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="terminals are POSIX's")

ASK = """
import sys
from nocturn import Workspace
from nocturn.guard.approver import TerminalApprover
source = open(sys.argv[1]).read()
with Workspace("ws", approver=TerminalApprover()) as ws:
    result = ws.run(
        source, mode="guarded", agent="bob", on_console=lambda line: print("guest:", line.text)
    )
print("ended:", result.status, result.error and result.error.detail, "end")
"""
SOURCE = (
    "console.log('before');"
    "nocturn.memory.write('people/lina.md', 'a daughter', CONTENT);"
    "console.log('after')"
)
EDITOR = """
import os, stat, sys
path = sys.argv[-1]
with open({seen!r}, "w") as seen:
    for each in (path, os.path.dirname(path)):
        seen.write(each + " " + oct(stat.S_IMODE(os.stat(each).st_mode)) + "\\n")
text = open(path, newline="").read()
open(path + "~", "w").write(text)  # as editors do
{act}
"""


@pytest.fixture
def ask(terminal, environment, tmp_path):
    """Starts a run that asks, with an editor that does ``act`` to ``text`` at ``path``."""

    def begin(content="Likes cats.", act="", **variables):
        editor = tmp_path / "editor.py"
        editor.write_text(EDITOR.format(seen=str(tmp_path / "seen"), act=act))
        script = tmp_path / "remember.js"
        script.write_text(SOURCE.replace("CONTENT", repr(content)))
        environment.pop("VISUAL", None)
        environment["EDITOR"] = shlex.join([sys.executable, "-I", str(editor)])
        environment.update(variables)
        asking = terminal(sys.executable, "-c", ASK, script)
        asking.wait_for("Answer [n]: ")
        return asking

    return begin


def again(asking, typed, words="Answer [n]: "):
    """Types, and returns what the terminal shows from then on up to ``words``."""
    asking.shown = ""
    asking.type(typed)
    asking.wait_for(words)
    return asking.shown


def note(tmp_path):
    return (tmp_path / "ws/memory/people/lina.md").read_bytes().decode()


def test_an_edited_text_is_asked_about_again_and_lands_exactly(ask, tmp_path):
    asking = ask(act="open(path, 'w').write(text.replace('cats', 'd\\u00f6gs') + '\\n  \\n\\nx')")
    shown = again(asking, "e\n")
    assert "│ Likes dögs." in shown
    assert "as you have written it" in shown
    assert not (tmp_path / "ws").exists()
    again(asking, "1\n", "ended: ok None end")
    assert asking.end() == 0
    assert note(tmp_path) == "---\ndescription: a daughter\n---\nLikes dögs.\n  \n\nx"


def test_the_text_lies_in_a_private_file_outside_of_the_workspace_that_is_gone_after(ask, tmp_path):
    asking = ask(act="open(path, 'w').write('mine')")
    again(asking, "e\n")
    file, folder = (line.split() for line in (tmp_path / "seen").read_text().splitlines())
    assert (file[1], folder[1]) == (oct(0o600), oct(0o700))
    assert str(tmp_path / "ws") not in file[0]
    assert not os.path.exists(folder[0])
    again(asking, "n\n", "'declined'")


def test_an_editor_that_is_not_there_is_said(ask):
    asking = ask(EDITOR="/nowhere/editor")
    assert "nothing was changed" in again(asking, "e\n")
    again(asking, "n\n", "'declined'")


def test_a_text_over_the_cap_is_told_and_can_be_mended(ask, tmp_path):
    act = "open(path, 'w').write('x' * 70_000 if text[0] == 'L' else 'short')"
    asking = ask(act=act)
    shown = again(asking, "e\n")
    assert "what you wrote was not taken" in shown
    assert "│ Likes cats." in shown
    again(asking, "e\n")
    again(asking, "1\n", "ended: ok")
    asking.end()
    assert note(tmp_path).endswith("---\nshort")


def test_the_whole_text_is_shown_in_the_pager_with_nothing_hidden(ask):
    content = "".join(f"line {at}\n" for at in range(200)) + "\x1b[2J\u202eend"
    show = "import os,sys; t=sys.stdin.read(); print('lines', t.count('line '), ascii(t)[-200:])"
    show += "; print(os.environ.get('LESSSECURE'), 'LESSOPEN' in os.environ)"
    pager = shlex.join([sys.executable, "-I", "-c", show])
    asking = ask(content, PAGER=pager, LESSOPEN="|cat %s")
    assert "left out" in asking.shown
    shown = again(asking, "v\n")
    assert "lines 200" in shown
    assert "\x1b[2J" not in shown
    assert r"\\x1b[2J\\u{202e}end" in shown
    assert "1 False" in shown
    again(asking, "n\n", "'declined'")


@pytest.mark.skipif(not shutil.which("less"), reason="there is no less here")
def test_the_pager_is_less_where_none_is_named_and_ctrl_c_in_it_ends_nothing(ask):
    asking = ask("".join(f"line {at}\n" for at in range(200)), PAGER="")
    asking.shown = ""
    asking.type("v\n")
    asking.wait_for("line 20")
    asking.type("\x03")
    asking.type("q")
    asking.wait_for("Answer [n]: ")
    again(asking, "1\n", "ended: ok")


def test_the_guests_lines_come_before_the_question_or_after_the_answer(ask):
    asking = ask()
    assert "guest: before" in asking.shown
    assert "guest: after" not in asking.shown
    assert re.search(r"│ Likes cats\.", asking.shown)
    shown = again(asking, "1\n", "ended: ok")
    assert shown.index("1") < shown.index("guest: after")


def test_nothing_of_an_edit_is_left_in_the_temporary_folder(ask, tmp_path):
    place = tmp_path / "tmp"
    place.mkdir()
    asking = ask(act="open(path, 'w').write('mine')", TMPDIR=str(place))
    again(asking, "e\n")
    again(asking, "n\n", "'declined'")
    asking.end()
    assert str(place) in (tmp_path / "seen").read_text()
    assert list(place.iterdir()) == []
    assert stat.S_ISDIR(place.stat().st_mode)
