"""The inbox: the first answer counts, a late one is told so, and nothing else says yes."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time

import pytest

from nocturn.errors import ConfigurationError, NocturnError
from nocturn.store.inbox import Inbox
from nocturn.store.keys import LocalKey

QUESTION = {
    "agent": "bob",
    "effects": [{"kind": "memory", "verb": "write", "target": "a.md"}],
    "preview": {"after": "Likes cats."},
    "options": [{"value": "once"}, {"value": "always"}],
}
ASKER = """
import sys
from pathlib import Path
from nocturn.store.inbox import Inbox
from nocturn.store.keys import LocalKey
inbox = Inbox(Path(sys.argv[1]), LocalKey(Path(sys.argv[2])), lambda value: value)
with inbox.ask({"options": [{"value": "once"}]}, 60) as asked:
    print(asked.id, flush=True)
    print(asked.wait(lambda: True).answer)
"""

NO_ROOM = """
import resource, sys
from pathlib import Path
from nocturn.errors import NocturnError
from nocturn.store.inbox import Inbox
from nocturn.store.keys import LocalKey
inbox = Inbox(Path(sys.argv[1]), LocalKey(Path(sys.argv[2])), lambda value: value)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    with inbox.ask({"text": "x" * 100_000, "options": []}, 60):
        pass
except NocturnError as error:
    print(error.code)
"""


class Clock:
    """The asker's clock and its sleep; nobody really waits."""

    def __init__(self):
        self.now = 1_000.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "a w?o#r%41k é/.nocturn"


@pytest.fixture
def make_inbox(folder, tmp_path):
    """Makes an inbox as another process would, or another user."""
    return lambda data="data": Inbox(folder, LocalKey(tmp_path / data), lambda value: value)


@pytest.fixture
def inbox(make_inbox):
    return make_inbox()


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr("nocturn.store.inbox.time", made)
    return made


@pytest.fixture
def wall(monkeypatch):
    """Sets the wall clock of this process forward by so many milliseconds."""
    now = time.time_ns() // 1_000_000

    def set_forward(milliseconds):
        monkeypatch.setattr("nocturn.store.inbox.now_ms", lambda: now + milliseconds)

    return set_forward


@pytest.fixture
def asker(folder, tmp_path):
    """Starts a process that asks; returns it and the id of its question."""
    started = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", ASKER, folder, tmp_path / "data"],
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.communicate()


def yes():
    return True


def code_of(function, *arguments):
    with pytest.raises(NocturnError) as caught:
        function(*arguments)
    return caught.value.code


def execute(folder, *statements):
    with sqlite3.connect(folder / "inbox.db") as other:
        for each in statements:
            other.execute(each)
    other.close()


def test_a_question_waits_is_answered_and_its_answer_is_taken(inbox, make_inbox):
    with inbox.ask(QUESTION, 60) as asked:
        (waiting,) = make_inbox().waiting()
        assert inbox.count() == 1
        assert (waiting.id, waiting.state, waiting.question) == (asked.id, "waiting", QUESTION)
        answered = make_inbox().answer(asked.id, "always", "page")
        assert (answered.state, answered.answer, answered.taken) == ("answered", "always", False)
        outcome = asked.wait(yes)
    assert (outcome.answer, outcome.answered_by, outcome.taken) == ("always", "page", True)
    assert inbox.is_taken(asked.id)
    assert inbox.waiting() == []


def test_a_no_is_an_answer(inbox):
    with inbox.ask(QUESTION, 60) as asked:
        inbox.answer(asked.id, None, "terminal")
        outcome = asked.wait(yes)
    assert (outcome.state, outcome.answer, outcome.taken) == ("answered", None, True)


def test_the_second_answer_is_told_what_the_first_was(inbox):
    with inbox.ask(QUESTION, 60) as asked:
        inbox.answer(asked.id, None, "page")
        with pytest.raises(NocturnError) as late:
            inbox.answer(asked.id, "once", "terminal")
        assert late.value.code == "CONFLICT"
        assert late.value.detail == {"state": "answered", "answer": None}
        assert asked.wait(yes).answer is None


