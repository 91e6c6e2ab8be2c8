"""A source on its way from TypeScript to JavaScript: what is blanked, and where a sign stands.

Positions are in UTF-16 units, as JavaScript counts.
"""

from __future__ import annotations

from nocturn.worker.grammar import COMMENTS, GAP, LINE_END, VISIBLE

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from tree_sitter import Node

__all__ = ["NotErasableError", "Sheet", "end_of", "last_of", "parts_of", "start_of"]


class NotErasableError(Exception):
    """A source that cannot be made JavaScript by blanking.

    Attributes:
        message: What there is, and the way out.
        at: Where, in UTF-16 units from the start.
    """

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message, at)
        self.message = message
        self.at = at


class Sheet:
    """The text, and what becomes of it.

    Attributes:
        text: The source, a character for each UTF-16 unit.
        dots: Where a dot of a type was taken for one of an expression.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.dots: list[int] = []
        self._blanks: list[tuple[int, int]] = []
        self._marks: dict[int, str] = {}

    @property
    def is_touched(self) -> bool:
        """Whether anything is blanked."""
        return bool(self._blanks)

    def blank(self, start: int, end: int) -> None:
        """Blanks a stretch; line ends in it stay."""
        self._blanks.append((start, end))

    def blank_node(self, node: Node) -> None:
        """Blanks a node."""
        self.blank(start_of(node), end_of(node))

    def mark(self, at: int, sign: str) -> None:
        """Puts a sign where a blank is."""
        self._marks[at] = sign

    def has_line_end(self, start: int, end: int) -> bool:
        """Returns whether a line ends within a stretch."""
        return LINE_END.search(self.text, start, end) is not None

    def text_of(self, node: Node) -> str:
        """Returns a node's text."""
        return self.text[start_of(node) : end_of(node)]

    def after_gap(self, at: int) -> int:
        """Returns where white space and comments end."""
        gap = GAP.match(self.text, at)
        return gap.end() if gap else at

    def erased(self) -> str:
        """Returns the text with all of that done."""
        pieces: list[str] = []
        done = 0
        for start, end in sorted(self._blanks):
            if end > done:
                pieces += (
                    self.text[done:start],
                    VISIBLE.sub(" ", self.text[max(start, done) : end]),
                )
                done = end
        pieces.append(self.text[done:])
        whole = "".join(pieces)
        if not self._marks:
            return whole
        signs = list(whole)
        for at, sign in self._marks.items():
            signs[at] = sign
        return "".join(signs)


def start_of(node: Node) -> int:
    """Returns where a node begins."""
    return node.start_byte // 2


def end_of(node: Node) -> int:
    """Returns where a node ends."""
    return node.end_byte // 2


def parts_of(node: Node) -> list[Node]:
    """Returns a node's children, comments left out."""
    return [each for each in node.children if each.type not in COMMENTS]


def last_of(node: Node) -> Node:
    """Returns the last token of a node."""
    while parts := parts_of(node):
        node = parts[-1]
    return node
