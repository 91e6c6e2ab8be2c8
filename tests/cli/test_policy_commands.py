"""``nocturn init`` and ``nocturn policy``."""

import json
import os
import stat
import subprocess

import pytest

WRITE = ["memory", "write", "people/lina.md", "s", "c"]
DENY = "[[rule]]\nruling = 'deny'\nkind = 'memory'\ntarget = 'people/**'\n"


@pytest.fixture
def nocturn(nocturn_here):
    return nocturn_here


@pytest.fixture
def policy(tmp_path, nocturn):
    """Makes a workspace, and adds rules to its policy, trusted or not."""
    assert nocturn("init").returncode == 0
    file = tmp_path / "ws/policy.toml"

    def put(text, *, trusted=True):
        file.write_text(file.read_text() + text)
        if trusted:
            done = nocturn("trust", "--yes")
            assert done.returncode == 0, done.stderr
        return file

    return put


def line_of(file, text):
    return file.read_text().splitlines().index(text) + 1


# ---- init ----------------------------------------------------------------------------------------


def test_init_makes_a_workspace_that_is_taken_at_once(nocturn, tmp_path):
    done = nocturn("init")
    assert (done.returncode, done.stdout) == (0, "policy.toml: made\nmemory/: made\n")
    ws = tmp_path / "ws"
    assert sorted(each.name for each in ws.iterdir()) == ["memory", "policy.toml"]
    assert nocturn(*WRITE, "--watched").returncode == 0
    assert nocturn(*WRITE, "--strict").returncode == 3


