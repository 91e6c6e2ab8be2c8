"""`nocturn memory …` and `nocturn tools`: a person's way, by a script's road."""

import json
import re

import pytest


@pytest.fixture
def nocturn(nocturn_here):
    return nocturn_here


def test_a_note_is_written_listed_shown_and_removed(nocturn, tmp_path):
    wrote = nocturn("memory", "write", "--watched", "people/lina.md", "daughter", "Likes cats.")
    assert (wrote.returncode, wrote.stdout) == (0, "people/lina.md: 41 bytes\n")
    from_stdin = nocturn("memory", "write", "--watched", "--json", "a.md", "s", stdin="é\n")
    assert json.loads(from_stdin.stdout) == {"path": "a.md", "summary": "s", "bytesWritten": 26}

    listed = nocturn("memory", "list").stdout.splitlines()
    assert re.fullmatch(r"a\.md            26  \S+Z  s", listed[0])
    assert re.fullmatch(r"people/lina\.md  41  \S+Z  daughter", listed[1])
    rows = json.loads(nocturn("memory", "list", "--json").stdout)
    assert [row["path"] for row in rows] == ["a.md", "people/lina.md"]

    assert nocturn("memory", "show", "people/lina.md").stdout == (
        "---\ndescription: daughter\n---\nLikes cats.\n"
    )
    shown = json.loads(nocturn("memory", "show", "--json", "a.md").stdout)
    assert shown["text"] == "---\ndescription: s\n---\né\n"
    assert shown["version"] == rows[0]["version"]
    assert nocturn("memory", "catalog").stdout == "a.md — s\npeople/lina.md — daughter\n"
    assert nocturn("memory", "catalog", "--stats").stdout.splitlines() == [
        "used          38 of 2,048 bytes, 2,010 left",
        "notes listed  2",
        "not listed    0, 0 of them too long a line",
        "unreadable    0",
    ]

    assert nocturn("memory", "search", '"likes cats"').stdout == (
        "people/lina.md — daughter\n    Likes cats.\n"
    )
    assert json.loads(nocturn("memory", "search", "--json", "dogs").stdout) == []

    assert nocturn("memory", "rm", "a.md").returncode == 3
    assert (tmp_path / "ws/memory/a.md").exists()
    assert nocturn("memory", "rm", "--watched", "a.md").stdout == "a.md: in the trash\n"
    assert not (tmp_path / "ws/memory/a.md").exists()


def test_looking_creates_nothing_and_prints_nothing_where_there_is_nothing(nocturn, tmp_path):
    for words in (["memory", "list"], ["memory", "catalog"]):
        done = nocturn(*words)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert nocturn("memory", "list", "--json").stdout == "[]\n"
    assert not (tmp_path / "ws").exists()


def test_a_list_goes_over_its_pages(nocturn, tmp_path):
    memory = tmp_path / "ws/memory"
    memory.mkdir(parents=True)
    for number in range(201):
        (memory / f"n{number:03}.md").write_text("x")
    assert len(nocturn("memory", "list").stdout.splitlines()) == 201


def test_what_is_shown_is_redacted(nocturn, tmp_path):
    memory = tmp_path / "ws/memory"
    memory.mkdir(parents=True)
    (memory / "a.md").write_text("the word is hunter2-hunter2")
    for words in (["show", "--json", "a.md"], ["catalog"]):
        done = nocturn("memory", *words, "--secret-env", "PW", PW="hunter2-hunter2")
        assert "[REDACTED]" in done.stdout
        assert "hunter2" not in done.stdout


def test_content_that_is_not_utf8_is_refused(nocturn, tmp_path):
    done = nocturn("memory", "write", "--watched", "a.md", "s", stdin=b"caf\xe9")
    assert done.returncode == 2
    assert "UTF-8" in done.stderr
    assert not (tmp_path / "ws").exists()


def test_the_tools_are_listed(nocturn, tmp_path):
    rows = [line.split(None, 3) for line in nocturn("tools").stdout.splitlines()]
    assert [row[0] for row in rows] == [
        "memory_list",
        "memory_read",
        "memory_remove",
        "memory_stat",
        "memory_write",
        "memory_append",
        "memory_edit",
        "memory_move",
        "memory_search",
        "memory",
        "time_now",
    ]
    assert rows[4][1:3] == ["write", "memory"]
    told = json.loads(nocturn("tools", "--json").stdout)
    assert told[4]["effects"] == [{"kind": "memory", "verb": "write"}]
    assert told[4]["input"]["required"] == ["path", "summary", "content"]
    assert not (tmp_path / "ws").exists()


def test_without_a_command_the_help_is_shown(nocturn):
    for words in ([], ["memory"]):
        done = nocturn(*words)
        assert "Usage:" in done.stdout + done.stderr
        assert done.stderr.strip() != "nocturn:"


def test_a_dry_write_and_a_dry_removal_show_the_diff_and_change_nothing(nocturn, tmp_path):
    done = nocturn("memory", "write", "--watched", "--dry-run", "a.md", "s", "x\x1b[2Jy")
    assert done.returncode == 0
    assert "+++ b/a.md\n" in done.stdout
    assert "+x\\x1b[2Jy" in done.stdout
    assert not (tmp_path / "ws").exists()
    nocturn("memory", "write", "--watched", "a.md", "s", "c")
    done = nocturn("memory", "rm", "--watched", "--dry-run", "a.md")
    assert "--- a/a.md\n+++ /dev/null\n" in done.stdout
    assert (tmp_path / "ws/memory/a.md").exists()
    told = json.loads(nocturn("memory", "rm", "--watched", "--dry-run", "--json", "a.md").stdout)
    assert told["value"] == {"path": "a.md", "removed": True}
    assert told["would_write"][0]["path"] == "a.md"


def test_a_dry_write_that_nobody_would_allow_is_refused(nocturn, tmp_path):
    assert nocturn("memory", "write", "--dry-run", "a.md", "s", "c").returncode == 3
    assert not (tmp_path / "ws").exists()
