"""The YAML block: found if and only if it is one, and changed in its description alone."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from nocturn.errors import NocturnError
from nocturn.limits import PREAMBLE_BYTES
from nocturn.names import stored_summary
from nocturn.store.preamble import description, fresh, split, with_description

NASTY = [
    *["a: b", '"q"', "'q'", "it's", "#x", "a #x", "- x", "---", "...", "*x", "&x", "!x", "!!str x"],
    *["{a}", "[a]", "a, b]", "? x", ": x", "x:", "| x", "> x", "%x", "@x", "`x", "yes", "No", "on"],
    *["OFF", "y", "N", "true", "null", "Null", "~", "1", "-1", "1e3", "1_000", "0x1f", "0o7", ".5"],
    *[".inf", "NaN", ".nan", "1:30", "2026-01-01", "2026-01-01T00:00:00Z", "=", "<<", "\\n", "\\"],
    *[
        "é",
        "日本",
        "👩\u200d👧 twins",
        "🦖: x",
        "x" * 120,
        "a" * 60 + " " + "b" * 59,
        "~/x",
        "k: 'v' # c",
    ],
]

BLOCKS = {
    "fresh": "---\ndescription: old\n---\n",
    "no final line break": "---\ndescription: old\n---",
    "trailing blanks": "---  \ndescription: old\n--- \t\n",
    "comments, order, quotes": (
        "---\n# c\nz: 'x'   # t\ndescription: \"old\"   # keep\na: {k: [1, 2]}\n\n---\n"
    ),
    "BOM and CRLF": "\ufeff---\r\ntitle: é 🦖\r\ndescription: old # c\r\ntags: [a]\r\n---\r\n",
    "flow": "---\n{description: old, a: 1}\n---\n",
    "JSON": '---\n{"description":"old","a":1}\n---\n',
    "literal": "---\na: 1\ndescription: |\n  old\n# c\nb: 2\n---\n",
    "kept line breaks": "---\ndescription: |+\n  old\n\n---\n",
    "folded, CRLF": "---\r\ndescription: >-\r\n  old\r\n  er\r\nb: 2\r\n---\r\n",
    "last and folded": "---\nb: 2\ndescription: >\n  old\n---\n",
    "on a line of its own": "---\ndescription:\n    old\n    er\nb: .nan\n---\n",
    "explicit key": "---\n? description\n: old\nb: 2\n---\n",
    "tagged": "---\ndescription: !!str 12 # c\n---\n",
    "nested namesake": "---\na: {description: 1}\ndescription: old\nl: [description, x]\n---\n",
    "twice, and the last counts": "---\ndescription: a\ndescription: old\n---\n",
    "a date and a key that is none": "---\n2026-01-01: 2026-01-02\ndescription: old\n---\n",
}

BODIES = {
    "nothing": "",
    "no dashes": "description: x\n",
    "no description": "---\ntitle: x\n---\nbody",
    "a list": "---\n- description: x\n---\n",
    "a number": "---\ndescription: 1\n---\n",
    "null": "---\ndescription:\n---\n",
    "never closed": "---\ndescription: x\n",
    "four dashes": "----\ndescription: x\n---\n",
    "indented": " ---\ndescription: x\n---\n",
    "broken YAML": "---\ndescription: x\na: [\n---\n",
    "two documents": "---\ndescription: x\n...\nb: 1\n---\n",
    "an anchor": "---\na: &n 1\ndescription: x\n---\n",
    "an alias": "---\na: &n [1]\nb: *n\ndescription: x\n---\n",
    "a merge": "---\n<<: {description: x}\na: 1\n---\n",
    "no such day": "---\nd: 2026-13-45\ndescription: x\n---\n",
    "a strange tag": "---\nd: !!python/object/apply:os.getcwd []\ndescription: x\n---\n",
    "a tag that lies": "---\nd: !!int ''\ne: !!timestamp x\ndescription: x\n---\n",
    "a key that is none": "---\n? {}\n: 1\ndescription: x\n---\n",
    "NUL": "---\nd\0: 1\ndescription: x\n---\n",
    "a lone surrogate": "---\n\ud800: 1\ndescription: x\n---\n",
    "deep brackets": "---\ndescription: x\nd: " + "[" * 8_000 + "]" * 8_000 + "\n---\n",
    "deep dashes": "---\ndescription: x\nd:\n" + "- " * 8_000 + "\n---\n",
    "deep braces": "---\ndescription: x\nd: " + "{a: " * 4_000 + "\n---\n",
    "too large": "---\ndescription: x\nd: " + "y" * PREAMBLE_BYTES + "\n---\n",
}


def bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, levels)]
    return "---\ndescription: x\n" + "\n".join(lines) + "\n---\n"


@pytest.mark.parametrize("summary", NASTY)
def test_a_summary_comes_back_as_the_same_string_from_one_line(summary: str) -> None:
    block = fresh(summary)
    assert block.count("\n") == 3
    assert split(block + "body") == (block, "body")
    assert description(block) == summary
    loaded = yaml.safe_load(block.split("---\n")[1])
    assert loaded == {"description": summary}


@pytest.mark.parametrize("summary", [each for each in NASTY if each.isascii()])
def test_what_is_written_bare_is_a_string_in_every_yaml(summary: str) -> None:
    bare = fresh(summary).split("\n")[1].removeprefix("description: ")
    if not bare.startswith(("'", '"')):
        assert bare.lower() not in {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
        assert bare[0].isalpha()
        assert ": " not in bare
        assert " #" not in bare


def test_a_plain_summary_stays_bare_and_the_seeds_note_has_84_bytes() -> None:
    block = fresh("daughter, 7 years old")
    assert block == "---\ndescription: daughter, 7 years old\n---\n"
    assert len(block + "Likes dinosaurs. Starts school in August.") == 84


def test_an_emoji_is_written_as_itself() -> None:
    assert "🦖" in fresh("likes 🦖: a lot")


@pytest.mark.parametrize("name", BLOCKS)
def test_a_mapping_with_a_string_description_is_a_preamble(name: str) -> None:
    block = BLOCKS[name]
    body = "" if not block.endswith("\n") else "# body\r\n---\n"
    assert split(block + body) == (block, body)
    assert description(block).strip() in {"old", "old er", "12"}


@pytest.mark.parametrize("name", BODIES)
def test_anything_else_is_a_body(name: str) -> None:
    assert split(BODIES[name]) == ("", BODIES[name])


def test_a_bomb_is_a_body() -> None:
    assert split(bomb(60)) == ("", bomb(60))


def test_an_ampersand_and_a_star_in_text_are_no_anchor_and_no_alias() -> None:
    block = "---\ndescription: Tom & Jerry * 2\na: '*x'\n---\n"
    assert split(block) == (block, "")


def test_16384_bytes_are_a_preamble_and_16385_are_a_body() -> None:
    room = PREAMBLE_BYTES - len("---\ndescription: x\na: é\n---\n".encode()) + 2
    fits = f"---\ndescription: x\na: é{'y' * (room - 2)}\n---\n"
    assert len(fits.encode()) == PREAMBLE_BYTES
    assert split(fits)[0] == fits
    assert split(fits.replace("é", "éy"))[0] == ""


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("summary", ["new", "a: b, c]", "it's 🦖 #1", "---"])
def test_only_the_descriptions_own_bytes_change(name: str, summary: str) -> None:
    block = BLOCKS[name]
    changed = with_description(block, summary)
    assert description(changed) == summary
    assert split(changed) == (changed, "")
    # All but one stretch is as it was, and that stretch is where the old description stood.
    head = next((i for i, (a, b) in enumerate(zip(block, changed, strict=False)) if a != b), 0)
    tail = next(
        i for i, (a, b) in enumerate(zip(block[::-1], changed[::-1], strict=False)) if a != b
    )
    assert len(block[head : len(block) - tail]) <= len("!!str 12 |+  \r\n  old\r\n    er\n\n")
    for kept in (
        "# c",
        "# keep",
        "# t",
        "z: 'x'   ",
        "a: {k: [1, 2]}\n\n",
        "tags: [a]\r\n",
        "b: .nan",
    ):
        assert (kept in block) == (kept in changed)
    assert changed.count("\r\n") >= block.count("\r\n") - 2
    assert changed.replace("\r\n", "").count("\n") == 0 or "\r\n" not in block


@pytest.mark.parametrize("name", BLOCKS)
def test_an_equal_description_changes_nothing(name: str) -> None:
    assert with_description(BLOCKS[name], description(BLOCKS[name])) == BLOCKS[name]


def test_a_description_that_cannot_fit_any_more_is_refused_not_cut() -> None:
    filler = "y" * (PREAMBLE_BYTES - 40)
    block = f"---\ndescription: x\na: {filler}\n---\n"
    assert split(block)[0] == block
    with pytest.raises(NocturnError) as caught:
        with_description(block, "z" * 120)
    assert caught.value.code == "BAD_ARGUMENTS"


SUMMARIES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=200)


@settings(deadline=None)
@given(SUMMARIES)
def test_any_stored_summary_comes_back(raw: str) -> None:
    try:
        summary = stored_summary(raw)
    except NocturnError:
        return
    block = fresh(summary)
    assert len(block.splitlines()) == 3
    assert split(block + "x") == (block, "x")
    assert description(block) == summary
    for each in ("comments, order, quotes", "BOM and CRLF", "flow", "literal"):
        assert description(with_description(BLOCKS[each], summary)) == summary


KEYS = st.text("abcé ", min_size=1, max_size=5)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text("a:#'\"-é🦖\n", max_size=9)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)


@settings(deadline=None)
@given(
    st.dictionaries(KEYS, VALUES, max_size=4),
    st.text("a:#'\"-é🦖\n ", max_size=12),
    st.sampled_from([True, False, None]),
    st.sampled_from(["\n", "\r\n"]),
    st.text("a:#'\"-é🦖\n", max_size=20),
)
def test_a_round_trip_changes_no_byte_and_a_new_description_no_other_key(
    others: dict[str, object], old: str, flow: object, end: str, body: str
) -> None:
    mapping = {**others, "description": old}
    text = yaml.safe_dump(mapping, default_flow_style=flow, allow_unicode=True, sort_keys=False)
    block = f"---\n{text}---\n".replace("\n", end)
    found, rest = split(block + body)
    assert found + rest == block + body
    if not found:
        # A line of dashes in a quoted string closes the block early.
        assert "---" in text
        return
    assert with_description(found, description(found)) == found
    changed = with_description(found, "n, 7: x")
    reread = yaml.safe_load(
        changed.replace("\r\n", "\n").split("---\n", 1)[1].rsplit("---\n", 1)[0]
    )
    expected = yaml.safe_load(text.replace("\n", end))
    assert reread.pop("description") == "n, 7: x"
    expected.pop("description")
    assert repr(reread) == repr(expected)


@settings(deadline=None)
@given(st.text("-\n\r:ad [{&*'\"|>description", max_size=60))
def test_hostile_text_is_a_preamble_or_a_body_and_never_an_error(text: str) -> None:
    for each in (text, f"---\ndescription: x\n{text}\n---\n"):
        block, body = split(each)
        assert block + body == each
        if block:
            assert with_description(block, description(block)) == block
            assert description(with_description(block, "fine")) == "fine"
