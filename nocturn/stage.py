"""A stage: where guests run and calls are made, whoever's notes or persona they act on.

It knows workers, callers and the dispatcher, and nothing of what a call is about: that is what a
:class:`~nocturn.workspace.Workspace` adds, or an agent's home.
"""

from __future__ import annotations

import os
import threading
import weakref

from nocturn.errors import ConfigurationError, NocturnError
from nocturn.given import limits_or_default, one_of, program_of, require_bool, require_limits
from nocturn.host.pool import Pool
from nocturn.wire.frames import LINE

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing, and much else, would cost each cold start what it never uses
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Final, Literal, Self, TypedDict, Unpack

    from nocturn.conversation import Conversation
    from nocturn.guard.asking import Asking
    from nocturn.guard.caller import Caller, Standing
    from nocturn.guard.gate import Gate
    from nocturn.guard.ports import Approver, Clock, SecretSource
    from nocturn.guard.scanner import Scanner
    from nocturn.host.execution import Execution
    from nocturn.host.result import CallRecord, ConsoleLine, RunResult
    from nocturn.host.session import Session
    from nocturn.host.typescript import Reader
    from nocturn.limits import Limits
    from nocturn.memory import ModeName
    from nocturn.registry.call import Call
    from nocturn.registry.dispatch import Dispatcher
    from nocturn.registry.tool import Registry, Tool
    from nocturn.secrecy import Secrecy

    class RunOptions(TypedDict, total=False):
        """What :meth:`Stage.run` takes beside the source."""

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


__all__ = ["Stage"]

ISOLATION: Final = ("full", "best-effort")
_LANGUAGES: Final = ("js", "ts")
_MODES: Final = ("strict", "guarded", "watched")


