"""A run in one process is answered at the page of another, and goes on."""

import json
from pathlib import Path

import pytest

PATH = "trips/oslo.md"


@pytest.fixture
def script(tmp_path):
    file = tmp_path / "plan.js"
    file.write_text(f"nocturn.memory.write({PATH!r}, 'a trip', 'In May.').path")
    return file


@pytest.fixture
def answer(served, waiting):
    """Answers the question that waits, at the page, and sees it say that it is done."""
    session = served.sign_in()

    def answer(option):
        asked = waiting()
        path = f"/api/questions/{asked.id}"
        shown = served.request("GET", path, Authorization=session)[2]
        assert [each["target"] for each in shown["effects"]] == [PATH]
        body = {"option": option, "digest": shown["digest"]}
        status, _, told = served.request("POST", f"{path}/answer", body, Authorization=session)
        assert (status, told["taken"]) == (200, True)

    return answer


def ended(process):
    out, _ = process.communicate(timeout=60)
    return process.returncode, json.loads(out)


def test_a_yes_for_always_at_the_page_is_that_agents_and_a_no_is_a_no(
    start, served, script, answer
):
    note = Path(served.workspace, "memory", PATH)
    asking = ("run", script, "--json", "--guarded", "--agent")
    run = start(*asking, "planner")
    answer(None)
    status, result = ended(run)
    assert (status, result["error"]["detail"]) == (3, {"reason": "declined"})
    assert not note.exists()

    run = start(*asking, "planner")
    answer("always")
    status, result = ended(run)
    assert (status, result["value"], result["calls"][0]["ruling"]) == (0, PATH, "always")
    assert result["usage"]["waited_ms"] > 0
    assert note.read_text().endswith("In May.")

    status, result = ended(start("run", script, "--json", "--strict", "--agent", "planner"))
    assert (status, result["calls"][0]["ruling"]) == (0, "grant")
    other = start(*asking, "another")
    answer(None)
    assert ended(other)[0] == 3
