"""The first seed's published package, and ours: the same actions leave the same bytes.

Where the contract differs on purpose, the case says how.
"""

from __future__ import annotations

import asyncio
import random

import pytest

from nocturn.agents import compose_soul, memory_tool

theirs = pytest.importorskip("toolnexus.agents.surface", reason="toolnexus is not installed")

START = {
    "MEMORY.md": "- Onboarded 2026-07.\n",
    "USER.md": "- Speaks Tamil",
    "SOUL.md": "You are Ava.",
}


@pytest.fixture
def both(tmp_path):
    """Returns a function that does an action in both folders; it returns what each has said."""
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
        for file, text in START.items():
            (tmp_path / name / file).write_text(text)
    tools = memory_tool(tmp_path / "ours"), theirs.memory_tool(str(tmp_path / "theirs"))

    def do(**arguments):
        given = {key.rstrip("_"): value for key, value in arguments.items()}
        mine = tools[0].execute(given)
        other = asyncio.run(tools[1].execute(given))
        return (mine.output, mine.is_error), (other.output, other.is_error)

    def read(name):
        return [(tmp_path / who / name).read_bytes() for who in ("ours", "theirs")]

    do.read = read
    do.folders = tmp_path / "ours", tmp_path / "theirs"
    return do


def souls(both):
    mine, other = both.folders
    return compose_soul(mine), theirs.compose_soul(str(other))[0]


def test_the_same_actions_leave_the_same_bytes_and_the_same_soul(both):
    draw = random.Random(7)
    words = ["tea", "coffee", "hiking", "Graz", "a dog, 3 years old", "naïve 🦕", "## not a file"]
    for number in range(120):
        target = draw.choice(["self", "user"])
        action = draw.choice(["add", "add", "replace", "remove"])
        if action == "add":
            given = {"text": f"({number}) {draw.choice(words)}"}
        else:  # one that is there once, or not at all
            given = {"text": f"({draw.randrange(number + 3)})"}
        if action == "replace":
            given["with_"] = f"[{draw.choice(words)}]"
        mine, other = both(action=action, target=target, **given)
        assert mine == other
        for file in START:
            assert len(set(both.read(file))) == 1, (number, file)
    assert len(set(souls(both))) == 1


@pytest.mark.parametrize("body", ["", "text", "  \n text \n\n", "é" * 10, "a\n## b\n"])
def test_the_same_files_make_the_same_soul(both, body):
    for folder in both.folders:
        for name in ("AGENTS.md", "TOOLS.md", "HEARTBEAT.md", "NOTES.md"):
            (folder / name).write_text(body)
        (folder / "IDENTITY.md").write_bytes(b"x" * 2_097_152 + "é".encode())
    assert len(set(souls(both))) == 1


DIFFERENCES = {
    "ambiguous replace": (
        [{"action": "add", "text": "tea"}, {"action": "add", "text": "tea"}],
        {"action": "remove", "text": "tea"},
        "theirs takes all; ours names the lines, unless `all` is true",
    ),
    "empty text": (
        [],
        {"action": "add", "text": ""},
        "theirs adds an empty entry; ours is an error",
    ),
    "unknown target": (
        [],
        {"action": "add", "text": "x", "target": "soul"},
        "theirs writes MEMORY.md; ours is an error",
    ),
    "oversize": (
        [],
        {"action": "add", "text": "x" * 65_537},
        "theirs has no limit; ours is an error",
    ),
    "a new section": (
        [],
        {"action": "add", "text": "a\n## SOUL.md"},
        "theirs forges one; ours refuses",
    ),
}


@pytest.mark.parametrize("case", DIFFERENCES)
def test_what_differs_on_purpose_is_refused_by_ours(both, case):
    before, action, _ = DIFFERENCES[case]
    for each in before:
        both(**each)
    kept = both.read("MEMORY.md")[0]
    (_, mine), (_, other) = both(**action)
    assert (mine, other) == (True, False), case
    assert both.read("MEMORY.md")[0] == kept


def test_ours_keeps_white_space_at_the_ends_and_line_ends_as_they_are(both):
    for folder in both.folders:
        (folder / "MEMORY.md").write_bytes(b"\n a\r\nb\r\n\r\n")
    both(action="add", text="c")
    mine, other = both.read("MEMORY.md")
    assert mine == b"\n a\r\nb\r\n\r\n- c\r\n"
    assert other == b"a\nb\n- c\n"  # theirs strips both ends, and writes the system's line ends