def test_of_many_answers_at_once_one_counts(inbox, make_inbox):
    outcomes = []

    def answer(option):
        try:
            outcomes.append(make_inbox().answer(asked.id, option, "python").answer)
        except NocturnError as late:
            outcomes.append(late.code)

    with inbox.ask(QUESTION, 60) as asked:
        people = [threading.Thread(target=answer, args=(o,)) for o in ("once", None, "always") * 3]
        for each in people:
            each.start()
        for each in people:
            each.join()
        taken = asked.wait(yes).answer
    assert outcomes.count("CONFLICT") == len(people) - 1
    assert taken in outcomes


def test_an_option_that_is_not_on_offer_is_refused_and_the_question_waits_on(inbox):
    with inbox.ask(QUESTION, 60) as asked:
        assert code_of(inbox.answer, asked.id, "widen", "python") == "BAD_ARGUMENTS"
        assert [each.id for each in inbox.waiting()] == [asked.id]


def test_nobody_answers_in_time_and_later_is_too_late(inbox, clock):
    with inbox.ask(QUESTION, 60) as asked:
        assert asked.wait(yes).state == "expired"
        assert clock.now == pytest.approx(1_060.0)
        with pytest.raises(NocturnError) as late:
            inbox.answer(asked.id, "once", "python")
        assert (late.value.code, late.value.detail["state"]) == ("CONFLICT", "expired")


def test_an_answer_of_the_last_moment_is_taken_after_it(inbox, clock):
    def answer_and_run_out():
        if clock.now < 1_060:
            inbox.answer(asked.id, "once", "python")
            clock.now = 1_060.0
        return True

    with inbox.ask(QUESTION, 60) as asked:
        outcome = asked.wait(answer_and_run_out)
    assert (outcome.answer, outcome.taken) == ("once", True)


def test_an_answer_that_comes_while_the_run_ends_is_not_taken(inbox):
    def answer_and_end():
        inbox.answer(asked.id, "once", "python")
        return False

    with inbox.ask(QUESTION, 60) as asked:
        asked.wait(answer_and_end)
    assert not inbox.is_taken(asked.id)


@pytest.mark.parametrize("moved", [3_600_000, -3_600_000])
def test_a_wall_clock_that_is_set_neither_ends_nor_prolongs_a_question(inbox, clock, wall, moved):
    wall(0)
    polls = []

    def set_the_clock():
        polls.append(clock.now)
        if len(polls) == 2:
            wall(moved)
        if len(polls) == 4:  # the asker has seen it
            (waiting,) = inbox.waiting()
            asked_at, left = waiting.asked_at, 60 - (clock.now - 1_000)
            assert _seconds(waiting.expires_at) - _seconds(asked_at) == pytest.approx(
                moved / 1e3 + left, abs=1
            )
        return True

    with inbox.ask(QUESTION, 60) as asked:
        assert asked.wait(set_the_clock).state == "expired"
    assert clock.now == pytest.approx(1_060.0)


def _seconds(iso):
    from datetime import datetime

    return datetime.fromisoformat(iso).timestamp()


def test_an_asker_whose_run_has_died_withdraws_its_question(inbox):
    with inbox.ask(QUESTION, 60) as asked:
        assert asked.wait(lambda: False).state == "withdrawn"
    assert code_of(inbox.answer, asked.id, "once", "python") == "CONFLICT"


def test_an_asker_that_breaks_withdraws_its_question(inbox, folder):
    with pytest.raises(ZeroDivisionError), inbox.ask(QUESTION, 60) as asked:
        raise ZeroDivisionError
    assert inbox.get(asked.id).state == "withdrawn"
    assert list((folder / "asking").iterdir()) == []


def test_an_asker_that_was_killed_is_seen_to_be_gone(inbox, asker, folder):
    process, identity = asker()
    assert inbox.get(identity).state == "waiting"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert inbox.waiting() == []
    with pytest.raises(NocturnError) as late:
        inbox.answer(identity, "once", "python")
    assert (late.value.code, late.value.detail["state"]) == ("CONFLICT", "withdrawn")
    with inbox.ask(QUESTION, 60) as next_one:  # tidies up
        assert [each.name for each in (folder / "asking").iterdir()] == [next_one.id]
    assert inbox.get(identity).state == "withdrawn"