def test_what_init_makes_is_private_whatever_the_umask(command, environment, tmp_path):
    subprocess.run([*command, "init", "a/b"], env=environment, cwd=tmp_path, umask=0, check=True)
    for name in ("a", "a/b", "a/b/memory"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700, name
    assert stat.S_IMODE((tmp_path / "a/b/policy.toml").stat().st_mode) == 0o600


def test_init_changes_nothing_that_is_there(nocturn, tmp_path):
    (tmp_path / "ws/memory").mkdir(parents=True)
    (tmp_path / "ws/memory/a.md").write_text("mine")
    (tmp_path / "ws/policy.toml").write_text("mine")
    before = os.stat(tmp_path / "ws/policy.toml")
    for _ in range(2):
        assert nocturn("init").returncode == 0
    assert (tmp_path / "ws/policy.toml").read_text() == "mine"
    assert os.stat(tmp_path / "ws/policy.toml").st_mtime_ns == before.st_mtime_ns
    assert [each.name for each in (tmp_path / "ws/memory").iterdir()] == ["a.md"]
    assert nocturn(*WRITE, "--watched").returncode == 2


def test_init_writes_through_no_link(nocturn, tmp_path):
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/policy.toml").symlink_to(tmp_path / "outside.toml")
    (tmp_path / "ws/memory").symlink_to(tmp_path / "outside")
    assert nocturn("init").returncode == 0
    assert not (tmp_path / "outside.toml").exists()
    assert not (tmp_path / "outside").exists()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_init_refuses_a_folder_that_others_can_change(nocturn, tmp_path):
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws").chmod(0o777)
    done = nocturn("init")
    assert done.returncode == 2
    assert "chmod" in done.stderr
    assert list((tmp_path / "ws").iterdir()) == []


# ---- show ----------------------------------------------------------------------------------------


def test_show_has_the_rules_in_force_and_where_each_stands(policy, nocturn):
    file = policy(DENY)
    shown = nocturn("policy", "show").stdout.splitlines()
    assert shown[0].split() == ["where", "ruling", "kind", "verb", "target", "mode", "agent"]
    line = line_of(file, "ruling = 'deny'") - 1
    assert shown[1].split() == [
        f"policy.toml:{line}",
        "deny",
        "memory",
        "any",
        "people/**",
        *["any"] * 2,
    ]
    assert [each.split()[0] for each in shown[2:]] == ["built-in"] * 6
    rows = json.loads(nocturn("policy", "show", "--json").stdout)
    assert [(row["where"], row["ruling"]) for row in rows] == [
        (f"policy.toml:{line}", "deny"),
        *[("built-in", each) for each in ("allow", "ask", "ask") * 2],
    ]


def test_without_a_file_the_built_in_policy_is_shown_and_nothing_is_made(nocturn, tmp_path):
    assert len(nocturn("policy", "show").stdout.splitlines()) == 7
    assert nocturn("policy", "check").returncode == 0
    assert not (tmp_path / "ws").exists()
    assert not (tmp_path / "data").exists()


# ---- check, and a file that is broken -----------------------------------------------------------


def test_check_says_the_line_of_a_mistake(policy, nocturn):
    file = policy("[[rule]]\nruling = 'deny'\nkind = 'memory'\nvreb = 'write'\n", trusted=False)
    done = nocturn("policy", "check")
    assert done.returncode == 2
    assert f"policy.toml:{line_of(file, chr(39).join(['vreb = ', 'write', '']))}: " in done.stderr


def test_check_takes_what_is_sound_and_says_whether_it_is_trusted(policy, nocturn):
    policy(DENY, trusted=False)
    done = nocturn("policy", "check")
    assert (done.returncode, done.stdout) == (0, "policy.toml: sound, 1 rules\n")
    assert "nocturn trust" in done.stderr
    assert nocturn("trust", "--yes").returncode == 0
    assert nocturn("policy", "check").stderr == ""


def test_a_broken_file_refuses_the_first_gated_call_with_its_line_and_stays(policy, nocturn):
    file = policy("[[rule]]\nruling = 'perhaps'\nkind = 'memory'\n", trusted=False)
    broken = file.read_bytes()
    line = line_of(file, "ruling = 'perhaps'")
    source = "nocturn.memory.write('people/lina.md', 's', 'c')"
    for words in ([*WRITE, "--strict"], ["eval", "--watched", source]):
        done = nocturn(*words)
        assert done.returncode == 2
        assert f"policy.toml:{line}: " in done.stderr
    assert nocturn("eval", "nocturn.memory.list().notes.length").stdout == "0\n"
    for words in (["policy", "show"], ["policy", "explain", "memory", "a.md"], ["trust", "--yes"]):
        assert nocturn(*words).returncode == 2
    assert file.read_bytes() == broken
    assert list((file.parent / "memory").iterdir()) == []


# ---- explain -------------------------------------------------------------------------------------


def test_explain_says_which_line_ruled_for_each_mode(policy, nocturn):
    file = policy(
        "[[rule]]\nruling = 'allow'\nkind = 'memory'\nagent = 'bob'\n\n"
        "[[rule]]\nruling = 'deny'\nkind = 'memory'\nverb = 'remove'\n"
    )
    allow, deny = line_of(file, "ruling = 'allow'") - 1, line_of(file, "ruling = 'deny'") - 1

    def explained(*words):
        rows = json.loads(nocturn("policy", "explain", "memory", "a.md", *words, "--json").stdout)
        return {row["mode"]: (row["outcome"], row["where"]) for row in rows}

    assert explained() == {
        "watched": ("allow", "built-in"),
        "guarded": ("ask", "built-in"),
        "strict": ("unattended", "built-in"),
    }
    assert explained("--agent", "bob", "--mode", "strict") == {
        "strict": ("allow", f"policy.toml:{allow}")
    }
    assert set(explained("--agent", "bob", "--verb", "remove").values()) == {
        ("policy", f"policy.toml:{deny}")
    }
    shown = nocturn("policy", "explain", "memory", "a.md", "--agent", "bob").stdout
    assert shown.count(f"policy.toml:{allow}") == 3


def test_explain_says_which_grants_cover_it(nocturn):
    given = nocturn("grants", "add", "bob", "write", "people", "--folder")
    words = ["policy", "explain", "memory", "people/lina.md", "--agent", "bob"]
    assert given.stdout.split()[0] in nocturn(*words).stdout
    (row,) = json.loads(nocturn(*words, "--mode", "strict", "--json").stdout)
    assert (row["outcome"], [each["target"] for each in row["grants"]]) == ("grant", ["people"])
    assert "no grant covers it" in nocturn(*words[:-1], "eve").stdout


@pytest.mark.parametrize(
    ("status", "words"), [(2, ["memory", "a.md", "--mode", "loose"]), (3, ["memory", "../a.md"])]
)
def test_explain_refuses_what_no_call_could_be(nocturn, status, words):
    assert nocturn("policy", "explain", *words).returncode == status
