"""A tool's page is made from the tool, and what it shows works."""

import re
from pathlib import Path

import pytest

from nocturn.registry.page import call_example, page, wrapper_example
from nocturn.registry.tool import tool
from nocturn.tools import BUILT_IN

DOCS = Path(__file__).resolve().parents[2] / "docs/tools"

BY_HAND = ("memory_import", "memory_restore", "memory_undo")


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name not in BY_HAND])
def test_both_examples_of_a_page_run_and_give_the_same(nocturn_workspace, name):
    values = []
    for number, example in enumerate((wrapper_example, call_example)):
        ws = nocturn_workspace(str(number))
        for path in ("people/lina.md", "people/tom.md"):
            ws.memory.write(path, "s", "Starts school in August.")
        source = example(ws.tools.get(name))
        result = ws.run(source, mode="watched")
        assert result.ok, (source, result.error)
        assert [call.tool for call in result.calls] == [name]
        values.append(without_time(result.value))
    assert values[0] == values[1]


def test_an_option_stands_in_an_example_as_the_wrapper_takes_it(ws):
    assert wrapper_example(ws.tools.get("memory_search")).endswith(", { limit: 5 });")


def without_time(value):
    """Takes out what differs from moment to moment and from workspace to workspace."""
    if isinstance(value, dict):
        moving = ("modified", "version", "iso", "epochMs")
        return {key: without_time(each) for key, each in value.items() if key not in moving}
    return [without_time(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name not in BY_HAND])
def test_a_page_says_gate_input_output_and_both_ways_to_call(ws, name):
    described = ws.tools.get(name)
    text = page(described)
    assert f"\n# {name}\n" in text
    gate = f"{described.effects[0].kind}, verb" if described.effects else "ungated"
    assert f"\nGate: {gate}" in text
    assert re.findall("^## (.*)$", text, re.MULTILINE)[:3] == [
        "Input",
        "Output",
        "From JavaScript",
    ]
    for field in described.fields:
        assert f"| `{field}` |" in text
    assert wrapper_example(described) in text
    assert call_example(described) in text


def test_the_pages_in_the_project_are_these(ws):
    if not DOCS.is_dir():
        pytest.skip("the documents are not here")
    shown = {file.stem: file.read_text(encoding="utf-8") for file in DOCS.glob("*.md")}
    assert shown == {each.name: page(each) for each in ws.tools}


def test_a_tool_without_an_example_has_a_page_too():
    @tool(axis="write", effects=[("mail", "send", "to"), ("log", "add", lambda _: "x")])
    def send(to: str, count: int | None = None) -> None:
        """Sends."""

    text = page(send)
    assert "Gate: mail, verb send, target the canonical `to`; log, verb add · write" in text
    assert "| `count` | integer or null | no |" in text
    assert "From JavaScript" not in text
