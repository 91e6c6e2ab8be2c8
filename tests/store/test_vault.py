"""The vault: what is in it comes back, to its owner alone, whatever happens to the file."""

from __future__ import annotations

import itertools
import json
import logging
import os
import secrets
import stat
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nocturn.errors import ConfigurationError, NocturnError
from nocturn.parts import parts_of
from nocturn.store.dotenv import parsed
from nocturn.store.vault import Vault
from nocturn.strength import weakness_of

NAMES = st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_.-]{0,63}\Z")
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)
SETTER = """
import sys
from pathlib import Path
from nocturn.store.vault import Vault
vault = Vault(Path(sys.argv[1]), Path(sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
for number in range(20):
    vault.set(f"{sys.argv[3]}_{number}", f"gK3f9Zq-77aPLm22xW-{number}")
"""
KILLED = """
import os, signal, sys
from pathlib import Path
from nocturn.store.vault import Vault
vault = Vault(Path(sys.argv[1]), Path(sys.argv[2]))
left = int(sys.argv[3])
def counted(real):
    def call(*arguments, **options):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)
    return call
for name in ("open", "write", "fsync", "fchmod", "replace", "close", "mkdir"):
    setattr(os, name, counted(getattr(os, name)))
vault.set("NEW", sys.stdin.read())
os._exit(7)
"""


@pytest.fixture
def vault(tmp_path):
    return Vault(tmp_path / "ws", tmp_path / "data")


@pytest.fixture
def again(tmp_path):
    """The same vault, as another process would open it."""
    return lambda: Vault(tmp_path / "ws", tmp_path / "data")


@pytest.fixture
def value():
    return "sk-" + secrets.token_hex(20)


def everything(vault):
    return {each.name: each.value for each in reversed(vault.secrets())}


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(NAMES, TEXTS, min_size=1, max_size=5))
def test_what_is_set_comes_back_whatever_it_is(values):
    with tempfile.TemporaryDirectory() as folder:
        vault = Vault(Path(folder) / "ws", Path(folder) / "data")
        for name, value in values.items():
            vault.set(name, value, weak=True)
        other = Vault(Path(folder) / "ws", Path(folder) / "data")
        firsts = {}
        for each in other.secrets():
            firsts.setdefault(each.name, each.value)
        assert firsts == values
        assert [row["name"] for row in other.list()] == sorted(values)


def test_a_list_has_names_and_dates_and_no_value(vault, value):
    vault.set("B", value)
    vault.set("A", "hunter2", weak=True)
    rows = vault.list()
    assert [(row["name"], row["weak"]) for row in rows] == [("A", True), ("B", False)]
    assert all(row["created"] == row["updated"] and row["created"][-1] == "Z" for row in rows)
    assert set(rows[0]) == {"name", "created", "updated", "weak"}
    assert value not in repr((rows, vault, vault.secrets(), vault.__dict__))


def test_a_secret_that_is_set_again_keeps_the_day_it_was_made(vault, value):
    vault.set("A", value)
    created = vault.list()[0]["created"]
    vault.set("A", value + "2")
    (row,) = vault.list()
    assert row["created"] == created <= row["updated"]
    assert everything(vault) == {"A": value + "2"}


def test_a_secret_is_removed_and_renamed(vault, again, value):
    vault.set("A", value)
    vault.set("B", value + "b")
    with pytest.raises(NocturnError) as caught:
        vault.rename("A", "B")
    assert caught.value.code == "NAME_TAKEN"
    vault.rename("A", "C")
    vault.remove("B")
    assert everything(again()) == {"C": value}
    for change in (lambda: vault.remove("A"), lambda: vault.rename("A", "D")):
        with pytest.raises(NocturnError) as caught:
            change()
        assert caught.value.code == "NOT_FOUND"


def test_reading_and_what_is_refused_make_nothing(tmp_path, vault):
    assert (vault.secrets(), vault.list(), vault.check()["there"]) == ((), [], False)
    for change in (
        lambda: vault.remove("A"),
        lambda: vault.rename("A", "B"),
        vault.rekey,
        lambda: vault.set("A", "short"),
        lambda: vault.set("no name", "gK3f9Zq-77aPLm22xW"),
    ):
        with pytest.raises(NocturnError):
            change()
    assert vault.set_many({"A": "short"}).keys() == {"A"}
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_private_and_holds_neither_name_nor_value(tmp_path, vault, value):
    before = os.umask(0)
    try:
        vault.set("THE_NAME", value)
    finally:
        os.umask(before)
    file = tmp_path / "ws/vault.enc"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    for each in (each for each in tmp_path.rglob("*") if each.is_file()):
        assert b"THE_NAME" not in each.read_bytes()
        assert value.encode() not in each.read_bytes()
    assert sorted(each.name for each in file.parent.rglob("*")) == [
        ".nocturn",
        "vault.enc",
        "vault.lock",
    ]


