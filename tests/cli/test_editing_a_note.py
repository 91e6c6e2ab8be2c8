"""`nocturn memory edit`: a person's editor, the guarded road, and no text that is lost."""

import os
import re
import shlex
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="terminals are POSIX's")

NOTE = "---\ndescription: old\ntags: [a]\n---\nLikes cats."
TOKEN = "ghp_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1z2A"
EDITOR = """
import sys
path = sys.argv[-1]
text = open(path, newline="").read()
print("opened:", ascii(text))
{act}
"""


@pytest.fixture
def memory(tmp_path):
    folder = tmp_path / "ws/memory"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text(NOTE)
    return folder


@pytest.fixture
def edit(terminal, command, environment, tmp_path):
    """Edits a note with an editor that does ``act``; gives the status and what was shown."""

    def edit(path, act, *words):
        editor = tmp_path / "editor.py"
        editor.write_text(EDITOR.format(act=act))
        environment.pop("VISUAL", None)
        environment["EDITOR"] = shlex.join([sys.executable, "-I", str(editor)])
        environment["TMPDIR"] = str(tmp_path)
        at = terminal(*command, "memory", "edit", path, *words)
        status = at.end()
        return status, at.shown

    return edit


def save(old, new):
    return f"open(path, 'w', newline='').write(text.replace({old!r}, {new!r}))"


def test_a_note_is_opened_as_it_is_and_becomes_what_was_saved(edit, memory):
    (memory / "a.md").write_text(NOTE.replace("cats", TOKEN))
    status, shown = edit("a.md", f"text = text.replace({TOKEN!r}, 'cats')\n{save('old', 'new')}")
    assert status == 0, shown
    assert "line 5 holds" in shown  # it is the person's own, and can only be saved without it
    assert TOKEN in shown
    assert (memory / "a.md").read_text() == NOTE.replace("old", "new")


def test_a_text_that_is_in_conflict_is_kept_and_goes_on_from_there(edit, memory, nocturn_here):
    by_hand = f"open({str(memory / 'a.md')!r}, 'w').write('by hand')"
    status, shown = edit("a.md", f"{by_hand}; {save('cats', 'dogs')}")
    assert (status, "CONFLICT" in shown) == (1, True)
    kept = re.search(r"your text is in (\S+\.md)\. To go on: nocturn memory edit a\.md", shown)[1]
    assert os.stat(kept).st_mode & 0o777 == 0o600
    assert (memory / "a.md").read_text() == "by hand"
    assert nocturn_here("memory", "edit", "a.md", "--watched", "--from", kept).returncode == 0
    assert (memory / "a.md").read_text() == NOTE.replace("cats", "dogs")


@pytest.mark.parametrize(
    ("text", "code", "status"),
    [
        (NOTE.replace("old", "a: b"), "BAD_ARGUMENTS", 1),
        (NOTE.replace("cats", TOKEN), "LEAK_BLOCKED", 3),
        (NOTE + "x" * 70_000, "TOO_LARGE", 1),
    ],
)
def test_a_text_that_cannot_be_written_stays_where_it_is(
    nocturn_here, memory, tmp_path, text, code, status
):
    (tmp_path / "mine.md").write_text(text)
    refused = nocturn_here("memory", "edit", "a.md", "--watched", "--from", "mine.md")
    assert refused.returncode == status
    assert code in refused.stderr
    assert "--from mine.md" in refused.stderr
    assert (memory / "a.md").read_text() == NOTE
    assert (tmp_path / "mine.md").read_text() == text


def test_a_new_note_is_summed_up_by_its_first_line(nocturn_here, memory, tmp_path):
    (tmp_path / "mine.md").write_text("# Lina, 7\nLikes cats.\n")
    words = ("memory", "edit", "people/lina.md", "--watched", "--from", "mine.md")
    assert nocturn_here(*words).returncode == 0
    written = (memory / "people/lina.md").read_text()
    assert written == "---\ndescription: Lina, 7\n---\n# Lina, 7\nLikes cats.\n"


def test_without_a_terminal_the_way_out_is_said(start, memory):
    process = start("memory", "edit", "a.md")
    _, said = process.communicate()
    assert process.returncode == 2
    assert "--from" in said
    assert (memory / "a.md").read_text() == NOTE
