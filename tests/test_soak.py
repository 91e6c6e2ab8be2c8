"""The soak passes on what we have, and fails on what leaks or ends otherwise."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from nocturn.host.result import RunResult

FILE = Path(__file__).resolve().parents[1] / "scripts/soak.py"
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")


def run(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def soak():
    spec = importlib.util.spec_from_file_location("soak_under_test", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@linux_only
def test_a_short_soak_ends_well_and_leaves_nothing() -> None:
    done = run(FILE, "40", "--concurrent", "20", "--lines", "60")
    assert (done.returncode, done.stdout.count("nothing is left")) == (0, 1), done.stderr


@linux_only
@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("soak.KINDS = (soak.Kind('ok', 'throw 1'),) * 10", "ended as guest_error"),
        ("soak.KINDS = (soak.Kind('ok', '1', lambda n: 2),) * 10", "gave 1, not 2"),
        ("soak.Pool.give_back = leak_descriptor", "descriptors"),
        ("soak.Pool.give_back = leak_thread", "threads"),
        ("soak.Pool.give_back = leak_process", "processes"),
        ("soak.Pool.give_back = leak_memory", "host_bytes"),
    ],
    ids=["status", "value", "descriptor", "thread", "process", "memory"],
)
def test_a_soak_fails_on_what_is_wrong(broken: str, said: str) -> None:
    code = f"""
import os, subprocess, sys, threading
sys.path.insert(0, sys.argv[1])
import soak
soak.SETTLE_SECONDS = 0.5
kept = []
give_back = soak.Pool.give_back
def leak_descriptor(pool, worker):
    kept.append(os.dup(0)); give_back(pool, worker)
def leak_thread(pool, worker):
    threading.Thread(target=threading.Event().wait, daemon=True).start(); give_back(pool, worker)
def leak_process(pool, worker):
    kept.append(subprocess.Popen(["sleep", "60"])); give_back(pool, worker)
def leak_memory(pool, worker):
    kept.append(bytearray(b"x" * 1_000_000)); give_back(pool, worker)
{broken}
status = soak.main(["20", "--concurrent", "2", "--lines", "20"])
for each in kept:
    if isinstance(each, subprocess.Popen):
        each.kill()
os._exit(status)
"""
    done = run("-c", code, FILE.parent)
    assert done.returncode == 1, done.stderr
    assert said in done.stderr


def test_each_growth_is_said_and_a_little_memory_is_none(soak) -> None:
    before = soak.Held(3, 10, 2, 40 << 20, 12 << 20)
    assert soak.leaks(before, before) == []
    assert soak.leaks(before, soak.Held(2, 9, 1, 0, 0)) == []
    assert soak.leaks(before, replace(before, host_bytes=48 << 20)) == []
    for name in ("processes", "descriptors", "threads", "host_bytes", "zygote_bytes"):
        more = replace(before, **{name: getattr(before, name) + (9 << 20)})
        (sentence,) = soak.leaks(before, more)
        assert sentence.startswith(name)


def test_a_tenth_of_the_runs_is_killed_and_a_tenth_crashes(soak) -> None:
    statuses = [kind.status for kind in soak.KINDS]
    assert len(statuses) == 10
    assert (statuses.count("time_limit"), statuses.count("worker_died")) == (1, 1)


def test_a_wrong_status_or_value_is_a_problem(soak) -> None:
    kind = soak.Kind("ok", "{n}", lambda n: n)
    assert soak.problem_of(kind, 4, RunResult(status="ok", value=4)) == ""
    assert "5" in soak.problem_of(kind, 4, RunResult(status="ok", value=5))
    assert "time_limit" in soak.problem_of(kind, 4, RunResult(status="time_limit"))