def test_an_answer_that_its_asker_did_not_live_to_take_is_known_as_such(inbox, asker):
    process, identity = asker()
    process.send_signal(signal.SIGSTOP)
    inbox.answer(identity, "once", "python")
    process.kill()
    process.wait()
    assert not inbox.is_taken(identity)
    assert (inbox.get(identity).answer, inbox.get(identity).taken) == ("once", False)


def test_an_asker_in_another_process_takes_its_answer(inbox, asker):
    process, identity = asker()
    inbox.answer(identity[:6], "once", "python")
    assert inbox.is_taken(identity)
    assert process.stdout.read().strip() == "once"


def test_a_beginning_must_be_long_enough_and_mean_one(inbox, folder):
    with inbox.ask(QUESTION, 60) as asked, inbox.ask(QUESTION, 60) as other:
        assert inbox.get(asked.id[:4].upper()).id == asked.id
        assert code_of(inbox.get, asked.id[:3]) == "BAD_ARGUMENTS"
        assert code_of(inbox.get, "") == "BAD_ARGUMENTS"
        assert code_of(inbox.get, "%%%%") == "NOT_FOUND"
        execute(folder, f"UPDATE questions SET id = '{asked.id[:8]}' WHERE id = '{other.id}'")
        assert code_of(inbox.get, asked.id[:4]) == "BAD_ARGUMENTS"


def test_looking_makes_nothing(inbox, folder):
    assert inbox.waiting() == []
    assert inbox.changes() == inbox.changes()
    assert code_of(inbox.get, "abcd") == "NOT_FOUND"
    assert code_of(inbox.answer, "abcd", "once", "python") == "NOT_FOUND"
    assert not folder.parent.exists()


def test_a_token_changes_with_each_thing_that_happens(inbox, asker):
    tokens = [inbox.changes()]
    with inbox.ask(QUESTION, 60) as asked:
        tokens.append(inbox.changes())
        inbox.answer(asked.id, "once", "python")
        tokens.append(inbox.changes())
        asked.wait(yes)
        tokens.append(inbox.changes())
    process, _ = asker()
    tokens.append(inbox.changes())
    process.kill()
    process.wait()
    tokens.append(inbox.changes())
    assert len(set(tokens)) == len(tokens)


def test_the_file_is_its_owners_alone(inbox, folder):
    before = os.umask(0)
    try:
        with inbox.ask(QUESTION, 60):
            modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in folder.rglob("*")}
    finally:
        os.umask(before)
    assert modes.pop("asking") == 0o700
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_what_was_asked_is_forgotten_after_a_day_and_who_answered_after_a_month(
    inbox, folder, wall
):
    question = {**QUESTION, "preview": {"after": "Likes cats. " * 2_000}}
    with inbox.ask(question, 60) as asked:
        inbox.answer(asked.id, "once", "python")
        asked.wait(yes)
    assert inbox.get(asked.id).question == question
    wall(2 * 86_400_000)
    with inbox.ask({"options": []}, 60):
        kept = inbox.get(asked.id)
    assert (kept.question, kept.answer) == ({}, "once")
    assert b"Likes cats" not in (folder / "inbox.db").read_bytes()
    wall(40 * 86_400_000)
    with inbox.ask({"options": []}, 60):
        assert code_of(inbox.get, asked.id) == "NOT_FOUND"


def test_an_inbox_that_is_taken_away_is_no_yes(inbox, folder):
    with inbox.ask(QUESTION, 60) as asked:
        execute(folder, "DELETE FROM questions")
        assert code_of(asked.wait, yes) == "STORAGE"


