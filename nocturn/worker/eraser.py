"""TypeScript to JavaScript by blanking the types out, so that every character keeps its place.

The tree is tree-sitter's. What would need code of its own (``enum``, parameter properties) is
refused, and so is what the two languages end at different places; nothing is guessed. The few
characters that take a type's place are ``;``, ``(`` and ``)``, where a blank would join two
statements or part an arrow from its parameters.

A source is hostile and this runs in a locked process that reads one of them. Positions are in
UTF-16 units throughout, as JavaScript counts.
"""

from __future__ import annotations

import itertools

from nocturn.worker.grammar import (
    ASSERTIONS,
    BEFORE_PREFIX,
    BRACKETS,
    GOING_ON,
    LOOKED_BACK,
    MODIFIERS,
    MOST_DOTS,
    ONE_LINE,
    OPERATOR,
    PARAMETERS,
    PERHAPS_TYPE_ONLY,
    PREFIXES,
    REFUSED,
    STRENGTHS,
    SUFFIXED,
    TYPE_ONLY,
)
from nocturn.worker.sheet import NotErasableError, Sheet, end_of, last_of, parts_of, start_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from collections.abc import Callable
    from typing import Final

    from tree_sitter import Node, Parser

__all__ = ["erase"]

_UNREADABLE: Final = "this is not TypeScript that can be read here"


def erase(parser: Parser, source: str) -> str:
    """Blanks the types of a source out.

    Args:
        parser: A parser for TypeScript.
        source: The TypeScript.

    Returns:
        The JavaScript, as long as the source in UTF-16 units, with its line ends where they were.

    Raises:
        NotErasableError: It holds what has no JavaScript of the same length, or cannot be read.
    """
    data = source.encode("utf-16-le", "surrogatepass")
    text = source if len(data) == 2 * len(source) else "".join(map(chr, memoryview(data).cast("H")))
    dots = [0]
    for _ in range(MOST_DOTS):
        sheet = _read(parser, text, data)
        if not sheet.dots:
            erased = sheet.erased().encode("utf-16-le", "surrogatepass")
            return erased.decode("utf-16-le", "surrogatepass")
        # To the parser a third name, as in `x as A.B.C`, is a property of x: hide the dots from it.
        dots, hidden = sheet.dots, bytearray(data)
        for at in dots:
            hidden[2 * at : 2 * at + 2] = b"_\0"
        data = bytes(hidden)
    raise NotErasableError("the name of a type has too many dots in it", dots[0])


def _read(parser: Parser, text: str, data: bytes) -> Sheet:
    root = parser.parse(data, encoding="utf16le").root_node
    sheet = Sheet(text)
    try:
        _walk(root, sheet)
    except (NotErasableError, IndexError, ValueError):
        if sheet.dots:
            return sheet
        # A tree with an error in it may hold anything; the error is what is worth saying.
        if not root.has_error:
            raise
        raise NotErasableError(_UNREADABLE, _first_error(root)) from None
    # Plain JavaScript that the parser does not know is the engine's to judge.
    if root.has_error and sheet.is_touched and not sheet.dots:
        raise NotErasableError(_UNREADABLE, _first_error(root))
    return sheet


def _walk(root: Node, sheet: Sheet) -> None:
    # By a list of our own: a guest's expression may be nested deeper than Python's stack is.
    todo = [root]
    while todo:
        node = todo.pop()
        handle = _HANDLERS.get(node.type)
        todo += node.children if handle is None else handle(node, parts_of(node), sheet)


# Each handler gets a node and its parts, and returns those that are still to be looked at.

# ---- what is erased whole ----


def _erase_whole(node: Node, _: list[Node], sheet: Sheet) -> list[Node]:
    _require_sure_end(node, sheet)
    sheet.blank_node(node)
    return []


def _erase_sole(node: Node, parts: list[Node], sheet: Sheet) -> list[Node]:
    """Erases a statement that stands alone, as after an ``if``: something must stay there."""
    if not _is_type_only(node, sheet):
        return parts
    sheet.mark(start_of(node), ";")
    return _erase_whole(node, parts, sheet)


def _erase_in_list(_: Node, parts: list[Node], sheet: Sheet) -> list[Node]:
    """Erases those of some statements or members that are types only; returns the others."""
    kept: list[Node] = []
    previous: Node | None = None
    for each, following in itertools.zip_longest(parts, parts[1:]):
        if not each.is_named:
            previous = each if each.type == ";" else None
            continue
        is_open = previous is not None and last_of(previous).type != ";"
        if type_only := _is_type_only(each, sheet):
            _erase_whole(each, [], sheet)
        else:
            kept.append(each)
            previous = each
            if each.type == "public_field_definition" and (not following or following.type != ";"):
                _end_field(each, sheet)
        if is_open and (type_only or (parts_of(each)[:1] and parts_of(each)[0].type in MODIFIERS)):
            sheet.mark(start_of(each), ";")  # or what stands before would go on with what follows
    return kept


