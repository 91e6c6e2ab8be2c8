"""What is in the vault is kept out of every call, and out of everything that is written."""

import base64
import json
import logging
import secrets
import shutil
import subprocess
import sys

import pytest

from nocturn import ConfigurationError, NocturnError, tool
from nocturn.testing import FixedSecrets, RecordingApprover


@pytest.fixture
def value():
    return "sk-" + secrets.token_hex(20)


def write(text):
    return f"nocturn.memory.write('a.md', 'a note', {json.dumps(text)})"


def test_a_value_of_the_vault_is_blocked_and_taken_out(ws, value):
    ws.vault.set("HOUSE", value)
    for text in (value, f"x{value}y", base64.b64encode(value.encode()).decode()):
        assert ws.run(write(text), mode="watched").error.code == "LEAK_BLOCKED"
    assert not (ws.path / "memory").exists()
    (ws.path / "memory").mkdir()
    (ws.path / "memory/by_hand.md").write_text(f"it is {value}.")
    assert ws.run("nocturn.memory.read('by_hand.md')").value == "it is [REDACTED]."
    assert ws.memory.read("by_hand.md") == "it is [REDACTED]."
    assert value not in ws.memory.catalog()


def test_a_value_is_guarded_from_the_moment_it_is_kept_and_no_longer_when_it_is_gone(ws, value):
    assert ws.run(write(value), mode="watched").ok
    assert ws.memory.catalog() != ""
    ws.vault.set("HOUSE", value)
    assert "[REDACTED]" in ws.memory.read("a.md")
    assert ws.run(write(value), mode="watched").error.code == "LEAK_BLOCKED"
    ws.vault.rename("HOUSE", "HOME")
    assert ws.run(write(value), mode="watched").error.code == "LEAK_BLOCKED"
    ws.vault.remove("HOME")
    assert ws.run(write(value), mode="watched").ok


def test_the_catalog_alone_knows_of_a_value_that_was_just_kept(ws, value):
    ws.memory.write("a.md", f"it is {value}", "text")
    assert value in ws.memory.catalog()
    ws.vault.set("HOUSE", value)
    assert ws.memory.catalog() == "a.md — it is [REDACTED]"


def test_a_value_that_another_process_keeps_is_guarded_in_the_middle_of_a_run(
    nocturn_workspace, value
):
    keep = (
        "import sys; from nocturn import Workspace\n"
        "Workspace(sys.argv[1]).vault.set('HOUSE', sys.stdin.read())"
    )

    @tool(axis="read", effects="ungated")
    def keep_elsewhere() -> bool:
        """Another program keeps a secret."""
        subprocess.run(
            [sys.executable, "-c", keep, ws.path], input=value, text=True, check=True, timeout=60
        )
        return True

    ws = nocturn_workspace(tools=[keep_elsewhere])
    source = f"{write(value)}; nocturn.call('keep_elsewhere', {{}}); {write(value + ' again')}"
    result = ws.run(source, mode="watched")
    assert [call.code for call in result.calls] == [None, None, "LEAK_BLOCKED"]


@pytest.mark.parametrize("there", [True, False])
def test_a_vault_that_breaks_in_the_middle_of_a_run_lets_nothing_pass(
    nocturn_workspace, value, there
):
    @tool(axis="read", effects="ungated")
    def spoil() -> bool:
        """Something spoils the file."""
        ws.path.mkdir(exist_ok=True)
        (ws.path / "vault.enc").write_bytes(b"spoilt")
        return True

    ws = nocturn_workspace(tools=[spoil])
    if there:
        ws.vault.set("HOUSE", value)
    result = ws.run(f"nocturn.call('spoil', {{}}); {write('innocent')}", mode="watched")
    assert result.error.code == "INTERNAL"
    assert "vault" in result.error.message
    assert not (ws.path / "memory").exists()


def test_parts_are_guarded_each_and_names_and_hosts_are_not(ws):
    password = secrets.token_hex(12)
    ws.vault.set("DB", f"postgres://somebody:{password}@db.internal.example.com/main")
    assert ws.run(write(f"it is {password}"), mode="watched").error.code == "LEAK_BLOCKED"
    assert ws.run(write("somebody at db.internal.example.com/main"), mode="watched").ok


