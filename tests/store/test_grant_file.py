"""Grants: kept whole, taken only if this user's nocturn wrote them, and never a pattern."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from nocturn.effects import Effect, Grant
from nocturn.errors import ConfigurationError, NocturnError
from nocturn.store.grants import GrantFile
from nocturn.store.trust import TrustBook

ONE = Grant("coder", "memory", "write", "people/lina.md")
WIDE = Grant("coder", "memory", "write", "people", folder=True)

ADD = """
import sys
from pathlib import Path
from nocturn.effects import Grant
from nocturn.store.grants import GrantFile
from nocturn.store.trust import TrustBook
file = GrantFile(Path(sys.argv[1]) / "grants.json", TrustBook(Path(sys.argv[2])))
for i in range(8):
    file.add(Grant("coder", "memory", "write", f"{sys.argv[3]}-{i}.md"))
"""

# Ends the process, as a crash would, at the n-th rename: between any two steps of a save.
CRASH = """
import os, sys
renames, real = [], os.replace
def crash(*args, **how):
    if len(renames) == int(sys.argv[4]):
        os._exit(9)
    renames.append(1)
    return real(*args, **how)
os.replace = crash
"""


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def grants(workspace, data):
    return GrantFile(workspace / "grants.json", TrustBook(data))


def unusable(grants):
    with pytest.raises(ConfigurationError) as caught:
        grants.load()
    assert "grants.json" in caught.value.message
    assert "move it away" in caught.value.message
    return caught.value.message


def test_a_missing_file_is_no_grants_and_loading_makes_nothing(grants, workspace, data):
    assert grants.load() == ()
    assert list(workspace.iterdir()) == []
    assert not data.exists()


def test_what_was_added_is_loaded_in_order_and_once(grants, workspace, data):
    grants.add(ONE)
    grants.add(WIDE)
    grants.add(ONE)
    assert grants.load() == (ONE, WIDE)
    assert GrantFile(workspace / "grants.json", TrustBook(data)).load() == (ONE, WIDE)
    assert stat.S_IMODE((workspace / "grants.json").stat().st_mode) == 0o600


def test_a_literal_star_stays_a_star(grants):
    grants.add(Grant("coder", "memory", "write", "people/*.md"))
    (grant,) = grants.load()
    assert grant.covers("coder", Effect("memory", "write", "people/*.md"))
    assert not grant.covers("coder", Effect("memory", "write", "people/lina.md"))


def test_a_workspace_that_was_copied_brings_no_grants(grants, workspace, data, tmp_path):
    grants.add(ONE)
    shutil.copytree(workspace, tmp_path / "copy")
    unusable(GrantFile(tmp_path / "copy" / "grants.json", TrustBook(data)))


def test_another_user_does_not_take_them(grants, workspace, tmp_path):
    grants.add(ONE)
    unusable(GrantFile(workspace / "grants.json", TrustBook(tmp_path / "other")))


def test_a_hand_edit_is_refused_and_left_as_it_is(grants, workspace):
    grants.add(ONE)
    file = workspace / "grants.json"
    edited = file.read_text().replace("coder", "other")
    file.write_text(edited)
    unusable(grants)
    with pytest.raises(ConfigurationError):
        grants.add(WIDE)
    assert file.read_text() == edited


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"version":3,"grants":[]}', '{"version":1,"grants":[{}]}', "[" * 60_000,
     '{"version":1,"grants":[],"extra":1}', '{"version":"1","grants":[]}',
     '{"version":1,"grants":[{"agent":"a","kind":"memory","verb":"write","target":"","folder":false}]}',
     '{"version":1,"grants":[{"agent":"a","kind":"k","verb":"v","target":"t","folder":1}]}',
     '{"version":1.5,"grants":[]}'],
)  # fmt: skip
def test_a_broken_file_is_refused_even_where_it_is_trusted_and_left_as_it_is(
    grants, workspace, data, text
):
    (workspace / "grants.json").write_text(text)
    TrustBook(data).record(workspace / "grants.json", text.encode())
    assert "broken" in unusable(grants)
    with pytest.raises(ConfigurationError):
        grants.add(ONE)
    assert (workspace / "grants.json").read_text() == text


@pytest.mark.parametrize(
    "moment",
    [9, "9", "", "2999-01-01", "2999-01-01T00:00:00", "2999-13-01T00:00:00Z", "never", True,
     "2999-01-01T02:00:00+02:00", "2999-01-01T00:00:00Z\n"],
)  # fmt: skip
def test_what_is_no_moment_in_utc_is_broken_and_not_for_ever(grants, workspace, data, moment):
    row = {"agent": "a", "kind": "k", "verb": "v", "target": "t", "expires_at": moment}
    text = json.dumps({"version": 2, "grants": [row]})
    (workspace / "grants.json").write_text(text)
    TrustBook(data).record(workspace / "grants.json", text.encode())
    assert "broken at" in unusable(grants)


@pytest.mark.parametrize("kind", ["folder", "fifo", "link", "link outside"])
def test_what_is_no_plain_file_is_refused(grants, workspace, tmp_path, kind):
    file = workspace / "grants.json"
    grants.add(ONE)
    file.rename(workspace / "elsewhere.json")
    if kind == "folder":
        file.mkdir()
    elif kind == "fifo":
        os.mkfifo(file)
    elif kind == "link":
        file.symlink_to("elsewhere.json")
    else:
        (workspace / "elsewhere.json").rename(tmp_path / "out.json")
        file.symlink_to(tmp_path / "out.json")
    message = unusable(grants)
    assert str(tmp_path) not in message
    assert ("link" in message) == ("link" in kind)


def test_a_workspace_behind_a_link_is_the_users_business(grants, workspace, data, tmp_path):
    (tmp_path / "link").symlink_to(workspace)
    linked = GrantFile(tmp_path / "link" / "grants.json", TrustBook(data))
    linked.add(ONE)
    assert grants.load() == (ONE,)


@pytest.mark.parametrize("renames", [0, 1, 2, 3])
@pytest.mark.parametrize("first", [True, False])
def test_a_crash_at_any_step_leaves_a_file_that_is_whole_and_trusted(
    grants, workspace, data, renames, first
):
    if not first:
        grants.add(ONE)
    before = grants.load()
    script = CRASH + ADD.replace("range(8)", "range(1)")
    ended = subprocess.run(
        [sys.executable, "-c", script, workspace, data, "new", str(renames)], check=False
    )
    assert ended.returncode == (9 if renames < 3 else 0)
    new = Grant("coder", "memory", "write", "new-0.md")
    assert grants.load() == (before if renames < 2 else (*before, new))
    grants.add(WIDE)
    assert WIDE in grants.load()


def test_grants_of_many_processes_are_all_kept(grants, workspace, data):
    writers = [
        subprocess.Popen([sys.executable, "-c", ADD, workspace, data, str(i)]) for i in range(4)
    ]
    assert [each.wait() for each in writers] == [0] * 4
    assert len(grants.load()) == 32
    assert sorted(each.name for each in workspace.iterdir()) == [".nocturn", "grants.json"]


def test_a_save_that_fails_says_so_and_keeps_what_was_there(as_nobody):
    (as_nobody / "ws").mkdir()
    grants = GrantFile(as_nobody / "ws/grants.json", TrustBook(as_nobody / "data"))
    grants.add(ONE)
    (as_nobody / "ws").chmod(0o500)
    with pytest.raises(NocturnError) as caught:
        grants.add(WIDE)
    assert caught.value.code == "STORAGE"
    assert grants.load() == (ONE,)


def test_the_file_is_json_that_a_person_can_read(grants, workspace):
    grants.add(replace(ONE, made_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)))
    book = json.loads((workspace / "grants.json").read_text())
    assert book == {
        "version": 2,
        "grants": [
            {
                "agent": "coder",
                "kind": "memory",
                "verb": "write",
                "target": "people/lina.md",
                "folder": False,
                "made_at": "2026-01-02T03:04:05Z",
                "expires_at": None,
            }
        ],
    }


def test_a_file_of_the_first_version_is_read_and_becomes_one_of_the_second(grants, workspace, data):
    row = {"agent": "coder", "kind": "memory", "verb": "write", "target": "people/lina.md"}
    text = json.dumps({"version": 1, "grants": [row]})
    (workspace / "grants.json").write_text(text)
    (workspace / "grants.json").chmod(0o600)
    TrustBook(data).record(workspace / "grants.json", text.encode())
    assert grants.load() == (ONE,)
    assert grants.load()[0].made_at is None
    grants.add(WIDE)
    assert grants.load() == (ONE, WIDE)
    assert json.loads((workspace / "grants.json").read_text())["version"] == 2


# ---- time ---------------------------------------------------------------------------------------

PAST, FUTURE = datetime(2020, 1, 1, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC)
LINA = Effect("memory", "write", "people/lina.md")


def test_a_grant_knows_when_it_was_made(grants):
    before = datetime.now(UTC)
    grants.add(ONE)
    (made,) = grants.load()
    assert before.replace(microsecond=0) <= made.made_at <= datetime.now(UTC)


def test_a_grant_covers_until_it_expires_and_never_after(grants):
    grants.add(replace(ONE, expires_at=FUTURE))
    (grant,) = grants.load()
    assert grant.expires_at == FUTURE
    assert grant.covers("coder", LINA)
    assert not replace(grant, expires_at=PAST).covers("coder", LINA)
    grants.add(replace(ONE, expires_at=PAST))
    assert grants.load() == ()


def test_a_grant_that_is_given_again_has_its_last_times(grants):
    grants.add(replace(ONE, expires_at=FUTURE))
    grants.add(WIDE)
    grants.add(ONE)
    assert grants.load() == (WIDE, ONE)


def test_what_has_expired_is_gone_with_the_next_save(grants, workspace, data):
    grants.add(ONE)
    grants.add(replace(WIDE, expires_at=FUTURE))
    file = workspace / "grants.json"
    text = file.read_text().replace("2999", "2020")
    file.write_text(text)
    TrustBook(data).record(file, text.encode())
    assert [each.expired for each in grants.load()] == [False, True]
    other = Grant("other", "memory", "write", "a.md")
    grants.add(other)
    assert grants.load() == (ONE, other)


# ---- taking back --------------------------------------------------------------------------------


def test_what_was_revoked_is_gone_and_the_rest_stays(grants):
    grants.add(ONE)
    grants.add(WIDE)
    assert grants.revoke(ONE.id) == (ONE,)
    assert grants.load() == (WIDE,)
    assert grants.revoke(ONE.id, "00000000") == ()
    assert grants.load() == (WIDE,)


def test_revoking_nothing_makes_nothing(grants, workspace):
    assert grants.revoke(ONE.id) == ()
    assert list(workspace.iterdir()) == []


def test_an_old_copy_that_is_put_back_brings_nothing_back(grants, workspace):
    grants.add(ONE)
    old = (workspace / "grants.json").read_bytes()
    grants.revoke(ONE.id)
    (workspace / "grants.json").write_bytes(old)
    unusable(grants)


def test_a_revocation_that_fails_says_so(as_nobody):
    (as_nobody / "ws").mkdir()
    grants = GrantFile(as_nobody / "ws/grants.json", TrustBook(as_nobody / "data"))
    grants.add(ONE)
    (as_nobody / "ws").chmod(0o500)
    with pytest.raises(NocturnError) as caught:
        grants.revoke(ONE.id)
    assert caught.value.code == "STORAGE"
    assert grants.load() == (ONE,)


def test_an_id_is_of_what_is_granted_alone_and_tells_a_folder_from_a_star(grants):
    grants.add(replace(ONE, expires_at=FUTURE))
    assert grants.load()[0].id == ONE.id
    folder = Grant("a", "memory", "write", "people", folder=True)
    star = Grant("a", "memory", "write", "people/*")
    assert folder.id != star.id
    assert (folder.pattern, star.pattern) == ("people/*", r"people/\*")


def test_the_file_does_not_grow_by_what_is_given_twice_at_once(grants, workspace, data):
    writers = [
        subprocess.Popen([sys.executable, "-c", ADD, workspace, data, "same"]) for _ in range(2)
    ]
    assert [each.wait() for each in writers] == [0] * 2
    assert len(grants.load()) == 8
