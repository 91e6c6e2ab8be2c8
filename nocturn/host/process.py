"""Processes: how a zygote and a worker are started, and how they are ended."""

from __future__ import annotations

import _signal  # signal makes enums of it, which costs 3 ms
import _socket  # socket itself costs 5 ms of a cold start
import os
import select
import sys
import time
from importlib.machinery import PathFinder

from nocturn.errors import ConfigurationError
from nocturn.wire.frames import ORDER, Channel

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    import subprocess
    from collections.abc import Callable, Sequence
    from typing import Any, Final

__all__ = ["PACKAGE", "EngineFiles", "Worker", "quickjs", "spawn_worker", "spawn_zygote"]

PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
_SIGNALS: Final = tuple(
    getattr(_signal, name)
    for name in ("SIGHUP", "SIGINT", "SIGTERM", "SIGCHLD")
    if hasattr(_signal, name)
)
"""What a host may ignore, its workers must not: an ignored SIGCHLD would reap them unasked."""
_SIGKILL: Final = 9
_BOOT: Final = (
    "import sys; sys.path += sys.argv[3:]\n"
    "from nocturn.worker.{engine} import load\n"
    "from nocturn.worker.{module} import main; main(load, sys.argv[1], int(sys.argv[2]))"
)


class EngineFiles:
    """What a worker runs, and where that is. No dataclass: that delays every cold start by 5 ms.

    Args:
        module: The module of ``nocturn.worker`` that loads it.
        file: What it is loaded from.
        folders: Where its packages are.
        package: What to install again where it cannot be loaded.
    """

    __slots__ = ("file", "folders", "module", "package")

    def __init__(self, module: str, file: str, folders: Sequence[str], package: str) -> None:
        self.module = module
        self.file = file
        self.folders = folders
        self.package = package


def quickjs() -> EngineFiles:
    """Returns what runs scripts.

    Raises:
        ConfigurationError: It is not installed.
    """
    # The parser of addresses is a module in its package, and needs one that stands beside that.
    parser = _folder_of("ada_url", "ada-url")
    folders = (_folder_of("_quickjs", "quickjs-ng"), parser, os.path.dirname(parser))
    return EngineFiles("engine", _prelude(), folders, "quickjs-ng")


def spawn_zygote(engine: EngineFiles) -> tuple[int, _socket.socket]:
    """Starts a zygote, on Linux.

    Args:
        engine: What its workers run.

    Returns:
        Its pid and its control socket; its first message says whether it is locked down.

    Raises:
        ConfigurationError: The interpreter or the engine cannot be started.
    """
    ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    try:
        return _spawn(_command(engine, "zygote", os.getpid()), theirs.fileno()), ours
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()


def spawn_worker(
    engine: EngineFiles,
    heap_bytes: int,
    cpu_seconds: float,
    frame_bytes: int,
    *,
    for_session: bool = False,
) -> Worker:
    """Starts a worker that is not forked from a zygote, where there can be none.

    Args:
        engine: What it runs.
        heap_bytes: The guest's heap.
        cpu_seconds: Its CPU time.
        frame_bytes: The longest frame that the host will read from it.
        for_session: Whether it runs one line after another.

    Raises:
        ConfigurationError: As :func:`spawn_zygote`.
    """
    if os.name == "posix":
        worker = _spawn_with_socket(engine, frame_bytes)
    else:
        worker = _spawn_with_pipes(engine, frame_bytes)
    verb = b"S" if for_session else b"F"
    worker.channel.write(ORDER.pack(verb, heap_bytes, cpu_seconds))
    return worker


def _spawn_with_socket(engine: EngineFiles, frame_bytes: int) -> Worker:
    ours, theirs = _socket.socketpair()
    try:
        pid = _spawn(_command(engine, "serve", 0), theirs.fileno())
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()

    def reap() -> tuple[int, float]:
        _, status, usage = os.wait4(pid, 0)
        ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        return ended_by, usage.ru_utime + usage.ru_stime

    return Worker(pid, ours.detach(), frame_bytes, reap)


def _command(engine: EngineFiles, module: str, argument: int) -> list[str]:
    if not sys.executable:
        raise ConfigurationError("this Python does not know its own executable: start it by path")
    # -I -S: no environment, no user site, no .pth files: only our package and the engine's folders.
    boot = _BOOT.format(engine=engine.module, module=module)
    folders = dict.fromkeys((os.path.dirname(PACKAGE), *engine.folders))
    return [sys.executable, "-I", "-S", "-c", boot, engine.file, str(argument), *folders]


def _folder_of(module: str, distribution: str) -> str:
    found = PathFinder.find_spec(module)
    if found is None or found.origin is None:
        raise ConfigurationError(
            f"{distribution}, which runs scripts, is not installed: pip install {distribution}"
        )
    return os.path.dirname(found.origin)


