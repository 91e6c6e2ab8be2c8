"""What an agent is made of, and what one of its runs is given."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urlsplit

from nocturn.errors import ConfigurationError
from nocturn.given import approver_given, one_of, require_bool
from nocturn.limits import MOST_SECONDS

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from nocturn.agents.events import Event
    from nocturn.agents.tool import AgentTool
    from nocturn.guard.ports import Approver, SecretSource
    from nocturn.registry.tool import Tool
    from nocturn.workspace import Workspace

__all__ = ["AgentSpec", "RuntimeOptions", "VaultKey", "vault"]

KEY_VARIABLE: Final = "OPENAI_API_KEY"
"""Where the key is when none is given: the name that the openai package has for it."""

_MODES: Final = ("strict", "guarded", "watched")
_MOST_TURNS: Final = 1_000
_MOST_RETRIES: Final = 20


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """What an agent is made of, beside its folder.

    Attributes:
        model: The model's name, as its endpoint knows it.
        tools: The host's tools: made with :func:`nocturn.tool`, or anything with ``name``,
            ``description``, ``parameters`` and ``execute``.
        memory: Whether it has the tool ``memory`` over its own folder.
        workspace: The workspace that it works in, or its folder; None for none.
        mode: Who is there to ask.
        name: What grants belong to; None for an agent without a name, which has none that last.
        secrets: Where the values are that must not leave, beside the workspace's own.
        approver: Who asks a person. None: a ``guarded`` run leaves its question open, and ends
            ``pending``; else whoever asks for the workspace.

    Raises:
        ConfigurationError: A field is not usable (naming it).
    """

    model: str
    tools: Iterable[Tool | AgentTool] = ()
    memory: bool = True
    workspace: Workspace | str | os.PathLike[str] | None = None
    mode: Literal["strict", "guarded", "watched"] = "strict"
    name: str | None = None
    secrets: Iterable[SecretSource] = field(default=(), repr=False)
    approver: Approver | Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        _require_text("model", self.model)
        require_bool("memory", self.memory)
        one_of("mode", self.mode, _MODES)
        if self.name is not None:
            _require_text("name", self.name)
        object.__setattr__(self, "tools", _several("tools", self.tools))
        object.__setattr__(self, "secrets", _sources(self.secrets))
        object.__setattr__(self, "approver", approver_given(self.approver))


@dataclass(frozen=True, slots=True)
class VaultKey:
    """A key that is kept in the workspace's vault.

    Attributes:
        name: Its name there.
    """

    name: str


def vault(name: str) -> VaultKey:
    """Says that a key is in the workspace's vault: ``RuntimeOptions(api_key=vault("openai"))``.

    Args:
        name: Its name there.

    Raises:
        ConfigurationError: The name is none.
    """
    _require_text("the vault's name for the key", name)
    return VaultKey(name)


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """What one run is given.

    Attributes:
        base_url: Where ``/chat/completions`` is; None for what ``OPENAI_BASE_URL`` says, else the
            place that the openai package knows.
        api_key: The key, or :func:`vault` of its name; None for what ``OPENAI_API_KEY`` holds.
        max_turns: How often the model may answer.
        deadline_seconds: How long the run may take; waiting for a person is not counted.
        retries: How often a request is made again that met a busy server or a broken line.
        backoff_seconds: The wait before the first of these, which doubles; a server may ask for
            more.
        stream: Whether the model's text comes piece by piece, to ``on_event``.
        on_event: Told what happens, in another thread; see :mod:`nocturn.agents.events`.

    Raises:
        ConfigurationError: A field is not usable (naming it, and never the key).
    """

    base_url: str | None = None
    api_key: str | VaultKey | None = field(default=None, repr=False)
    max_turns: int = 10
    deadline_seconds: float = 600.0
    retries: int = 3
    backoff_seconds: float = 0.5
    stream: bool = False
    on_event: Callable[[Event], None] | None = None

    def __post_init__(self) -> None:
        _require_url(self.base_url)
        _require_key(self.api_key)
        _require_count("max_turns", self.max_turns, 1, _MOST_TURNS)
        _require_count("retries", self.retries, 0, _MOST_RETRIES)
        _require_seconds("deadline_seconds", self.deadline_seconds)
        _require_seconds("backoff_seconds", self.backoff_seconds)
        require_bool("stream", self.stream)
        if self.on_event is not None and not callable(self.on_event):
            raise ConfigurationError("on_event cannot be called: give a function of one event")


def _several(name: str, given: Any) -> tuple[Any, ...]:
    try:
        return tuple(given)
    except TypeError:
        raise ConfigurationError(f"{name} is a {type(given).__name__}: give a list") from None


def _sources(given: Any) -> Any:
    """Returns the sources as often as they are asked for; what is no list of them is told later."""
    return given if hasattr(given, "secrets") else _several("secrets", given)


def _require_text(name: str, given: object) -> None:
    if not isinstance(given, str) or not given.strip() or not given.isprintable():
        raise ConfigurationError(f"{name} is no text that can be read: give one")


def _require_url(url: object) -> None:
    if url is None:
        return
    # Not echoed: a password may stand in it.
    message = (
        "base_url is not http:// or https:// with a host, and without a user, a query or a "
        'fragment: give one like "http://127.0.0.1:8000/v1"'
    )
    if not isinstance(url, str) or not url.isascii() or not url.isprintable() or " " in url:
        raise ConfigurationError(message)
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable, parts = False, urlsplit("")
    if not usable or "@" in parts.netloc or "?" in url or "#" in url:
        raise ConfigurationError(message)


def _require_key(key: object) -> None:
    if key is None or isinstance(key, VaultKey):
        return
    if not isinstance(key, str):
        raise ConfigurationError(f"api_key is a {type(key).__name__}: give a text or vault(NAME)")
    require_header(key, "api_key")


def require_header(key: str, name: str) -> None:
    """Raises ``ConfigurationError`` where a key could not stand in a header; it is not echoed.

    Args:
        key: The key.
        name: Where it is from.
    """
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationError(
            f"{name} is empty or has blanks or letters beyond ASCII: give the key, and only it"
        )


def _require_count(name: str, given: object, least: int, most: int) -> None:
    if type(given) is not int or not least <= given <= most:
        raise ConfigurationError(
            f"{name} is {given!r}: give a whole number from {least} to {most:,}"
        )


def _require_seconds(name: str, given: object) -> None:
    usable = type(given) in (int, float)
    if not usable or math.isnan(given) or not 0 < given <= MOST_SECONDS:  # type: ignore[arg-type,operator]
        raise ConfigurationError(
            f"{name} is {given!r}: give a number of seconds above 0, at most {MOST_SECONDS:,}"
        )
