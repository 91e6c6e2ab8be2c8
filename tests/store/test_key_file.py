"""The user's key: made once, kept private, and never replaced behind anybody's back."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from nocturn.errors import ConfigurationError, NocturnError
from nocturn.store.data import data_folder
from nocturn.store.keys import KeyFile, LocalKey

RACE = """
import sys
from pathlib import Path
from nocturn.store.keys import LocalKey
sys.stdin.readline()
print(LocalKey(Path(sys.argv[1])).token("race", b""))
"""


def test_a_token_is_32_hex_digits_and_the_same_for_every_reader(tmp_path):
    token = LocalKey(tmp_path / "data").token("version", b"bytes")
    assert len(token) == 32
    int(token, 16)
    assert LocalKey(tmp_path / "data").token("version", b"bytes") == token


def test_tokens_of_two_purposes_or_two_users_never_match(tmp_path):
    key = LocalKey(tmp_path / "data")
    assert key.token("a", b"x") != key.token("b", b"x")
    assert key.token("a", b"x") != key.token("a", b"y")
    assert key.token("a", b"x") != LocalKey(tmp_path / "other").token("a", b"x")


def test_the_key_is_32_bytes_in_a_private_file_in_a_private_folder(tmp_path):
    before = os.umask(0)
    try:
        LocalKey(tmp_path / "data").token("a", b"")
    finally:
        os.umask(before)
    key = tmp_path / "data/keys/local.key"
    assert key.stat().st_size == 32
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(key.parent.parent.stat().st_mode) == 0o700


def test_nothing_is_made_before_the_first_token(tmp_path):
    LocalKey(tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_processes_that_race_end_with_one_key(tmp_path):
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, tmp_path / "data"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    for each in racers:
        each.stdin.write("\n")
        each.stdin.flush()
    tokens = {each.communicate()[0] for each in racers}
    assert len(tokens) == 1
    assert sorted(each.name for each in (tmp_path / "data/keys").iterdir()) == [
        ".lock",
        "local.key",
    ]


def test_who_found_no_key_and_lost_the_race_takes_the_winners(tmp_path):
    late = KeyFile(tmp_path, "local.key")
    assert late.read() is None
    LocalKey(tmp_path).token("a", b"")
    assert late.make() == (tmp_path / "keys/local.key").read_bytes()


@pytest.mark.parametrize("data", [b"", b"short", b"x" * 33])
def test_a_key_of_the_wrong_size_is_an_error_and_stays(tmp_path, data):
    LocalKey(tmp_path).token("a", b"")
    key = tmp_path / "keys/local.key"
    key.write_bytes(data)
    with pytest.raises(ConfigurationError) as caught:
        LocalKey(tmp_path).token("a", b"")
    assert str(tmp_path) not in caught.value.message
    assert key.read_bytes() == data


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_key_that_others_can_read_or_write_is_an_error_and_stays(tmp_path, mode):
    LocalKey(tmp_path).token("a", b"")
    key = tmp_path / "keys/local.key"
    key.chmod(mode)
    with pytest.raises(ConfigurationError):
        LocalKey(tmp_path).token("a", b"")
    assert stat.S_IMODE(key.stat().st_mode) == mode


def test_a_key_behind_a_link_is_an_error(tmp_path):
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys/other").write_bytes(b"x" * 32)
    (tmp_path / "keys/other").chmod(0o600)
    (tmp_path / "keys/local.key").symlink_to("other")
    with pytest.raises(ConfigurationError):
        LocalKey(tmp_path).token("a", b"")


def test_a_data_folder_that_cannot_be_written_is_a_storage_error(as_nobody):
    as_nobody.chmod(0o500)
    with pytest.raises(NocturnError) as caught:
        LocalKey(as_nobody / "data").token("a", b"")
    assert caught.value.code == "STORAGE"


def test_the_data_folder_can_be_named_and_is_the_users_otherwise(tmp_path, monkeypatch):
    monkeypatch.setenv("NOCTURN_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NOCTURN_DATA", "here")
    assert data_folder() == tmp_path / "here"
    monkeypatch.delenv("NOCTURN_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert data_folder().name == "nocturn"
    assert data_folder() != Path.cwd()
