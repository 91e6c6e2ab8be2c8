"""A folder that came from elsewhere brings no permissions with it: section 6, real processes."""

import shutil

import pytest

ALLOW = "version = 1\n[[rule]]\nruling = 'allow'\nkind = 'memory'\nagent = 'bob'\n"
DENY = "version = 1\n[[rule]]\nruling = 'deny'\nkind = 'memory'\n"


@pytest.fixture
def nocturn(nocturn_here):
    return nocturn_here


@pytest.fixture
def ws(tmp_path):
    return tmp_path / "ws"


@pytest.fixture(params=["policy", "grants"])
def permitted(request, nocturn, ws):
    """A workspace in which bob may write in mode strict; the file that says so."""
    if request.param == "grants":
        assert nocturn("grants", "add", "bob", "write", "a.md").returncode == 0
        return ws / "grants.json"
    assert nocturn("init").returncode == 0
    (ws / "policy.toml").write_text(ALLOW)
    assert nocturn("trust", "--yes").returncode == 0
    return ws / "policy.toml"


@pytest.fixture
def write(nocturn):
    def write(**environment):
        words = ("memory", "write", "a.md", "s", "c", "--strict", "--agent", "bob")
        return nocturn(*words, **environment).returncode

    return write


def test_a_copy_brings_no_permissions_and_the_original_keeps_its_own(permitted, write, ws):
    assert write() == 0
    shutil.copytree(ws, ws.with_name("copy"))
    assert write(NOCTURN_WORKSPACE=str(ws.with_name("copy"))) == 2
    assert write() == 0
    assert permitted.exists()


def test_a_workspace_that_was_moved_needs_to_be_trusted_again(permitted, write, nocturn, ws):
    moved = ws.with_name("moved")
    shutil.move(ws, moved)
    assert write(NOCTURN_WORKSPACE=str(moved)) == 2
    assert nocturn("trust", "--yes", NOCTURN_WORKSPACE=str(moved)).returncode == 0
    assert write(NOCTURN_WORKSPACE=str(moved)) == 0
    listed = nocturn("trust", "--list").stdout.splitlines()
    assert [str(permitted), "gone"] in [each.split() for each in listed]


def test_another_user_who_gets_the_folder_gets_no_permissions(permitted, write, tmp_path):
    assert write(NOCTURN_DATA=str(tmp_path / "somebody else")) == 2
    assert permitted.exists()


def test_a_hand_edit_is_refused_until_it_is_trusted_and_undoing_it_is_enough(permitted, write):
    text = permitted.read_text()
    permitted.write_text(text + "\n")
    assert write() == 2
    permitted.write_text(text)
    assert write() == 0


def test_an_old_policy_that_is_put_back_brings_nothing_back(nocturn, write, ws):
    nocturn("init")
    (ws / "policy.toml").write_text(ALLOW)
    nocturn("trust", "--yes")
    assert write() == 0
    (ws / "policy.toml").write_text(DENY)
    nocturn("trust", "--yes")
    assert write() == 3
    (ws / "policy.toml").write_text(ALLOW)
    assert write() == 2


def test_old_grants_that_are_put_back_bring_nothing_back(nocturn, write, ws):
    nocturn("grants", "add", "bob", "write", "a.md")
    old = (ws / "grants.json").read_bytes()
    nocturn("grants", "revoke", "--all")
    assert write() == 3
    (ws / "grants.json").write_bytes(old)
    assert write() == 2


def test_a_policy_that_comes_with_a_folder_is_no_policy_even_when_you_look_on(nocturn, ws):
    ws.mkdir(mode=0o755)
    (ws / "policy.toml").write_text(ALLOW)
    (ws / "policy.toml").chmod(0o644)
    done = nocturn("memory", "write", "a.md", "s", "c", "--watched", "--agent", "bob")
    assert done.returncode == 2
    assert not (ws / "memory").exists()
