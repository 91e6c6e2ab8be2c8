"""``nocturn doctor``: what protects this machine from a guest, and what does not."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, Final

from nocturn.cli import codes
from nocturn.cli.options import Folder, Json, open_workspace
from nocturn.errors import NocturnError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nocturn.workspace import Workspace

__all__ = ["doctor"]

_MEANING: Final = {
    "no_new_privs": "no program that it could start would gain rights",
    "session": "it has no terminal, and is not in the host's process group",
    "directory": "it stands in a folder that is gone: nothing is there, nothing can be made",
    "environment": "it has no environment",
    "files": "it writes no core dump and no byte into a file",
    "stack": "a deep recursion is an error, not a crash",
    "privileges": "it is not root and has no capability",
    "landlock": "it can open no file, no network connection and signal nobody",
    "undumpable": "nobody can trace it or read its memory",
    "parent": "it dies with its host",
    "forks": "of a session's lines each fork is allowed by itself",
    "descriptors": "it holds one socket and nothing else of the host's",
    "processes": "it can start no process and open no descriptor",
    "memory": "its address space is bounded",
    "cpu": "its CPU time is bounded by the kernel as well",
    "seccomp": "a system call that it does not need ends it",
}
_VERDICTS: Final = {
    "full": "full: code that you do not trust may run here",
    "no-landlock": "no-landlock: seccomp, the main wall, holds; the second one is missing",
    "rlimits-only": "rlimits-only: a guest that breaks the engine is loose in a bare process",
    "none": "none: run only code that you would run without nocturn",
}
_PACKAGES: Final = (
    "nocturn",
    "quickjs-ng",
    "pydantic",
    "python-frontmatter",
    "platformdirs",
    "cryptography",
    "ada-url",
)


def doctor(workspace: Folder = None, json: Json = False) -> int:
    """Say what protects this machine from a guest, and what does not."""
    from json import dumps

    from nocturn.layout import say, table

    found = examine(workspace)
    level = found["isolation"]["level"]
    if json:
        say(dumps(found))
    else:
        steps = found["isolation"]["steps"]
        say("Protection of the host from a guest")
        say(table((f"  {name}", state, _MEANING.get(name, "")) for name, state in steps.items()))
        say("\nLanguage")
        say(table((f"  {name}", state) for name, state in found["language"].items()))
        say("\nVersions")
        say(table((f"  {name}", each) for name, each in found["versions"].items()))
        say("\nPlaces")
        say(
            table(
                (f"  {name}", each["mode"] or "not there yet", each["path"])
                for name, each in found["places"].items()
            )
        )
        say(f"\n{found['verdict']}")
    return 0 if level == "full" else codes.TOO_LITTLE_ISOLATION


def examine(workspace: str | None) -> dict[str, Any]:
    """Returns what there is to know; ``verdict`` is one line of it, for people."""
    ws = open_workspace(workspace)
    reason = ""
    with ws:
        try:
            level, steps = ws.isolation()
        except NocturnError as error:
            level, steps, reason = "none", {}, error.message
        language = {
            "await, modules": _await(ws),
            "TypeScript": _extra("ts", "tree-sitter-typescript"),
            "sessions": _sessions(ws),
            "agents": _extra("agent", "openai"),
        }
    verdict = _VERDICTS[level]
    if reason:
        verdict = f"none: {reason}"
    elif level != "full":
        verdict += '; runs are refused unless --isolation best-effort (isolation="best-effort")'
    return {
        "verdict": verdict,
        "isolation": {"level": level, "steps": steps},
        "language": language,
        "versions": _versions(),
        "places": _places(ws.path),
    }


def _await(ws: Workspace) -> str:
    """Says whether the engine shows its C functions here, which its binding has no words for."""
    try:
        result = ws.run("await 1")
    except NocturnError:
        return "not known: no script runs here without --isolation best-effort"
    return "on" if result.ok else "off: this platform's engine does not show its C functions"


def _sessions(ws: Workspace) -> str:
    """Says whether a session's worker can fork here, so that a line can be taken back."""
    try:
        with ws.session() as session:
            session.eval("1")
            session.fork().close()
    except NocturnError:
        return (
            "off: one needs --isolation best-effort here, and a line that is killed takes its "
            "state along"
        )
    return "on: a line that is killed is taken back"


def _extra(extra: str, package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"on, by {package} {version(package)}"
    except PackageNotFoundError:
        return f"off: pip install 'nocturn[{extra}]'"


def _versions() -> dict[str, str]:
    import platform
    from importlib.metadata import PackageNotFoundError, version

    told = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            told[name] = version(name)
        except PackageNotFoundError:
            told[name] = "not installed"
    told["sqlite"] = _sqlite()
    told["system"] = f"{platform.system()} {platform.release()} {platform.machine()}"
    return told


def _sqlite() -> str:
    import sqlite3

    from nocturn.store.fulltext import has_full_text

    search = "with FTS5" if has_full_text() else "without FTS5: notes cannot be searched"
    return f"{sqlite3.sqlite_version}, {search}"


def _places(workspace: Path) -> Mapping[str, dict[str, str | None]]:
    from nocturn.store.data import data_folder

    data = data_folder()
    places = {
        "data folder": data,
        "key": data / "keys" / "local.key",
        "master key": data / "keys" / "master.key",
        "workspace": workspace,
        "memory": workspace / "memory",
        "grants": workspace / "grants.json",
        "vault": workspace / "vault.enc",
        "policy": workspace / "policy.toml",
        "journal": workspace / ".nocturn" / "journal.jsonl",
        "inbox": workspace / ".nocturn" / "inbox.db",
        "history": workspace / ".nocturn" / "history.db",
        "search": workspace / ".nocturn" / "search.db",
    }
    return {name: {"path": str(path), "mode": _mode(path)} for name, path in places.items()}


def _mode(path: Path) -> str | None:
    try:
        return f"{stat.S_IMODE(os.lstat(path).st_mode):04o}"
    except OSError:
        return None
