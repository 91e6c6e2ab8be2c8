"""The pool: workers are used once, bounded, served in order, and never outlive their host."""

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import threading

import pytest

from nocturn import ConfigurationError, Limits, tool
from nocturn.host.pool import Pool, Ticket

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the zygote is for Linux")


def is_gone(pid, seconds=10):
    """Waits for a process to end; a zombie that only init has to reap has ended."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([fd], [], [], seconds)[0])
    finally:
        os.close(fd)


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as children:
        return [int(each) for each in children.read().split()]


@pytest.fixture
def pool():
    made = Pool(Limits, warm=2, most=4)
    yield made
    made.close()


def test_no_worker_is_given_out_twice(pool):
    pids = []
    for _ in range(12):
        worker = pool.take(Limits(), Ticket())
        pids.append(worker.pid)
        pool.give_back(worker)
        worker.close()
    assert len(set(pids)) == 12


def test_a_worker_that_was_given_back_is_gone(pool):
    worker = pool.take(Limits(), Ticket())
    pool.give_back(worker)
    worker.close()
    assert pool.reap(worker) == signal.SIGKILL
    assert is_gone(worker.pid)


def test_closing_leaves_no_process(pool):
    workers = [pool.take(Limits(), Ticket()) for _ in range(3)]
    zygote = pool._zygote.pid
    pool.give_back(workers[0])
    pool.close()
    assert is_gone(zygote)
    assert all(is_gone(worker.pid) for worker in workers)
    for worker in workers:
        worker.close()
    with pytest.raises(ConfigurationError):
        pool.take(Limits(), Ticket())


def test_workers_are_bounded_and_who_waits_is_served_in_order(pool):
    pool = Pool(Limits, most=1)
    first = pool.take(Limits(), Ticket())
    served, threads = [], []

    def wait(number):
        worker = pool.take(Limits(), Ticket())
        served.append(number)
        pool.give_back(worker)
        worker.close()

    for number in range(5):
        threads.append(threading.Thread(target=wait, args=(number,)))
        threads[-1].start()
        while len(pool._queue) <= number:  # until it stands in the queue
            os.sched_yield()
    assert served == []
    pool.give_back(first)
    first.close()
    for thread in threads:
        thread.join()
    assert served == [0, 1, 2, 3, 4]
    pool.close()


def test_who_leaves_the_queue_takes_no_place_with_him(pool):
    pool = Pool(Limits, most=1)
    first = pool.take(Limits(), Ticket())
    ticket = Ticket()
    taken = []
    waiting = threading.Thread(target=lambda: taken.append(pool.take(Limits(), ticket)))
    waiting.start()
    while not pool._queue:
        os.sched_yield()
    ticket.abandon()
    waiting.join()
    assert taken == [None]
    pool.give_back(first)
    first.close()
    second = pool.take(Limits(), Ticket())
    assert second is not None
    pool.give_back(second)
    second.close()
    pool.close()


def test_a_killed_zygote_is_replaced(ws):
    assert ws.run("1").value == 1
    os.kill(ws._pool._zygote.pid, signal.SIGKILL)
    assert is_gone(ws._pool._zygote.pid)
    assert [ws.run("2").status for _ in range(6)].count("ok") >= 3
    assert ws.run("3").value == 3


def test_a_zygote_whose_answer_nobody_read_is_replaced():
    """Ctrl-C between an order and its answer: the next answer would be the last one's."""
    pool = Pool(Limits, warm=0)
    first = pool.take(Limits(), Ticket())
    zygote = pool._zygote
    control = zygote._control

    class Interrupted:
        def __getattr__(self, name):
            return getattr(control, name)

        def recv(self, *_):
            raise KeyboardInterrupt

    zygote._control = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        pool.take(Limits(), Ticket())
    zygote._control = control
    second = pool.take(Limits(), Ticket())
    assert pool._zygote is not zygote
    assert is_gone(zygote.pid)
    assert is_gone(first.pid)
    assert second.pid in children_of(pool._zygote.pid)
    for worker in (first, second):
        pool.give_back(worker)
        worker.close()
    pool.close()


def test_a_zygote_that_hangs_is_replaced():
    pool = Pool(Limits, warm=0)
    first = pool.take(Limits(), Ticket())
    hung = pool._zygote
    os.kill(hung.pid, signal.SIGSTOP)
    hung._control.settimeout(0.2)
    second = pool.take(Limits(), Ticket())
    assert pool._zygote.pid != hung.pid
    assert is_gone(hung.pid)
    for worker in (first, second):
        pool.give_back(worker)
        worker.close()
    pool.close()


BARE = """
import os, signal, sys
for fd in (0, 1, 2):
    os.close(fd)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
from nocturn import Workspace
with Workspace(sys.argv[1]) as ws:
    value = ws.run("40 + 1").value
    died = ws.run("for(;;);", limits=__import__("nocturn").Limits(wall_seconds=0.1)).status
os._exit(value if died == "time_limit" else 1)
"""


def test_a_host_without_standard_streams_that_ignores_its_children_may_run(tmp_path):
    done = subprocess.run([sys.executable, "-c", BARE, str(tmp_path)], check=False, timeout=60)
    assert done.returncode == 41


