"""Attack: use the forks that a session is allowed: more of them, for longer, or another's.

The engine is one that runs a line as Python, in the locked process, as native code in a broken
QuickJS could.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import subprocess
import sys
import threading

import pytest

from nocturn import Limits, RunInterrupted
from nocturn.host import pool as pools
from nocturn.host import session as sessions
from nocturn.host.execution import Execution
from nocturn.host.pool import Pool
from nocturn.host.process import EngineFiles, quickjs
from nocturn.host.program import Program
from nocturn.host.session import Session
from nocturn.host.zygote import Zygote
from nocturn.wire.frames import LINE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sessions fork on Linux only")

BROKEN = """
import _thread, ctypes, errno, json, os, select
from nocturn.worker import kernel, lockdown, serve, syscalls
from nocturn.worker.kernel import call

FORK, ARRIVAL, PRCTL = syscalls.numbers(syscalls.BRANCHES, os.uname().machine)
others = dict(zip(syscalls.KILLED, syscalls.numbers(syscalls.KILLED, os.uname().machine)))

def wait(seconds):
    select.poll().poll(seconds * 1000)

class Engine:
    def __init__(self):
        self.scope = {**globals(), "state": {}}
    def load_ahead(self): pass
    def warm_up(self): pass
    def open_session(self): pass
    def ask(self, question): return self.scope["state"].get("answer", "null")
    def run(self, start, heap_bytes):
        try:
            exec(json.loads(start)["source"], self.scope)
            value = self.scope.pop("value", None)
        except OSError as error:
            value = errno.errorcode[error.errno]
        return json.dumps({"type": "done", "status": "ok", "value": value})

def load(file, lines):
    return Engine()
