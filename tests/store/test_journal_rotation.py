"""The journal's files: filled, put away, dropped for their age, and read as one."""

from __future__ import annotations

import stat
import subprocess
import sys

import pytest

from nocturn.store.journal import JournalFile
from nocturn.store.trail import START


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "ws" / ".nocturn"


@pytest.fixture
def journal(folder, tmp_path):
    return JournalFile(folder, tmp_path / "data", file_bytes=500, files=3)


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def everything(_entry):
    return True


def numbers(lines):
    return [line.entry["i"] for line in lines]


def test_a_full_file_is_put_away_and_the_chain_goes_on(journal, folder):
    for i in range(8):
        journal.append({"i": i}, durable=i % 2 == 0)
    assert names(folder) == ["journal-000001.jsonl", "journal.jsonl"]
    assert stat.S_IMODE((folder / "journal-000001.jsonl").stat().st_mode) == 0o600
    assert numbers(journal.trail.last(100, everything)[0]) == list(range(8))
    verdict = journal.trail.verify()
    assert (verdict.whole, verdict.lines) == (True, 8)


def test_the_oldest_files_are_dropped_and_that_is_no_cut(journal, folder):
    for i in range(60):
        journal.append({"i": i}, durable=True)
    assert len(names(folder)) == 3
    verdict = journal.trail.verify()
    assert verdict.whole
    assert verdict.first > 1
    assert verdict.last == 60
    found = numbers(journal.trail.last(100, everything)[0])
    assert found == list(range(verdict.first - 1, 60))


def test_a_file_that_is_taken_away_is_found(journal, folder):
    for i in range(60):
        journal.append({"i": i}, durable=True)
    oldest, newer, _ = (folder / name for name in names(folder))
    kept = newer.read_bytes()
    newer.unlink()
    assert not journal.trail.verify().whole
    newer.write_bytes(kept)
    assert journal.trail.verify().whole
    oldest.unlink()
    assert not journal.trail.verify().whole


def test_files_put_there_by_hand_do_not_push_out_the_others(journal, folder):
    for i in range(7):
        journal.append({"i": i}, durable=True)
    (folder / "journal-000009.jsonl").write_bytes(b'{"i":"theirs"}\n' * 1_000)
    before = (folder / "journal-000001.jsonl").read_bytes()
    for i in range(4):
        journal.append({"i": i}, durable=True)
    assert (folder / "journal-000001.jsonl").read_bytes() == before
    assert not journal.trail.verify().whole


def test_a_large_journal_of_an_older_nocturn_is_put_away_whole(journal, folder):
    folder.mkdir(parents=True)
    old = b'{"at":"x","agent":"coder","code":"LEAK_BLOCKED"}\n' * 100
    (folder / "journal.jsonl").write_bytes(old)
    journal.append({"i": 1}, durable=True)
    assert (folder / "journal-000001.jsonl").read_bytes() == old
    assert journal.leak_blocks_of("coder") == 100
    verdict = journal.trail.verify()
    assert (verdict.whole, verdict.before, verdict.lines) == (True, 100, 1)


def test_leak_blocks_are_counted_over_all_files(journal, folder):
    for i in range(5):
        journal.append({"i": i, "agent": "a", "code": "LEAK_BLOCKED"}, durable=True)
        journal.append({"i": i, "agent": "b", "code": None}, durable=True)
    assert len(names(folder)) == 3
    assert journal.leak_blocks_of("a") == 5
    assert journal.leak_blocks_of("b") == 0


def test_who_follows_sees_each_line_once_across_the_files(journal):
    position, seen = START, []
    for i in range(20):
        journal.append({"i": i}, durable=True)
        if i % 3 == 0:
            new, position = journal.trail.since(position)
            seen += numbers(new)
    new, position = journal.trail.since(position)
    assert seen + numbers(new) == list(range(20))
    assert journal.trail.since(position) == ([], position)


def test_following_begins_where_the_last_lines_end(journal):
    for i in range(7):
        journal.append({"i": i}, durable=True)
    found, position = journal.trail.last(2, everything)
    assert numbers(found) == [5, 6]
    journal.append({"i": 7}, durable=True)
    assert numbers(journal.trail.since(position)[0]) == [7]
    assert numbers(journal.trail.last(0, everything)[0]) == []


def test_a_line_that_is_half_written_is_read_when_it_is_whole(journal, folder):
    journal.append({"i": 0}, durable=True)
    _, position = journal.trail.since(START)
    with (folder / "journal.jsonl").open("ab") as file:
        file.write(b'{"i": ')
        file.flush()
        assert journal.trail.since(position) == ([], position)
        file.write(b"1}\n")
    (line,) = journal.trail.since(position)[0]
    assert (line.entry, line.sealed) == ({"i": 1}, False)


WRITE = """
import sys
from pathlib import Path
from nocturn.store.journal import JournalFile
journal = JournalFile(Path(sys.argv[1]), Path(sys.argv[2]), file_bytes=3_000, files=100)
for i in range(40):
    journal.append({"from": sys.argv[3], "i": i}, durable=False)
"""


def test_many_processes_rotate_without_losing_a_line(journal, folder, tmp_path):
    journal.append({"from": "first", "i": 0}, durable=True)
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE, folder, tmp_path / "data", str(i)])
        for i in range(5)
    ]
    assert [each.wait() for each in writers] == [0] * 5
    verdict = journal.trail.verify()
    assert (verdict.whole, verdict.lines) == (True, 201), verdict.findings
    found = journal.trail.last(1_000, everything)[0]
    assert [each.entry["n"] for each in found] == list(range(1, 202))
