"""What is remembered of what was typed: in a private file, once there is a workspace; no secret."""

import json
import os
import stat

import pytest

from nocturn.guard.ports import EnvironmentSecrets
from nocturn.repl.history import LineHistory

SECRET = "q7Xw2Lm9Zt4Kd8Rv"


@pytest.fixture
def ws(nocturn_workspace, monkeypatch):
    monkeypatch.setenv("KEY", SECRET)
    ws = nocturn_workspace(secrets=[EnvironmentSecrets("KEY")])
    ws.memory.write("a.md", "s", "c")
    return ws


@pytest.fixture
def file(ws):
    return ws.path / ".nocturn/repl_history"


def test_lines_come_back_the_last_first_from_a_file_that_is_the_users_alone(ws, file):
    history = LineHistory(ws)
    before = os.umask(0)
    try:
        for line in ("1 + 1", "f(\n  'ä',\n)", "\ud800"):
            history.store_string(line)
    finally:
        os.umask(before)
    assert list(LineHistory(ws).load_history_strings())[-2:] == ["f(\n  'ä',\n)", "1 + 1"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)
    history.store_string("2")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_line_with_a_secret_is_not_remembered(ws, file):
    history = LineHistory(ws)
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for line in (f"const key = '{SECRET}'", SECRET[::-1], f"x('{token}')", "1", "x" * 70_000):
        history.store_string(line)
    assert file.read_text() == '"1"\n'


def test_a_workspace_that_is_not_there_stays_away(nocturn_workspace):
    ws = nocturn_workspace()
    LineHistory(ws).store_string("1")
    assert list(LineHistory(ws).load_history_strings()) == []
    assert not ws.path.exists()


@pytest.mark.parametrize("place", [".nocturn", ".nocturn/repl_history"])
def test_no_link_is_followed(ws, tmp_path, place):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "repl_history").write_text('"theirs"\n')
    link = ws.path / place
    if place == ".nocturn":
        link.rename(tmp_path / "moved")
        link.symlink_to(outside)
    else:
        link.symlink_to(outside / "repl_history")
    LineHistory(ws).store_string("mine")
    assert list(LineHistory(ws).load_history_strings()) == []
    assert (outside / "repl_history").read_text() == '"theirs"\n'


def test_a_pipe_in_its_place_holds_nobody_up(ws, file):
    os.mkfifo(file, 0o600)
    LineHistory(ws).store_string("mine")
    assert list(LineHistory(ws).load_history_strings()) == []


def test_what_was_planted_hides_nothing_and_breaks_nothing(ws, file):
    lines = ['"ok"', "no json", "[1]", json.dumps("a\u202eb"), json.dumps("\x1b[2J"), "[" * 90_000]
    file.write_text("\n".join(lines))
    assert list(LineHistory(ws).load_history_strings()) == ["ok"]
