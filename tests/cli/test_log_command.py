"""``nocturn log`` through the real command line."""

from __future__ import annotations

import json

import pytest

SECRET = "kSJ3-9fjA_0sLq7"
WRITE = 'nocturn.memory.write("people/lina.md", "daughter", "likes dinosaurs");'


@pytest.fixture
def nocturn(nocturn_here):
    return nocturn_here


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "ws" / ".nocturn" / "journal.jsonl"


@pytest.fixture
def wrote(nocturn):
    """One watched write of the agent coder."""

    def write(code=WRITE, **more):
        return nocturn("eval", code, "--agent", "coder", "--watched", **more)

    assert write().returncode == 0
    return write


def test_a_call_is_one_line_with_who_what_and_how_it_ended(nocturn, wrote):
    wrote('try { nocturn.memory.read("none.md") } catch {}')
    done = nocturn("log")
    written, missing = done.stdout.splitlines()
    for word in ("coder", "memory_write", "write people/lina.md", "allow", " B", " ms"):
        assert word in written
    for word in ("coder", "memory_read", "NOT_FOUND"):
        assert word in missing
    assert "dinosaurs" not in done.stdout
    assert done.returncode == 0


@pytest.mark.usefixtures("wrote")
def test_only_what_was_asked_for_is_shown(nocturn):
    assert nocturn("memory", "write", "b.md", "s", "--watched", stdin="x").returncode == 0
    rows = [json.loads(line) for line in nocturn("log", "--json").stdout.splitlines()]
    assert {row["agent"] for row in rows} > {"coder"}
    coders = nocturn("log", "--agent", "coder", "--json").stdout.splitlines()
    assert [json.loads(line)["phase"] for line in coders] == ["intent", "outcome"]
    run = json.loads(coders[0])["run"]
    assert nocturn("log", "--run", run, "--json").stdout.splitlines() == coders
    assert len(nocturn("log", "-n", "1").stdout.splitlines()) == 1
    assert nocturn("log", "-n", "-1").returncode == 2


def test_a_row_tells_sizes_ruling_reason_and_a_hash_but_no_content(nocturn, wrote, journal):
    wrote('nocturn.memory.write("b.md", "s", "x")', NOCTURN_WORKSPACE=str(journal.parents[1]))
    refused = nocturn("eval", 'nocturn.memory.write("c.md", "s", "content")', "--agent", "coder")
    assert refused.returncode == 3
    rows = [json.loads(line) for line in nocturn("log", "--json").stdout.splitlines()]
    outcome, denied = rows[1], rows[-1]
    assert (outcome["ruling"], outcome["reason"], outcome["code"]) == ("allow", None, None)
    assert len(outcome["content"]) == 32
    assert outcome["content"] == rows[0]["content"] != denied["content"]
    assert (denied["ruling"], denied["reason"]) == ("deny", "unattended")
    assert {
        "n",
        "prev",
        "seal",
        "at",
        "run",
        "agent",
        "mode",
        "tool",
        "effects",
        "bytes",
        "ms",
    } <= {*denied}
    assert all(row["sealed"] for row in rows)


def test_a_leak_is_shown_to_the_person_by_its_name(nocturn, wrote):
    wrote(
        f'try {{ nocturn.memory.write("a.md", "s", "{SECRET}") }} catch {{}}',
        MY_TOKEN=SECRET,
    )
    blocked = nocturn(
        "eval",
        f'nocturn.memory.write("a.md", "s", "{SECRET}!")',
        "--secret-env",
        "MY_TOKEN",
        "--watched",
        MY_TOKEN=SECRET,
    )
    assert blocked.returncode == 3
    shown = nocturn("log").stdout
    assert "it carries the secret MY_TOKEN" in shown
    assert SECRET not in shown


def test_what_a_guest_named_cannot_disturb_the_terminal(nocturn, wrote):
    wrote('try { nocturn.call("\\u001b[2J\\u202e\\nxx", {}) } catch {}')
    shown = nocturn("log").stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert len(shown.splitlines()) == 2


@pytest.mark.usefixtures("wrote")
def test_a_whole_journal_verifies_and_a_changed_one_says_the_line(nocturn, journal):
    whole = nocturn("log", "--verify")
    assert (whole.returncode, whole.stdout.splitlines()[0]) == (0, "whole: 2 sealed lines, 1 to 2")
    journal.write_bytes(journal.read_bytes().replace(b"lina", b"mona", 1))
    broken = nocturn("log", "--verify")
    assert broken.returncode == 3
    assert "journal.jsonl:1 " in broken.stdout
    assert "head.json" in broken.stderr
    found = json.loads(nocturn("log", "--verify", "--json").stdout)
    assert (found["whole"], [each["line"] for each in found["findings"]]) == (False, [1])
    assert nocturn("log").stdout.count("? ") == 0, "its outcome stands for it, and is sealed"


@pytest.mark.usefixtures("wrote")
def test_a_journal_that_ends_too_soon_is_found(nocturn, journal):
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])
    assert nocturn("log", "--verify").returncode == 3
    assert "its outcome is not known" in nocturn("log").stdout


def test_no_journal_is_no_trouble_and_none_is_made(nocturn, tmp_path):
    assert nocturn("log").stdout == ""
    assert nocturn("log", "--verify").returncode == 0
    assert not (tmp_path / "ws").exists()


def test_a_broken_head_is_configuration(nocturn, wrote, tmp_path):
    (head,) = (tmp_path / "data/journals").glob("*/head.json")
    head.write_text("{")
    assert nocturn("log", "--verify").returncode == 2
    assert wrote().returncode == 2


def test_follow_shows_what_comes(wrote, start):
    following = start("log", "--follow", "-n", "1")
    assert "people/lina.md" in following.stdout.readline()
    wrote('nocturn.memory.write("later.md", "s", "x")')
    assert "later.md" in following.stdout.readline()