@pytest.mark.parametrize("name", ["", "1A", "a b", "a/b", "é", "a\n", "x" * 65, "-a", None])
def test_a_name_that_is_none_is_refused_and_not_echoed(vault, value, name):
    with pytest.raises(NocturnError) as caught:
        vault.set(name, value)
    assert caught.value.code == "BAD_ARGUMENTS"
    assert caught.value.detail == {"field": "name"}
    assert "x" * 65 not in caught.value.message


@pytest.mark.parametrize(
    "weak",
    [
        "hunter2",
        "password",
        "P@ssw0rd!23",
        "daughter",
        "Tuesday evening",
        "12345678",
        "1983-04-12",
        "aaaaaaaaaaaaaaaa",
        "abababababab",
        "qwertyuiop",
        "asdfasdfasdf",
        "correct horse battery staple",
        "production",
    ],
)
def test_a_value_that_could_be_guessed_is_refused_unless_it_is_said(vault, weak):
    with pytest.raises(NocturnError) as caught:
        vault.set("A", weak)
    assert caught.value.code == "BAD_ARGUMENTS"
    assert weak not in caught.value.message
    for truthy in (1, "yes"):
        with pytest.raises(NocturnError):
            vault.set("A", weak, weak=truthy)
    vault.set("A", weak, weak=True)
    assert everything(vault) == {"A": weak}


def test_what_a_generator_makes_is_strong():
    for make in (secrets.token_hex, secrets.token_urlsafe):
        assert all(weakness_of(make(16)) is None for _ in range(300))


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ("", "BAD_ARGUMENTS"),
        (" \n", "BAD_ARGUMENTS"),
        ("gK3f9Zq-77aPLm22x\ud800", "BAD_ARGUMENTS"),
        (b"gK3f9Zq-77aPLm22xW", "BAD_ARGUMENTS"),
        ("gK3f9Zq-" * 8192 + "x", "TOO_LARGE"),
    ],
)
def test_a_value_that_cannot_be_kept_is_refused_even_if_weak_is_said(vault, bad, code):
    with pytest.raises(NocturnError) as caught:
        vault.set("A", bad, weak=True)
    assert caught.value.code == code
    assert "gK3f9Zq" not in caught.value.message


def test_the_largest_value_is_kept_and_a_vault_that_would_be_too_large_stays(vault, tmp_path):
    largest = secrets.token_hex(32_768)
    vault.set("A", largest)
    assert everything(vault) == {"A": largest}
    before = (tmp_path / "ws/vault.enc").read_bytes()
    with pytest.raises(NocturnError) as caught:
        vault.set_many({f"N{number}": secrets.token_hex(32_768) for number in range(128)})
    assert caught.value.code == "TOO_LARGE"
    assert (tmp_path / "ws/vault.enc").read_bytes() == before


def test_a_change_of_any_byte_is_refused_with_one_error_and_leaves_the_file(tmp_path, again, value):
    again().set("A", value)
    file = tmp_path / "ws/vault.enc"
    good = file.read_bytes()
    told = set()
    for at in range(len(good)):
        # The kind's byte names another kind of key, which is asked for first.
        flip = 0x80 if at == 16 else 0x01
        bad = good[:at] + bytes([good[at] ^ flip]) + good[at + 1 :]
        file.write_bytes(bad)
        with pytest.raises(ConfigurationError) as caught:
            again().secrets()
        told.add(caught.value.message)
        assert file.read_bytes() == bad
    for bad in (b"", good[:40], good[:-1], good + b"\0", good[:60], b"x" * 200):
        file.write_bytes(bad)
        for attempt in (
            again().list,
            again().check,
            again().rekey,
            lambda: again().set("B", value),
        ):
            with pytest.raises(ConfigurationError) as caught:
                attempt()
            told.add(caught.value.message)
        assert file.read_bytes() == bad
    assert len(told) == 1
    file.write_bytes(good)
    assert everything(again()) == {"A": value}


def test_a_wrong_key_gives_the_same_error_as_a_changed_file(tmp_path, vault, again, value):
    vault.set("A", value)
    Vault(tmp_path / "other", tmp_path / "elsewhere").set("A", value)
    file = tmp_path / "ws/vault.enc"
    good = file.read_bytes()
    with pytest.raises(ConfigurationError) as foreign:
        Vault(tmp_path / "ws", tmp_path / "elsewhere").set("B", value)
    assert file.read_bytes() == good
    file.write_bytes(good[:-1])
    with pytest.raises(ConfigurationError) as changed:
        again().list()
    assert foreign.value.message == changed.value.message