def _prelude() -> str:
    # Beside the package in a checkout, in it when installed.
    for folder in (os.path.dirname(PACKAGE), PACKAGE):
        file = os.path.join(folder, "js", "prelude.js")
        if os.path.isfile(file):
            return file
    raise ConfigurationError("js/prelude.js is missing from this installation: install it again")


def _spawn(command: list[str], socket_fd: int) -> int:
    try:
        return os.posix_spawn(
            command[0],
            command,
            {},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, socket_fd, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
            setsigmask=[],
            setsigdef=_SIGNALS,
        )
    except OSError as error:
        raise ConfigurationError(f"the worker cannot be started: {error.strerror}") from error


def _spawn_with_pipes(engine: EngineFiles, frame_bytes: int) -> Worker:
    # Windows has no socket pair that a child can inherit as descriptor 0; two pipes do.
    import subprocess

    try:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter
            _command(engine, "serve", 1),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={key: os.environ[key] for key in ("SYSTEMROOT",) if key in os.environ},
        )
    except OSError as error:
        raise ConfigurationError(f"the worker cannot be started: {error.strerror}") from error
    return _PipedWorker(process, frame_bytes)


class Worker:
    """One running worker, the host's handle on it.

    Attributes:
        pid: Its process id; nobody else's until it is reaped.
        channel: Its frames.
        is_kept: Whether a session goes on with it, so that its socket stays open.

    Args:
        pid: Its process id.
        fd: The host's end of its socket; the worker object owns it.
        frame_bytes: The longest frame that the host will read.
        reap: Waits for the process; returns the signal that ended it, or 0, and its CPU seconds.
    """

    def __init__(
        self, pid: int, fd: int, frame_bytes: int, reap: Callable[[], tuple[int, float]]
    ) -> None:
        self.pid = pid
        self.channel = Channel(fd, fd, frame_bytes)
        self.is_kept = False
        self._fd = fd
        # Should its zygote be killed, its pid can become another's; a pidfd cannot.
        self._pidfd = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1
        self._reap = reap
        self._ended: tuple[int, float] | None = None

    def kill(self) -> None:
        """Ends the process now; safe to call twice, and from another thread than the exchange's."""
        try:
            if self._pidfd >= 0:
                _signal.pidfd_send_signal(self._pidfd, _SIGKILL)
            elif self._ended is None:
                os.kill(self.pid, _SIGKILL)
        except OSError:  # gone already
            pass

    def is_gone(self) -> bool:
        """Returns whether the process has ended, where that can be told without waiting."""
        if self._pidfd < 0:
            return self._ended is not None
        ended = select.poll()
        ended.register(self._pidfd, select.POLLIN)
        return bool(ended.poll(0))

    @property
    def is_reaped(self) -> bool:
        """Whether its process id may be another's by now."""
        return self._ended is not None

    def reap(self) -> int:
        """Waits for the process to be gone, once it has ended or was killed.

        Returns:
            The signal that ended it, 0 where none did.
        """
        if self._ended is None:
            try:
                self._ended = self._reap()
            except ChildProcessError:  # somebody ignores SIGCHLD: the kernel has reaped it
                self._ended = (0, 0.0)
            if self._pidfd >= 0:
                os.close(self._pidfd)
                self._pidfd = -1
        return self._ended[0]

    def forget(self) -> None:
        """Lets go of a process that somebody else has reaped: its id may be another's by now."""
        self._ended = self._ended or (_SIGKILL, 0.0)
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def close(self) -> None:
        """Frees the host's end of the socket; nobody may be reading it."""
        if self._fd >= 0 and not self.is_kept:
            os.close(self._fd)
            self._fd = -1

    def cpu_seconds(self) -> float:
        """Returns the CPU time that the process has used, in seconds; 0 where it cannot be told."""
        if self._ended is not None:
            return self._ended[1]
        if sys.platform != "linux":
            return 0.0
        try:
            # The clock id of a process, as clock_getcpuclockid(3) makes it.
            return time.clock_gettime((~self.pid << 3) | 2)
        except OSError:
            return 0.0


class _PipedWorker(Worker):
    def __init__(self, process: subprocess.Popen[bytes], frame_bytes: int) -> None:
        super().__init__(process.pid, -1, frame_bytes, self._wait)
        self._process: Any = process
        self.channel = Channel(process.stdout.fileno(), process.stdin.fileno(), frame_bytes)  # type: ignore[union-attr]

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self._process.stdin.close()
        self._process.stdout.close()

    def _wait(self) -> tuple[int, float]:
        return max(0, -int(self._process.wait())), 0.0