def test_a_killed_worker_is_said_and_the_next_run_works(nocturn_workspace):
    killed = []

    @tool(axis="read", effects="ungated")
    def kill_worker() -> None:
        """Kills every worker of the pool but those that are ready."""
        zygote = ws._pool._zygote.pid
        ready = {worker.pid for worker in ws._pool._ready}
        for pid in children_of(zygote):
            if pid not in ready:
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)

    ws = nocturn_workspace(tools=[kill_worker])
    result = ws.run("console.log('kept'); nocturn.call('kill_worker'); 1")
    assert killed
    assert result.status == "worker_died"
    assert "9" in result.error.message
    assert result.console[0].text == "kept"
    assert ws.run("1").value == 1


def test_the_thread_that_ran_first_may_end(ws):
    thread = threading.Thread(target=ws.run, args=("1",))
    thread.start()
    thread.join()
    zygote = ws._pool._zygote.pid
    assert ws.run("2").value == 2
    assert ws._pool._zygote.pid == zygote


HOST = """
import os, sys, time
from nocturn import Limits, Workspace
from nocturn.host.pool import Ticket
ws = Workspace(sys.argv[1])
assert ws.run("1").value == 1
workers = [ws._pool.take(Limits(), Ticket()) for _ in range(3)]
if "fork" in sys.argv:
    if os.fork() == 0:
        time.sleep(60)
print(ws._pool._zygote.pid, *[w.pid for w in workers], flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("forked", [[], ["fork"]])
def test_a_killed_host_takes_its_workers_with_it_even_if_a_fork_of_it_lives(tmp_path, forked):
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, str(tmp_path / "ws"), *forked],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    pids = [int(each) for each in host.stdout.readline().split()]
    assert len(pids) == 4
    os.kill(host.pid, signal.SIGKILL)
    assert all(is_gone(pid) for pid in pids)
    os.killpg(host.pid, signal.SIGKILL) if forked else None
    host.wait()
    host.stdout.close()


FORKING = """
import json, os, sys
from nocturn import Workspace
ws = Workspace(sys.argv[1])
assert ws.run("1").value == 1
ours = ws._pool._zygote.pid
read, write = os.pipe()
pid = os.fork()
if pid == 0:
    value = ws.run("20 + 1").value
    os.write(write, json.dumps([value, ws._pool._zygote.pid]).encode())
    ws.close()
    os._exit(0)
value, theirs = json.loads(os.read(read, 100))
os.waitpid(pid, 0)
assert theirs != ours
print(json.dumps([value, ws.run("2").value, ws._pool._zygote.pid == ours]))
ws.close()
"""


def test_a_fork_of_the_host_has_workers_of_its_own(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKING, str(tmp_path / "ws")],
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout) == [21, 2, True]


def test_limits_of_one_run_are_its_own(ws):
    small = Limits(heap_bytes=4 << 20)
    hungry = "'x'.repeat(1e6).split('').length"
    assert ws.run(hungry, limits=small).status == "memory_limit"
    assert ws.run(hungry).value == 1_000_000


def test_every_fork_has_randomness_of_its_own(ws):
    values = [ws.run("Math.random()").value for _ in range(8)]
    assert len(set(values)) == 8
    spread = ws.run("Array.from({length: 1000}, Math.random)").value
    assert len(set(spread)) == 1000
    assert all(0 <= value < 1 for value in spread)
    assert 0.4 < sum(spread) / 1000 < 0.6


def test_runs_leave_no_descriptor_thread_or_process_behind(ws):
    def held():
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    ends = {"ok": "1", "time_limit": "for(;;);", "guest_error": "throw 1"}
    short = Limits(wall_seconds=0.05)
    ws.run("1")
    before = held()
    for number in range(30):
        wanted = list(ends)[number % 3]
        limits = short if wanted == "time_limit" else None
        assert ws.run(ends[wanted], limits=limits).status == wanted
    ws.close()
    for thread in threading.enumerate():
        if thread.name.startswith("nocturn"):
            thread.join(10)
    after = held()
    assert after[0] <= before[0]
    assert after[1] <= before[1]


def test_many_async_runs_share_few_workers_and_a_slow_tool_delays_nobody(nocturn_workspace):
    opened = threading.Event()

    @tool(axis="read", effects="ungated")
    def slow() -> str:
        """Answers once every other run is done."""
        assert opened.wait(60)
        return "slow"

    ws = nocturn_workspace(tools=[slow])

    async def all_of_them():
        late = asyncio.create_task(ws.run_async("nocturn.call('slow')", limits=Limits(60)))
        results = await asyncio.gather(*(ws.run_async(f"{n} * 2") for n in range(60)))
        assert not late.done()
        opened.set()
        return results, await late

    results, late = asyncio.run(all_of_them())
    assert [each.value for each in results] == [n * 2 for n in range(60)]
    assert late.value == "slow"


def test_cancelling_a_task_ends_its_worker(nocturn_workspace):
    started = threading.Event()

    @tool(axis="read", effects="ungated")
    def begin() -> None:
        """Says that the run is under way."""
        started.set()

    ws = nocturn_workspace(tools=[begin])

    async def cancel():
        source = "nocturn.call('begin'); for(;;);"
        task = asyncio.create_task(ws.run_async(source, limits=Limits(60, 60)))
        await asyncio.to_thread(started.wait)
        zygote = ws._pool._zygote.pid
        workers = children_of(zygote)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        ready = {worker.pid for worker in ws._pool._ready}
        return [pid for pid in workers if pid not in ready]

    assert all(is_gone(pid) for pid in asyncio.run(cancel()))
    assert ws.run("1").value == 1