"""
LIMITS = Limits(wall_seconds=5)


@pytest.fixture
def opened(tmp_path):
    """Returns a function that opens a session of one pool, whose lines are Python."""
    (tmp_path / "broken.py").write_text(BROKEN)
    true = quickjs()
    module = "engine import load as _; from broken"
    engine = EngineFiles(module, true.file, (*true.folders, str(tmp_path)), "x")
    pool = Pool(lambda: LIMITS, engine=lambda: engine)

    def prepare(session, source, _):
        execution = Execution(Program(source, "x"), (), LIMITS, "full", session, head=LINE)
        return execution, lambda _: opened.answered.wait(60)

    def opened():
        return Session(pool, LIMITS, "full", prepare)

    opened.answered = threading.Event()
    yield opened
    pool.close()


def processes():
    """Returns (id, parent, group) of all processes."""
    told = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,pgid="], capture_output=True, text=True, check=True
    ).stdout
    return [tuple(map(int, line.split())) for line in told.splitlines()]


def group_of(session):
    return session._kin.first.pid


def members(group):
    """Returns the processes of a session, those too that never said that they are there."""
    return [pid for pid, _, of in processes() if of == group]


def left(group, count):
    """Returns whether so many are left, once the dead are cleared away, which nobody waits for."""
    while len(members(group)) > count:
        pass
    return len(members(group)) == count


def value_of(session, source):
    result = session.eval(source)
    assert result.ok, result.error
    return result.value


def test_each_line_is_a_process_of_its_own_and_goes_on_from_the_last(opened):
    session = opened()
    value_of(session, "state['n'] = 1")
    assert value_of(session, "state['n'] += 1; value = state['n']") == 2
    assert left(group_of(session), 2)  # one waits; the first is dead, its id the group's
    twin = session.fork()
    assert value_of(twin, "state['n'] = 9; value = state['n']") == 9
    assert value_of(session, "value = state['n']") == 2


@pytest.mark.parametrize(
    "attack",
    [
        "call(FORK, syscalls.BRANCH_FLAGS, 0, 0, 0, 0)",
        "call(ARRIVAL, 0)",
        "lockdown.branch()",
    ],
    ids=["a fork", "an arrival", "both"],
)
def test_what_nobody_has_asked_for_ends_the_whole_session_and_no_other(opened, attack):
    session, other = opened(), opened()
    value_of(session, "state['n'] = 1")
    value_of(other, "state['n'] = 5")
    group = group_of(session)
    assert session.eval(attack).status == "worker_died"
    assert session.eval("value = state['n']").status == "worker_died"  # and it says that it is lost
    assert not members(group)
    assert value_of(session, "value = state") == {}
    assert value_of(other, "value = state['n']") == 5


@pytest.mark.parametrize(
    "attack",
    [
        "call(FORK, 17, 0, 0, 0, 0)",
        "call(FORK, syscalls.BRANCH_FLAGS | 1 << 40, 0, 0, 0, 0)",
        "call(FORK, syscalls.BRANCH_FLAGS | 0x100, 0, 0, 0, 0)",
        "call(others['clone3'], bytes(88), 88)",
        "os.fork()",
        "_thread.start_new_thread(print, ())",
        "call(others['kill'], 0, 9)",
    ],
    ids=["no sibling", "upper half", "shared memory", "clone3", "fork", "thread", "kill"],
)
def test_a_fork_of_another_form_is_killed_and_the_line_taken_back(opened, attack):
    session = opened()
    value_of(session, "state['n'] = 1")
    result = session.eval(f"state['n'] = 2\n{attack}")
    assert (result.status, result.rolled_back) == ("worker_died", True)
    assert value_of(session, "value = state['n']") == 1


def test_a_crash_in_line_seven_leaves_lines_one_to_six(opened):
    session = opened()
    for n in range(1, 7):
        value_of(session, f"state[{n}] = {n}")
    result = session.eval("state[7] = 7; ctypes.string_at(0)")
    assert (result.status, result.rolled_back, session.lines) == ("worker_died", True, 6)
    assert value_of(session, "value = list(state.values())") == [1, 2, 3, 4, 5, 6]


def test_a_session_stays_in_its_group_and_dies_with_the_zygote(opened):
    session = opened()
    for attack in (
        "os.setpgid(0, 0)",
        "os.setsid()",
        "kernel.control(kernel.PR_SET_PDEATHSIG, 0)",
        "kernel.control(kernel.PR_SET_DUMPABLE, 1)",
        "call(PRCTL, 1 << 32 | 2, 9, 0, 0, 0)",
    ):
        assert value_of(session, attack) == "EPERM", attack


def test_a_child_that_does_not_say_that_it_is_there_ends_with_the_session(opened, monkeypatch):
    monkeypatch.setattr(pools, "ARRIVAL_SECONDS", 0.2)
    session = opened()
    silent = "lockdown.branch = lambda: call(FORK, syscalls.BRANCH_FLAGS, 0, 0, 0, 0) and False"
    value_of(session, silent)
    group = group_of(session)
    assert session.eval("1").status == "worker_died"
    assert not members(group)


def test_a_process_that_forks_twice_where_once_was_asked_for_ends_the_session(opened, monkeypatch):
    monkeypatch.setattr(pools, "ARRIVAL_SECONDS", 0.2)
    session = opened()
    value_of(session, "once = lockdown.branch; lockdown.branch = lambda: once() or once()")
    group = group_of(session)
    assert session.eval("1").status == "worker_died"
    session.eval("1")
    assert not members(group)
    assert value_of(session, "value = state") == {}


def test_a_session_that_does_not_answer_holds_nobody_up(opened, monkeypatch):
    monkeypatch.setattr(pools, "ARRIVAL_SECONDS", 0.2)
    session, other = opened(), opened()
    value_of(session, "lockdown.branch = lambda: wait(60)")
    assert session.eval("1").status == "worker_died"
    assert value_of(other, "value = 4") == 4


def test_a_line_that_says_it_is_done_with_a_call_open_is_taken_back(opened):
    session = opened()
    frame = b'{"type":"call","id":1,"tool":"t","args":{}}'
    call = f"os.write(0, {len(frame).to_bytes(4, 'big') + frame!r})"
    result = session.eval(f"state['n'] = 1; {call}")
    opened.answered.set()
    assert (result.status, result.rolled_back) == ("worker_died", True)
    assert value_of(session, "value = state") == {}


HOST = """
import sys
from nocturn import Limits, Workspace
ws = Workspace(sys.argv[1])
s = ws.session(limits=Limits(wall_seconds=60, cpu_seconds=60))
s.eval("const a = 1")
twin = s.fork()
print(ws._pool._zygote.pid, flush=True)
s.eval("console.log('on'); for (;;);")
"""


def test_nothing_of_a_session_outlives_its_host(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOST, str(tmp_path / "ws")], stdout=subprocess.PIPE, text=True
    ) as host:
        zygote = int(host.stdout.readline())
        children: list[int] = []
        while len(children) < 3:  # until the line runs
            children = [pid for pid, parent, _ in processes() if parent == zygote]
        handles = [os.pidfd_open(each) for each in (zygote, *children)]
        host.kill()
        host.wait(60)
        for each in handles:
            watched = select.poll()
            watched.register(each, select.POLLIN)
            assert watched.poll(60_000)
            os.close(each)


DEAF = """
def deaf(self, text):
    self.send(text)
    os.read(0, 4)
    self.send('{"type":"done","status":"ok","value":null}')
    wait(60)
