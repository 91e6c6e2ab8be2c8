"""``nocturn memory import`` and ``export``: notes from elsewhere, and to take along."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from nocturn.cli.groups import Changing, spread
from nocturn.cli.options import Folder, Json, open_workspace

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["export_notes", "import_notes"]

_TOLD: Final = 20

Replace = Annotated[
    bool, typer.Option("--replace", help="Replace what is there already and reads differently.")
]


@spread
def import_notes(
    source: Annotated[
        str, typer.Argument(metavar="FOLDER|FILE.jsonl", help="Where the notes are.")
    ],
    prefix: Annotated[
        str, typer.Option("--prefix", metavar="FOLDER", help="A folder under which all come.")
    ] = "",
    replace: Replace = False,
    *,
    given: Changing,
) -> int:
    """Take in a folder of Markdown or a file of JSON lines: all of it or nothing.

    Each note comes in byte for byte, by the road that a script's note takes, with one question for
    all. A row of FILE.jsonl is {"path", "text"}, the whole text, or {"path", "summary", "content"}.
    What cannot be a note is skipped and listed: links, what is no UTF-8, folders whose name begins
    with a dot. At most 10,000 notes or 8 MiB come in at a time.

    nocturn memory import ~/vault/people --prefix people
    """
    with given.open() as ws:
        done = ws.memory.import_notes(
            source,
            prefix=prefix,
            replace=replace,
            mode=given.mode,
            agent=given.agent,
            dry_run=given.dry_run,
        )
    if given.json:
        from nocturn.layout import say

        say(dumps(done))
        return 0
    if given.dry_run:
        from nocturn.layout import diff_lines, say

        for each in done["would_write"]:
            say(diff_lines(each["diff"]))
        done = done["value"]
    _say_done(done, "would be written" if given.dry_run else "written")
    return 0


def export_notes(
    target: Annotated[str, typer.Argument(metavar="FOLDER|FILE.jsonl", help="Where the notes go.")],
    replace: Replace = False,
    workspace: Folder = None,
    json: Json = False,
) -> int:
    """Write all notes to a folder of Markdown or a file of JSON lines.

    They are your own, so they go out as they are: nothing is redacted, and nobody but you can read
    the files. nocturn memory import reads them back, byte for byte.

    nocturn memory export notes.jsonl
    """
    with open_workspace(workspace) as ws:
        done = ws.memory.export_notes(target, replace=replace)
    if json:
        from nocturn.layout import say

        say(dumps(done))
    else:
        _say_done(done, "written")
    return 0


def _say_done(done: Mapping[str, Any], written: str) -> None:
    from nocturn.layout import say, tell
    from nocturn.visible import visible

    for each in done["reasons"][:_TOLD]:
        tell(visible(f"skipped {each['path']}: {each['why']}", keep=""))
    if done["skipped"] > _TOLD:
        tell(f"and {done['skipped'] - _TOLD:,} more were skipped; --json lists them")
    parts = [f"{done['written']:,} {written}, {done['bytes']:,} bytes"]
    if done.get("unchanged"):
        parts.append(f"{done['unchanged']:,} there already")
    if done["skipped"]:
        parts.append(f"{done['skipped']:,} skipped")
    say("; ".join(parts))