def test_a_broken_vault_refuses_the_run_and_the_call_before_anything_happens(ws, value):
    ws.memory.write("there.md", "s", "c")
    ws.vault.set("HOUSE", value)
    file = ws.path / "vault.enc"
    spoilt = file.read_bytes()[:-1] + b"?"
    file.write_bytes(spoilt)
    told = []
    attempts = (
        lambda: ws.run(write("innocent"), mode="watched"),
        lambda: ws.run("console.log(1)"),
        lambda: ws.memory.write("a.md", "s", "c"),
        lambda: ws.memory.read("a.md"),
        ws.memory.catalog,
    )
    for attempt in attempts:
        with pytest.raises(ConfigurationError) as caught:
            attempt()
        told.append(caught.value.message)
    assert all("vault.enc" in message for message in told)
    assert not (ws.path / "memory/a.md").exists()
    assert file.read_bytes() == spoilt
    file.unlink()
    assert ws.run(write("innocent"), mode="watched").ok


def test_a_vault_from_elsewhere_is_refused(nocturn_workspace, value, monkeypatch, tmp_path):
    ws = nocturn_workspace()
    ws.vault.set("HOUSE", value)
    monkeypatch.setenv("NOCTURN_DATA", str(tmp_path / "somebody else's"))
    (tmp_path / "copied").mkdir()
    shutil.copy(ws.path / "vault.enc", tmp_path / "copied")
    other = nocturn_workspace(tmp_path / "copied")
    monkeypatch.setenv("NOCTURN_DATA", str(tmp_path / "somebody else's"))
    with pytest.raises(ConfigurationError):
        other.run("1")
    assert not (tmp_path / "copied/.nocturn").exists()


def test_without_a_vault_nothing_is_made_and_the_given_secrets_count(nocturn_workspace, value):
    ws = nocturn_workspace(secrets=[FixedSecrets(house=value)])
    assert ws.run(write(value), mode="watched").error.code == "LEAK_BLOCKED"
    assert ws.vault.list() == []
    assert not ws.path.exists()
    ws.vault.set("OTHER", value + "2")
    for text in (value, value + "2"):
        assert ws.run(write(text), mode="watched").error.code == "LEAK_BLOCKED"


def test_no_tool_and_nothing_in_the_guest_reads_the_vault(ws, value):
    ws.vault.set("HOUSE_NAME", value)
    assert [each.name for each in ws.tools if "vault" in each.name] == []
    assert ws.run("typeof nocturn.vault").value == "undefined"
    for name in ("vault_get", "vault_list"):
        result = ws.run(f"nocturn.call('{name}', {{}})")
        assert result.error.code == "UNKNOWN_TOOL"
    for path in ("../vault.enc", "/vault.enc", "vault.enc"):
        result = ws.run(f"nocturn.memory.read({path!r})")
        assert result.error.code in ("PATH_ESCAPE", "NOT_FOUND", "BAD_ARGUMENTS")


def test_a_value_is_in_no_file_log_question_or_error(nocturn_workspace, value, caplog, tmp_path):
    caplog.set_level(logging.DEBUG)
    person = RecordingApprover(answer="always")

    @tool(axis="read", effects="ungated")
    def broken() -> str:
        """Fails with the value in hand."""
        raise RuntimeError(ws.vault.secrets()[0].value)

    ws = nocturn_workspace(approver=person, tools=[broken])
    ws.vault.set("HOUSE", value)
    sources = (
        "nocturn.memory.write('a.md', 's', nocturn.args[0])",
        "nocturn.memory.write('a.md', 's', 'innocent')",
        "nocturn.memory.write(nocturn.args[0] + '.md', 's', 'c')",
        "nocturn.memory.read(nocturn.args[0])",
        "nocturn.call('broken', {})",
    )
    told = [
        ws.run(source, mode="guarded", agent="bob", args=[value]).to_json() for source in sources
    ]
    with pytest.raises(NocturnError) as caught:
        ws.memory.write("b.md", value, "c")
    told += [str(caught.value), repr(person.questions), repr(ws.vault), caplog.text]
    assert len(person.questions) == 1
    assert "HOUSE" in caplog.text
    assert value not in "".join(told)
    for each in tmp_path.rglob("*"):
        assert each.is_dir() or value.encode() not in each.read_bytes()


def test_a_run_without_a_vault_loads_nothing_of_it(fresh_python):
    program = (
        "import sys; from nocturn import Workspace\n"
        "with Workspace(sys.argv[1]) as ws:\n"
        "    assert ws.run('1+1').value == 2\n"
        "    ws.memory.write('a.md', 's', 'c'); ws.memory.catalog()\n"
        "print({'nocturn.store.vault', 'cryptography'} & set(sys.modules))"
    )
    assert fresh_python(program) == "set()\n"
