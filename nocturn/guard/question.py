"""What a person is asked, and the answers that are on offer."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from nocturn.effects import Effect, Grant, Mode, Preview, Recall
from nocturn.errors import STORAGE, NocturnError
from nocturn.guard.difference import diff_lines
from nocturn.guard.remarks import Remark  # noqa: TC001 - pydantic reads the fields' types
from nocturn.limits import GRANTS_AN_ANSWER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from pydantic import TypeAdapter

__all__ = ["Edited", "Option", "Question", "options_for"]

_FORM: Final = 1
"""The form of :meth:`Question.to_dict`; another one is not read."""


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
class Edited:
    """An answer: neither yes nor no, but another text, which takes the whole road and is asked.

    Attributes:
        text: What is to stand in place of the question's ``text``.
    """

    text: str


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
        digest: What a yes is tied to: the :func:`~nocturn.effects.binding` of the exact effects
            and content.
        options: The answers on offer. Anything else is a no.
        remarks: What is pointed out to whoever is asked.
        outside: The tools from which this run has taken in text from outside.
        text: What may be edited before a yes, by answering :class:`Edited`; None where nothing may.
        dry: Whether a yes would do nothing, since the run is a dry one.
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
    remarks: tuple[Remark, ...] = ()
    outside: tuple[str, ...] = ()
    text: str | None = None
    dry: bool = False

    def diff(self) -> list[str]:
        """Returns what would change, as the rows of a unified diff; raw, as all texts in here."""
        return diff_lines(self.preview.before, self.preview.after)

    def to_dict(self) -> dict[str, Any]:
        """Returns the question as dicts, lists and plain values, which :meth:`from_dict` reads.

        A lone surrogate, which a file's name may hold and UTF-8 may not, becomes ``?``.
        """
        told = {"form": _FORM, **asdict(self), "mode": self.mode.value}
        text = json.dumps(told, ensure_ascii=False, default=_iso).encode("utf-8", "replace")
        plain: dict[str, Any] = json.loads(text)
        return plain

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Question:
        """Returns the question that :meth:`to_dict` told of.

        Raises:
            NocturnError: ``STORAGE``, it is in no form that this version writes.
        """
        fields = dict(told)
        form = fields.pop("form", None)
        if type(form) is int and form == _FORM and fields.keys() == set(cls.__slots__):
            try:
                return _reader().validate_json(json.dumps(fields), strict=True)
            except ValueError:  # pydantic's too, whose words quote what was read
                pass
        msg = "a question that was kept is in a form that this version does not write: leave it"
        raise NocturnError(STORAGE, msg)


@cache
def _reader() -> TypeAdapter[Question]:
    from datetime import datetime  # a grant's field is of this type, and is read by its name

    from pydantic import TypeAdapter

    reader = TypeAdapter(Question)
    del datetime
    return reader


def _iso(moment: datetime) -> str:
    return moment.isoformat()


def options_for(pending: Mapping[Effect, Recall], agent: str, *, named: bool) -> tuple[Option, ...]:
    """Returns the answers that may be given to a call.

    An exact answer above the ceiling is not offered; the widening is cut down to it. A yes to very
    many things at once is for once: nobody has read them all.

    Args:
        pending: The effects that need a yes, each with the ceiling of its ruling.
        agent: Whose grants they would be.
        named: Whether the agent has a name: only then may a yes outlast the session.
    """
    ceiling = min(*pending.values(), Recall.ALWAYS if named else Recall.SESSION)
    if len(pending) > GRANTS_AN_ANSWER:
        ceiling = Recall.NEVER
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
