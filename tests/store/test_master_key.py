"""The master key: found in one order, made once, and never where a copied workspace has it."""

from __future__ import annotations

import os
import secrets
import stat
import subprocess
import sys

import pytest

from nocturn.errors import ConfigurationError
from nocturn.store.vault import Vault

PHRASE = "a passphrase of some length"
CHILD = """
import os, subprocess, sys
from pathlib import Path
from nocturn.store.vault import Vault
for name in ("one", "two"):
    Vault(Path(sys.argv[1]) / name, Path(sys.argv[1]) / "data").set("A", sys.stdin.readline())
assert "NOCTURN_MASTER_PASSPHRASE" not in os.environ
print(subprocess.run(["env"], capture_output=True, text=True, check=True).stdout)
"""


@pytest.fixture
def value():
    return "sk-" + secrets.token_hex(20)


@pytest.fixture
def vault(tmp_path):
    return lambda: Vault(tmp_path / "ws", tmp_path / "data")


@pytest.fixture
def key_file(tmp_path):
    return tmp_path / "data/keys/master.key"


@pytest.fixture
def given(monkeypatch, tmp_path):
    """Gives a passphrase by one of the three ways."""

    def give(way, phrase):
        if way == "variable":
            monkeypatch.setenv("NOCTURN_MASTER_PASSPHRASE", phrase)
        elif way == "file":
            (tmp_path / "phrase").write_text(phrase + "\n")
            monkeypatch.setenv("NOCTURN_MASTER_PASSPHRASE_FILE", str(tmp_path / "phrase"))
        else:
            (tmp_path / "credentials").mkdir(exist_ok=True)
            (tmp_path / "credentials/nocturn-master-passphrase").write_text(phrase)
            monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path / "credentials"))

    return give


def test_without_anything_given_a_private_key_file_is_made_on_first_use(vault, key_file, value):
    assert vault().check()["kind"] == "file"
    assert not key_file.parent.parent.exists()
    vault().set("A", value)
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert key_file.stat().st_size == 32
    assert vault().check()["kind"] == "file"


def test_a_missing_key_file_is_told_and_not_made_anew(vault, key_file, value, tmp_path):
    vault().set("A", value)
    key = key_file.read_bytes()
    key_file.unlink()
    for attempt in (vault().list, lambda: vault().set("B", value), vault().rekey):
        with pytest.raises(ConfigurationError) as caught:
            attempt()
        assert str(tmp_path) not in caught.value.message
    assert not key_file.exists()
    key_file.write_bytes(key)
    key_file.chmod(0o600)
    assert [row["name"] for row in vault().list()] == ["A"]


def test_a_key_file_that_others_can_read_is_refused(vault, key_file, value):
    vault().set("A", value)
    key_file.chmod(0o644)
    with pytest.raises(ConfigurationError):
        vault().list()


@pytest.mark.parametrize("way", ["variable", "file", "credential"])
def test_a_passphrase_protects_however_it_is_given(vault, given, value, way, key_file):
    given(way, PHRASE)
    vault().set("A", value)
    given(way, PHRASE)
    assert vault().check()["kind"] == "passphrase"
    assert vault().secrets()[0].value == value
    assert not key_file.exists()
    given(way, PHRASE + "!")
    with pytest.raises(ConfigurationError):
        vault().list()


def test_the_ways_have_an_order_and_a_later_one_is_not_read(vault, given, value):
    given("variable", PHRASE)
    vault().set("A", value)
    given("variable", PHRASE)
    given("file", "another")
    given("credential", "a third")
    assert len(vault().list()) == 1
    given("variable", "another")
    with pytest.raises(ConfigurationError):
        vault().list()


def test_the_file_comes_before_the_credential(vault, given, value):
    given("credential", "a third")
    given("file", PHRASE)
    vault().set("A", value)
    given("credential", PHRASE)
    given("file", "another")
    with pytest.raises(ConfigurationError):
        vault().list()


def test_a_credentials_folder_of_other_things_is_no_passphrase(vault, value, tmp_path, monkeypatch):
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    vault().set("A", value)
    assert vault().check()["kind"] == "file"


