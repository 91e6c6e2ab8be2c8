"""``memory_search`` by the whole road: a guest, the vault, the leak scan, the journal."""

import json
import secrets

import pytest

from nocturn import NocturnError
from nocturn.testing import FixedSecrets

BEGINNINGS = """
const value = {value};
const told = [];
for (let size = 4; size <= 10; size += 1) {{
  try {{
    told.push(nocturn.memory.search(value.slice(0, size) + "*").length);
  }} catch (error) {{
    told.push(error.code);
  }}
}}
told
"""


@pytest.fixture
def value():
    return "sk-" + secrets.token_hex(20)


@pytest.fixture
def put(ws):
    (ws.path / "memory").mkdir(parents=True)

    def put(path, text):
        (ws.path / "memory" / path).write_text(text)

    return put


def test_a_guest_searches_and_asks_nobody(ws, put):
    put("lina.md", "---\ndescription: daughter\n---\nLikes dinosaurs.\n")
    put("pets.md", "A cat.")
    result = ws.run(
        """
        const told = (call) => {
          try { return call(); } catch (error) { return [error.code, error.detail.field]; }
        };
        const search = nocturn.memory.search;
        [
          told(() => search("dinosaur*")),
          told(() => search("cat OR dinosaurs")),
          told(() => search('"likes" NEAR(')),
          told(() => search(" * ")),
          told(() => search("x", {limit: 0})),
          told(() => search("x", {limit: 51})),
          told(() => search("x ".repeat(600))),
          told(() => search(Array.from({length: 33}, (_, at) => `w${at}`).join(" "))),
          told(() => search(7)),
          told(() => search("x\\ud800")),
        ]
        """,
        mode="strict",
    )
    lina = {"path": "lina.md", "summary": "daughter", "snippet": "Likes dinosaurs."}
    assert result.value == [
        [lina],
        [],
        [],
        ["BAD_ARGUMENTS", "query"],
        ["BAD_ARGUMENTS", "limit"],
        ["BAD_ARGUMENTS", "limit"],
        ["TOO_LARGE", "query"],
        ["BAD_ARGUMENTS", "query"],
        ["BAD_ARGUMENTS", "query"],
        ["BAD_ARGUMENTS", "query"],
    ]
    assert {call.ruling for call in result.calls} <= {"ungated", None}
    assert not (ws.path / ".nocturn").exists()


def test_a_guest_learns_nothing_of_a_value_beginning_by_beginning(ws, put, value):
    put("a.md", f"it is {value}.")
    put("b.md", f"it is {value[:5]}")
    ws.vault.set("HOUSE", value)
    told = ws.run(BEGINNINGS.format(value=json.dumps(value))).value
    # What stands there in clear is found, and nothing beyond.
    assert told[:2] == [1, 1]
    assert set(told[2:]) <= {0, "LEAK_BLOCKED"}
    assert ws.run(f"nocturn.memory.search({json.dumps(value)})").error.code == "LEAK_BLOCKED"


def test_a_value_that_is_kept_later_is_not_found_any_more(ws, put, value):
    ws.memory.write("b.md", "s", "text")  # so that there is an index on the disk
    put("a.md", f"it is {value}.")
    script = f"nocturn.memory.search({json.dumps(value[3:9] + '*')}).length"
    assert ws.run(script).value == 1
    assert ws.memory.search(value[3:9] + "*")[0]["path"] == "a.md"
    ws.vault.set("HOUSE", value)
    assert ws.run(script).value == 0
    assert ws.memory.search("it is")[0]["snippet"] == "it is [REDACTED]."
    for file in (ws.path / ".nocturn").glob("search.db*"):
        assert value.encode() not in file.read_bytes()


def test_a_workspace_with_other_secrets_never_uses_what_another_made(
    nocturn_workspace, ws, put, value
):
    put("a.md", f"it is {value}.")
    ws.memory.write("b.md", "s", "text")
    assert ws.memory.search(value[3:9] + "*") != []
    guarded = nocturn_workspace(secrets=[FixedSecrets(KEY=value)])
    assert guarded.path == ws.path
    assert guarded.memory.search(value[3:9] + "*") == []
    assert value not in guarded.memory.catalog()


def test_it_is_outside_a_cage_that_does_not_name_it(ws, put):
    put("a.md", "x")
    result = ws.run("nocturn.memory.search('x')", tools=["memory_read"])
    assert result.error.code == "UNKNOWN_TOOL"
    with pytest.raises(NocturnError) as refused:
        ws.memory.search("")
    assert refused.value.code == "BAD_ARGUMENTS"