def _end_field(field: Node, sheet: Sheet) -> None:
    """Ends a field whose name, without its type, would be a word before the next member's name."""
    name = field.child_by_field_name("name")
    if name is None or sheet.text_of(name) not in PREFIXES or field.child_by_field_name("value"):
        return
    parts = parts_of(field)
    for each in parts[parts.index(name) + 1 :][:1]:
        sheet.mark(start_of(each), ";")


def _is_type_only(node: Node, sheet: Sheet) -> bool:
    """Returns whether nothing of a statement or member is there at run time."""
    kind = node.type
    if kind in TYPE_ONLY:
        _require_one_line(parts_of(node), sheet)
        return True
    if kind not in PERHAPS_TYPE_ONLY:
        return False
    parts = parts_of(node)
    words = [each.type for each in parts]
    if kind == "public_field_definition":
        return "declare" in words or "abstract" in words
    if kind == "import_statement":
        return words[1] == "type"
    if kind == "expression_statement":
        return words[0] == "internal_module" and _is_type_only(parts[0], sheet)
    if kind == "internal_module":
        _require_one_line(parts, sheet)
        body = node.child_by_field_name("body")
        return body is None or all(
            each.type == "import_alias" or _is_type_only(each, sheet)
            for each in parts_of(body)
            if each.is_named
        )
    return (
        words[1] == "type"
        or words[1:3] == ["as", "namespace"]
        or any(_is_type_only(each, sheet) for each in parts[1:3])
    )


# ---- what is erased in part ----


def _erase_assertion(node: Node, parts: list[Node], sheet: Sheet) -> list[Node]:
    """``x as T`` and ``x satisfies T``."""
    value, word, kind = parts
    start, end = start_of(word), end_of(node)
    if sheet.has_line_end(end_of(value), start):
        raise NotErasableError(f"{word.type} begins a line: put it on the line before", start)
    _require_sure_end(kind, sheet)
    sheet.blank(start, end)
    after = sheet.after_gap(end)
    if sheet.text[after : after + 1] in GOING_ON and sheet.has_line_end(end, after):
        sheet.mark(start, ";")
    operator = OPERATOR.match(sheet.text, after)
    if operator and (operator[0] == "**" or _is_weaker(value, operator[0])):
        raise NotErasableError(
            f"without {word.type}, the {operator[0]} after it would come first: "
            "put parentheses around what stands before it",
            start,
        )
    return [value]


def _is_weaker(value: Node, operator: str) -> bool:
    """Returns whether an operator would take the end of a value away from it."""
    while value.type in ASSERTIONS:
        value = value.children[0]
    # To the parser `as` is the weakest of all; to TypeScript it is as strong as `<`.
    while value.type == "binary_expression":
        _left, inner, right = parts_of(value)
        if strength := STRENGTHS.get(inner.type, 0):
            return strength < STRENGTHS[operator]
        value = right
    return False


def _find_dot(_: Node, parts: list[Node], sheet: Sheet) -> list[Node]:
    value, dot = parts[:2]
    if value.type in ASSERTIONS and dot.type == ".":
        sheet.dots.append(start_of(dot))
    return parts


def _erase_prefix(_: Node, parts: list[Node], sheet: Sheet) -> list[Node]:
    """``<T>x``."""
    kind, value = parts
    start, end = start_of(kind), start_of(value)
    before = BEFORE_PREFIX.search(sheet.text, max(0, start - LOOKED_BACK), start)
    if (
        before is None
        or sheet.has_line_end(start, end)
        or (before[0].startswith("=>") and sheet.text[end] == "{")
    ):
        raise NotErasableError("<T>x cannot be erased here: write (x as T)", start)
    sheet.blank(start, end)
    return [value]


def _erase_around_arrow(node: Node, parts: list[Node], sheet: Sheet) -> list[Node]:
    """The types of an arrow function: no line may end before its parameters or its arrow."""
    kinds = node.child_by_field_name("type_parameters")
    parameters = node.child_by_field_name("parameters")
    returned = node.child_by_field_name("return_type")
    if parameters is None:
        return parts
    opening, closing = start_of(parameters), end_of(parameters)
    if kinds is not None and sheet.has_line_end(start_of(kinds), opening):
        sheet.mark(start_of(kinds), "(")
        sheet.blank(opening, opening + 1)
    if returned is not None and sheet.has_line_end(closing, end_of(returned)):
        sheet.blank(closing - 1, closing)
        sheet.mark(end_of(returned) - 1, ")")
    return parts


def _erase_in_parameters(_: Node, parts: list[Node], sheet: Sheet) -> list[Node]:
    for each, following in itertools.zip_longest(parts, parts[1:]):
        if each.type not in PARAMETERS:
            continue
        for word in each.children:
            if word.type in MODIFIERS:
                raise NotErasableError(
                    f"{sheet.text_of(word)} before a parameter cannot be erased, it makes a field: "
                    "declare that, and assign it in the constructor",
                    start_of(word),
                )
            if word.type == "?":
                sheet.blank_node(word)
        pattern = each.child_by_field_name("pattern")
        if pattern is not None and pattern.type == "this":
            _erase_of_list(each, following, sheet)
    return parts


