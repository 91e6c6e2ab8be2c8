"""The journal: whole lines, durable where they must be, silent where they need not be."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys

import pytest

from nocturn.errors import STORAGE, NocturnError
from nocturn.store.journal import JournalFile

APPEND = """
import sys
from pathlib import Path
from nocturn.store.journal import JournalFile
journal = JournalFile(Path(sys.argv[1]), Path(sys.argv[1]).parents[1] / "data")
for i in range(25):
    journal.append({"from": sys.argv[2], "i": i, "pad": "é" * 3000}, durable=True)
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "ws" / ".nocturn"


@pytest.fixture
def journal(folder):
    return JournalFile(folder, folder.parents[1] / "data")


CHAIN = {"n", "prev", "salt", "seal"}


def lines(folder):
    rows = [json.loads(each) for each in (folder / "journal.jsonl").read_text().splitlines()]
    return [{key: row[key] for key in row if key not in CHAIN} for row in rows]


def test_a_durable_line_makes_the_folder_and_both_are_private(journal, folder):
    before = os.umask(0)
    try:
        journal.append({"code": None}, durable=True)
    finally:
        os.umask(before)
    assert lines(folder) == [{"code": None}]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "journal.jsonl").stat().st_mode) == 0o600


def test_a_line_that_need_not_last_makes_nothing(journal, folder, tmp_path):
    journal.append({"a": 1}, durable=False)
    assert not (tmp_path / "ws").exists()
    journal.append({"a": 2}, durable=True)
    journal.append({"a": 3}, durable=False)
    assert lines(folder) == [{"a": 2}, {"a": 3}]


def test_a_line_is_one_line_of_ascii_whatever_is_in_it(journal, folder):
    entry = {"target": "a\nb\u2028\u202e\x1b\ud800é", "list": [1, {"x": None}]}
    journal.append(entry, durable=True)
    data = (folder / "journal.jsonl").read_bytes()
    assert data.isascii()
    assert data.count(b"\n") == 1
    assert lines(folder) == [entry]


def test_a_line_torn_by_a_crash_stays_and_the_next_begins_anew(journal, folder):
    journal.append({"a": 1}, durable=True)
    with (folder / "journal.jsonl").open("ab") as file:
        file.write(b'{"a": 2, "b"')
    journal.append({"a": 3}, durable=True)
    first, torn, last = (folder / "journal.jsonl").read_bytes().splitlines()
    assert (json.loads(first)["a"], torn, json.loads(last)["a"]) == (1, b'{"a": 2, "b"', 3)
    assert json.loads(last)["prev"] == json.loads(first)["seal"]


def test_lines_of_many_processes_are_all_whole(journal, folder):
    writers = [subprocess.Popen([sys.executable, "-c", APPEND, folder, str(i)]) for i in range(6)]
    assert [each.wait() for each in writers] == [0] * 6
    found = lines(folder)
    assert len(found) == 150
    for i in range(6):
        assert [each["i"] for each in found if each["from"] == str(i)] == list(range(25))
    assert journal.leak_blocks_of("a") == 0


def test_a_journal_that_cannot_be_written_is_a_storage_error_for_a_durable_line_only(as_nobody):
    data = as_nobody.parent / f"{as_nobody.name}-data"
    as_nobody.chmod(0o500)
    journal = JournalFile(as_nobody / ".nocturn", data)
    with pytest.raises(NocturnError) as caught:
        journal.append({"a": 1}, durable=True)
    assert caught.value.code == STORAGE
    assert str(as_nobody) not in caught.value.message
    as_nobody.chmod(0o700)
    (as_nobody / ".nocturn").mkdir(0o500)
    journal.append({"a": 1}, durable=False)
    with pytest.raises(NocturnError):
        journal.append({"a": 1}, durable=True)
    assert list((as_nobody / ".nocturn").iterdir()) == []


@pytest.mark.parametrize("kind", ["folder", "fifo", "link"])
def test_a_journal_that_is_no_plain_file_is_a_storage_error(journal, folder, outside, kind):
    folder.mkdir(parents=True)
    file = folder / "journal.jsonl"
    if kind == "folder":
        file.mkdir()
    elif kind == "fifo":
        os.mkfifo(file)
    else:
        file.symlink_to(outside / "secret.md")
    with pytest.raises(NocturnError) as caught:
        journal.append({"a": 1}, durable=True)
    assert caught.value.code == STORAGE
    assert (outside / "secret.md").read_text() == "not yours"


def test_a_journal_folder_that_is_a_link_is_a_storage_error(journal, folder, outside):
    folder.parent.mkdir()
    folder.symlink_to(outside)
    with pytest.raises(NocturnError) as caught:
        journal.append({"a": 1}, durable=True)
    assert caught.value.code == STORAGE
    assert [each.name for each in outside.iterdir()] == ["secret.md"]


HALF = """
import resource, sys
from pathlib import Path
from nocturn.errors import NocturnError
from nocturn.store.journal import JournalFile
resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
try:
    folder = Path(sys.argv[1])
    JournalFile(folder, folder.parents[1] / "data").append({"pad": "x" * 600}, durable=True)
except NocturnError as error:
    print(error.code)
"""


def test_a_line_that_fails_halfway_is_taken_back(journal, folder):
    journal.append({"a": 1}, durable=True)
    ended = subprocess.run(
        [sys.executable, "-c", HALF, folder], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "STORAGE\n"
    assert lines(folder) == [{"a": 1}]


def test_the_leak_blocks_of_an_agent_are_counted_over_all_its_runs(journal, folder):
    assert journal.leak_blocks_of("coder") == 0
    assert not folder.exists()
    for entry in (
        {"agent": "coder", "code": "LEAK_BLOCKED", "run": "1"},
        {"agent": "coder", "code": "LEAK_BLOCKED", "run": "2"},
        {"agent": "other", "code": "LEAK_BLOCKED"},
        {"agent": "coder", "code": None, "target": "LEAK_BLOCKED"},
        {"code": "LEAK_BLOCKED"},
    ):
        journal.append(entry, durable=True)
    with (folder / "journal.jsonl").open("ab") as file:
        file.write(
            b'{"agent":"coder","code":"LEAK_BLOCKED"\n["LEAK_BLOCKED"]\n' + b'"LEAK_BLOCKED"'
        )
    assert journal.leak_blocks_of("coder") == 2
    assert journal.leak_blocks_of("nobody") == 0