class Stage:
    """What a workspace and an agent's home have in common: runs, sessions, conversations, calls.

    Args:
        secrecy: What must not leave.
        limits: The limits of a run that gives none of its own; None for the usual ones.
        modules: Sources that any script here may import, by name.
        isolation: ``full`` or ``best-effort``.
    """

    def __init__(
        self,
        secrecy: Secrecy,
        *,
        limits: Limits | None = None,
        modules: dict[str, str] | None = None,
        isolation: str = "full",
    ) -> None:
        require_limits(limits)
        self._secrecy = secrecy
        self._given_limits = limits
        self._modules = modules or {}
        self._isolation = one_of("isolation", isolation, ISOLATION)
        self._wiring = threading.RLock()
        self._made: Dispatcher | None = None
        self._made_reader: Reader | None = None
        # Not of this object, which the pool's thread may outlive by a moment.
        self._pool = Pool(lambda: limits_or_default(limits))
        weakref.finalize(self, self._pool.close)
        self._running: weakref.WeakSet[Execution] = weakref.WeakSet()
        self._sessions: weakref.WeakSet[Session] = weakref.WeakSet()
        self._closed = False

    # ---- what a kind of stage adds ---------------------------------------------------------------

    def _wire(self) -> Dispatcher:
        """Makes the dispatcher of this stage's tools."""
        raise NotImplementedError

    def _out_of_band(self, alive: Callable[[], bool]) -> Asking | None:
        """Returns who asks for a run that nobody looks on at; None where the gate knows."""
        raise NotImplementedError

    # ---- what all have ---------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Cancels what runs; nothing runs here any more."""
        self._closed = True
        for execution in tuple(self._running):
            execution.cancel()
        for session in tuple(self._sessions):
            session.close()
        self._pool.close()
        if self._made_reader is not None:
            self._made_reader.close()

    def guard(self, sources: Iterable[SecretSource]) -> None:
        """Keeps what more sources of secrets have from leaving, from here on.

        Raises:
            ConfigurationError: They are none, or cannot be read.
        """
        self._secrecy.guard(sources)

    @property
    def scanner(self) -> Scanner:
        """What finds the secrets of here, and takes them out."""
        return self._secrecy.scanner

    @property
    def limits(self) -> Limits:
        """The limits of a run that gives none of its own."""
        return limits_or_default(self._given_limits)

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
        from nocturn.tools import BUILT_IN

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

        self._require_usable(lang, mode, limits, dry_run=dry_run)
        cage = None if tools is None else tuple(self.tools.cage(tools))  # read once, for all lines
        standing = Standing()

        def prepare(
            session: Session, source: str | bytes, name: str | None
        ) -> tuple[Execution, Callable[[Call], Any]]:
            return self._prepare(
                source=source, filename=name or filename, folder=folder, lang=lang, mode=mode,
                agent=agent, args=args, tools=cage, limits=limits, dry_run=dry_run,
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
        cage = frozenset(self.tools.names())
        with self._conversation(self._dispatcher, cage, mode, agent, dry_run=dry_run) as talk:
            return talk.call(name, arguments)

    def conversation(
        self,
        *,
        agent: str | None = None,
        mode: ModeName = "strict",
        tools: Iterable[str] | None = None,
        more: Iterable[Tool] = (),
        gates: Mapping[str, Gate] | None = None,
        limits: Limits | None = None,
        approver: Approver | Callable[[Any], Any] | None = None,
        nature: str = "",
    ) -> Conversation:
        """Begins a conversation: calls and runs that the guard takes for one run.

        Its blocks, its pieces of secrets, what came in from outside, its questions and a person's
        noes are one budget, whether the model calls a tool or writes a script that does.

        Args:
            agent: Whose it is; grants belong to it. None for one without a name.
            mode: Who is there to ask.
            tools: The names of the tools that exist for it; None for all.
            more: Tools that exist in this conversation alone. One that is ``by_hand`` can be called
                in it, and not by the scripts that it runs.
            gates: What rules on a tool's effects in place of the gate of here, by the tool's name.
            limits: The limits of each run in it; None for those of here.
            approver: Who asks a person for it; None for whoever does here.
            nature: What one without a name is known by, by its hash: a persona's soul, a script.

        Raises:
            ConfigurationError: An argument is not one of those that there are.
        """
        self._require_usable(None, mode, limits, dry_run=False)
        dispatcher = self._dispatcher
        cage = dispatcher.registry.cage(tools)
        if added := tuple(more):
            there = [each for each in dispatcher.registry if each.name in cage]
            dispatcher = dispatcher.having((*there, *added), gates or {})
            cage = frozenset(dispatcher.registry.names())
        return self._conversation(
            dispatcher, cage, mode, agent,
            limits=limits, approver=approver, script="<agent>", nature=nature,
        )  # fmt: skip

    def redacted(self, value: Any) -> Any:
        """Takes every secret out of what JSON can hold, as on every way out."""
        return self._secrecy.redacted(value)

    def isolation(self) -> tuple[str, dict[str, str]]:
        """Has one worker lock itself down, runs nothing in it, and returns what that gave.

        Returns:
            The level, and for each step of the lock-down ``on`` or ``off: why``.

        Raises:
            IsolationError: A step failed that should work on this machine.
        """
        from nocturn.host.execution import probe

        return probe(self._pool, self.limits)

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
        conversation: Conversation | None = None,
    ) -> tuple[Execution, Callable[[Call], Any]]:
        self._require_usable(lang, mode, limits, dry_run=dry_run)
        if not isinstance(source, (str, bytes)):  # pyright: ignore[reportUnnecessaryIsInstance] - a user's
            raise ConfigurationError(f"source is a {type(source).__name__}: give the script's text")
        filename = os.fspath(filename)
        cage = None if tools is None else self.tools.cage(tools)
        dispatcher = None if conversation is None else conversation.dispatcher
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
            if conversation is not None:
                return conversation.caller_of(execution, filename)
            return self._caller(
                mode, agent, filename, "" if session else program.whole, cage, execution.clock,
                execution.alive, dry_run=dry_run, run=execution.identity, standing=standing,
            )  # fmt: skip

        # A name or a source of secrets that is not usable is said before anything runs.
        guarded = self._secrecy.guards
        eager = agent is not None or guarded or conversation is not None
        known: list[Caller] = [caller()] if eager else []
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
            return (dispatcher or self._dispatcher).dispatch(call, known[0], bounds.call_bytes)

        return execution, dispatch

    def _conversation(
        self,
        dispatcher: Dispatcher,
        cage: frozenset[str],
        mode: ModeName,
        agent: str | None,
        *,
        limits: Limits | None = None,
        approver: Approver | Callable[[Any], Any] | None = None,
        script: str = "<python>",
        nature: str = "",
        dry_run: bool = False,
    ) -> Conversation:
        from nocturn.conversation import Conversation, NoClock

        ended = threading.Event()
        caller = self._caller(
            mode, agent, script, nature, cage, NoClock(), lambda: not ended.is_set(),
            dry_run=dry_run, run=os.urandom(8).hex(),
        )  # fmt: skip
        if approver is not None:
            from nocturn.guard.approver import approver_of
            from nocturn.guard.asking import Asking

            caller.asking = Asking(approver_of(approver), self._secrecy.scanner.redact)
        bounds = limits or self.limits

        def prepare(
            talk: Conversation, source: str | bytes, filename: str, lang: Literal["js", "ts"] | None
        ) -> tuple[Execution, Callable[[Call], Any]]:
            return self._prepare(
                source=source, filename=filename, folder=None, lang=lang, mode=mode, agent=agent,
                args=(), tools=None, limits=bounds, dry_run=dry_run, on_call=None, on_console=None,
                conversation=talk,
            )  # fmt: skip

        return Conversation(dispatcher, caller, ended, bounds, prepare)

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

        self._require_usable(None, mode, None, dry_run=dry_run)
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

    def _require_usable(
        self, lang: str | None, mode: str, limits: Limits | None, *, dry_run: bool
    ) -> None:
        if self._closed:
            raise ConfigurationError(
                "it is closed, and nothing runs there any more: open a new one"
            )
        if lang is not None:
            one_of("lang", lang, _LANGUAGES)
        one_of("mode", mode, _MODES)
        require_limits(limits)
        require_bool("dry_run", dry_run)

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
