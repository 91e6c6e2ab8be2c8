"""The YAML block at a note's head: finding it, reading it, changing its description alone.

A preamble is a block between two ``---`` lines that is a YAML mapping with a string
``description``. Everything else that begins with ``---`` is a body. python-frontmatter reads and
writes the YAML; the block's other bytes are never written anew, only spliced around.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

from nocturn.errors import BAD_ARGUMENTS, NocturnError
from nocturn.limits import PREAMBLE_BYTES

if TYPE_CHECKING:
    import yaml

__all__ = [
    "description",
    "fresh",
    "is_like_one",
    "mapping_block",
    "split",
    "whole",
    "with_description",
]

_BOM: Final = "\ufeff"
_OPENING: Final = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSING: Final = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_LINE_END: Final = re.compile(r"(?:\r?\n)?\Z")
_YAML_WORDS: Final = frozenset(
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"]
)
_PLAIN_MARKS: Final = frozenset(" ,.;()'/!?%+=_-…")
"""Beside letters and digits, what never means anything to YAML within a line (a ``#`` does)."""


def split(text: str) -> tuple[str, str]:
    """Takes a note apart.

    Args:
        text: A whole note, or a content that may begin with a block that was read back.

    Returns:
        The block, byte for byte, with both ``---`` lines and a BOM; and the body. The block is
        empty where there is no preamble.
    """
    block, body = mapping_block(text)
    return (block, body) if block and _description_in(block) is not None else ("", text)


def mapping_block(text: str) -> tuple[str, str]:
    """Takes the block off as :func:`split` does, whether or not it has a description."""
    opening = _OPENING.match(text)
    if opening is None:
        return "", text
    # No closing line can matter further on: a block is at least as many bytes as characters.
    closing = _CLOSING.search(text, opening.end(), PREAMBLE_BYTES + 1)
    if closing is None or len(text[: closing.end()].encode(errors="replace")) > PREAMBLE_BYTES:
        return "", text
    block = text[: closing.end()]
    return (block, text[closing.end() :]) if _load(block) is not None else ("", text)


def is_like_one(text: str) -> bool:
    """Whether a text begins like a preamble and has none: most likely one that is broken."""
    opening = _OPENING.match(text)
    closed = opening and _CLOSING.search(text, opening.end(), PREAMBLE_BYTES + 1)
    return closed is not None and not split(text)[0]


def description(block: str) -> str:
    """Gives a preamble's description.

    Args:
        block: A block as :func:`split` gave it.
    """
    return _description_in(block) or ""


def with_description(block: str, summary: str) -> str:
    """Changes a preamble's description and no other byte.

    Args:
        block: A block as :func:`split` gave it.
        summary: The new description.

    Returns:
        The block, unchanged where it says so already.

    Raises:
        NocturnError: ``BAD_ARGUMENTS``, where the description cannot be changed in place.
    """
    if description(block) == summary:
        return block
    before, inner, after = _parts(block)
    tree = _tree(inner)
    for node in _description_nodes(tree):
        start, end = node.start_mark.index, node.end_mark.index
        # A block scalar ends with its last line break, which has to stay.
        tail = _LINE_END.search(inner[start:end])
        rest = (tail.group() if tail else "") + inner[end:]
        for scalar in (_scalar(summary), _scalar(summary, quoted=True)):
            changed = before + inner[:start] + scalar + rest + after
            if _differ_in_description(tree, changed, summary):
                return changed
    message = "the preamble's description cannot be changed in place: write a note without it"
    raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "content"})


def whole(summary: str, content: str) -> str:
    """Makes a whole note, with the block at the head of the content where it is a preamble."""
    block, body = split(content)
    block = with_description(block, summary) if block else fresh(summary)
    return block + ("\n" if body and not block.endswith("\n") else "") + body


def fresh(summary: str) -> str:
    """Makes a preamble that holds this description, on one line."""
    return f"---\ndescription: {_scalar(summary)}\n---\n"


def _parts(block: str) -> tuple[str, str, str]:
    opening = _OPENING.match(block)
    start = opening.end() if opening else 0
    closing = _CLOSING.search(block, start)
    end = closing.start() if closing else len(block)
    return block[:start], block[start:end], block[end:]


