"""HumanEval-X in JavaScript: what a model writes, runs to the verdict that Node gives."""

from collections import Counter

import pytest


@pytest.fixture(scope="module")
def humaneval(load_benchmark):
    return load_benchmark("humaneval")


@pytest.fixture(scope="module")
def problems(humaneval):
    found = humaneval.problems()
    if not found:
        pytest.skip("../shared/data/humaneval_js.jsonl.gz is not there")
    return found


def test_every_program_runs_to_nodes_verdict_and_a_wrong_function_is_told_apart(
    humaneval, problems, nocturn_workspace
):
    ws = nocturn_workspace()
    verdicts = {each.name: humaneval.verdict_of(ws, each.program) for each in problems}
    assert Counter(verdicts.values()) == {
        humaneval.CLEAN: 161,
        humaneval.FAILS: 2,
        humaneval.THROWS: 1,
    }
    right = [each for each in problems if verdicts[each.name] == humaneval.CLEAN]
    assert [each.name for each in right if humaneval.verdict_of(ws, each.wrong) == "clean"] == []
