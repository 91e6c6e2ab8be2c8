"""The benchmarks run, at a few rounds each, and print the tables that they promise."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "scripts/benchmarks"
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="it measures the zygote and /proc")


def run(name: str, *options: str) -> str:
    """Runs a benchmark and returns what it printed."""
    done = subprocess.run(
        [sys.executable, FOLDER / f"{name}.py", "--quick", "--markdown", *options],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def table(name: str, *options: str) -> dict[str, list[str]]:
    """Runs a benchmark and returns the lines of its table, the head too, by their first cells."""
    lines = run(name, *options).splitlines()
    rows = [line.strip("|").split("|") for line in lines if line[:1] == "|"]
    cells = [[cell.strip() for cell in row] for row in rows]
    assert len({len(row) for row in cells}) == 1
    return {row[0]: row for row in cells}


@pytest.fixture(scope="module")
def figure(load_benchmark):
    return load_benchmark("sections.figure")


@linux_only
def test_house_shows_each_job_beside_the_least_that_it_could_cost() -> None:
    rows = table("house")
    for job in (
        "cold: python -c to the first result of 1+1",
        "cold: nocturn eval 1+1, to its end",
        "warm: ws.run('1+1'), pool idle",
        "warm: ws.run('1+1'), back to back",
        "call of a bare tool in one run, on one core",
        "memory_write, 500 bytes",
        "memory_write, 64 KiB",
        "catalog of 500 notes",
    ):
        assert float(rows[job][-1].replace(",", "")) > 0
    for least in ("python -c pass", "socket-pair turn, on one core", "walk + read 500 heads"):
        assert rows[least][-1] == ""


@linux_only
def test_repl_shows_a_line_and_a_fork_beside_a_fresh_run() -> None:
    rows = table("repl")
    for job in ("a line of 1 + 1", "a fork, and its end", "the names after Math."):
        assert float(rows[job][-1].replace(",", "")) > 0
    assert rows["a fresh run of 1 + 1"][-1] == ""


def test_memory_shows_each_job_beside_the_files_alone() -> None:
    rows = table("memory")
    for job in (
        *("write, 500 bytes", "append to 60 KB", "edit of 60 KB", "move of 500 bytes"),
        "read, 60 KB",
        "catalog of 60 notes, one edited",
        "search of a rare word, one note edited",
        "search of a word that all notes have",
    ):
        assert float(rows[job][-1].replace(",", "")) > 0
    least_of_a_write = "write + fsync + rename + fsync, 500 bytes"
    for least in (least_of_a_write, "walk + read 60 heads", "grep -r in 60 notes"):
        assert rows[least][-1] == ""


@linux_only
def test_jail_shows_each_target_and_whether_it_is_met() -> None:
    rows = table("jail")
    targets = {row[2] for row in rows.values()}
    for target in (
        *("≤ 50.00 ms", "≤ 350.00 ms", "≤ 200.00 ms", "≤ 500.00 µs", "≤ 1.50 ms", "≤ 3.00 ms"),
        *("≥ 1,250 /s", "≥ 40,000 /s", "≥ 1,400 /s", "≤ 1.50 MB", "≤ 10.00 ms", "≥ 9,000"),
        "≤ 100.00 µs",
    ):
        assert target in targets
    assert rows["recursion"][3] == "yes"
    assert {row[3] for row in rows.values() if row[2][:1] in ("≤", "≥")} <= {"yes", "no", "?"}
    if os.geteuid() == 0:
        assert "needs root" not in {row[1] for row in rows.values()}


@linux_only
def test_peers_says_of_each_what_walls_it_has_and_which_are_not_installed(tmp_path: Path) -> None:
    rows = table("peers", "--no-install", "--cache", str(tmp_path / "nothing"))
    assert rows["nocturn"][1] == "a locked process"
    assert rows["quickjs-rs"][1:3] == ["WebAssembly", "not installed"]
    assert rows["jsbox run_killable"][1] == "a process"
    head = rows["peer"]
    for name in ("nocturn", "quickjs-ng in-process"):
        for what, cell in zip(head[2:], rows[name][2:], strict=True):
            measured = cell[:1].isdigit() and cell.endswith(")")
            assert measured or (what == "idle" and os.geteuid() != 0), (name, what, cell)
    assert not (tmp_path / "nothing").exists()


@linux_only
def test_leaks_shows_what_is_caught_what_is_learned_and_what_it_takes() -> None:
    done = run("leaks", "--only", "times")
    assert "| the first scan, 1,000 values " in done
    assert "≤ 2.00 ms" in done
    assert "≤ 150.00 ms" in done
    assert done.count("≤ 500.00 ms") >= 30
    done = run("leaks", "--only", "prose", "--seed", "7")
    assert "; seed 7\n" in done
    assert re.search(r"\*\*Ordinary texts\*\*: 40 of them", done)
    assert re.search(r"\| for one of 10 values +\| +0 \|", done)
    assert re.search(r"\| for one of 1,000 values +\| +0 \|", done)


def test_leaks_says_that_the_given_evasions_are_not_there(tmp_path: Path) -> None:
    assert "is not here: skipped" in run("leaks", "--only", "given", "--shared", str(tmp_path))


def test_our_own_evasions_each_tell_one_value_from_another(load_benchmark) -> None:
    evasions, spreads = map(load_benchmark, ("attacks.evasions", "attacks.spreads"))
    values = load_benchmark("attacks.values")
    one, other = values.fresh(8), values.fresh(8)
    for name, hide in {**evasions.EVASIONS, **spreads.SPREADS}.items():
        for mine, yours in zip(one, other, strict=True):
            values.RANDOM.seed(1)
            hidden = hide(mine)
            values.RANDOM.seed(1)
            assert hidden != hide(yours), name
    assert evasions.EVASIONS.keys() | spreads.SPREADS.keys() >= evasions.HOPELESS


def test_a_peer_that_hangs_or_fails_is_a_cell_and_not_the_end() -> None:
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "from rivals.driver import Driver; from rivals.peer import NoFigureError\n"
        "for body in ('import time; time.sleep(60)', 'raise SystemExit(1)'):\n"
        "    try: Driver([sys.executable, '-c', body], None, 0.5)\n"
        "    except NoFigureError as reason: print(reason)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, FOLDER], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["hangs", "fails"]


def test_a_target_is_met_by_less_time_and_by_more_a_second(figure) -> None:
    met = [
        figure.Figure("x", value, 1.0, unit=unit).cells()[3]
        for unit in ("s", "/s")
        for value in (0.5, 1.0, 2.0, None)
    ]
    assert met == ["yes", "yes", "no", "?", "no", "yes", "yes", "?"]


def test_a_ratio_is_above_one_where_more_was_needed_than_the_least(figure) -> None:
    assert figure.Figure("x", 2.0, None, 1.0, "y").cells()[4] == "2.0 times y"
    assert figure.Figure("x", 10.0, None, 40.0, "y", "/s").cells()[4] == "4.0 times y"
    assert figure.Figure("x", 10.0).cells()[2:] == ("", "", "")


def test_leak_shapes_says_what_each_scanner_finds_and_which_are_not_installed(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "data/leaks"
    folder.mkdir(parents=True)
    token = "ghp_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1z2A"
    given = [("gitleaks", "pos", token), ("gitleaks", "neg", "none"), ("gitleaks", "neg", token)]
    lines = [json.dumps({"ds": ds, "label": label, "text": text}) for ds, label, text in given]
    with gzip.open(folder / "patterns.jsonl.gz", "wt") as file:
        file.write("\n".join(lines))
    where = ("--shared", str(tmp_path), "--no-install", "--cache", str(tmp_path / "nothing"))
    rows = table("leak_shapes", *where)
    assert rows["scanner"][1:3] == ["gitleaks, secrets (1)", "gitleaks, none (1)"]
    assert rows["nocturn"][1:3] == rows["nocturn, blocked"][1:3] == ["100.0%", "0.0%"]
    assert rows["detect-secrets"][1] == "not installed"
    assert not (tmp_path / "nothing").exists()
