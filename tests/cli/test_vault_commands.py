"""`nocturn vault …`: values go in by stdin or a hidden prompt, and never come out."""

import json
import os
import re
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from nocturn.store.vault import Vault


@pytest.fixture
def nocturn(nocturn_here):
    return nocturn_here


@pytest.fixture
def value():
    return "sk-" + secrets.token_hex(20)


def names(nocturn, **more):
    return [row["name"] for row in json.loads(nocturn("vault", "list", "--json", **more).stdout)]


def test_a_value_from_stdin_is_kept_listed_renamed_and_removed(nocturn, value):
    kept = nocturn("vault", "set", "API_KEY", stdin=value + "\n")
    assert (kept.returncode, kept.stdout, kept.stderr) == (0, "API_KEY: kept\n", "")
    listed = nocturn("vault", "list")
    assert re.fullmatch(r"API_KEY  \S+Z  \S+Z\n", listed.stdout)
    assert set(json.loads(nocturn("vault", "list", "--json").stdout)[0]) == {
        "name",
        "created",
        "updated",
        "weak",
    }
    assert nocturn("vault", "rename", "API_KEY", "KEY").stdout == "KEY: was API_KEY\n"
    checked = nocturn("vault", "check")
    assert (checked.returncode, "keys/master.key" in checked.stdout) == (0, True)
    assert json.loads(nocturn("vault", "check", "--json").stdout)["secrets"] == 1
    assert nocturn("vault", "rm", "KEY").stdout == "KEY: removed\n"
    assert names(nocturn) == []
    assert nocturn("vault", "rm", "KEY").returncode == 1


def test_looking_creates_nothing(nocturn, tmp_path):
    for words in (["list"], ["list", "--json"], ["check"], ["check", "--json"]):
        assert nocturn("vault", *words).returncode == 0
    for words in (["rm", "A"], ["rename", "A", "B"], ["rekey"]):
        assert nocturn("vault", *words).returncode == 1
    assert not (tmp_path / "ws").exists()
    assert not (tmp_path / "data").exists()


def test_one_line_end_is_dropped_and_no_more(nocturn, value, tmp_path):
    for end, kept in (("\n", ""), ("\r\n", ""), ("\n\n", "\n"), ("", ""), (" \n", " ")):
        assert nocturn("vault", "set", "A", stdin=value + end).returncode == 0
        vault = Vault(tmp_path / "ws", tmp_path / "data")
        assert vault.secrets()[0].value == value + kept


@pytest.mark.parametrize(
    "words", [["{}"], ["--value={}"], ["--value", "{}"], ["-v{}"], ["--", "{}"]]
)
def test_a_value_as_an_argument_is_refused_and_not_repeated(nocturn, value, tmp_path, words):
    done = nocturn("vault", "set", "A", *(word.format(value) for word in words), stdin=value)
    assert done.returncode == 2
    assert value not in done.stdout + done.stderr
    done = nocturn("vault", "set", f"A={value}", stdin=value)
    assert done.returncode == 1
    assert value not in done.stdout + done.stderr
    assert not (tmp_path / "ws").exists()


def test_a_weak_value_is_refused_unless_it_is_said(nocturn):
    refused = nocturn("vault", "set", "A", stdin="Tuesday1")
    assert refused.returncode == 1
    assert "--weak" in refused.stderr
    assert "Tuesday1" not in refused.stderr
    assert nocturn("vault", "set", "--weak", "A", stdin="Tuesday1").returncode == 0
    assert nocturn("vault", "list").stdout.endswith("  weak\n")
    told = nocturn("vault", "set", "--weak", "B", stdin="abc")
    assert told.returncode == 0
    assert "never looked for" in told.stderr


@pytest.mark.parametrize("stdin", [b"", b"\n", b"caf\xe9 caf\xe9 caf\xe9"])
def test_nothing_and_what_is_not_utf8_are_refused(nocturn, tmp_path, stdin):
    assert nocturn("vault", "set", "A", stdin=stdin).returncode in (1, 2)
    assert not (tmp_path / "ws").exists()


def test_the_environment_is_imported_by_pattern_and_what_is_weak_is_named(nocturn, value):
    more = {"HOUSE_KEY": value, "HOUSE_MODE": "debug", "OTHER_KEY": value + "2"}
    done = nocturn("vault", "import-env", "HOUSE_*", **more)
    assert (done.returncode, done.stdout) == (0, "HOUSE_KEY: kept\n")
    assert "HOUSE_MODE" in done.stderr
    assert "debug" not in done.stderr
    assert names(nocturn) == ["HOUSE_KEY"]
    assert nocturn("vault", "import-env", "--weak", "HOUSE_M*", **more).returncode == 0
    assert nocturn("vault", "import-env", "HOUSE_M*", **more).returncode == 1
    assert nocturn("vault", "import-env", "NOWHERE_*", **more).returncode == 2


