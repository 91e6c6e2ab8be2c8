"""The soak of questions passes on what we have, and fails on a write without a yes."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from nocturn.store.asked import Asked

FILE = Path(__file__).resolve().parents[1] / "scripts/approvals_soak.py"
forks = pytest.mark.skipif(sys.platform == "win32", reason="it forks")


def run(*command):
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=240, check=False
    )


@pytest.fixture(scope="module")
def soak():
    spec = importlib.util.spec_from_file_location("approvals_soak_under_test", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def said(soak, *approvers):
    """What they wanted and heard; from Python, unless they say where."""
    return tuple(soak.Person((*by, "python")[0], want, heard) for want, heard, *by in approvers)


@pytest.fixture
def fine(soak):
    """A round in which one said yes, the other was late, and the note was written."""
    asked = Asked("0" * 16, "answered", {}, "", "", "once", "", "python", taken=True)
    approvers = said(soak, ("once", "confirmed"), (None, "CONFLICT"))
    return soak.Round("allowed", False, approvers, True, asked)


@forks
def test_a_short_soak_ends_well() -> None:
    done = run(FILE, "8", "--seed", "3")
    assert (done.returncode, done.stdout.count("no yes lost")) == (0, 1), done.stderr


@forks
def test_a_soak_fails_where_nobody_is_asked() -> None:
    code = """
import sys
sys.path.insert(0, sys.argv[1])
import approvals_soak
from nocturn.guard.out_of_band import BoxApprover
BoxApprover.ask = lambda approver, question: "once"
approvals_soak._Child.doom = lambda child, seconds: None
raise SystemExit(approvals_soak.main(["1"]))
"""
    done = run("-c", code, FILE.parent)
    assert done.returncode == 1, done.stderr
    assert "written without a yes" in done.stderr


def test_a_round_that_went_well_has_no_problem(soak, fine):
    assert soak.problems_of("n", fine) == []
    killed = replace(fine, asker="", killed=True, written=False)
    assert soak.problems_of("n", killed) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"asked": None}, "written without a yes"),
        ({"written": False}, "was lost"),
        ({"asker": ""}, "said nothing"),
    ],
)
def test_each_wrong_is_seen(soak, fine, change, problem):
    assert any(problem in each for each in soak.problems_of("n", replace(fine, **change)))


@pytest.mark.parametrize(
    ("approvers", "problem"),
    [
        ([("once", "confirmed"), ("once", "confirmed")], "two answers"),
        ([("once", "confirmed"), ("once", "twice", "page")], "two answers"),
        ([(None, "confirmed"), ("once", "CONFLICT")], "is another"),
        ([("once", ""), ("once", "confirmed", "page")], "is another"),
        ([(None, "CONFLICT"), (None, "")], "nobody gave"),
        ([("once", "", "page"), (None, "CONFLICT")], "nobody gave"),
        ([("once", "confirmed"), (None, "no page", "page")], "did not come back"),
    ],
)
def test_each_wrong_answer_is_seen(soak, fine, approvers, problem):
    wrong = replace(fine, approvers=said(soak, *approvers))
    assert any(problem in each for each in soak.problems_of("n", wrong))