serve.Lines.exchange = deaf
"""


def test_a_session_that_reads_no_more_holds_nobody_up(opened):
    session, other = opened(), opened()
    value_of(other, "state['n'] = 4")
    value_of(session, DEAF)
    value_of(session, "#" * 212_000)  # as much as a socket takes that nobody reads
    assert session.eval("1").status == "worker_died"
    assert value_of(other, "value = state['n']") == 4


@pytest.mark.parametrize(
    "attack",
    [
        "while True: wait(60)",
        "os.write(0, (100).to_bytes(4, 'big'))\n    while True: os.write(0, b' '); wait(.02)",
    ],
    ids=["nothing", "a byte at a time"],
)
@pytest.mark.parametrize("when", ["before it is there", "after"])
def test_a_session_that_is_slow_to_answer_a_question_is_given_up(opened, monkeypatch, attack, when):
    monkeypatch.setattr(pools, "ARRIVAL_SECONDS", 0.2)
    monkeypatch.setattr(sessions, "ANSWER_SECONDS", 0.2)
    session = opened()
    name, before = ("exchange", "") if when == "before it is there" else ("receive", "real(self)")
    value_of(
        session,
        f"""
real = serve.Lines.receive
def hostile(self, *_):
    {before}
    {attack}
once = lockdown.branch
def branch():
    if once():
        serve.Lines.{name} = hostile
        return True
lockdown.branch = branch
""",
    )
    assert session.vars() == []
    assert session.unfinished("#" * 1_000_000) is False
    session.fork().close()
    session.close()


@pytest.mark.parametrize(
    "answer",
    [
        *("null", "[]", "{}", "[", "[1]", "[0, 2]", "[4, 2]", '["3", 2]', "[3, 1]", "[3, 4]"),
        *("[3, 3, 2]", "[3, 2, 2]", "[true, true]", "[1e9, 2]", "[3, -1]"),
    ],
)
def test_a_hostile_word_on_where_statements_end_is_taken_for_none(opened, answer):
    session = opened()
    value_of(session, f"state['answer'] = {answer!r}")
    assert session.ends(["a", "b", "c"], 1) == (2, [2])


def test_the_ends_of_statements_are_those_that_were_told(opened):
    session = opened()
    for answer, ends in {"[3, 2, 3]": (3, [2, 3]), "[3]": (3, []), "[2, 2]": (2, [2])}.items():
        value_of(session, f"state['answer'] = {answer!r}")
        assert session.ends(["a", "b", "c"], 1) == ends


@pytest.mark.parametrize("step", ["open_branch", "close_branch"])
def test_an_answer_that_was_for_somebody_else_is_nobodys_worker(opened, monkeypatch, step):
    session = opened()
    value_of(session, "state['n'] = 1")
    real = getattr(Zygote, step)

    def late(zygote, *given):
        zygote.is_sound = False  # another thread's order was left without its answer
        return real(zygote, *given)

    with monkeypatch.context() as patched:
        patched.setattr(Zygote, step, late)
        assert session.eval("value = state").status == "worker_died"
    assert value_of(session, "value = state") == {}


@pytest.mark.parametrize("step", ["open_branch", "close_branch"])
def test_ctrl_c_while_a_line_begins_takes_back_no_more_than_the_line(opened, monkeypatch, step):
    session = opened()
    value_of(session, "state['n'] = 1")
    real = getattr(Zygote, step)

    def interrupted(*given):
        os.kill(os.getpid(), signal.SIGINT)
        return real(*given)

    with monkeypatch.context() as patched:
        patched.setattr(Zygote, step, interrupted)
        with pytest.raises(RunInterrupted) as stop:
            session.eval("state['n'] = 2; wait(60)")
    assert (stop.value.result.status, stop.value.result.rolled_back) == ("cancelled", True)
    assert value_of(session, "value = state['n']") == 1
    assert left(group_of(session), 2)


FORKED = """
import os, sys
from nocturn import Workspace
from nocturn.errors import ConfigurationError
ws = Workspace(sys.argv[1])
with ws.session() as s:
    s.eval("const a = 1")
    twin = s.fork()
    if (child := os.fork()) == 0:
        print(s.closed, twin.closed, flush=True)
        s.cancel()
        try:
            s.eval("a")
        except ConfigurationError as error:
            print(error.message, flush=True)
        with ws.session() as own:
            print(own.eval("typeof a").value, flush=True)
        ws.close()
        sys.exit()
    os.waitpid(child, 0)
    print(s.eval("a").value, twin.eval("a").value, flush=True)
"""


def test_a_fork_of_the_host_has_no_hand_in_its_sessions(tmp_path):
    told = subprocess.run(
        [sys.executable, "-c", FORKED, str(tmp_path / "ws")],
        capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip
    assert told.splitlines() == [
        "True True",
        "the session is closed: open a new one with ws.session()",
        "undefined",
        "1 1",
    ]


def test_a_session_that_nobody_holds_any_more_is_ended_and_its_fork_goes_on(opened):
    session = opened()
    value_of(session, "state['n'] = 1")
    group = group_of(session)
    twin = session.fork()
    waiting = session._at.pid
    del session
    for _ in range(pools.SESSIONS):
        value_of(opened(), "state")
    while waiting in members(group):
        pass
    assert value_of(twin, "value = state['n']") == 1
    del twin
    gc.collect()
    assert left(group, 0)
