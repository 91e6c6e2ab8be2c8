import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def node():
    """Runs a script of this folder in Node and returns what it printed and its value, as JSON."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("there is no node to compare with")

    def run(name):
        source = (
            "const value = (0, eval)(require('fs').readFileSync(process.argv[1], 'utf8'));"
            "console.log('\\u0000' + JSON.stringify(value ?? null))"
        )
        done = subprocess.run(
            [program, "-e", source, str(Path(__file__).parent / name)],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        printed, value = done.stdout.rsplit("\0", 1)
        return printed, json.loads(value)

    return run


@pytest.fixture
def read_journal():
    """Reads a workspace's journal as rows, oldest first."""

    def read(ws):
        text = (ws.path / ".nocturn/journal.jsonl").read_text(encoding="ascii")
        return [json.loads(line) for line in text.splitlines()]

    return read


@pytest.fixture
def fresh_python(tmp_path):
    """Runs a program in a Python that has loaded nothing; its first argument is a workspace."""

    def run(program, *arguments):
        done = subprocess.run(
            [sys.executable, "-c", program, tmp_path / "ws", *map(str, arguments)],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return done.stdout

    return run
