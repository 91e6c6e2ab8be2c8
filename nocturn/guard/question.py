"""What a person is asked, and the answers that are on offer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nocturn.effects import Effect, Grant, Preview, Recall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nocturn.effects import Mode

__all__ = ["Option", "Question", "options_for"]


@dataclass(frozen=True, slots=True)
class Option:
    """One answer that says yes.

    Attributes:
        value: ``once``, ``session``, ``always`` or ``widen``.
        label: The same for people.
        recall: How long it lasts.
        grants: What is remembered; empty for ``once``.
    """

    value: str
    label: str
    recall: Recall = Recall.NEVER
    grants: tuple[Grant, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One question. Every text in it is redacted; none is made safe for a terminal.

    Attributes:
        tool: The tool that was called.
        effects: What it would do.
        agent: Who asks.
        named: Whether that is a name that was given, not a hash of the script.
        mode: The run's mode.
        script: The script's file name.
        run: The run's id.
        preview: What would change.
        size_bytes: The size of what would be written.
        digest: SHA-256 of it, in hex.
        options: The answers on offer. Anything else is a no.
    """

    tool: str
    effects: tuple[Effect, ...]
    agent: str
    named: bool
    mode: Mode
    script: str
    run: str
    preview: Preview
    size_bytes: int
    digest: str
    options: tuple[Option, ...]


def options_for(pending: Mapping[Effect, Recall], agent: str, *, named: bool) -> tuple[Option, ...]:
    """Returns the answers that may be given to a call.

    An exact answer above the ceiling is not offered; the widening is cut down to it.

    Args:
        pending: The effects that need a yes, each with the ceiling of its ruling.
        agent: Whose grants they would be.
        named: Whether the agent has a name: only then may a yes outlast the session.
    """
    ceiling = min(*pending.values(), Recall.ALWAYS if named else Recall.SESSION)
    options = [Option("once", "yes, once")]
    exact = tuple(Grant(agent, each.kind, each.verb, each.target) for each in pending)
    for recall, label in (
        (Recall.SESSION, "yes, for this session"),
        (Recall.ALWAYS, "yes, always"),
    ):
        if recall <= ceiling:
            options.append(Option(recall.name.lower(), label, recall, exact))
    folder = _common_folder(pending)
    if folder and ceiling > Recall.NEVER:
        deeds = dict.fromkeys((each.kind, each.verb) for each in pending)
        wide = tuple(Grant(agent, kind, verb, folder, folder=True) for kind, verb in deeds)
        lasting = "always" if ceiling is Recall.ALWAYS else "for this session"
        label = f'yes, {lasting}, for everything right in "{folder}/"'
        options.append(Option("widen", label, ceiling, wide))
    return tuple(options)


def _common_folder(effects: Iterable[Effect]) -> str:
    """Returns the one folder that holds every target; empty where there is none."""
    folders = {each.target.rpartition("/")[0] for each in effects}
    return folders.pop() if len(folders) == 1 else ""
