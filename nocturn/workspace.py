"""A workspace: one folder of memory, and the only module that knows every room.

It wires the rooms together, on first use, and holds nothing else: what a call may do is the
guard's business, what becomes of it the store's.
"""

from __future__ import annotations

import os
import threading
import weakref
from functools import cached_property

from nocturn.errors import ConfigurationError, NocturnError
from nocturn.given import (
    absolute,
    approver_given,
    limits_or_default,
    modules_of,
    one_of,
    program_of,
    require_bool,
    require_limits,
    waitable,
)
from nocturn.host.pool import Pool
from nocturn.secrecy import Secrecy
from nocturn.tools import BUILT_IN
from nocturn.wire.frames import LINE

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing, and much else, would cost each cold start what it never uses
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any, Final, Literal, Self, TypedDict, Unpack

    from nocturn.guard.asking import Asking
    from nocturn.guard.caller import Caller, Standing
    from nocturn.guard.gate import Gate
    from nocturn.guard.ports import Approver, Clock, SecretSource
    from nocturn.guard.search import Found
    from nocturn.host.execution import Execution
    from nocturn.host.result import CallRecord, ConsoleLine, RunResult
    from nocturn.host.session import Session
    from nocturn.host.typescript import Reader
    from nocturn.limits import Limits
    from nocturn.memory import Memory, ModeName
    from nocturn.permissions import Permissions
    from nocturn.purge import Purge
    from nocturn.registry.call import Call
    from nocturn.registry.dispatch import Dispatcher
    from nocturn.registry.tool import Registry, Tool
    from nocturn.store.grants import GrantFile
    from nocturn.store.inbox import Inbox
    from nocturn.store.notes import NoteStore
    from nocturn.store.trail import Trail
    from nocturn.store.vault import Vault
    from nocturn.stores import Stores

    class RunOptions(TypedDict, total=False):
        """What :meth:`Workspace.run` takes beside the source."""

        filename: str
        folder: str | os.PathLike[str] | None
        lang: Literal["js", "ts"] | None
        mode: ModeName
        agent: str | None
        args: Sequence[str]
        tools: Iterable[str] | None
        limits: Limits | None
        dry_run: bool
        on_call: Callable[[CallRecord], None] | None
        on_console: Callable[[ConsoleLine], None] | None


__all__ = ["Workspace"]

_ISOLATION: Final = ("full", "best-effort")
_LANGUAGES: Final = ("js", "ts")
_MODES: Final = ("strict", "guarded", "watched")


