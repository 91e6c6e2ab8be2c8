"""What a caller has given, looked at before anything is made of it: what is wrong is told now."""

from __future__ import annotations

import os

from nocturn.errors import ConfigurationError

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from nocturn.guard.ports import Approver
    from nocturn.host.program import Program
    from nocturn.limits import Limits

__all__ = [
    "absolute",
    "approver_given",
    "limits_or_default",
    "modules_of",
    "one_of",
    "program_of",
    "require_bool",
    "require_limits",
    "waitable",
]


def absolute(path: str | os.PathLike[str]) -> str:
    """Returns the workspace's folder as text, absolute."""
    place = os.path.expanduser(os.fsdecode(path))
    if not place or "\0" in place:
        raise ConfigurationError(f"the workspace is {place!r}: name a folder")
    try:
        return os.path.abspath(place)
    except OSError:
        raise ConfigurationError(
            "the current folder is gone: go to another, or give the workspace's path from the root"
        ) from None


def modules_of(given: Mapping[str, str] | None) -> dict[str, str]:
    """Returns the modules that scripts may import; a name that no import could mean is told now."""
    modules = dict(given or {})
    if modules:
        from nocturn.names import is_module_name

        for name, source in modules.items():
            if not is_module_name(name) or not isinstance(source, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a user's
                raise ConfigurationError(
                    f'modules has {name!r}: give texts by names like "greet" or "my/greet", in '
                    "small letters, digits, - and _, and none that is nocturn"
                )
    return modules


def program_of(
    source: str | bytes,
    filename: str,
    lang: str | None,
    folder: str | os.PathLike[str] | None,
    modules: dict[str, str],
    limit_bytes: int,
) -> Program:
    """Returns what is run, with the files that it may import; what it must not be is in it."""
    from nocturn.host.program import Program

    if isinstance(source, bytes):
        try:
            source = source.decode()
        except UnicodeDecodeError as problem:
            refusal = f"the source is not UTF-8 (byte {problem.start}): save it as UTF-8"
            return Program("", filename, refusal=refusal)
    program = Program(source, filename, modules=modules, lang=lang)
    if folder is None or ("import" not in source and "export" not in source):
        return program
    from pathlib import Path

    from nocturn.store.scripts import UnreadableError, imported_files

    try:
        # A link to the folder is the caller's own; what is in there must not lead out of it.
        place = Path(os.path.realpath(folder))
        files = imported_files(place, program.name, source, limit_bytes)
    except UnreadableError as problem:
        return Program(source, filename, refusal=str(problem))
    return Program(source, filename, files, modules, lang)


def approver_given(approver: Approver | Callable[[Any], Any] | None) -> Any:
    """Returns the approver; one that could not be asked is told now, not at the first question."""
    if approver is None:
        return None
    from nocturn.guard.approver import approver_of

    return approver_of(approver)


def waitable(seconds: float | None) -> float | None:
    """Returns how long a question waits, in seconds; None where that was left to us."""
    if seconds is None:
        return None
    from nocturn.guard.asking import seconds_of

    if (checked := seconds_of(seconds)) is None:
        raise ConfigurationError(f"ask_seconds is {seconds!r}: give a number of seconds above 0")
    return checked


def limits_or_default(limits: Limits | None) -> Limits:
    """Returns the limits, the usual ones where none were given."""
    from nocturn.limits import Limits

    return limits or Limits()


def require_limits(limits: Limits | None) -> None:
    """Raises ``ConfigurationError`` where limits were given that are none."""
    if limits is None:
        return
    from nocturn.limits import Limits

    if not isinstance(limits, Limits):  # pyright: ignore[reportUnnecessaryIsInstance] - a user's
        raise ConfigurationError(f"limits is {limits!r}: give Limits(wall_seconds=…)")


def require_bool(name: str, value: bool) -> None:
    """Raises ``ConfigurationError`` where something is neither True nor False."""
    if type(value) is not bool:
        raise ConfigurationError(f"{name} is {value!r}; it must be True or False")


def one_of(name: str, value: str, allowed: Sequence[str]) -> str:
    """Returns the value; raises ``ConfigurationError`` where it is none of those that there are."""
    if value not in allowed:
        raise ConfigurationError(f"{name} is {value!r}; it must be one of {', '.join(allowed)}")
    return value