def test_a_box_of_one_vault_does_not_open_in_another_of_the_same_user(tmp_path, value):
    one, two = (Vault(tmp_path / name, tmp_path / "data") for name in ("one", "two"))
    one.set("A", value)
    two.set("A", value + "2")
    first, second = ((tmp_path / name / "vault.enc").read_bytes() for name in ("one", "two"))
    (tmp_path / "two/vault.enc").write_bytes(second[:52] + first[52:])
    with pytest.raises(ConfigurationError):
        two.list()
    (tmp_path / "two/vault.enc").write_bytes(first)
    assert everything(two) == {"A": value}


@pytest.mark.parametrize("cost", [(63, 8, 1), (20, 8, 1), (16, 255, 1), (16, 8, 255), (1, 8, 1)])
def test_a_hostile_header_gets_no_memory_and_no_time(tmp_path, again, monkeypatch, cost):
    monkeypatch.setenv("NOCTURN_MASTER_PASSPHRASE", "whatever")
    (tmp_path / "ws").mkdir()
    header = b"nocturn vault 1\n" + bytes([2, *cost]) + bytes(32)
    (tmp_path / "ws/vault.enc").write_bytes(header + bytes(64))
    with pytest.raises(ConfigurationError):
        again().list()


def test_a_link_or_a_folder_in_its_place_is_refused_and_stays(tmp_path, again, value):
    again().set("A", value)
    file = tmp_path / "ws/vault.enc"
    file.rename(tmp_path / "ws/other")
    file.symlink_to("other")
    with pytest.raises(ConfigurationError):
        again().set("B", value)
    assert file.is_symlink()
    file.unlink()
    file.mkdir()
    with pytest.raises(ConfigurationError):
        again().list()


def test_a_rekey_changes_every_byte_and_leaves_no_copy(tmp_path, vault, again, value):
    vault.set("A", value)
    before = (tmp_path / "ws/vault.enc").read_bytes()
    vault.rekey()
    after = (tmp_path / "ws/vault.enc").read_bytes()
    assert before[20:] != after[20:]
    assert before[20:52] != after[20:52]
    assert everything(again()) == {"A": value}
    assert sorted(each.name for each in (tmp_path / "ws").iterdir()) == [".nocturn", "vault.enc"]
    with pytest.raises(ConfigurationError):
        vault.rekey("moon")
    assert (tmp_path / "ws/vault.enc").read_bytes() == after


def test_two_processes_that_set_twenty_each_lose_nothing(tmp_path, again):
    running = [
        subprocess.Popen(
            [sys.executable, "-c", SETTER, tmp_path / "ws", tmp_path / "data", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("A", "B")
    ]
    for each in running:
        assert each.stdout.readline() == "ready\n"
    for each in running:
        each.stdin.write("\n")
        each.stdin.flush()
    for each in running:
        each.communicate(timeout=120)
        assert each.returncode == 0
    wanted = sorted(f"{name}_{number}" for name in "AB" for number in range(20))
    assert [row["name"] for row in again().list()] == wanted


def test_a_kill_at_any_point_leaves_the_old_vault_or_the_new(tmp_path, again, value):
    again().set("OLD", value)
    seen = set()
    for point in itertools.count(1):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, tmp_path / "ws", tmp_path / "data", str(point)],
            input=value + "new",
            text=True,
            check=False,
            timeout=60,
        )
        now = everything(again())
        assert now in ({"OLD": value}, {"OLD": value, "NEW": value + "new"})
        seen.add(len(now))
        for each in (tmp_path / "ws").rglob("*"):
            assert each.is_dir() or value.encode() not in each.read_bytes()
        if done.returncode == 7:
            break
        assert done.returncode == -9
        if "NEW" in now:
            again().remove("NEW")
    assert point > 10
    assert seen == {1, 2}


def test_no_error_log_or_traceback_holds_a_value(tmp_path, vault, value, caplog):
    caplog.set_level(logging.DEBUG)
    vault.set("A", value)
    told = []
    attempts = (
        lambda: vault.set("A", value[:7]),
        lambda: vault.set(value + " ", value),
        lambda: vault.set("B", value + "\ud800"),
        lambda: vault.remove(value),
        lambda: vault.rename("A", value + "!"),
        lambda: vault.set("B", value * 2_000),
    )
    for attempt in attempts:
        with pytest.raises(NocturnError) as caught:
            attempt()
        error = caught.value
        told += [
            "".join(traceback.format_exception(error)),
            repr((error, error.detail, error.__cause__, error.__context__)),
        ]
    (tmp_path / "ws/vault.enc").write_bytes(b"x" * 300)
    with pytest.raises(ConfigurationError) as caught:
        vault.list()
    told.append("".join(traceback.format_exception(caught.value)))
    assert value[:7] not in "".join(told) + caplog.text