def test_the_passphrase_is_gone_from_the_environment_and_serves_the_whole_process(tmp_path, value):
    done = subprocess.run(
        [sys.executable, "-c", CHILD, tmp_path],
        input=f"{value}\n{value}\n",
        env={**os.environ, "NOCTURN_MASTER_PASSPHRASE": PHRASE},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "NOCTURN_MASTER_PASSPHRASE" not in done.stdout
    assert PHRASE not in done.stdout


@pytest.mark.parametrize("bad", [b"", b"\n", b"\xff\xfe", b"x" * 4_097])
def test_a_passphrase_that_is_not_usable_is_refused_before_anything_is_made(
    vault, value, tmp_path, monkeypatch, bad
):
    (tmp_path / "phrase").write_bytes(bad)
    monkeypatch.setenv("NOCTURN_MASTER_PASSPHRASE_FILE", str(tmp_path / "phrase"))
    with pytest.raises(ConfigurationError) as caught:
        vault().set("A", value)
    assert str(tmp_path) not in caught.value.message
    assert not (tmp_path / "ws/vault.enc").exists()
    assert not (tmp_path / "data").exists()


def test_a_passphrase_file_that_is_missing_is_refused(vault, value, tmp_path, monkeypatch):
    monkeypatch.setenv("NOCTURN_MASTER_PASSPHRASE_FILE", str(tmp_path / "nowhere"))
    with pytest.raises(ConfigurationError) as caught:
        vault().set("A", value)
    assert str(tmp_path) not in caught.value.message


def test_one_passphrase_typed_with_other_accents_is_the_same(vault, given, value):
    given("file", "cafe\u0301 au lait")
    vault().set("A", value)
    given("file", "caf\u00e9 au lait")
    assert len(vault().list()) == 1


def test_a_vault_that_needs_a_passphrase_says_so(vault, given, value, monkeypatch):
    given("file", PHRASE)
    vault().set("A", value)
    monkeypatch.delenv("NOCTURN_MASTER_PASSPHRASE_FILE")
    with pytest.raises(ConfigurationError) as caught:
        vault().list()
    assert "NOCTURN_MASTER_PASSPHRASE_FILE" in caught.value.message


def test_a_rekey_goes_from_a_key_file_to_a_passphrase_and_back(vault, given, value):
    vault().set("A", value)
    one = vault()
    one.rekey("passphrase", passphrase=PHRASE)
    assert one.secrets()[0].value == value
    with pytest.raises(ConfigurationError):
        vault().list()
    given("file", PHRASE)
    assert vault().check()["kind"] == "passphrase"
    vault().rekey()
    assert vault().check()["kind"] == "passphrase"
    vault().rekey("file")
    given("file", "another")
    assert vault().secrets()[0].value == value
    with pytest.raises(ConfigurationError):
        vault().rekey("passphrase", passphrase="")
    with pytest.raises(ConfigurationError):
        vault().rekey(passphrase=PHRASE)


@pytest.fixture
def keyring():
    """The real ``keyring`` package over a backend that is a dictionary."""
    keyring = pytest.importorskip("keyring", reason="the extra keyring is not installed")
    from keyring.backend import KeyringBackend

    class InMemory(KeyringBackend):
        priority = 1

        def __init__(self):
            super().__init__()
            self.kept = {}

        def get_password(self, service, username):
            return self.kept.get((service, username))

        def set_password(self, service, username, password):
            self.kept[service, username] = password

        def delete_password(self, service, username):
            del self.kept[service, username]

    before = keyring.get_keyring()
    backend = InMemory()
    keyring.set_keyring(backend)
    yield backend
    keyring.set_keyring(before)


def test_the_keyring_keeps_the_key_where_it_is_asked_for(
    vault, value, monkeypatch, keyring, key_file
):
    monkeypatch.setenv("NOCTURN_KEYRING", "1")
    vault().set("A", value)
    assert vault().check()["kind"] == "keyring"
    assert vault().secrets()[0].value == value
    assert len(keyring.kept) == 1
    assert not key_file.exists()
    monkeypatch.delenv("NOCTURN_KEYRING")
    with pytest.raises(ConfigurationError) as caught:
        vault().list()
    assert "NOCTURN_KEYRING" in caught.value.message
    monkeypatch.setenv("NOCTURN_KEYRING", "1")
    kept = dict(keyring.kept)
    keyring.kept.clear()
    with pytest.raises(ConfigurationError):
        vault().set("B", value)
    assert keyring.kept == {}
    keyring.kept.update(kept)
    vault().rekey("file")
    monkeypatch.delenv("NOCTURN_KEYRING")
    assert vault().secrets()[0].value == value


def test_an_entry_of_the_keyring_that_is_no_key_is_refused_and_stays(
    vault, value, monkeypatch, keyring
):
    monkeypatch.setenv("NOCTURN_KEYRING", "1")
    keyring.kept["nocturn", "master-key"] = "somebody's words"
    with pytest.raises(ConfigurationError) as caught:
        vault().set("A", value)
    assert "somebody" not in caught.value.message
    assert keyring.kept == {("nocturn", "master-key"): "somebody's words"}


@pytest.mark.usefixtures("keyring")
def test_a_keyring_that_refuses_is_told(vault, value, monkeypatch):
    from keyring.backends.fail import Keyring
    from keyring.core import set_keyring

    monkeypatch.setenv("NOCTURN_KEYRING", "1")
    set_keyring(Keyring())
    with pytest.raises(ConfigurationError):
        vault().set("A", value)


def test_a_wish_for_the_keyring_that_is_neither_yes_nor_no_is_refused(vault, value, monkeypatch):
    monkeypatch.setenv("NOCTURN_KEYRING", "yes")
    with pytest.raises(ConfigurationError):
        vault().set("A", value)