def _description_in(block: str) -> str | None:
    found = (_load(block) or {}).get("description")
    return found if isinstance(found, str) else None


# One block is asked about several times in a row; YAML is most of what a catalog costs.
@lru_cache(maxsize=4)
def _load(block: str) -> dict[Any, Any] | None:
    """Reads a block's YAML; None where it is no mapping, or nothing that is safe to read."""
    _, inner, _ = _parts(block)
    handler, loader, _ = _yaml()
    try:
        data: object = handler.load(inner, Loader=loader)
    except Exception:  # noqa: BLE001 - PyYAML raises whatever it stumbles into on hostile input
        return None
    return data if _is_mapping(data) else None


def _is_mapping(data: object) -> TypeGuard[dict[Any, Any]]:
    return isinstance(data, dict)


def _tree(inner: str) -> yaml.Node | None:
    import yaml

    _, loader, _ = _yaml()
    try:
        return yaml.compose(inner, Loader=loader)
    except Exception:  # noqa: BLE001 - as in _load
        return None


def _description_nodes(tree: Any) -> list[yaml.Node]:
    """The values of ``description``, the one that YAML goes by first (the last)."""
    pairs = [(key, value) for key, value in tree.value if key.value == "description"]
    return [value for _, value in reversed(pairs)]


def _differ_in_description(tree: Any, changed: str, summary: str) -> bool:
    """Whether ``changed`` is the block of ``tree`` with this description and no other change."""
    if split(changed)[0] != changed or description(changed) != summary:
        return False
    return _other_keys(tree) == _other_keys(_tree(_parts(changed)[1]))


def _other_keys(tree: Any) -> list[Any]:
    return [_shape(pair) for pair in tree.value if pair[0].value != "description"]


def _shape(node: Any) -> Any:
    """A node without its place in the text, to compare."""
    if isinstance(node, (list, tuple)):
        return [_shape(each) for each in cast("list[Any]", node)]
    return (node.tag, _shape(node.value)) if hasattr(node, "tag") else node


def _scalar(text: str, *, quoted: bool = False) -> str:
    handler, _, dumper = _yaml()
    exported: str = handler.export(
        {"description": _Quoted(text) if quoted else text}, Dumper=dumper, width=float("inf")
    )
    return exported.removeprefix("description: ")


class _Quoted(str):
    """A string that is written in quotes, wherever it may land."""

    __slots__ = ()


def _is_plain(text: str) -> bool:
    """Whether YAML 1.1 and 1.2 both take ``text``, bare, for the string that it is."""
    return (
        text[:1].isalpha()
        and not text.endswith(" ")
        and text.lower() not in _YAML_WORDS
        and all(each.isalnum() or each in _PLAIN_MARKS for each in text)
    )


@cache
def _yaml() -> tuple[Any, Any, Any]:
    """Loads YAML on first use: nothing that runs without notes should wait for it.

    Returns:
        The handler, a loader that refuses aliases and anchors, a dumper that quotes with care.
    """
    import yaml
    from frontmatter.default_handlers import YAMLHandler

    # libyaml where it is there: ten times as quick, and it bounds nesting.
    parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(parser):  # type: ignore[misc]
        def __init__(self, stream: str) -> None:
            # A bomb is aliases in aliases; a name for a node is of no use without one.
            if ("&" in stream or "*" in stream) and any(
                getattr(event, "anchor", None) for event in yaml.parse(stream, Loader=parser)
            ):
                raise yaml.YAMLError
            parser.__init__(self, stream)

        def flatten_mapping(self, node: object) -> None:
            """Leaves ``<<`` alone, so that a block that has one is a body: it hides keys."""

    class Dumper(yaml.SafeDumper):
        # The C dumper writes emoji as escapes, whatever it is told.
        pass

    def represent(dumper: Any, text: str) -> Any:
        style: str | None = '"' if len(text.splitlines()) > 1 else "'"
        if _is_plain(text) and not isinstance(text, _Quoted):
            style = None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, represent)
    Dumper.add_representer(_Quoted, represent)
    return YAMLHandler(), Loader, Dumper
