"""``memory_import``: notes from elsewhere, by a person's hand and in one question.

Whatever is in the source goes down the road that a guest's note takes: checked, capped, scanned
and gated. What is read is read once, on the host; what lands is what was scanned and shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from nocturn.registry.tool import Tool, tool
from nocturn.store.intake import read_notes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nocturn.effects import Clearance, Preview
    from nocturn.store.intake import Batch
    from nocturn.store.notes import NoteStore
    from nocturn.store.past import Plan

__all__ = ["import_tool"]


def import_tool(notes: NoteStore, redact: Callable[[str], str]) -> Tool:
    """Returns the tool.

    Args:
        notes: Where the notes are.
        redact: Takes secrets out of a text.
    """

    def canonical(arguments: dict[str, Any]) -> dict[str, Any]:
        batch = read_notes(arguments["source"], arguments.get("prefix", ""), redact)
        return {**arguments, "batch": batch}

    def foresee(arguments: dict[str, Any]) -> Preview:
        texts = {each.path: each.text for each in arguments["batch"].notes}
        plan = notes.plan_writes(texts, replace=arguments.get("replace", False))
        arguments["plan"] = plan
        return plan.preview()

    @tool(
        axis="write",
        effects=[("memory", "write", lambda arguments: arguments["plan"].written)],
        canonical=canonical,
        reads=_texts,
        foresee=foresee,
        would=lambda arguments, _: _told(arguments["batch"], arguments["plan"]),
        by_hand=True,
        page={
            "returns": 'Four numbers, and the first of what was skipped:\n\n    {"written": 2, '
            '"unchanged": 0, "bytes": 168, "skipped": 1,\n     "reasons": [{"path": "photo.png", '
            '"why": "its name does not end in .md"}]}',
            "notes": "From Python and the command line only. All of it is one question, and either "
            "all of it is written or nothing. A note that is there with the same bytes is left as "
            "it is; one that reads differently is a `CONFLICT`, unless `replace` is true.",
        },
    )
    def memory_import(
        source: Annotated[str, "A folder of Markdown, or a file whose name ends in .jsonl."],
        prefix: Annotated[str, "A folder under which all of it comes."] = "",
        replace: Annotated[bool, "Whether notes that are there are replaced."] = False,
        *,
        clearance: Clearance | None,
        batch: Batch,
        plan: Plan,
    ) -> dict[str, Any]:
        """Take in notes from elsewhere, byte for byte: all of them, or none."""
        del source, prefix, replace
        if clearance is not None:  # else nothing is new, and so there was nothing to rule on
            notes.past.apply(clearance, plan)
        return _told(batch, plan)

    return memory_import


def _texts(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    return ((each.path, each.text) for each in arguments["batch"].notes)


def _told(batch: Batch, plan: Plan) -> dict[str, Any]:
    """Returns what became of it; short, since it must fit into a reply after all is written."""
    return {
        "written": len(plan.changes),
        "unchanged": len(batch.notes) - len(plan.changes),
        "bytes": sum(len(each.data or b"") for each in plan.changes),
        "skipped": batch.skipped,
        "reasons": [each.to_dict() for each in batch.reasons],
    }
