"""``nocturn.persona``: what an agent keeps of itself, and of the person whom it talks with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from nocturn import limits
from nocturn.errors import BAD_ARGUMENTS, NocturnError
from nocturn.registry.tool import Tool, tool
from nocturn.store.persona import KIND, Change
from nocturn.tools.memory import refuse_nul

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nocturn.effects import Clearance, Preview
    from nocturn.store.persona import PersonaStore

__all__ = ["persona_tool"]

FILES: Final = {"self": "MEMORY.md", "user": "USER.md"}


_WHERE: Final = 'target?: "self" | "user"'
_ONE: Final = f"(text: string, given?: {{ {_WHERE}; all?: boolean }}) => string"
_MEMBERS: Final = (
    f"readonly add: NocturnWrapper<(text: string, given?: {{ {_WHERE} }}) => string>;",
    f"readonly replace: NocturnWrapper<{_ONE.replace('given', 'instead: string, given', 1)}>;",
    f"readonly remove: NocturnWrapper<{_ONE}>;",
)
"""One tool, three wrappers: ``nocturn.persona.add(text)`` and so on."""


class Arguments(BaseModel):
    """What ``memory`` takes; Python has words of its own for two of them."""

    # Built on first use, as a function's are: it would take 10 ms of every first call.
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    action: Literal["add", "replace", "remove"] = Field(
        description="add: a new entry. replace, remove: a text that is there."
    )
    text: str = Field(
        description="For add the entry, one fact in a line. For the others the text exactly as it "
        "stands there."
    )
    target: Literal["self", "user"] = Field(
        default="self",
        description="self: your own notes, MEMORY.md. user: what you know of the user, USER.md.",
    )
    instead: str = Field(
        default="", alias="with", description="For replace: what is to stand there instead."
    )
    every: bool = Field(
        default=False, alias="all", description="Whether all is meant, where text is there twice."
    )


def persona_tool(store: PersonaStore) -> Tool:
    """Returns the tool ``memory``.

    Args:
        store: Where the persona's files are.
    """

    @tool(
        axis="write",
        effects=[(KIND, "write", lambda arguments: FILES[arguments["target"]])],
        arguments=Arguments,
        canonical=_canonical,
        caps={"text": limits.PERSONA_TEXT_BYTES, "instead": limits.PERSONA_TEXT_BYTES},
        foresee=lambda arguments: store.preview(FILES[arguments["target"]], _change(arguments)),
        text="text",
        would=lambda arguments, _: _done(arguments),
        page={
            "returns": "One line of text:\n\n    ok (add → MEMORY.md); loads next session",
            "notes": "The file is changed at once, and the prompt of this session is not: the next "
            "session begins with it. A text that is not there, or that is there more than once "
            "without `all`, is an error, and the file keeps its bytes. No change may leave a line "
            "that looks like the heading of one of the persona's files.",
            "wrapper": "nocturn.persona.add(text, {target})",
            "example": {"action": "add", "text": "Prefers dark roast"},
            "members": {"persona": _MEMBERS},
        },
    )
    def memory(
        action: str,
        text: str,
        target: str,
        instead: str,
        every: bool,
        *,
        clearance: Clearance,
        preview: Preview,
        joined: Callable[[str, str], None],
    ) -> str:
        """Keep what you have learned for the sessions to come: add an entry, correct it, drop it.

        Worth keeping is what will still matter in a month: who the user is, what they like and
        dislike, what was decided, how they want you to work. Not worth it: what only this talk is
        about, what can be looked up, secrets. Keep one fact in one entry; when a fact changes,
        replace its entry rather than adding another. What you change is on the disk at once; you
        will be told of it from the next session on.
        """
        arguments = {
            "action": action,
            "text": text,
            "target": target,
            "instead": instead,
            "every": every,
        }

        def check(before: str, after: str) -> None:
            if after != preview.after:  # others have written since it was looked at
                joined(before, after)

        store.change(clearance, FILES[target], _change(arguments), check)
        return _done(arguments)

    return memory


def _canonical(arguments: dict[str, Any]) -> dict[str, Any]:
    if not arguments["text"]:
        message = "text is empty: give the entry, or the text that is there"
        raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "text"})
    refuse_nul("text", arguments["text"])
    refuse_nul("with", arguments["instead"])
    return arguments


def _change(arguments: Mapping[str, Any]) -> Change:
    return Change(arguments["action"], arguments["text"], arguments["instead"], arguments["every"])


def _done(arguments: Mapping[str, Any]) -> str:
    return f"ok ({arguments['action']} → {FILES[arguments['target']]}); loads next session"
