"""`nocturn memory purge` and `rescan`: asked for, done for good, and told."""

import json
import os

import pytest

VALUE = "kJ8$xQ2-zR7wLm4!pT"


@pytest.fixture
def nocturn(nocturn_here):
    """In this process, which is quicker; test_exit_statuses.py and others show one of its own."""
    return nocturn_here


def note(tmp_path, text, path="a.md"):
    file = tmp_path / "ws/memory" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def everything(tmp_path):
    found = [each for top in ("ws", "data") for each in (tmp_path / top).rglob("*")]
    names = [os.fsencode(each) for each in found]
    return b"\n".join([*names, *(each.read_bytes() for each in found if each.is_file())])


def test_a_note_goes_for_good_and_what_no_purge_reaches_is_told(nocturn_here, tmp_path):
    nocturn_here("memory", "write", "--watched", "people/lina.md", "daughter", "Likes cats.")
    done = nocturn_here("memory", "purge", "people/lina.md", "--yes")
    assert done.returncode == 0
    assert "notes    1" in done.stdout
    assert "backups and exports" in done.stdout
    left = everything(tmp_path)
    assert not any(each in left for each in (b"lina", b"daughter", b"cats"))
    assert nocturn_here("log", "--verify").returncode == 0
    log = nocturn_here("log").stdout
    assert "a note was purged" in log
    assert "write [PURGED]" in log
    again = nocturn_here("memory", "purge", "people/lina.md", "--yes", "--json")
    assert json.loads(again.stdout)["places"] == {}


def test_a_value_comes_on_stdin_and_an_argument_is_never_echoed(nocturn, tmp_path):
    file = note(tmp_path, f"it is {VALUE}\n")
    done = nocturn("memory", "purge", "--value", "--yes", stdin=f"{VALUE}\n")
    assert (done.returncode, file.read_text()) == (0, "it is [REDACTED]\n")
    assert VALUE not in done.stdout + done.stderr
    typed = nocturn("memory", "purge", VALUE, "--value", "--yes")
    assert typed.returncode == 2
    assert VALUE not in typed.stdout + typed.stderr


def test_nobody_at_a_terminal_can_say_yes_and_then_nothing_is_purged(nocturn_here, tmp_path):
    file = note(tmp_path, "mine")
    for words in (["a.md"], [], ["a.md", "--entry", "TOKEN"]):
        assert nocturn_here("memory", "purge", *words).returncode == 2
    assert file.read_text() == "mine"
    assert not (tmp_path / "ws/.nocturn").exists()


def test_at_a_terminal_a_person_is_asked_and_the_value_is_not_shown(terminal, command, tmp_path):
    file = note(tmp_path, f"it is {VALUE}\n")
    for answer, text in (("n", f"it is {VALUE}\n"), ("y", "it is [REDACTED]\n")):
        person = terminal(*command, "memory", "purge", "--value")
        person.wait_for("Value (not shown): ")
        person.type(f"{VALUE}\n")
        person.wait_for("[y/N] ")
        person.type(f"{answer}\n")
        assert person.end() == (answer == "n")
        assert VALUE not in person.shown
        assert file.read_text() == text


def test_rescan_finds_what_has_become_a_secret_and_says_so_by_its_exit_status(nocturn, tmp_path):
    note(tmp_path, f"one\n{VALUE}\n", "people/l\x1bina.md")
    assert nocturn("memory", "rescan").returncode == 0
    nocturn("vault", "set", "TOKEN", stdin=VALUE)
    found = nocturn("memory", "rescan")
    assert found.returncode == 1
    assert found.stdout == "note  people/l\\x1bina.md  line 2  holds TOKEN\n"
    (row,) = json.loads(nocturn("memory", "rescan", "--json").stdout)
    assert (row["where"], row["secret"], row["line"]) == ("note", "TOKEN", 2)
    assert nocturn("memory", "purge", "--entry", "TOKEN", "--yes").returncode == 0
    assert nocturn("memory", "rescan").returncode == 0
