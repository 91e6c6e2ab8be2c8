"""Going back, by a person's hand: no guest's cage holds these tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from nocturn.errors import BAD_ARGUMENTS, NocturnError
from nocturn.names import note_path
from nocturn.registry.tool import Tool, tool
from nocturn.tools.memory import NotePath  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nocturn.effects import Clearance, Preview
    from nocturn.registry.declared import Target
    from nocturn.store.notes import NoteStore
    from nocturn.store.past import Plan

__all__ = ["past_tools"]


def past_tools(notes: NoteStore, redact: Callable[[str], str]) -> list[Tool]:
    """Returns the tools that go back.

    Args:
        notes: Where the notes are.
        redact: Takes secrets out of what an error echoes.
    """

    def canonical(arguments: dict[str, Any]) -> dict[str, Any]:
        if arguments.get("path") is not None:
            arguments["path"] = note_path(arguments["path"], redact)
        return arguments

    def canonical_undo(arguments: dict[str, Any]) -> dict[str, Any]:
        if (arguments.get("path") is None) == (arguments.get("run") is None):
            message = "give path, whose last change is to be taken back, or run, all of whose are"
            raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "path"})
        return canonical(arguments)

    def foresee_restore(arguments: dict[str, Any]) -> Preview:
        arguments["plan"] = notes.past.plan_restore(arguments["path"], arguments["number"])
        return _plan(arguments).preview()

    def foresee_undo(arguments: dict[str, Any]) -> Preview:
        run, past = arguments.get("run"), notes.past
        arguments["plan"] = (
            past.plan_undo(arguments["path"]) if run is None else past.plan_undo_run(run)
        )
        return _plan(arguments).preview()

    effects: tuple[tuple[str, str, Target], ...] = (  # in the order that a plan has them in
        ("memory", "write", lambda arguments: _plan(arguments).written),
        ("memory", "remove", lambda arguments: _plan(arguments).removed),
        ("memory", "move", lambda arguments: _plan(arguments).moved),
    )
    returns = (
        'The paths by what became of them:\n\n    {"written": ["people/lina.md"], "removed": [], '
        '"moved": []}'
    )

    @tool(
        axis="write",
        effects=effects,
        canonical=canonical,
        foresee=foresee_restore,
        would=lambda arguments, _: _plan(arguments).to_dict(),
        by_hand=True,
        page={"returns": returns, "notes": "From Python and the command line only."},
    )
    def memory_restore(
        path: NotePath,
        number: Annotated[int, "The state's number, as the note's history has it."],
        *,
        clearance: Clearance,
        plan: Plan,
    ) -> dict[str, Any]:
        """Bring one note back to a state that it had; a state without the note removes it."""
        del path, number
        notes.past.apply(clearance, plan)
        return plan.to_dict()

    @tool(
        axis="write",
        effects=effects,
        canonical=canonical_undo,
        foresee=foresee_undo,
        would=lambda arguments, _: _plan(arguments).to_dict(),
        by_hand=True,
        page={
            "returns": returns,
            "notes": "From Python and the command line only. All of it is one question, and if a "
            "note was changed since, nothing is done: the `CONFLICT` names it.",
        },
    )
    def memory_undo(
        path: Annotated[str | None, "The note whose last change is to be taken back."] = None,
        run: Annotated[str | None, "The run all of whose changes are to be taken back."] = None,
        *,
        clearance: Clearance,
        plan: Plan,
    ) -> dict[str, Any]:
        """Take back the last change of one note, that of an undo too; or all that a run changed."""
        del path, run
        notes.past.apply(clearance, plan)
        return plan.to_dict()

    return [memory_restore, memory_undo]


def _plan(arguments: Mapping[str, Any]) -> Plan:
    plan: Plan = arguments["plan"]
    return plan