def test_the_master_passphrase_is_never_imported(nocturn, value):
    more = {"NOCTURN_MASTER_PASSPHRASE": value, "A": value}
    assert nocturn("vault", "import-env", "*PASSPHRASE", **more).returncode == 2
    done = nocturn("vault", "import-env", "*", **more)
    assert "A: kept\n" in done.stdout
    assert "NOCTURN" not in done.stdout + done.stderr


def test_a_dotenv_is_imported(nocturn, value, tmp_path):
    file = tmp_path / ".env"
    file.write_text(f'export KEY="{value}" # mine\nPORT=8080\nlower={value}x\n')
    done = nocturn("vault", "import-dotenv", file)
    assert (done.returncode, done.stdout) == (0, "KEY: kept\nlower: kept\n")
    assert "PORT" in done.stderr
    assert names(nocturn) == ["KEY", "lower"]
    file.write_text(f"KEY={value}\n{value}\n")
    broken = nocturn("vault", "import-dotenv", file)
    assert (broken.returncode, value in broken.stderr) == (2, False)
    assert nocturn("vault", "import-dotenv", tmp_path / "nowhere").returncode == 2


def test_a_rekey_moves_to_a_passphrase_that_is_needed_from_then_on(nocturn, value, tmp_path):
    assert nocturn("vault", "set", "A", stdin=value).returncode == 0
    before = (tmp_path / "ws/vault.enc").read_bytes()
    assert nocturn("vault", "rekey").returncode == 0
    assert (tmp_path / "ws/vault.enc").read_bytes() != before
    assert nocturn("vault", "rekey", "--to", "moon").returncode == 2
    phrase = "some words for it"
    moved = nocturn("vault", "rekey", "--to", "passphrase", stdin=phrase + "\n")
    assert (moved.returncode, phrase in moved.stdout) == (0, False)
    assert nocturn("vault", "list").returncode == 2
    assert names(nocturn, NOCTURN_MASTER_PASSPHRASE=phrase) == ["A"]
    wrong = nocturn("vault", "check", NOCTURN_MASTER_PASSPHRASE="another")
    assert (wrong.returncode, "another" in wrong.stderr.replace("another master", "")) == (2, False)
    assert nocturn("vault", "check", NOCTURN_MASTER_PASSPHRASE=phrase).returncode == 0


def test_a_broken_vault_is_told_and_left(nocturn, value, tmp_path):
    nocturn("vault", "set", "A", stdin=value)
    file = tmp_path / "ws/vault.enc"
    file.write_bytes(file.read_bytes()[:-1])
    bad = file.read_bytes()
    for words in (["list"], ["check"], ["rekey"], ["rm", "A"], ["rename", "A", "B"]):
        done = nocturn("vault", *words)
        assert (done.returncode, done.stdout) == (2, "")
    assert nocturn("vault", "set", "A", stdin=value).returncode == 2
    assert nocturn("eval", "1").returncode == 2
    assert file.read_bytes() == bad


def test_a_prompt_at_a_terminal_shows_nothing_of_what_is_typed(terminal, command, nocturn, value):
    shell = terminal(*command, "vault", "set", "A")
    shell.wait_for("not shown")
    shell.type(value + "\n")
    assert shell.end() == 0
    assert value not in shell.shown
    assert "A: kept" in shell.shown
    assert names(nocturn) == ["A"]


@pytest.mark.parametrize(("second", "status"), [("some words", 0), ("other words", 2)])
def test_a_new_passphrase_is_typed_twice(terminal, command, nocturn, value, second, status):
    nocturn("vault", "set", "A", stdin=value)
    shell = terminal(*command, "vault", "rekey", "--to", "passphrase")
    shell.wait_for("New passphrase")
    shell.type("some words\n")
    shell.wait_for("again")
    shell.type(second + "\n")
    assert shell.end() == status
    assert "words" not in shell.shown
    assert (nocturn("vault", "list").returncode == 0) == (status != 0)


def test_ctrl_c_at_the_prompt_changes_nothing(terminal, command, tmp_path):
    shell = terminal(*command, "vault", "set", "A")
    shell.wait_for("not shown")
    shell.type("\x03")
    assert shell.end() == 130
    assert not (tmp_path / "ws").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_value_stands_in_the_arguments_of_any_process(command, environment, value, tmp_path):
    process = subprocess.Popen(
        [*command, "vault", "set", "A"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env=environment,
    )
    process.stdin.write(value.encode())
    process.stdin.flush()
    shown = b"".join(
        Path(f"/proc/{process.pid}/{name}").read_bytes() for name in ("cmdline", "environ")
    )
    assert value.encode() not in shown
    assert process.communicate()[0] == b"A: kept\n"
    assert process.returncode == 0
    for folder, _, files in os.walk(tmp_path):
        for file in files:
            assert value.encode() not in (Path(folder) / file).read_bytes()
