"""The words of tree-sitter's TypeScript grammar, and of the language, that the eraser goes by."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Final

LINE_END: Final = re.compile("[\n\r\u2028\u2029]")
VISIBLE: Final = re.compile("[^\n\r\u2028\u2029]")
GAP: Final = re.compile(r"(?:[\s\ufeff]|//[^\n\r\u2028\u2029]*+|/\*.*?\*/)*+", re.DOTALL)
"""White space and comments."""
GOING_ON: Final = ("(", "[", "`")
"""What at the start of a line goes on with an expression, but not with a type."""
OPERATOR: Final = re.compile(r"\*\*|[*/%]|\+(?!\+)|-(?!-)|<<|>>>?")
STRENGTHS: Final = {
    **dict.fromkeys(("<", ">", "<=", ">=", "instanceof", "in"), 1),
    **dict.fromkeys(("<<", ">>", ">>>"), 2),
    **dict.fromkeys(("+", "-"), 3),
    **dict.fromkeys(("*", "/", "%"), 4),
    "**": 5,
}
"""Operators that are as strong as ``as``, or stronger (ECMA-262, 13.6 to 13.10)."""
MOST_DOTS: Final = 8
"""So often a source is read again to hide dots; each time one more of a long name."""
LOOKED_BACK: Final = 64
BEFORE_PREFIX: Final = re.compile(
    r"(?:[=(,\[:?&|+\-*%!~^]|\$\{|=>|\b(?:return|typeof|await|yield|throw|case|in|of))\s*\Z"
)
"""What may stand before ``<T>x``, so that it is no statement of its own."""

COMMENTS: Final = ("comment", "html_comment", "hash_bang_line")
ASSERTIONS: Final = ("as_expression", "satisfies_expression")
PARAMETERS: Final = ("required_parameter", "optional_parameter")
MODIFIERS: Final = ("accessibility_modifier", "override_modifier", "readonly")
PREFIXES: Final = ("get", "set", "static", "async", "accessor")
ONE_LINE: Final = (*MODIFIERS, "abstract", "declare", "interface", "namespace", "type")
TYPE_ONLY: Final = frozenset(
    {
        *("type_alias_declaration", "interface_declaration", "ambient_declaration"),
        *("function_signature", "method_signature", "abstract_method_signature"),
        "index_signature",
    }
)
PERHAPS_TYPE_ONLY: Final = frozenset(
    {
        *("public_field_definition", "import_statement", "export_statement"),
        *("expression_statement", "internal_module"),
    }
)
SUFFIXED: Final = frozenset(
    {
        *("array_type", "lookup_type", "generic_type"),
        *("call_expression", "subscript_expression", "instantiation_expression"),
    }
)
"""Types with brackets behind them, ``T[]`` and ``T<U>``, and the same of a ``typeof``."""
BRACKETS: Final = frozenset(
    {
        *("object_type", "tuple_type", "parenthesized_type", "template_literal_type"),
        *("type_arguments", "type_parameters", "formal_parameters", "arguments"),
        *("interface_body", "class_body", "enum_body", "statement_block"),
    }
)
"""Within these the two agree on where a type ends: at the bracket."""
REFUSED: Final = {
    "decorator": "a decorator cannot be erased: call the function yourself",
    "enum_declaration": "an enum cannot be erased: write const Name = {…} as const",
    "import_alias": "import x = y cannot be erased: write const x = y",
    "import_require_clause": "import x = require(…) cannot be erased: write import … from",
    "internal_module": "a namespace that holds values cannot be erased: write const Name = {…}",
    "module": "a module of this kind cannot be erased: write const Name = {…}",
}
