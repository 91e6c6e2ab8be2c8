"""A model's answer, read out of bytes that may be anything.

The server is not trusted, and neither is the model: an answer that is not one is a
:class:`ModelError` with a sentence; what a call is given wrong is told to the model, not here.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

__all__ = [
    "CALLS_A_TURN",
    "ModelError",
    "Reply",
    "WantedCall",
    "free_identity",
    "is_list",
    "is_object",
    "parsed",
    "refuse_error",
    "reply_of",
    "words_of",
]

CALLS_A_TURN: Final = 128
"""An answer with more calls is nonsense; how many of them are made is the loop's business."""
_ID_CHARACTERS: Final = 256
_MOST_TOKENS: Final = 2**53


class ModelError(Exception):
    """The endpoint gave no answer that is one.

    Attributes:
        message: What happened, one sentence; may hold the server's words, so not yet redacted.
        again: Whether it may go better when asked again.
        after_seconds: How long the server asked to wait before; None where it did not.
    """

    def __init__(
        self, message: str, *, again: bool = False, after_seconds: float | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.again = again
        self.after_seconds = after_seconds


@dataclass(frozen=True, slots=True)
class WantedCall:
    """A call that the model wants made.

    Attributes:
        id: What it is called in its turn.
        tool: The tool's name; any text.
        arguments: What it is given, parsed; an empty object where ``problem`` says why.
        problem: Why the arguments are none, to be told to the model; empty where they are.
    """

    id: str
    tool: str
    arguments: dict[str, Any]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer.

    Attributes:
        text: What it says; may be empty.
        calls: The calls that it wants made, each with an id of its own.
        stopped: Why it stopped short, ``length`` or ``content_filter``; empty where it did not.
        input_tokens: As the endpoint counts them; 0 where it does not say.
        output_tokens: Likewise.
    """

    text: str
    calls: tuple[WantedCall, ...] = ()
    stopped: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


def parsed(data: bytes | str) -> Any:
    """Returns the JSON value in ``data``.

    Raises:
        ModelError: It is none.
    """
    try:
        return json.loads(data)
    except (ValueError, RecursionError):  # UnicodeDecodeError and too many digits are ValueErrors
        pass
    kind = "HTML" if data.lstrip()[:1] in (b"<", "<") else "no JSON"
    raise ModelError(f"the model's answer is {kind}: is base_url the place of /chat/completions?")


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Returns whether a JSON value is an object."""
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Returns whether a JSON value is a list."""
    return isinstance(value, list)


def reply_of(body: Any) -> Reply:
    """Returns the answer in a ``chat.completion``; ``role``, ``id`` and such may be missing.

    Args:
        body: The whole answer, parsed JSON of any type.

    Raises:
        ModelError: It has no answer, or one of another form.
    """
    body = _object(body, "answer")
    refuse_error(body)
    choices = body.get("choices")
    if not is_list(choices):
        raise _nonsense("choices is no list")
    if not choices:
        raise _nonsense("choices is empty")
    choice = _object(choices[0], "choice")
    message = _object(choice.get("message"), "message")
    text = _text_of(message.get("content"))
    if text is None:
        text = _text_of(message.get("refusal"))
    calls = _calls_of(message.get("tool_calls"))
    finish = choice.get("finish_reason")
    stopped = finish if finish in ("length", "content_filter") else ""
    if text is None and not calls and not stopped:
        raise _nonsense("it has neither text nor calls")
    usage = body.get("usage")
    counted: dict[str, Any] = usage if is_object(usage) else {}
    return Reply(
        text or "",
        calls,
        stopped,
        _tokens(counted.get("prompt_tokens")),
        _tokens(counted.get("completion_tokens")),
    )


def refuse_error(body: dict[str, Any]) -> None:
    """Raises ``ModelError`` where a body says that something went wrong, whatever its status."""
    if body.get("error"):
        said = words_of(body)
        said = f": {said}" if said else ", and does not say which"
        raise ModelError(f"the model's endpoint reports an error{said}")


def words_of(body: Any) -> str:
    """Returns what the server says went wrong; empty where that cannot be found."""
    error = body.get("error") if is_object(body) else body
    said = error.get("message") if is_object(error) else error
    return said if isinstance(said, str) else ""


def _object(value: Any, what: str) -> dict[str, Any]:
    if not is_object(value):
        raise _nonsense(f"its {what} is no object")
    return value


def _text_of(content: Any) -> str | None:
    """Returns a content's text: a string, or parts of which those of type text count."""
    if content is None or isinstance(content, str):
        return content
    if not is_list(content) or not all(is_object(each) for each in content):
        raise _nonsense("its content is no text")
    texts = [each["text"] for each in content if isinstance(each.get("text"), str)]
    return "".join(texts) if texts else None


def _calls_of(wanted: Any) -> tuple[WantedCall, ...]:
    if wanted is None:
        return ()
    if not is_list(wanted):
        raise _nonsense("its tool_calls is no list")
    if len(wanted) > CALLS_A_TURN:
        raise _nonsense(f"it wants {len(wanted):,} calls at once, and {CALLS_A_TURN} are the most")
    calls: list[WantedCall] = []
    taken: set[str] = set()
    for at, each in enumerate(wanted):
        identity = _object(each, "tool call").get("id")
        if not _is_identity(identity) or identity in taken:
            identity = free_identity(f"call_{at}", taken)
        taken.add(identity)
        calls.append(_call(identity, each.get("function")))
    return tuple(calls)


def free_identity(wish: str, taken: set[str]) -> str:
    """Returns an id that no other call of the turn has, and takes it."""
    while wish in taken:
        wish += "_"
    taken.add(wish)
    return wish


def _is_identity(given: Any) -> TypeGuard[str]:
    usable = isinstance(given, str) and 0 < len(given) <= _ID_CHARACTERS
    return usable and given.isascii() and given.isprintable()


def _call(identity: str, function: Any) -> WantedCall:
    function = function if is_object(function) else {}
    name, given = function.get("name"), function.get("arguments")
    name = name if isinstance(name, str) else ""
    problem = "the arguments are no JSON object: give one, such as {}"
    if given is None or (isinstance(given, str) and not given.strip()):
        return WantedCall(identity, name, {})
    if isinstance(given, str):
        try:
            given = json.loads(given, parse_constant=_refuse, parse_float=_finite)
        except ValueError as error:
            at = f" (at character {error.pos:,})" if isinstance(error, json.JSONDecodeError) else ""
            problem = f"the arguments are not JSON{at}: send the call again with valid JSON"
        except RecursionError:
            problem = "the arguments are nested too deeply: send a flatter object"
    if not is_object(given):
        return WantedCall(identity, name, {}, problem)
    return WantedCall(identity, name, given)


def _refuse(name: str) -> None:
    raise ValueError(name)  # NaN and such are Python's, and no JSON


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):  # 1e999 is JSON, and what Python makes of it is not
        _refuse(digits)
    return number


def _tokens(count: Any) -> int:
    return count if type(count) is int and 0 <= count < _MOST_TOKENS else 0


def _nonsense(what: str) -> ModelError:
    return ModelError(f"the model's answer cannot be read: {what}")
