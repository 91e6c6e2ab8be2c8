"""``nocturn trust``, at a real terminal and without one."""

import os
import subprocess

import pytest

WRITE = ["memory", "write", "people/lina.md", "s", "c", "--watched"]
RULE = "[[rule]]\nruling = 'deny'\nkind = 'memory'\ntarget = 'money/**'\n"


@pytest.fixture
def nocturn(nocturn_here):
    return nocturn_here


@pytest.fixture
def edited(nocturn, tmp_path):
    """A policy that was edited by hand since nocturn wrote it."""
    nocturn("init")
    file = tmp_path / "ws/policy.toml"
    file.write_text(file.read_text() + RULE)
    return file


def test_a_hand_edit_is_refused_and_the_refusal_names_the_command(nocturn, edited):
    text = edited.read_text()
    done = nocturn(*WRITE)
    assert done.returncode == 2
    assert "policy.toml" in done.stderr
    assert "nocturn trust" in done.stderr
    assert edited.read_text() == text


@pytest.mark.usefixtures("edited")
def test_without_a_terminal_it_is_taken_with_yes_alone(nocturn, command, environment):
    piped = subprocess.run(
        [*command, "trust"], input=b"y\n", env=environment, capture_output=True, check=False
    )
    assert piped.returncode == 2
    assert b"--yes" in piped.stderr
    assert nocturn(*WRITE).returncode == 2
    done = nocturn("trust", "--yes")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "policy.toml: trusted")
    assert nocturn(*WRITE).returncode == 0
    assert nocturn("memory", "write", "money/a.md", "s", "c", "--watched").returncode == 3


def test_what_would_be_trusted_is_shown_whole_with_hidden_characters_visible(nocturn, edited):
    edited.write_text(edited.read_text() + "# \u202eevil\u200b\x09\n")
    shown = nocturn("trust", "--yes").stdout
    assert str(edited) in shown
    assert "target = 'money/**'" in shown
    assert "deny" in shown
    assert "# \\u{202e}evil\\u{200b}" in shown
    assert "\u202e" not in shown


def test_grants_from_elsewhere_are_shown_with_what_they_cover(nocturn, tmp_path):
    nocturn(*WRITE)
    nocturn("grants", "add", "bob", "write", "people", "--folder")
    file = tmp_path / "ws/grants.json"
    file.write_text(file.read_text().replace("bob", "eve"))
    assert nocturn("grants", "list").returncode == 2
    shown = nocturn("trust", "grants.json", "--yes").stdout
    assert "eve" in shown
    assert "people/lina.md" in shown
    assert nocturn("memory", "write", "people/x.md", "s", "c", "--agent", "eve").returncode == 0


@pytest.mark.parametrize(
    ("answer", "status", "taken"),
    [("y\n", 0, True), ("\n", 1, False), ("\x04", 1, False), ("\x03", 130, False)],
)
def test_at_a_terminal_it_asks(terminal, command, nocturn, edited, answer, status, taken):
    shell = terminal(*command, "trust")
    assert "money/**" in shell.wait_for("[y/N] ")
    shell.type(answer)
    assert shell.end() == status
    assert nocturn(*WRITE).returncode == (0 if taken else 2)
    assert edited.exists()


def test_what_changes_while_it_is_looked_at_is_not_what_is_trusted(
    terminal, command, nocturn, edited
):
    shell = terminal(*command, "trust")
    shell.wait_for("[y/N] ")
    edited.write_text(edited.read_text().replace("deny", "allow"))
    shell.type("y\n")
    assert shell.end() == 1
    assert "CONFLICT" in shell.shown
    assert nocturn(*WRITE).returncode == 2


def test_trust_is_listed_and_taken_back(nocturn, edited, tmp_path):
    assert f"{edited}  changed since" in nocturn("trust", "--list").stdout
    nocturn("trust", "--yes")
    nocturn("grants", "add", "bob", "write", "a.md")
    listed = nocturn("trust", "--list").stdout.splitlines()
    assert [each.split() for each in listed] == [
        [str(tmp_path / "ws/grants.json"), "trusted"],
        [str(edited), "trusted"],
    ]
    assert nocturn("trust", "--revoke", "policy.toml").stdout == "policy.toml: not trusted\n"
    assert nocturn(*WRITE).returncode == 2
    assert nocturn("trust", "--revoke").stdout == "grants.json: not trusted\n"
    assert nocturn("trust", "--list").stdout == ""
    assert nocturn("trust", "--revoke").returncode == 0
    edited.unlink()
    assert nocturn(*WRITE).returncode == 2


def test_what_is_trusted_already_is_not_asked_again(nocturn):
    assert nocturn("trust").returncode == 0
    nocturn("init")
    done = nocturn("trust")
    assert (done.returncode, done.stdout) == (0, "policy.toml: trusted already\n")


@pytest.mark.parametrize(
    "words",
    [["vault.enc"], ["ws/policy.toml"], ["grants.json"], ["--list", "--revoke"], ["--list", "x"]],
)
@pytest.mark.usefixtures("edited")
def test_what_cannot_be_trusted_is_a_mistake(nocturn, words):
    assert nocturn("trust", *words).returncode == 2


@pytest.mark.skipif(os.name != "posix", reason="modes and links are POSIX's")
@pytest.mark.parametrize("how", ["link", "fifo", "writable", "writable folder", "too large"])
def test_what_is_no_private_file_is_refused_and_cannot_be_trusted(nocturn, tmp_path, how):
    nocturn("init")
    file = tmp_path / "ws/policy.toml"
    if how == "link":
        file.rename(tmp_path / "real.toml")
        file.symlink_to(tmp_path / "real.toml")
    elif how == "fifo":
        file.unlink()
        os.mkfifo(file, 0o600)
    elif how == "too large":
        file.write_text(file.read_text() + "#" * 70_000)
    else:
        (file if how == "writable" else file.parent).chmod(0o777)
    for words in (WRITE, ["trust", "--yes"], ["policy", "check"]):
        done = nocturn(*words)
        assert done.returncode == 2, words
        assert str(tmp_path) not in done.stderr
