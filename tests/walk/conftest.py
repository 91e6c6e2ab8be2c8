import json

import pytest


@pytest.fixture
def read_journal():
    """Reads a workspace's journal as rows, oldest first."""

    def read(ws):
        text = (ws.path / ".nocturn/journal.jsonl").read_text(encoding="ascii")
        return [json.loads(line) for line in text.splitlines()]

    return read
