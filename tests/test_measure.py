"""The figures that the benchmarks print are what they say."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[1] / "scripts/benchmarks/measure.py"


@pytest.fixture(scope="module")
def measure():
    spec = importlib.util.spec_from_file_location("measure_under_test", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_the_median_and_the_99th_percentile_are_durations_that_were_measured(measure) -> None:
    sample = measure.Sample("x", tuple(n / 1000 for n in range(200, 0, -1)))
    assert sample.median_seconds == pytest.approx(0.1005)
    assert sample.p99_seconds == 0.198
    assert measure.Sample("one", (2.0,)).p99_seconds == 2.0
    assert measure.Sample("one", (2.0,)).per_second == 0.5


def test_actions_take_turns_after_their_warm_ups(measure) -> None:
    calls: list[str] = []
    samples = measure.measure(
        {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=2, warm_ups=1
    )
    assert "".join(calls) == "ababab"
    assert [len(samples[name].seconds) for name in "ab"] == [2, 2]


def test_a_row_shows_its_ratio_to_its_limit_and_a_bare_row_none(measure) -> None:
    slow, fast = measure.Sample("slow", (0.03,)), measure.Sample("fast", (0.000_02,))
    head, first, second = measure.table([measure.Row(slow, fast), measure.Row(fast)]).splitlines()
    assert head.startswith("what")
    assert first.split() == ["slow", "30.00", "ms", "30.00", "ms", "33", "1500.0"]
    assert second.split() == ["fast", "20.00", "µs", "20.00", "µs", "50,000"]


def test_a_markdown_table_has_the_same_columns_in_every_line(measure) -> None:
    sample = measure.Sample("x", (1.5,))
    lines = measure.table([measure.Row(sample, sample)], markdown=True).splitlines()
    assert {line.count("|") for line in lines} == {6}
    assert lines[2].split("|")[1:3] == [" x    ", " 1.50 s "]
