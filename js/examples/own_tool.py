"""A tool of one's own: a guest may append to a shopping list, and you are asked each time.

Run it with `python js/examples/own_tool.py` where nocturn is installed.
"""

import tempfile
from pathlib import Path
from typing import Annotated

from nocturn import Workspace, tool

shopping: list[str] = []


@tool(axis="write", effects=[("shopping", "add", "item")])
def add_to_shopping(item: Annotated[str, "what to buy"], count: int = 1) -> dict[str, int]:
    """Adds something to the shopping list."""
    shopping.extend([item] * count)
    return {"items": len(shopping)}


def ask(question) -> bool:
    """Says yes to milk, whoever asks."""
    effect = question.effects[0]
    print(f"{question.agent} would {effect.verb} {effect.target}")
    return effect.target == "milk"


source = """
nocturn.call("add_to_shopping", { item: "milk", count: 2 });
try {
  nocturn.call("add_to_shopping", { item: "a pony" });
} catch (error) {
  console.log(error.code, error.detail.reason);
}
"""

with tempfile.TemporaryDirectory() as folder:
    with Workspace(Path(folder), tools=[add_to_shopping], approver=ask) as ws:
        result = ws.run(source, filename="shop.js", mode="watched", agent="shopper")
        result.raise_for_error()
        print(*(line.text for line in result.console))
        print(shopping)
