"""A streamed answer, gathered out of pieces into the form of a whole one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nocturn.agents.reply import CALLS_A_TURN, ModelError, is_list, is_object, parsed, refuse_error

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Gathering"]


class Gathering:
    """Takes server-sent events, as bytes cut anywhere, for one answer.

    Args:
        tell: Told of each piece of text.

    Attributes:
        ended: Whether the server said that this was all.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.ended = False
        self._tell = tell
        self._line = bytearray()
        self._data: list[bytes] = []
        self._text: list[str] = []
        self._said = False
        self._calls: list[dict[str, Any]] = []
        self._arguments: list[list[str]] = []
        self._by_index: dict[int, int] = {}
        self._finish: Any = None
        self._usage: Any = None

    def feed(self, chunk: bytes) -> None:
        """Takes some bytes.

        Raises:
            ModelError: What they say is of no form that there is.
        """
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            self._line += line
            self._take(bytes(self._line).rstrip(b"\r"))
            self._line.clear()
        self._line += rest

    def body(self) -> dict[str, Any]:
        """Returns what was gathered, as :func:`~nocturn.agents.reply.reply_of` takes it.

        Raises:
            ModelError: The stream broke off: it may go better when asked again.
        """
        self._take(bytes(self._line))  # a last line without its end
        self._take(b"")
        if not self.ended and self._finish is None:
            raise ModelError("the model's answer broke off", again=True)
        for call, parts in zip(self._calls, self._arguments, strict=True):
            call["function"]["arguments"] = "".join(parts)
        message = {
            "content": "".join(self._text) if self._said else None,
            "tool_calls": self._calls or None,
        }
        choice = {"message": message, "finish_reason": self._finish}
        return {"choices": [choice], "usage": self._usage}

    def _take(self, line: bytes) -> None:
        """Takes one line: an empty one ends an event, whose ``data`` lines belong together."""
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line and self._data:
            data = b"\n".join(self._data)
            self._data.clear()
            if data.strip() == b"[DONE]":
                self.ended = True
            elif not self.ended:
                self._chunk(parsed(data))

    def _chunk(self, chunk: Any) -> None:
        if not is_object(chunk):
            raise ModelError("the model's answer cannot be read: a piece of it is no object")
        refuse_error(chunk)
        self._usage = chunk.get("usage") or self._usage
        choices: Any = chunk.get("choices") or []  # the last chunk, with the usage, has none
        if not is_list(choices) or not all(is_object(each) for each in choices):
            raise ModelError("the model's answer cannot be read: choices is no list of objects")
        for choice in choices[:1]:
            self._finish = choice.get("finish_reason") or self._finish
            delta = choice.get("delta")
            if is_object(delta):
                self._delta(delta)

    def _delta(self, delta: dict[str, Any]) -> None:
        for text in (delta.get("content"), delta.get("refusal")):
            if text is not None and not isinstance(text, str):
                raise ModelError("the model's answer cannot be read: its content is no text")
            if text is not None:
                self._said = True
                self._text.append(text)
                if text:
                    self._tell(text)
        fragments: Any = delta.get("tool_calls") or []
        if not is_list(fragments) or not all(is_object(f) for f in fragments):
            raise ModelError("the model's answer cannot be read: tool_calls is no list of objects")
        for fragment in fragments:
            self._fragment(fragment)

    def _fragment(self, fragment: dict[str, Any]) -> None:
        function = fragment.get("function")
        function = function if is_object(function) else {}
        at = self._place(fragment)
        call = self._calls[at]
        call["id"] = call["id"] or fragment.get("id")
        call["function"]["name"] = call["function"]["name"] or function.get("name")
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            self._arguments[at].append(arguments)
        elif arguments is not None:
            raise ModelError("the model's answer cannot be read: a call's arguments are no text")

    def _place(self, fragment: dict[str, Any]) -> int:
        """Returns which call a fragment is part of: by its index; without one a new id begins one.

        Some servers leave the index out, and send each call in one piece.
        """
        index = fragment.get("index")
        if type(index) is int:
            known = self._by_index.get(index)
        else:
            known = len(self._calls) - 1 if self._calls and not fragment.get("id") else None
        if known is not None:
            return known
        if len(self._calls) >= CALLS_A_TURN:
            raise ModelError(
                "the model's answer cannot be read: it wants more calls at once than the "
                f"{CALLS_A_TURN} that are the most"
            )
        if type(index) is int:
            self._by_index[index] = len(self._calls)
        self._calls.append({"id": None, "function": {"name": None}})
        self._arguments.append([])
        return len(self._calls) - 1