class Workspace:
    """One folder of memory, and the tools that guests may use on it.

    ::

        with Workspace("notes") as ws:
            result = ws.run(source, filename="remember.js", mode="watched")
            result.raise_for_error()
            print(ws.memory.catalog())

    Nothing is created by making one, by reading, or by a call that is refused.

    Args:
        path: The folder; it may not exist yet.
        approver: Who asks a person: an :class:`~nocturn.guard.ports.Approver`, or a function from
            the question to the answer. None: in mode ``guarded`` the inbox does, from which
            ``nocturn approvals`` or :attr:`inbox` answers; else what would ask is refused.
        tools: Tools of your own, made with :func:`nocturn.tool`.
        secrets: Where the values are that must not leave, beside the vault: each a
            :class:`~nocturn.guard.ports.SecretSource`.
        limits: The limits of a run that gives none of its own.
        modules: Sources that any script here may import, by name (``"greet"``, ``"my/greet"``).
        isolation: ``full``, or ``best-effort`` to run with whatever the machine has.
        ask_seconds: How long a question waits in the inbox; None for 120.

    Raises:
        ConfigurationError: The path is a file, a tool is none or has a name that is taken, or an
            argument is not what is asked for here.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        approver: Approver | Callable[[Any], Any] | None = None,
        tools: Iterable[Tool] = (),
        secrets: Iterable[SecretSource] = (),
        limits: Limits | None = None,
        modules: Mapping[str, str] | None = None,
        isolation: Literal["full", "best-effort"] = "full",
        ask_seconds: float | None = None,
    ) -> None:
        self._place = absolute(path)
        if os.path.exists(self._place) and not os.path.isdir(self._place):
            folder = os.path.basename(self._place)
            raise ConfigurationError(f"the workspace {folder} is a file: name a folder")
        require_limits(limits)
        self._given_limits = limits
        self._modules = modules_of(modules)
        self._approver = approver_given(approver)
        self._ask_seconds = waitable(ask_seconds)
        self._secrecy = Secrecy(self._place, secrets)
        self._own_tools = tuple(tools)
        self._isolation = one_of("isolation", isolation, _ISOLATION)
        self._wiring = threading.RLock()
        self._made_stores: Stores | None = None
        self._made: Dispatcher | None = None
        self._made_reader: Reader | None = None
        # Not of this object, which the pool's thread may outlive by a moment.
        self._pool = Pool(lambda: limits_or_default(limits))
        weakref.finalize(self, self._pool.close)
        self._running: weakref.WeakSet[Execution] = weakref.WeakSet()
        self._sessions: weakref.WeakSet[Session] = weakref.WeakSet()
        self._closed = False
        if self._own_tools:
            from nocturn.registry.tool import Registry

            Registry(self._own_tools, reserved=BUILT_IN)

    @cached_property
    def memory(self) -> Memory:
        """The notes."""
        from nocturn.memory import Memory

        return Memory(
            self.call,
            self._secrecy.redact_all,
            lambda: self._stores.notes,
            lambda: self._stores.catalog,
            lambda: [each.to_dict() for each in self.purge.rescan()],
            self.path / "memory",
            self._checkup,
        )

    @cached_property
    def path(self) -> Path:
        """The workspace's folder, absolute."""
        from pathlib import Path

        return Path(self._place)

    @cached_property
    def limits(self) -> Limits:
        """The limits of a run that gives none of its own."""
        return limits_or_default(self._given_limits)

    @property
    def permissions(self) -> Permissions:
        """What may be done here, and why: the policy, the grants, and whether they are trusted."""
        return self._stores.permissions

    @property
    def grants(self) -> GrantFile:
        """The yeses that last: ``load()`` them, or ``revoke(id)`` some."""
        return self.permissions.grants

    @property
    def vault(self) -> Vault:
        """The workspace's named secrets; no call and no guest reads them."""
        return self._secrecy.vault

    @property
    def inbox(self) -> Inbox:
        """The questions that wait for a person, and what became of those that did not wait long."""
        return self._stores.inbox

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Cancels what runs, and forgets the session's grants; nothing runs here any more."""
        self._closed = True
        for execution in tuple(self._running):
            execution.cancel()
        for session in tuple(self._sessions):
            session.close()
        self._pool.close()
        if self._made_reader is not None:
            self._made_reader.close()
        if self._made is not None:
            self._gate.close()

    @property
    def notes(self) -> NoteStore:
        """The notes as files, to look at: no call, and so not in the journal; not redacted."""
        return self._stores.notes

    @property
    def purge(self) -> Purge:
        """Forgetting for good, for the day a secret got in: a note, or a value wherever it is."""
        from nocturn.purge import Purge

        return Purge(self._stores, self._secrecy)

    @property
    def journal(self) -> Trail:
        """The journal, to read: what was called, what became of it, and whether that is whole."""
        return self._stores.journal.trail

    @property
    def tools(self) -> Registry:
        """The tools, those that come with nocturn and your own."""
        return self._dispatcher.registry

    def types(self, tools: Iterable[str] | None = None) -> str:
        """Returns TypeScript declarations of all that a script has, for an editor or a model.

        Args:
            tools: The names of the tools that exist for it; None for all.

        Raises:
            ConfigurationError: There is no tool of such a name.
        """
        from nocturn.registry.typegen import declarations

        cage = self.tools.cage(tools)
        return declarations((each for each in self.tools if each.name in cage), BUILT_IN)

    def run(
        self,
        source: str | bytes,
        *,
        filename: str = "<script>",
        folder: str | os.PathLike[str] | None = None,
        lang: Literal["js", "ts"] | None = None,
        mode: ModeName = "strict",
        agent: str | None = None,
        args: Sequence[str] = (),
        tools: Iterable[str] | None = None,
        limits: Limits | None = None,
        dry_run: bool = False,
        on_call: Callable[[CallRecord], None] | None = None,
        on_console: Callable[[ConsoleLine], None] | None = None,
    ) -> RunResult:
        """Runs a script in a worker of its own.

        Args:
            source: The script; bytes must be UTF-8.
            filename: What errors call it.
            folder: The script's own folder, out of which it may import scripts by relative paths;
                None for code that gets no file, such as a model's.
            lang: ``js`` or ``ts``; None: by the filename, which ends in ``.ts``, ``.mts`` or
                ``.cts`` for TypeScript. Its types are erased, and not checked.
            mode: Who is there to ask.
            agent: Whose run it is; None: the script's hash is its name.
            args: ``nocturn.args`` in the guest.
            tools: The names of the tools that exist for this run; None for all.
            limits: The run's limits; None for the workspace's.
            dry_run: Whether every write stops once the gate has ruled on it; the result's
                ``would_write`` says what would have been written.
            on_call: Told of each call that has ended, in another thread.
            on_console: Told of each line that is printed, in another thread.

        Returns:
            What the run was, whatever happened to it.

        Raises:
            ConfigurationError: An argument is not one of those that there are.
            IsolationError: The machine gives less isolation than was asked for.
            RunInterrupted: Ctrl-C.
        """
        execution, dispatch = self._prepare(
            source=source,
            filename=filename,
            folder=folder,
            lang=lang,
            mode=mode,
            agent=agent,
            args=args,
            tools=tools,
            limits=limits,
            dry_run=dry_run,
            on_call=on_call,
            on_console=on_console,
        )
        return execution.run(dispatch)

    def session(
        self,
        *,
        filename: str = "<repl>",
        folder: str | os.PathLike[str] | None = None,
        lang: Literal["js", "ts"] | None = None,
        mode: ModeName = "strict",
        agent: str | None = None,
        args: Sequence[str] = (),
        tools: Iterable[str] | None = None,
        limits: Limits | None = None,
        dry_run: bool = False,
        on_call: Callable[[CallRecord], None] | None = None,
        on_console: Callable[[ConsoleLine], None] | None = None,
    ) -> Session:
        """Opens a session, whose lines follow one another in one guest; takes what ``run`` takes.

        ::

            with ws.session(mode="watched") as s:
                s.eval("const a = 1")
                print(s.eval("a + 1").value)  # 2
                s.eval("for (;;);")  # time_limit; `a` is there as before

        Each line has its own limits, but for the heap, which is the session's; and its own
        questions. Leaks are counted over all of it.

        Raises:
            ConfigurationError: An argument is not one of those that there are, or there are too
                many sessions.
        """
        from nocturn.guard.caller import Standing
        from nocturn.host.session import Session

        if self._closed:
            raise ConfigurationError("the workspace is closed: make a new Workspace")
        one_of("mode", mode, _MODES)
        require_limits(limits)
        standing = Standing()

        def prepare(
            session: Session, source: str | bytes, name: str | None
        ) -> tuple[Execution, Callable[[Call], Any]]:
            return self._prepare(
                source=source, filename=name or filename, folder=folder, lang=lang, mode=mode,
                agent=agent, args=args, tools=tools, limits=limits, dry_run=dry_run,
                on_call=on_call, on_console=on_console, session=session, standing=standing,
            )  # fmt: skip

        session = Session(self._pool, limits or self.limits, self._isolation, prepare)
        self._sessions.add(session)
        return session

    async def run_async(self, source: str | bytes, **options: Unpack[RunOptions]) -> RunResult:
        """Runs a script without blocking the event loop; takes what :meth:`run` takes.

        Cancelling the task ends the worker.
        """
        import inspect

        bound = inspect.signature(self.run).bind(source, **options)
        bound.apply_defaults()
        execution, dispatch = self._prepare(**bound.arguments)
        return await execution.run_async(dispatch)

    def call(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        mode: ModeName = "watched",
        agent: str | None = None,
        dry_run: bool = False,
    ) -> Any:
        """Calls a tool from Python, by the same road that a guest's call takes.

        Returns:
            The tool's value. In a dry run ``{"value", "would_write"}``: what the tool would have
            returned, and a list of ``{"path", "diff"}``, as in :class:`nocturn.RunResult`.

        Raises:
            NocturnError: The call was refused or failed.
        """
        import json

        from nocturn.registry.call import Call

        ended = threading.Event()
        caller = self._caller(
            mode,
            agent,
            "<python>",
            "",
            frozenset(self.tools.names()),
            _NoClock(),
            lambda: not ended.is_set(),
            dry_run=dry_run,
            run=os.urandom(8).hex(),
        )
        call = Call(name, arguments)
        try:
            text = json.dumps(arguments, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            call.problem = "the arguments are not JSON values"
        else:
            call.size_bytes = len(text.encode("utf-8", "surrogatepass"))
        try:
            value = self._dispatcher.dispatch(call, caller, self.limits.call_bytes)
        finally:  # what was asked for a call that Ctrl-C ended must not wait on
            ended.set()
        if not caller.dry:
            return value
        told = call.would_write
        return {
            "value": value,
            "would_write": [] if told is None else [{"path": told[0], "diff": told[1]}],
        }

    def scan(self, pieces: Iterable[str]) -> Iterator[Found]:
        """Looks for secrets in a text of any length: those of the vault, and by their shape.

        Nothing is created, and no vault need be there.

        Args:
            pieces: The text, in pieces that are cut anywhere.

        Yields:
            What is found, in order; never a value.

        Raises:
            ConfigurationError: The vault or a source of secrets cannot be read.
        """
        from nocturn.guard.search import search

        self._secrecy.read()
        yield from search(pieces, self._secrecy.scanner)

    def backup(self, target: str | os.PathLike[str], *, replace: bool = False) -> dict[str, Any]:
        """Puts all that cannot be made again into one file, while others go on writing.

        Notes, persona, trash, policy, grants, journal, history, and the vault as it is encrypted;
        its key is not in it. The file is a zip archive that nobody but the user can read (0600).

        Args:
            target: The file; nothing of it is there before all of it is.
            replace: Whether one that is there is replaced; else it is a ``CONFLICT``.

        Returns:
            ``{"files", "bytes", "vault", "skipped"}``.

        Raises:
            NocturnError: It could not be made; what was there is as it was.
        """
        from nocturn.store.backup import save

        databases = {"history.db": self.notes.past.history.snapshot}
        return save(self.path, os.fspath(target), databases, replace=replace).to_dict()

    def restore(self, file: str | os.PathLike[str]) -> dict[str, Any]:
        """Makes this workspace out of a backup; its folder must be missing, or empty.

        Permissions that are in it are not trusted, as those of any folder from elsewhere.

        Args:
            file: The backup.

        Returns:
            As :meth:`backup`.

        Raises:
            NocturnError: The folder is not empty, or the file is no backup; nothing was made.
        """
        from nocturn.store.unpacking import restore

        return restore(os.fspath(file), self.path).to_dict()

    def isolation(self) -> tuple[str, dict[str, str]]:
        """Has one worker lock itself down, runs nothing in it, and returns what that gave.

        Returns:
            The level, and for each step of the lock-down ``on`` or ``off: why``.

        Raises:
            IsolationError: A step failed that should work on this machine.
        """
        from nocturn.host.execution import probe

        return probe(self._pool, self.limits)

    # ---- the wiring, each room on first use ------------------------------------------------------

    def _prepare(
        self,
        *,
        source: str | bytes,
        filename: str,
        folder: str | os.PathLike[str] | None,
        lang: str | None,
        mode: str,
        agent: str | None,
        args: Sequence[str],
        tools: Iterable[str] | None,
        limits: Limits | None,
        dry_run: bool,
        on_call: Callable[[CallRecord], None] | None,
        on_console: Callable[[ConsoleLine], None] | None,
        session: Session | None = None,
        standing: Standing | None = None,
    ) -> tuple[Execution, Callable[[Call], Any]]:
        if self._closed:
            raise ConfigurationError("the workspace is closed: make a new Workspace")
        if lang is not None:
            one_of("lang", lang, _LANGUAGES)
        if not isinstance(source, (str, bytes)):  # pyright: ignore[reportUnnecessaryIsInstance] - a user's
            raise ConfigurationError(f"source is a {type(source).__name__}: give the script's text")
        one_of("mode", mode, _MODES)
        require_limits(limits)
        require_bool("dry_run", dry_run)
        filename = os.fspath(filename)
        cage = None if tools is None else self.tools.cage(tools)
        # The zygote loads while this process imports what a run needs.
        self._pool.start()
        from nocturn.host.execution import Execution

        bounds = limits or self.limits
        program = program_of(source, filename, lang, folder, self._modules, bounds.source_bytes)
        reading = None
        if program.typed:
            reading = self._reader.reading(program, bounds, self._isolation)
        execution = Execution(
            program, args, bounds, self._isolation, session or self._pool, on_call, on_console,
            dry_run=dry_run,
            reading=reading,
            head=b"" if session is None else LINE,
        )  # fmt: skip

        self._running.add(execution)

        def caller() -> Caller:
            return self._caller(
                mode, agent, filename, "" if session else program.whole, cage, execution.clock,
                execution.alive, dry_run=dry_run, run=execution.identity, standing=standing,
            )  # fmt: skip

        # A name or a source of secrets that is not usable is said before anything runs.
        guarded = self._secrecy.guards
        known: list[Caller] = [caller()] if agent is not None or guarded else []
        first = threading.Lock()  # calls in flight together are one caller's

        def dispatch(call: Call) -> Any:
            if not known:  # most scripts that only compute never call
                execution.clock.pause()
                try:  # what a first call has the host load is not the guest's time
                    with first:
                        self._secrecy.read_in_a_run()
                        _ = self._dispatcher
                        if not known:
                            known.append(caller())
                finally:
                    execution.clock.resume(waited=False)
            else:
                self._secrecy.read_in_a_run()
            return self._dispatcher.dispatch(call, known[0], bounds.call_bytes)

        return execution, dispatch

    def _caller(
        self,
        mode: str,
        agent: str | None,
        script: str,
        source: str,
        cage: frozenset[str] | None,
        clock: Clock,
        alive: Callable[[], bool],
        *,
        dry_run: bool,
        run: str,
        standing: Standing | None = None,
    ) -> Caller:
        from nocturn.effects import Mode
        from nocturn.guard.caller import Caller, Standing, agent_of

        if self._closed:
            raise ConfigurationError("the workspace is closed: make a new Workspace")
        one_of("mode", mode, _MODES)
        require_bool("dry_run", dry_run)
        try:
            identity, named = agent_of(agent, source)
        except NocturnError as error:
            raise ConfigurationError(error.message) from None
        # Before anything runs: what cannot be read cannot be guarded.
        self._secrecy.read()
        return Caller(
            agent=identity,
            named=named,
            mode=Mode(mode),
            run=run,
            cage=cage,
            script=script,
            clock=clock,
            alive=alive,
            dry=dry_run,
            standing=Standing() if standing is None else standing,
            asking=self._out_of_band(alive) if mode == "guarded" else None,
        )

    def _out_of_band(self, alive: Callable[[], bool]) -> Asking | None:
        """Returns who asks for a run that nobody looks on at; None where the approver does."""
        if self._approver is not None:
            return None
        from nocturn.guard.asking import Asking
        from nocturn.guard.out_of_band import BoxApprover
        from nocturn.limits import ASK_SECONDS

        approver = BoxApprover(
            lambda: self.inbox,
            lambda: alive() and not self._closed,
            self._ask_seconds or ASK_SECONDS,
            self._tell_of_question,
        )
        return Asking(approver, self._secrecy.scanner.redact)

    def _checkup(self, fix: bool) -> list[dict[str, Any]]:
        from nocturn.checkup import check

        self._secrecy.read()
        databases = {
            "inbox.db": self.inbox.waiting,
            "history.db": lambda: self.notes.past.history.of(""),
        }
        found = check(self.path / "memory", self._secrecy.scanner, databases, fix=fix)
        return [each.to_dict() for each in found]

    def _tell_of_question(self, identity: str) -> None:
        from nocturn.notify import notify

        try:
            waiting = self.inbox.count()
        except NocturnError:  # that it cannot be counted does not end the question
            waiting = 1
        notify(identity, waiting)

    @property
    def _dispatcher(self) -> Dispatcher:
        with self._wiring:  # the rooms below are made under it, too
            if self._made is None:
                self._made = self._wire()
            return self._made

    @property
    def _reader(self) -> Reader:
        with self._wiring:
            if self._made_reader is None:
                from nocturn.host.typescript import Reader

                self._made_reader = Reader()
                weakref.finalize(self, self._made_reader.close)
            return self._made_reader

    def _wire(self) -> Dispatcher:
        from nocturn.guard.screen import Screen
        from nocturn.registry.dispatch import Dispatcher
        from nocturn.registry.tool import Registry
        from nocturn.tools.built_in import built_in_tools

        scanner, stores = self._secrecy.scanner, self._stores
        journal = stores.journal
        own = built_in_tools(stores.notes, lambda: stores.search, scanner)
        registry = Registry((*own, *self._own_tools))
        return Dispatcher(registry, Screen(scanner, journal), scanner, self._gate, journal)

    def redacted(self, value: Any) -> Any:
        """Takes every secret out of what JSON can hold, as on every way out."""
        return self._secrecy.redacted(value)

    @property
    def _stores(self) -> Stores:
        with self._wiring:
            if self._made_stores is None:
                from nocturn.stores import Stores

                self._made_stores = Stores(self._place, self._secrecy)
            return self._made_stores

    @cached_property
    def _gate(self) -> Gate:
        from nocturn.guard.gate import Gate

        permissions, scanner = self.permissions, self._secrecy.scanner
        return Gate(permissions.policy, permissions.grants, self._approver, scanner.redact)


class _NoClock:
    """A call from Python has no clock that could stand still."""

    def pause(self) -> None:
        """Does nothing."""

    def resume(self) -> None:
        """Does nothing."""