PEM = "\n".join(
    [
        "-----BEGIN PRIVATE KEY-----",
        *(secrets.token_urlsafe(48).replace("-", "A").replace("_", "B") for _ in range(3)),
        "-----END PRIVATE KEY-----",
        "",
    ]
)


def test_of_a_pem_each_line_of_the_key_is_a_part_and_the_frame_is_not():
    lines = PEM.splitlines()[1:-1]
    assert parts_of(PEM) == ("".join(lines), *lines)
    assert parts_of(PEM.replace("\n", "\\n")) == ("".join(lines), *lines)
    assert parts_of(PEM.replace("PRIVATE KEY", "CERTIFICATE")) == ()
    assert parts_of(PEM.replace("PRIVATE", "PUBLIC")) == ()


def test_of_an_openssh_key_the_line_that_all_such_keys_have_is_no_part():
    lines = PEM.splitlines()
    lines[1] = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW"
    assert lines[1] not in parts_of("\n".join(lines))
    assert lines[2] in parts_of("\n".join(lines))


def test_of_a_json_each_string_that_could_not_be_guessed_is_a_part():
    key, password = secrets.token_hex(16), secrets.token_hex(12)
    account = {
        "type": "service_account",
        "project": "house-42",
        "id": key,
        "private_key": PEM,
        "client_email": "robot@house-42.example.com",
        "token_uri": "https://accounts.example.com/o/oauth2/token",
        "region": "eu-central-1",
        "deep": [{"db": f"postgres://bob:{password}@db.example.com:5432/main"}],
    }
    lines = PEM.splitlines()[1:-1]
    assert parts_of(json.dumps(account, indent=1)) == (key, "".join(lines), *lines, password)


def test_of_a_url_the_password_and_the_query_are_parts_and_the_host_and_user_are_not():
    password, token = secrets.token_hex(12), secrets.token_hex(10)
    url = f"https://somebody:{password}%21@api.internal.example.com/a/path?token={token}&x=1"
    assert parts_of(url) == (password + "%21", password + "!", token)
    assert parts_of("https://api.internal.example.com/a/rather/long/path/to/nowhere") == ()


def test_of_several_lines_each_value_is_a_part():
    key = secrets.token_hex(20)
    text = f"[default]\nregion = eu-central-1\naws_secret_access_key = {key}\n# mine\n"
    assert parts_of(text) == (key,)


def test_a_single_word_has_no_parts(value):
    assert parts_of(value) == parts_of(f" {value}\n") == ()


@given(TEXTS)
def test_no_part_is_weak_or_the_whole_and_the_guard_gets_each(text):
    for part in parts_of(text):
        assert weakness_of(part) is None
        assert len(part) >= 8
        assert part != text


@given(st.recursive(TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
def test_any_json_is_taken_apart_without_an_error(value):
    assert isinstance(parts_of(json.dumps(value)), tuple)


def test_a_json_of_a_thousand_levels_or_a_line_of_64_kib_is_taken_apart():
    assert parts_of("[" * 30_000) == ()
    deep = '"x"'
    for _ in range(60):
        deep = json.dumps(deep)
        if len(deep) > 65_536:
            break
    assert isinstance(parts_of(deep), tuple)
    assert isinstance(parts_of("a=" * 32_768), tuple)


def test_a_dotenv_is_read_as_people_write_them():
    text = (
        "# a comment\n\nexport A=plain value # said\nB='single $X \\n'\r\n"
        'C="two\\nlines \\"quoted\\" # kept"\nD=\nE="over\ntwo"\n  F = spaced\nG=a#b\nA=last'
    )
    assert parsed(text) == {
        "A": "last",
        "B": "single $X \\n",
        "C": 'two\nlines "quoted" # kept',
        "D": "",
        "E": "over\ntwo",
        "F": "spaced",
        "G": "a#b",
    }


@pytest.mark.parametrize("bad", ["A=1\nsk-notanassignment\n", 'A=1\nB="sk-open\n', "A=1\n=sk-x"])
def test_a_line_that_is_no_assignment_is_told_by_its_number_alone(bad):
    with pytest.raises(ConfigurationError) as caught:
        parsed(bad)
    assert "line 2" in caught.value.message
    assert "sk-" not in caught.value.message
