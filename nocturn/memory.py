"""``ws.memory``: a workspace's notes, from Python."""

from __future__ import annotations

import os

from nocturn.tools import BUILT_IN

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from typing import Any, Literal, TypeAlias

    from nocturn.store.catalog import Catalog, NoteCatalog
    from nocturn.store.notes import NoteStore

    ModeName: TypeAlias = Literal["watched", "guarded", "strict"]
    Rows: TypeAlias = list[dict[str, Any]]  # a method's name is list

__all__ = ["Memory"]

_PATHS = ("path", "partner")


class Memory:
    """A workspace's notes, from Python, by the same road that a guest's calls take.

    Every method raises ``NocturnError`` where the call is refused or fails.

    Args:
        call: :meth:`nocturn.Workspace.call`.
        redact_all: Takes secrets out of several texts at once.
        notes: Gives the notes as files, whose past is looked at without a call.
        catalog: Gives what derives the catalog.
        rescan: Looks through all that is kept, for what has become a secret.
        folder: The ``memory/`` folder.
        check: Looks through the notes, and mends what is safe where it is told to.
    """

    def __init__(
        self,
        call: Callable[..., Any],
        redact_all: Callable[[Sequence[str]], Sequence[str]],
        notes: Callable[[], NoteStore],
        catalog: Callable[[], NoteCatalog],
        rescan: Callable[[], Rows],
        folder: Path,
        check: Callable[[bool], Rows],
    ) -> None:
        self._call = call
        self._redact_all = redact_all
        self._notes = notes
        self._catalog = catalog
        self._rescan = rescan
        self._folder = folder
        self._check = check

    def write(
        self,
        path: str,
        summary: str,
        content: str,
        *,
        if_version: str | Literal[False] | None = False,
        mode: ModeName = "watched",
        agent: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Writes one note, whole; returns ``{"path", "summary", "bytesWritten"}``.

        Args:
            path: Relative to ``memory/``, ending in ``.md``.
            summary: Its catalog line.
            content: Its body.
            if_version: The version that must be there, None for "no such note yet", False for any.
            mode: Who is there to ask.
            agent: Whose call it is.
            dry_run: Whether to write nothing, and to return ``{"value", "would_write"}``; see
                :meth:`nocturn.Workspace.call`.
        """
        arguments = {"path": path, "summary": summary, "content": content}
        return self._told(
            "memory_write", _versioned(arguments, if_version), mode, agent, dry_run=dry_run
        )

    def append(
        self,
        path: str,
        text: str,
        *,
        if_version: str | Literal[False] = False,
        mode: ModeName = "watched",
        agent: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Adds a text to the end of one note, on a line of its own; the summary stays.

        Args:
            path: The note, which must be there.
            text: What comes to its end.
            if_version: The version that must be there, False for any.
            mode: Who is there to ask.
            agent: Whose call it is.
            dry_run: As for :meth:`write`.

        Returns:
            ``{"path", "summary", "bytesWritten"}``.
        """
        arguments = _versioned({"path": path, "text": text}, if_version)
        return self._told("memory_append", arguments, mode, agent, dry_run=dry_run)

    def edit(
        self,
        path: str,
        old: str,
        new: str,
        *,
        if_version: str | Literal[False] = False,
        mode: ModeName = "watched",
        agent: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Puts ``new`` in place of ``old``, which stands in the note's body exactly once.

        The rest is as for :meth:`append`. Where ``old`` stands more than once, the error's
        ``detail["lines"]`` says on which lines.
        """
        arguments = _versioned({"path": path, "old": old, "new": new}, if_version)
        return self._told("memory_edit", arguments, mode, agent, dry_run=dry_run)

    def move(
        self,
        path: str,
        to: str,
        *,
        if_version: str | Literal[False] = False,
        mode: ModeName = "watched",
        agent: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Gives one note another path, where nothing may be; returns ``{"path", "to"}``."""
        arguments = _versioned({"path": path, "to": to}, if_version)
        return self._told("memory_move", arguments, mode, agent, dry_run=dry_run)

    def read(
        self,
        path: str,
        *,
        mode: ModeName = "watched",
        agent: str | None = None,
    ) -> str:
        """Returns one note's text, its preamble included."""
        text: str = self._call("memory_read", {"path": path}, mode=mode, agent=agent)
        return text

    def stat(
        self,
        path: str,
        *,
        mode: ModeName = "watched",
        agent: str | None = None,
    ) -> dict[str, Any]:
        """Returns ``{"path", "summary", "bytes", "modified", "version"}`` of one note."""
        return self._told("memory_stat", {"path": path}, mode, agent)

    def list(
        self,
        *,
        limit: int = 200,
        cursor: str | None = None,
        mode: ModeName = "watched",
        agent: str | None = None,
    ) -> dict[str, Any]:
        """Returns ``{"notes": [as stat, …], "cursor"}``, a page of at most 200."""
        return self._told("memory_list", {"limit": limit, "cursor": cursor}, mode, agent)

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        mode: ModeName = "watched",
        agent: str | None = None,
    ) -> Rows:
        """Returns ``[{"path", "summary", "snippet"}, …]``: the notes that have all of the query.

        Args:
            query: Words, ``"several in a row"``, and ``beginn*``.
            limit: How many at most, 1 to 50; the best come first.
            mode: As for :meth:`write`.
            agent: As for :meth:`write`.
        """
        arguments = {"query": query, "limit": limit}
        found: Rows = self._call("memory_search", arguments, mode=mode, agent=agent)
        return found

    def remove(
        self,
        path: str,
        *,
        if_version: str | Literal[False] | None = False,
        mode: ModeName = "watched",
        agent: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Moves one note to the trash; returns ``{"path", "removed"}``; ``dry_run`` as above."""
        return self._told(
            "memory_remove", _versioned({"path": path}, if_version), mode, agent, dry_run=dry_run
        )

    def history(self, path: str) -> Rows:
        """Returns the states of one note, oldest first; what it is now is the last.

        Returns:
            For each ``{"number", "path", "verb", "version", "partner", "bytes", "at", "run",
            "agent"}``: ``verb`` is ``write``, ``remove``, ``move`` (then ``partner`` is the other
            path), or ``seen`` for what was changed by hand.
        """
        states = [each.to_dict() for each in self._notes().past.states(self._canonical(path))]
        texts = self._redact_all([each[name] or "" for each in states for name in _PATHS])
        for at, each in enumerate(states):
            seen = texts[at * len(_PATHS) : (at + 1) * len(_PATHS)]
            each.update({name: text or None for name, text in zip(_PATHS, seen, strict=True)})
        return states

    def diff(self, path: str, older: int, newer: int | None = None) -> str:
        """Returns what changed in one note, as a unified diff; empty where nothing did.

        Args:
            path: The note.
            older: The number of a state, as :meth:`history` has it.
            newer: The number of another; None for what is there now.

        Raises:
            NocturnError: ``NOT_FOUND``, there is no such state or its text is not kept.
        """
        from nocturn.guard.difference import diff_text

        canonical, notes = self._canonical(path), self._notes()
        before = notes.past.text(canonical, older)
        after = notes.present(canonical) if newer is None else notes.past.text(canonical, newer)
        # Redacted before they are compared: a hunk could halve a secret.
        seen = self._redact_all([canonical, before or "", after or ""])
        return diff_text(
            seen[0], None if before is None else seen[1], None if after is None else seen[2]
        )

    def restore(
        self,
        path: str,
        number: int,
        *,
        mode: ModeName = "watched",
        agent: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Brings one note back to a state that it had, as :meth:`history` numbers them.

        Returns:
            ``{"written", "removed", "moved"}``, lists of paths.
        """
        arguments = {"path": path, "number": number}
        return self._told("memory_restore", arguments, mode, agent, dry_run=dry_run)

    def undo(
        self,
        path: str | None = None,
        *,
        run: str | None = None,
        mode: ModeName = "watched",
        agent: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Takes back the last change of one note, or all that one run has changed.

        It is a change like any other: undoing it again brings back what was taken back. Where a
        note was changed since, nothing is done, and the ``CONFLICT`` names it.

        Args:
            path: The note; or else
            run: The run's id, which the journal and :meth:`history` have.
            mode: Who is there to ask.
            agent: Whose call it is.
            dry_run: As for :meth:`write`.

        Returns:
            As :meth:`restore`.
        """
        given = {"path": path, "run": run}
        arguments = {name: value for name, value in given.items() if value is not None}
        return self._told("memory_undo", arguments, mode, agent, dry_run=dry_run)

    def trash(self) -> Rows:
        """Returns what is in the trash, oldest first: ``{"slot", "path", "at", "bytes"}`` of each.

        It lies as it was under ``.nocturn/trash/``, in ``slot/path``.
        """
        entries = [each.to_dict() for each in self._notes().trash.entries()]
        paths = self._redact_all([each["path"] for each in entries])
        return [{**each, "path": path} for each, path in zip(entries, paths, strict=True)]

    def rescan(self) -> Rows:
        """Finds what has become a secret since, in notes, trash, persona and history.

        Returns:
            For each ``{"where", "path", "number", "secret", "place", "line"}``: ``secret`` is its
            name, ``place`` is ``text`` or ``name``; never a value. ``ws.purge`` takes it out.

        Raises:
            NocturnError: ``STORAGE``, something cannot be read.
        """
        return self._rescan()

    def recover(
        self,
        slot: str,
        *,
        mode: ModeName = "watched",
        agent: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Brings back what is in the trash, to the path that it had, as :meth:`restore` does.

        Args:
            slot: Its slot, as :meth:`trash` has it, or the eight digits at its end.
            mode: Who is there to ask.
            agent: Whose call it is.
            dry_run: As for :meth:`write`.

        Raises:
            NocturnError: ``NOT_FOUND``, there is no such slot, or the history does not know what is
                in it: it can be copied by hand.
        """
        path, number = self._notes().state_in_trash(slot)
        return self.restore(path, number, mode=mode, agent=agent, dry_run=dry_run)

    def import_notes(
        self,
        source: str | os.PathLike[str],
        *,
        prefix: str = "",
        replace: bool = False,
        mode: ModeName = "watched",
        agent: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Takes in a folder of Markdown or a ``.jsonl`` file: all of its notes, or none.

        They come in byte for byte, by the road that a written note takes, in one question.

        Args:
            source: The folder; or the file, of rows ``{"path", "text"}`` with the whole text, or
                ``{"path", "summary", "content"}``.
            prefix: A folder under which all of them come.
            replace: Whether notes that are there and read differently are replaced; else they are
                a ``CONFLICT``.
            mode: Who is there to ask.
            agent: Whose call it is.
            dry_run: As for :meth:`write`.

        Returns:
            ``{"written", "unchanged", "bytes", "skipped", "reasons"}``: four numbers, and the first
            200 of what was skipped as ``{"path", "why"}``.
        """
        arguments = {"source": os.fspath(source), "prefix": prefix, "replace": replace}
        return self._told("memory_import", arguments, mode, agent, dry_run=dry_run)

    def export_notes(
        self, target: str | os.PathLike[str], *, replace: bool = False
    ) -> dict[str, Any]:
        """Writes all notes to a folder or a ``.jsonl`` file; :meth:`import_notes` reads them back.

        It is the person's own way to their own files: what is written is not redacted, and can be
        read by nobody else (0600). It is no call, so that the journal says nothing of it.

        Args:
            target: The folder; or the file, of rows ``{"path", "text"}``.
            replace: Whether files that are there and read differently are replaced; else they are
                a ``CONFLICT``.

        Returns:
            ``{"written", "bytes", "skipped", "reasons"}``.
        """
        from nocturn.store.outgoing import write_notes

        return write_notes(self._folder, os.fspath(target), replace=replace).to_dict()

    def check(self, *, fix: bool = False) -> Rows:
        """Looks for what will give trouble: names, modes, secrets, broken links and the like.

        Args:
            fix: Whether what is safe is mended: modes, what killed writers have left, and names
                that are not composed.

        Returns:
            ``{"path", "kind", "what", "advice", "fixed"}`` of each, by path; see
            :class:`nocturn.checkup.Finding`.
        """
        return self._check(fix)

    def catalog(self) -> str:
        """Returns one line a note, ``path — summary``, at most 2,048 bytes; empty without notes.

        It is derived from the files as they are now. A note that cannot be read is left out, with
        a warning on the ``nocturn`` logger that names it.
        """
        return self._looked().text

    def catalog_stats(self) -> dict[str, int]:
        """Returns how full the catalog is.

        Returns:
            ``{"bytes", "limit", "left", "listed", "not_listed", "too_long", "unreadable"}``: the
            first three in bytes; notes that have a line, that have none, that have none since it
            is over 512 bytes, and that cannot be read.
        """
        return self._looked().stats()

    def in_prompt(self, prompt: str, tools: Iterable[str] | None = None) -> str:
        """Returns a system prompt with the catalog in it.

        Args:
            prompt: The prompt so far.
            tools: The cage of whoever is prompted; None for all tools.

        Returns:
            The prompt unchanged where the cage holds no memory tool or there are no notes.
        """
        from nocturn.store.catalog import prompt_block

        cage = BUILT_IN if tools is None else (tools,) if isinstance(tools, str) else tuple(tools)
        if not any(name.startswith("memory_") for name in cage):
            return prompt
        block = prompt_block(self.catalog())
        return f"{prompt}\n\n{block}" if block and prompt else prompt or block

    def _canonical(self, path: str) -> str:
        from nocturn.names import note_path

        return note_path(path, lambda text: self._redact_all([text])[0])

    def _looked(self) -> Catalog:
        import logging

        catalog = self._catalog().look()
        for warning in catalog.left_out:
            logging.getLogger("nocturn").warning("%s", warning)
        return catalog

    def _told(
        self,
        name: str,
        arguments: dict[str, Any],
        mode: ModeName,
        agent: str | None,
        *,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        told: dict[str, Any] = self._call(name, arguments, mode=mode, agent=agent, dry_run=dry_run)
        return told


def _versioned(
    arguments: dict[str, Any], if_version: str | Literal[False] | None
) -> dict[str, Any]:
    return arguments if if_version is False else {**arguments, "ifVersion": if_version}
