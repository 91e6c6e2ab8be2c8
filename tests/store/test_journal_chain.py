"""The journal's chain: a change, a move, an addition or a cut is found; a crash is none."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nocturn.errors import ConfigurationError
from nocturn.store.journal import JournalFile


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "ws" / ".nocturn"


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def file(folder):
    return folder / "journal.jsonl"


@pytest.fixture
def journal(folder, data):
    journal = JournalFile(folder, data)
    for i in range(8):
        journal.append({"at": f"time-{i}", "i": i}, durable=True)
    return journal


def rows(file):
    return file.read_bytes().splitlines(keepends=True)


def places(verdict):
    return [(finding.file, finding.line) for finding in verdict.findings]


def only_head(data):
    (head,) = (data / "journals").glob("*/head.json")
    return head


def test_a_whole_journal_is_whole_and_says_where_it_begins(journal, file):
    verdict = journal.trail.verify()
    assert (verdict.whole, verdict.lines, verdict.first, verdict.last) == (True, 8, 1, 8)
    assert verdict.begins == ("journal.jsonl", 1, "time-0")
    assert (verdict.before, verdict.torn, verdict.end_is_known) == (0, 0, True)
    seals = [json.loads(each)["seal"] for each in rows(file)]
    assert [json.loads(each)["prev"] for each in rows(file)] == ["", *seals[:-1]]


def test_no_journal_is_whole_and_looking_makes_none(folder, data, tmp_path):
    verdict = JournalFile(folder, data).trail.verify()
    assert (verdict.whole, verdict.lines, verdict.begins) == (True, 0, None)
    assert not (tmp_path / "ws").exists()


def test_a_changed_line_is_found_at_its_place(journal, file):
    file.write_bytes(file.read_bytes().replace(b'"i":4', b'"i":5', 1))
    verdict = journal.trail.verify()
    assert not verdict.whole
    assert places(verdict) == [("journal.jsonl", 5)]


def test_a_line_that_is_cut_out_is_found(journal, file):
    kept = rows(file)
    file.write_bytes(b"".join(kept[:3] + kept[4:]))
    verdict = journal.trail.verify()
    assert places(verdict) == [("journal.jsonl", 4)]
    assert "line 4 is missing" in verdict.findings[0].what


@pytest.mark.parametrize("cut", [1, 3, 8])
def test_lines_cut_off_the_end_are_found_now_and_after_the_next_line(journal, file, cut):
    file.write_bytes(b"".join(rows(file)[:-cut]))
    assert [finding.line for finding in journal.trail.verify().findings] == [8 - cut]
    journal.append({"i": 9}, durable=True)
    (finding,) = journal.trail.verify().findings
    assert finding.line == 9 - cut


def test_a_journal_that_is_taken_away_whole_is_found(journal, file):
    file.unlink()
    assert not journal.trail.verify().whole
    journal.append({"i": 9}, durable=True)
    (finding,) = journal.trail.verify().findings
    assert "lines 1 to 8 are missing" in finding.what


def test_an_older_copy_put_back_is_found(journal, file):
    older = file.read_bytes()
    journal.append({"i": 8}, durable=True)
    file.write_bytes(older)
    assert not journal.trail.verify().whole


def test_half_of_the_last_line_is_a_cut_if_all_of_it_was_there(journal, file):
    file.write_bytes(file.read_bytes()[:-20])
    assert not journal.trail.verify().whole
    journal.append({"i": 9}, durable=True)
    assert not journal.trail.verify().whole


def test_a_line_without_the_key_is_found_wherever_it_stands(journal, file, tmp_path):
    forger = JournalFile(tmp_path / "theirs", tmp_path / "their-data")
    for i in range(9):
        forger.append({"i": i}, durable=True)
    forged = rows(tmp_path / "theirs" / "journal.jsonl")
    kept = rows(file)
    for at in range(1, 9):
        file.write_bytes(b"".join([*kept[:at], forged[at], *kept[at:]]))
        assert places(journal.trail.verify()) == [("journal.jsonl", at + 1)]


def test_the_line_of_another_journal_of_the_same_user_is_found(journal, file, data, tmp_path):
    other = JournalFile(tmp_path / "other" / ".nocturn", data)
    for i in range(8):
        other.append({"i": i}, durable=True)
    kept, foreign = rows(file), rows(tmp_path / "other/.nocturn/journal.jsonl")
    file.write_bytes(b"".join([*kept[:4], foreign[4], *kept[5:]]))
    assert not journal.trail.verify().whole
    file.write_bytes(b"".join(foreign))
    assert not journal.trail.verify().whole


CHANGES = st.one_of(
    st.tuples(st.just("byte"), st.integers(0, 10_000), st.integers(1, 255)),
    st.tuples(st.just("swap"), st.integers(0, 7), st.integers(1, 7)),
    st.tuples(st.just("again"), st.integers(0, 7), st.integers(0, 7)),
    st.tuples(st.just("drop"), st.integers(0, 7), st.integers(1, 3)),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CHANGES)
def test_no_change_of_bytes_or_order_goes_unseen(journal, file, change):
    kind, at, much = change
    whole = file.read_bytes()
    lines = rows(file)
    if kind == "byte":
        at %= len(whole)
        lines = [whole[:at], bytes([whole[at] ^ much]), whole[at + 1 :]]
    elif kind == "swap":
        other = (at + much) % 8
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == "again":
        lines.insert(much, lines[at])
    else:
        del lines[at : at + much]
    try:
        file.write_bytes(b"".join(lines))
        assert not journal.trail.verify().whole
    finally:
        file.write_bytes(whole)


def test_a_line_end_that_is_another_one_is_found(journal, file):
    whole = file.read_bytes()
    for end in (b"\r\n", b"\r", b"\n\n", b"\x0b"):
        file.write_bytes(whole.replace(b"\n", end, 1))
        assert not journal.trail.verify().whole, end


def test_torn_lines_are_told_from_changed_ones(journal, file):
    whole = file.read_bytes()
    last = json.loads(rows(file)[-1])
    begin = f'{{"n":9,"prev":"{last["seal"]}","at":"x'.encode()
    for torn in (begin[:1], begin[:9], begin[:30], begin, begin + b"\0\0\0", b"\0\0"):
        file.write_bytes(whole + torn)
        verdict = journal.trail.verify()
        assert (verdict.whole, verdict.torn) == (True, 1), torn
    another = b'{"n":9,"prev":"' + (b"1" if last["seal"].startswith("0") else b"0")
    for other in (another, b'{"n":10', b"x", b"{}", begin + b'"}'):
        file.write_bytes(whole + other)
        assert not journal.trail.verify().whole, other
    file.write_bytes(whole + begin)
    journal.append({"i": 9}, durable=True)
    verdict = journal.trail.verify()
    assert (verdict.whole, verdict.torn, verdict.last) == (True, 1, 9)


def test_a_crash_between_a_line_and_what_is_known_of_it_is_none_of_it(journal, data, file):
    head = only_head(data)
    before = head.read_bytes()
    journal.append({"i": 8}, durable=True)
    head.write_bytes(before)
    assert journal.trail.verify().whole
    journal.append({"i": 9}, durable=True)
    verdict = journal.trail.verify()
    assert (verdict.whole, verdict.last) == (True, 10)
    assert len(rows(file)) == 10


def test_lines_that_a_power_failure_may_have_taken_are_told_so(journal, file):
    journal.append({"i": 8}, durable=False)
    file.write_bytes(b"".join(rows(file)[:-1]))
    (finding,) = journal.trail.verify().findings
    assert "power failure" in finding.what
    file.write_bytes(b"".join(rows(file)[:-1]))
    (finding,) = journal.trail.verify().findings
    assert "power failure" not in finding.what


def test_the_lines_of_an_older_nocturn_stay_and_the_chain_begins_after_them(folder, data):
    folder.mkdir(parents=True)
    old = b'{"at":"x","phase":"outcome","code":null}\n' * 3
    (folder / "journal.jsonl").write_bytes(old)
    journal = JournalFile(folder, data)
    for i in range(2):
        journal.append({"at": "y", "i": i}, durable=True)
    verdict = journal.trail.verify()
    assert (verdict.whole, verdict.before, verdict.begins) == (True, 3, ("journal.jsonl", 4, "y"))
    assert (folder / "journal.jsonl").read_bytes().startswith(old)


@pytest.mark.usefixtures("journal")
def test_a_folder_that_was_moved_goes_on_and_says_that_its_end_is_not_known(folder, data, tmp_path):
    shutil.move(folder.parent, tmp_path / "moved")
    moved = JournalFile(tmp_path / "moved" / ".nocturn", data)
    verdict = moved.trail.verify()
    assert (verdict.whole, verdict.end_is_known) == (True, False)
    moved.append({"i": 9}, durable=True)
    verdict = moved.trail.verify()
    assert (verdict.whole, verdict.end_is_known, verdict.last) == (True, True, 9)


@pytest.mark.usefixtures("journal")
def test_a_journal_that_another_user_has_sealed_is_not_vouched_for(folder, tmp_path):
    ours = JournalFile(folder, tmp_path / "other-data")
    assert places(ours.trail.verify()) == [("journal.jsonl", at) for at in range(1, 9)]
    ours.append({"i": 8}, durable=True)
    assert len(ours.trail.verify().findings) == 8


def test_a_head_that_is_moved_away_ends_what_it_knew(journal, data, file):
    file.write_bytes(b"".join(rows(file)[2:-2]))
    assert not journal.trail.verify().whole
    (data / journal.trail.known_in).unlink()
    verdict = journal.trail.verify()
    assert (verdict.whole, verdict.first, verdict.last) == (True, 3, 6)
    journal.append({"i": 9}, durable=True)
    assert journal.trail.verify().whole


def test_a_broken_head_refuses_the_write_and_is_left_as_it_is(journal, data, file):
    head, before = only_head(data), file.read_bytes()
    for broken in (b"{", b"[]", b'{"n":"1"}', b'{"n":-1,"rotated":[]}', b'{"rotated":[[1]]}'):
        head.write_bytes(broken)
        with pytest.raises(ConfigurationError):
            journal.append({"i": 9}, durable=True)
        with pytest.raises(ConfigurationError):
            journal.trail.verify()
        journal.append({"i": 9}, durable=False)
        assert head.read_bytes() == broken
    assert file.read_bytes() == before


def test_a_head_that_never_reached_the_disk_is_found_again_in_the_last_line(journal, data):
    for nothing in (b"", b"\0" * 512):
        only_head(data).write_bytes(nothing)
        assert journal.trail.verify().whole
        journal.append({"i": 9}, durable=True)
        assert journal.trail.verify().whole
    assert journal.trail.verify().last == 10


def test_content_is_told_by_a_keyed_hash_only(journal, file, tmp_path):
    journal.append({"i": 8}, durable=True, content=b"guess me")
    journal.append({"i": 9}, durable=True, content=b"guess me")
    theirs = JournalFile(tmp_path / "theirs", tmp_path / "their-data")
    theirs.append({"i": 8}, durable=True, content=b"guess me")
    mine, again = (json.loads(each)["content"] for each in rows(file)[-2:])
    (other,) = (json.loads(each)["content"] for each in rows(tmp_path / "theirs/journal.jsonl"))
    assert mine == again != other
    assert b"guess" not in file.read_bytes()


MANY = """
import sys
from pathlib import Path
from nocturn.store.journal import JournalFile
journal = JournalFile(Path(sys.argv[1]), Path(sys.argv[2]), file_bytes=4_000, files=4)
for i in range(10_000):
    journal.append({"i": i}, durable=False)
    if not i:
        print(flush=True)
"""


def test_writers_that_are_killed_leave_a_journal_that_is_whole(folder, data):
    JournalFile(folder, data).append({"i": 0}, durable=True)
    for _ in range(4):
        writers = [
            subprocess.Popen([sys.executable, "-c", MANY, folder, data], stdout=subprocess.PIPE)
            for _ in range(2)
        ]
        for each in writers:
            each.stdout.read(1)
            os.kill(each.pid, signal.SIGKILL)
            each.communicate()
        verdict = JournalFile(folder, data).trail.verify()
        assert verdict.whole, verdict.findings
