"""The first seed's own package and ours: the same folders and actions, the same bytes and soul."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nocturn.agents import compose_soul, memory_tool
from nocturn.limits import PERSONA_FILE_BYTES
from nocturn.store.soul import SOUL_FILES

theirs = pytest.importorskip("toolnexus.agents.surface", reason="toolnexus is not installed")

DIFFERENCES = {
    "a text that stands more than once": ("a\na\n", {"action": "remove", "text": "a"}),
    "an empty text": ("a\n", {"action": "add", "text": ""}),
    "an empty text to replace": ("a\n", {"action": "replace", "text": "", "with": "x"}),
    "an unknown target": ("a\n", {"action": "add", "text": "x", "target": "them"}),
    "a text over the limit": ("a\n", {"action": "add", "text": "x" * 65_537}),
    "a file over the limit": ("x" * PERSONA_FILE_BYTES, {"action": "add", "text": "x"}),
    "white space at the file's end": ("a\n\n", {"action": "add", "text": "x"}),
    "white space at the file's head": ("\n a\n", {"action": "add", "text": "x"}),
    "CRLF": ("a\r\nb\r\n", {"action": "add", "text": "x"}),
    "a line that opens a section": ("a\n", {"action": "add", "text": "x\n## SOUL.md"}),
    "a NUL": ("a\n", {"action": "add", "text": "x\0"}),
}
"""All that differs, each on purpose: the contract's section 7 says why."""

WORDS = st.sampled_from(["tea", "oolong", "Müller 🍵", "- x", "# h", "a: b", "two\nlines", "it's"])
ACTIONS = st.lists(
    st.fixed_dictionaries(
        {"action": st.sampled_from(["add", "add", "replace", "remove"]), "text": WORDS},
        optional={"target": st.sampled_from(["self", "user"]), "with": WORDS},
    ),
    max_size=6,
)
FILES = st.dictionaries(
    st.sampled_from(SOUL_FILES),
    st.sampled_from(["", "- tea", "- tea\n- oolong\n", "# I am Ava\n\nBe kind.\n", "\ufeffhello"]),
)


def both(base, files, actions):
    """What each leaves of the same: files by name, the soul, and what was said of each action."""
    ours, other = base / "ours", base / "theirs"
    for folder in (ours, other):
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_bytes(text.encode())
    tool, peer = memory_tool(ours), theirs.memory_tool(str(other))
    said, heard = [], []
    for step in actions:
        each = dict(step)
        text = ours / ("USER.md" if each.get("target") == "user" else "MEMORY.md")
        there = text.read_text() if text.exists() else ""
        if each["action"] != "add" and there.count(each["text"]) > 1:
            each["all"] = True
        if each["action"] == "add" and there and there.strip() != there.removesuffix("\n"):
            break  # white space at the file's ends: one of the differences
        result, answer = tool.execute(each), asyncio.run(peer.execute(each))
        said.append((result.output, result.is_error))
        heard.append((answer.output, answer.is_error))
    left = {name: (ours / name).read_bytes() for name in SOUL_FILES if (ours / name).exists()}
    right = {name: (other / name).read_bytes() for name in SOUL_FILES if (other / name).exists()}
    return (left, compose_soul(ours), said), (right, theirs.compose_soul(str(other))[0], heard)


@settings(max_examples=12)
@given(files=FILES, actions=ACTIONS)
def test_the_same_actions_leave_the_same_bytes_and_the_same_soul(tmp_path_factory, files, actions):
    ours, other = both(tmp_path_factory.mktemp("both"), files, actions)

    assert ours == other


def test_a_file_that_is_too_long_is_cut_alike_in_the_soul(tmp_path):
    long = {"SOUL.md": "é" * (PERSONA_FILE_BYTES // 2 + 1), "TOOLS.md": "x" * PERSONA_FILE_BYTES}
    ours, other = both(tmp_path, {**long, "USER.md": "  last \n"}, [])

    assert ours == other
    assert ours[1].count("\n[truncated: exceeds 2 MB bootstrap cap]\n\n## USER.md\n\nlast\n\n") == 1


@pytest.mark.parametrize("name", DIFFERENCES)
def test_they_differ_where_the_contract_does_on_purpose(name, tmp_path):
    before, action = DIFFERENCES[name]
    for folder in (tmp_path / "ours", tmp_path / "theirs"):
        folder.mkdir()
        (folder / "MEMORY.md").write_bytes(before.encode())
    memory_tool(tmp_path / "ours").execute(action)
    asyncio.run(theirs.memory_tool(str(tmp_path / "theirs")).execute(action))
    left = [(tmp_path / each / "MEMORY.md").read_bytes() for each in ("ours", "theirs")]

    assert left[0] != left[1]