@pytest.mark.skipif(sys.platform == "win32", reason="limits are POSIX's")
def test_a_full_disk_refuses_the_question_and_leaves_the_others(inbox, folder, tmp_path):
    with inbox.ask(QUESTION, 60) as asked:
        done = subprocess.run(
            [sys.executable, "-c", NO_ROOM, folder, tmp_path / "data"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stdout == "STORAGE\n", done.stderr
        assert [each.id for each in inbox.waiting()] == [asked.id]


MANY = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from nocturn.store.inbox import Inbox
from nocturn.store.keys import LocalKey
def ask(number):
    inbox = Inbox(Path(sys.argv[1]), LocalKey(Path(sys.argv[2])), lambda value: value)
    own = f"{sys.argv[3]}-{number}"
    with inbox.ask({"own": own, "options": [{"value": own}]}, 120) as asked:
        print(own, asked.wait(lambda: True).answer, flush=True)
with ThreadPoolExecutor(4) as threads:
    list(threads.map(ask, range(4)))
"""


@pytest.fixture
def askers(folder, tmp_path):
    """Eight processes that ask four questions each at once; none outlasts the test."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MANY, folder, tmp_path / "data", str(number)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    yield processes
    for each in processes:
        each.kill()
        each.communicate()


def test_of_32_questions_from_8_processes_each_gets_its_own_answer(inbox, askers):
    answered = []
    give_up = time.monotonic() + 100  # before their own 120 s are over
    while len(answered) < 32:
        ended = [each for each in askers if each.poll() is not None]
        assert not any(each.returncode for each in ended), [each.stderr.read() for each in ended]
        assert time.monotonic() < give_up, f"only {len(answered)} questions were asked"
        for asked in inbox.waiting():
            inbox.answer(asked.id, asked.question["own"], "python")
            answered.append(asked.id)
    told = [each.communicate(timeout=60) for each in askers]
    lines = [line.split() for out, _ in told for line in out.splitlines()]
    assert len(lines) == 32, [err for _, err in told]
    assert all(own == got for own, got in lines)


# ---- what stands in its place ---------------------------------------------------------------


def refused(inbox, folder):
    """Asserts that the file is refused by who asks and who answers, and stays as it is."""
    file = folder / "inbox.db"
    before = file.read_bytes()
    for attempt in (inbox.waiting, inbox.changes, lambda: inbox.get("abcd")):
        with pytest.raises(ConfigurationError):
            attempt()
    names = sorted(each.name for each in folder.iterdir())
    with pytest.raises(ConfigurationError), inbox.ask(QUESTION, 60):
        pytest.fail("it was asked all the same")
    assert file.read_bytes() == before
    assert sorted(each.name for each in folder.iterdir()) == names


@pytest.mark.parametrize("data", [b"", b"no database", b"SQLite format 3\0" + b"\0" * 5_000])
def test_a_file_that_is_no_inbox_is_refused(inbox, folder, data):
    folder.mkdir(parents=True)
    (folder / "inbox.db").touch(0o600)
    (folder / "inbox.db").write_bytes(data)
    refused(inbox, folder)


def test_a_trigger_that_would_answer_is_refused(inbox, folder):
    with inbox.ask(QUESTION, 60):
        pass
    execute(
        folder,
        "CREATE TRIGGER yes AFTER INSERT ON questions BEGIN"
        " UPDATE questions SET state = 'answered', answer = 'always' WHERE id = NEW.id; END",
    )
    refused(inbox, folder)


def test_another_programs_database_is_refused(inbox, folder):
    folder.mkdir(parents=True)
    (folder / "inbox.db").touch(0o600)
    execute(folder, "CREATE TABLE questions (id TEXT)")
    refused(inbox, folder)


def test_a_damaged_file_is_refused(inbox, folder):
    with inbox.ask({**QUESTION, "more": "x" * 20_000}, 60):
        data = (folder / "inbox.db").read_bytes()
        (folder / "inbox.db").write_bytes(data[:4_096] + b"\xff" * (len(data) - 4_096))
        with pytest.raises(ConfigurationError):
            inbox.waiting()


def test_a_link_is_refused_and_so_is_a_file_that_others_read(inbox, folder, tmp_path):
    with inbox.ask(QUESTION, 60):
        pass
    (folder / "inbox.db").chmod(0o640)
    refused(inbox, folder)
    (folder / "inbox.db").rename(tmp_path / "elsewhere.db")
    (tmp_path / "elsewhere.db").chmod(0o600)
    (folder / "inbox.db").symlink_to(tmp_path / "elsewhere.db")
    refused(inbox, folder)
    (folder / "inbox.db").unlink()
    (folder / "inbox.db").mkdir()
    with pytest.raises(ConfigurationError):
        inbox.waiting()


def test_a_folder_that_is_a_link_is_refused(inbox, folder, tmp_path):
    folder.parent.mkdir()
    (tmp_path / "outside").mkdir()
    folder.symlink_to(tmp_path / "outside")
    with pytest.raises(NocturnError), inbox.ask(QUESTION, 60):
        pytest.fail("it was asked all the same")
    assert list((tmp_path / "outside").iterdir()) == []


SPILL = """
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA cache_size = 2")
db.execute("BEGIN IMMEDIATE")
db.executemany("INSERT INTO questions (id, state, asked_at, expires_at, seal, question)"
               " VALUES (?, '', 0, 0, '', ?)", [(str(n), "x" * 3000) for n in range(200)])
os._exit(0)
"""


def test_a_journal_that_would_have_another_file_removed_is_refused(inbox, folder, tmp_path):
    """SQLite, as it recovers, removes the file that a journal names as its "super-journal"."""
    with inbox.ask(QUESTION, 60):
        pass
    victim = tmp_path / "precious"
    victim.write_text("mine")
    subprocess.run([sys.executable, "-c", SPILL, folder / "inbox.db"], check=True)
    journal = folder / "inbox.db-journal"
    name = os.fsencode(victim)
    tail = [0x40000000 // 4_096 + 1, name, len(name), sum(name), 0xD9D505F920A163D7]
    honest = journal.read_bytes()
    journal.write_bytes(
        honest
        + b"".join(
            part if isinstance(part, bytes) else part.to_bytes(8 if part >> 32 else 4, "big")
            for part in tail
        )
    )
    refused(inbox, folder)
    assert victim.exists()
    journal.write_bytes(honest)  # what a crash leaves is recovered
    assert inbox.waiting() == []
    assert not journal.exists()
    assert inbox.changes()


@pytest.mark.parametrize("column", ["'' AS answer_seal", "answer_seal"])
def test_a_yes_of_somebody_without_the_key_is_none(inbox, folder, column):
    with inbox.ask(QUESTION, 60) as earlier:
        inbox.answer(earlier.id, "always", "terminal")
        earlier.wait(yes)
    with inbox.ask(QUESTION, 60) as asked:
        execute(
            folder,
            "UPDATE questions SET state = 'answered', answer = 'always', answered_by = 'terminal',"
            f" (answered_at, answer_seal) = (SELECT answered_at, {column} FROM questions"
            " WHERE taken = 1) WHERE taken = 0",
        )
        with pytest.raises(ConfigurationError):
            asked.wait(yes)
    assert not inbox.get(asked.id).taken


def test_a_question_that_was_changed_on_the_way_is_not_shown(inbox, folder):
    with inbox.ask(QUESTION, 60) as asked:
        execute(folder, "UPDATE questions SET question = replace(question, 'cats', 'dogs')")
        with pytest.raises(ConfigurationError):
            inbox.waiting()
        with pytest.raises(ConfigurationError):
            inbox.answer(asked.id, "once", "python")


@pytest.mark.parametrize(
    "value",
    ["expires_at = 'soon'", "asked_at = -1", "expires_at = 1e300", "state = 'yes'", "id = x'00'"],
)
def test_a_row_that_no_nocturn_writes_is_refused(inbox, folder, value):
    with inbox.ask(QUESTION, 60) as asked:
        execute(folder, f"UPDATE questions SET {value}")
        with pytest.raises(ConfigurationError):
            inbox.changes()
        with pytest.raises(NocturnError):
            asked.wait(yes)


def test_another_user_sees_no_question_and_answers_none(inbox, make_inbox):
    other = make_inbox("another users data")
    with inbox.ask(QUESTION, 60) as asked:
        with pytest.raises(ConfigurationError):
            other.waiting()
        with pytest.raises(ConfigurationError):
            other.answer(asked.id, "once", "python")
        assert inbox.get(asked.id).state == "waiting"