def _erase_type_specifiers(_: Node, parts: list[Node], sheet: Sheet) -> list[Node]:
    """``{type A, b}`` of an import or export."""
    for each, following in itertools.zip_longest(parts, parts[1:]):
        words = parts_of(each)
        if len(words) > 1 and words[0].type == "type" and not words[0].is_named:
            _erase_of_list(each, following, sheet)
    return []


def _erase_of_list(item: Node, following: Node | None, sheet: Sheet) -> None:
    comma = following if following is not None and following.type == "," else item
    sheet.blank(start_of(item), end_of(comma))


def _erase_in_member(_: Node, parts: list[Node], sheet: Sheet) -> list[Node]:
    """The modifiers of a field or method, and its ``?`` or ``!``."""
    _require_one_line(parts, sheet)
    for each in parts:
        if each.type in MODIFIERS or each.type in ("?", "!"):
            sheet.blank_node(each)
        elif each.type == "accessor":
            raise NotErasableError(
                "accessor cannot be erased, and the engine has none: write get and set",
                start_of(each),
            )
    return parts


def _erase_sign(_: Node, parts: list[Node], sheet: Sheet) -> list[Node]:
    """``x!`` of an expression, ``let x!: T``, ``abstract class``."""
    _require_one_line(parts, sheet)
    for each in parts:
        if each.type in ("!", "abstract"):
            sheet.blank_node(each)
    return parts


# ---- what is refused ----


def _refuse(node: Node, _: list[Node], __: Sheet) -> list[Node]:
    raise NotErasableError(REFUSED[node.type], start_of(node))


def _check_export(node: Node, parts: list[Node], _: Sheet) -> list[Node]:
    if len(parts) > 1 and parts[1].type == "=":
        raise NotErasableError("export = cannot be erased: write export default", start_of(node))
    return parts


def _check_comparison(_: Node, parts: list[Node], __: Sheet) -> list[Node]:
    """Refuses ``f<T>`text` ``, which the parser takes for two comparisons."""
    left, operator, right = parts
    words = [operator.type, right.type, *(each.type for each in left.children)]
    if words[:2] == [">", "template_string"] and "<" in words:
        raise NotErasableError(
            "types before a template cannot be read here: leave them out", start_of(operator)
        )
    return parts


def _require_one_line(parts: list[Node], sheet: Sheet) -> None:
    """Refuses a word that TypeScript takes for a name when what it is about is a line below."""
    for each, following in itertools.pairwise(parts):
        if each.type in ONE_LINE and sheet.has_line_end(end_of(each), start_of(following)):
            word = sheet.text_of(each)
            raise NotErasableError(
                f"a line ends after {word}: put both on one line", start_of(each)
            )


def _require_sure_end(node: Node, sheet: Sheet) -> None:
    """Refuses a type that goes on in the next line by the parser, and not by TypeScript."""
    todo = [node]
    while todo:
        each = todo.pop()
        if each.type in BRACKETS:
            continue
        parts = parts_of(each)
        if each.type in SUFFIXED:
            inner, suffix = parts[:2]
            at = start_of(suffix)
            if sheet.text[at] in "[(<" and sheet.has_line_end(end_of(inner), at):
                raise NotErasableError("a type ends before this line: end it with ;", at)
        todo += parts


def _first_error(root: Node) -> int:
    """Returns where the parser first could not go on."""
    node = root
    while broken := [each for each in node.children if each.has_error]:
        node = broken[0]
    # Of what was skipped, the last is what did not fit.
    return start_of(node.children[-1] if node.is_error and node.children else node)


_HANDLERS: Final[dict[str, Callable[[Node, list[Node], Sheet], list[Node]]]] = {
    **dict.fromkeys(
        ("program", "statement_block", "switch_case", "switch_default", "class_body"),
        _erase_in_list,
    ),
    **dict.fromkeys(
        (
            *("type_annotation", "asserts_annotation", "type_predicate_annotation"),
            *("type_parameters", "type_arguments", "implements_clause"),
        ),
        _erase_whole,
    ),
    **dict.fromkeys(
        (
            *("type_alias_declaration", "interface_declaration", "ambient_declaration"),
            *("function_signature", "expression_statement"),
        ),
        _erase_sole,
    ),
    **dict.fromkeys(ASSERTIONS, _erase_assertion),
    "binary_expression": _check_comparison,
    "member_expression": _find_dot,
    "type_assertion": _erase_prefix,
    "arrow_function": _erase_around_arrow,
    "formal_parameters": _erase_in_parameters,
    **dict.fromkeys(("public_field_definition", "method_definition"), _erase_in_member),
    **dict.fromkeys(("named_imports", "export_clause"), _erase_type_specifiers),
    **dict.fromkeys(
        ("non_null_expression", "variable_declarator", "abstract_class_declaration"), _erase_sign
    ),
    "export_statement": _check_export,
    **dict.fromkeys(REFUSED, _refuse),
}
