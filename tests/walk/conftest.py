import json
import subprocess
import sys

import pytest


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
