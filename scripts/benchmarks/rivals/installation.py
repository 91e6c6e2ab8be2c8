"""Where the peers are: a cache folder with an environment of Python's and one of Node's."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rivals.peer import NoFigureError, Peer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Installation"]

_NODE_20: Final = 20
_ISOLATED_VM: Final = ((24, "@7"), (22, "@6"), (0, "@5"))
"""Its lines, by the first Node that each is for."""


@dataclass(frozen=True, slots=True)
class Installation:
    """The peers' environments, apart from this project's.

    Attributes:
        cache: The folder; made when something is installed.
        may_install: Whether what is missing is installed, or is just said to be missing.
        limit_seconds: When an installation is given up; isolated-vm is compiled, for minutes.
    """

    cache: Path
    may_install: bool
    limit_seconds: float = 1_200.0

    def interpreter(self, peer: Peer) -> list[str]:
        """Returns the command that runs a program of a peer's.

        Raises:
            NoFigureError: It is not to be had, and why.
        """
        if not peer.package:
            return [sys.executable]
        if not peer.node:
            self._require(peer)
            return [str(self._python)]
        node = shutil.which("node")
        if node is None or shutil.which("npm") is None:
            raise NoFigureError("no Node")
        self._require(peer)
        # isolated-vm needs the flag from Node 20 on, which is the first to know it.
        return [node, *(["--no-node-snapshot"] if _node_major() >= _NODE_20 else [])]

    def folder(self, peer: Peer) -> Path | None:
        """Returns where a peer's programs run; None for anywhere."""
        return self.cache / "node" if peer.node else None

    @property
    def _python(self) -> Path:
        return self.cache / "python" / "bin" / "python"

    def _require(self, peer: Peer) -> None:
        there, failed = (self.cache / f"{peer.package}.{end}" for end in ("installed", "failed"))
        if there.exists():
            return
        if failed.exists() or not self.may_install:
            raise NoFigureError("would not install" if failed.exists() else "not installed")
        print(f"peers: installing {peer.package} into {self.cache} …", file=sys.stderr)
        self.cache.joinpath("node").mkdir(parents=True, exist_ok=True)
        try:
            for command in self._commands(peer):
                self._run(command)
        except (subprocess.SubprocessError, OSError) as problem:
            said: bytes = getattr(problem, "stderr", None) or b""
            failed.write_text(f"{problem}\n{said.decode(errors='replace')}", encoding="utf-8")
            print(f"peers: it would not; {failed} says why, remove that to retry", file=sys.stderr)
            raise NoFigureError("would not install") from problem
        there.touch()

    def _commands(self, peer: Peer) -> Iterator[list[str]]:
        if peer.node:
            version = ""
            if peer.package == "isolated-vm":
                version = next(line for first, line in _ISOLATED_VM if _node_major() >= first)
            yield [
                "npm",
                "install",
                "--no-audit",
                "--no-fund",
                "--prefix",
                ".",
                peer.package + version,
            ]
            return
        if not self._python.exists():
            yield [sys.executable, "-m", "venv", str(self.cache / "python")]
        yield [str(self._python), "-m", "pip", "install", "--quiet", peer.package]

    def _run(self, command: list[str]) -> None:
        process = subprocess.Popen(
            command,
            cwd=self.cache / "node",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            _, said = process.communicate(timeout=self.limit_seconds)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)  # npm leaves its compiler running
            process.communicate()
            raise
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command[:1], stderr=said)


def _node_major() -> int:
    said = subprocess.run(["node", "--version"], capture_output=True, check=True, text=True).stdout
    return int(said.removeprefix("v").split(".")[0])
