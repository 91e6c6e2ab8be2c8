"""How the line that is typed looks: JavaScript in colours, and nothing hidden in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.formatted_text.utils import fragment_list_to_text
from prompt_toolkit.layout.processors import Processor, Transformation
from prompt_toolkit.layout.utils import explode_text_fragments
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.javascript import JavascriptLexer, TypeScriptLexer

from nocturn.visible import first_hidden, visible

if TYPE_CHECKING:
    from prompt_toolkit.layout.processors import TransformationInput
    from prompt_toolkit.lexers import Lexer

__all__ = ["HiddenShown", "colours"]


def colours(*, typed: bool) -> Lexer:
    """Returns what colours a text; only colours, nothing is decided by it.

    Args:
        typed: Whether it is TypeScript.
    """
    return PygmentsLexer(TypeScriptLexer if typed else JavascriptLexer)


class HiddenShown(Processor):
    """Shows what hides in a text as escapes: a paste must be what it looks like."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """Returns a row as it is shown, and where each character of it stands then."""
        fragments = transformation_input.fragments
        text = fragment_list_to_text(fragments)
        if first_hidden(text, keep="\t", joiners=True) is None:
            return Transformation(fragments)
        exploded = explode_text_fragments(fragments)
        shown = [visible(each, keep="\t") for each in text]
        starts = [0]
        for each in shown:
            starts.append(starts[-1] + len(each))
        ends = {start: at for at, start in enumerate(starts)}

        def back(position: int) -> int:
            while position not in ends:
                position -= 1
            return ends[position]

        return Transformation(
            [
                (fragment[0] if each == fragment[1] else "class:escaped", each)
                for fragment, each in zip(exploded, shown, strict=True)
            ],
            source_to_display=lambda at: starts[min(at, len(text))],
            display_to_source=lambda at: back(min(at, starts[-1])),
        )
