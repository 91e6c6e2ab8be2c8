"""``nocturn grants``: every command, and what a strict run makes of it."""

import json
from datetime import UTC, datetime, timedelta

import pytest


@pytest.fixture
def nocturn(nocturn_here):
    return nocturn_here


@pytest.fixture
def strict(nocturn):
    """Writes a note as an agent in mode strict, and gives the exit status."""

    def write(path, agent="bob"):
        return nocturn("memory", "write", path, "s", "c", "--strict", "--agent", agent).returncode

    return write


@pytest.fixture
def add(nocturn):
    """Gives a grant, and returns its id."""

    def add(*words):
        done = nocturn("grants", "add", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()[0]

    return add


def listed(nocturn):
    return json.loads(nocturn("grants", "list", "--json").stdout)


def test_the_strict_refusal_names_the_command_that_lets_it_run(nocturn, strict):
    done = nocturn("memory", "write", "people/lina.md", "s", "c", "--strict", "--agent", "bob")
    assert done.returncode == 3
    assert "nocturn grants add bob" in done.stderr
    assert nocturn("grants", "add", "bob", "write", "people/lina.md").returncode == 0
    assert strict("people/lina.md") == 0
    assert strict("people/lina.md", "eve") == 3
    assert strict("people/otto.md") == 3


def test_a_folder_is_what_is_right_in_it(add, strict):
    add("bob", "write", "people", "--folder")
    assert strict("people/lina.md") == 0
    assert strict("people/x/y.md") == 3
    assert strict("peoples/a.md") == 3


@pytest.mark.parametrize("spelling", ["people", "people/", "people/*"])
def test_a_folder_may_be_spelled_as_people_spell_it(add, nocturn, spelling):
    add("bob", "write", spelling, "--folder")
    assert [(row["target"], row["folder"]) for row in listed(nocturn)] == [("people", True)]


def test_a_name_is_kept_in_its_canonical_form(add, strict):
    add("bob", "write", "cafe\u0301.md")
    assert strict("caf\u00e9.md") == 0


def test_a_grant_may_end_by_itself(add, nocturn):
    add("bob", "write", "a.md", "--for", "7d")
    (row,) = listed(nocturn)
    ends = datetime.fromisoformat(row["expires_at"]) - datetime.fromisoformat(row["made_at"])
    assert ends == timedelta(days=7)
    assert "until " in nocturn("grants", "list").stdout


def test_a_grant_that_has_ended_covers_nothing_and_is_shown_so(add, nocturn, strict, tmp_path):
    add("bob", "write", "a.md", "--for", "1m")
    assert strict("a.md") == 0
    file = tmp_path / "ws/grants.json"
    row = json.loads(file.read_text())["grants"][0]
    past = (datetime.now(UTC) - timedelta(seconds=2)).isoformat(timespec="seconds")
    file.write_text(file.read_text().replace(row["expires_at"], past.replace("+00:00", "Z")))
    nocturn("trust", "--yes")
    assert strict("a.md") == 3
    assert "expired" in nocturn("grants", "list").stdout
    assert "expired" in nocturn("grants", "explain", "memory", "write", "a.md", "bob").stdout


def test_list_shows_which_notes_each_covers_now(add, nocturn):
    folder, one = add("bob", "write", "people", "--folder"), add("bob", "remove", "todo.md")
    assert [row["covers"] for row in listed(nocturn)] == [[], []]
    for path in ("people/a.md", "people/x/b.md", "todo.md"):
        nocturn("memory", "write", path, "s", "c", "--watched")
    assert {row["id"]: row["covers"] for row in listed(nocturn)} == {
        folder: ["people/a.md"],
        one: ["todo.md"],
    }
    shown = nocturn("grants", "list").stdout
    assert "now people/a.md" in shown
    assert "people/*" in shown


def test_a_grant_of_another_kind_covers_no_notes(add, nocturn):
    add("bob", "send", "lina*", "--kind", "mail")
    (row,) = listed(nocturn)
    assert (row["kind"], row["target"], row["covers"]) == ("mail", "lina*", None)
    assert r"lina\*" in nocturn("grants", "list").stdout


@pytest.mark.parametrize(
    ("status", "words"),
    [(1, ["write", "people/*"]), (3, ["write", "../a.md"]), (2, ["write", "a.md", "--for", "0d"])],
)
def test_what_could_never_cover_a_call_is_no_grant(nocturn, tmp_path, status, words):
    assert nocturn("grants", "add", "bob", *words).returncode == status
    assert not (tmp_path / "ws").exists()


def test_a_grant_that_the_policy_denies_says_so(nocturn, tmp_path):
    nocturn("init")
    file = tmp_path / "ws/policy.toml"
    file.write_text("version = 1\n[[rule]]\nruling = 'deny'\nkind = 'memory'\n")
    nocturn("trust", "--yes")
    assert "policy.toml:2" in nocturn("grants", "add", "bob", "write", "a.md").stderr


# ---- taking back ---------------------------------------------------------------------------------


def test_a_grant_is_revoked_by_its_id(add, nocturn, strict):
    one, other = add("bob", "write", "a.md"), add("bob", "write", "b.md")
    assert nocturn("grants", "revoke", one).stdout == f"{one}: revoked\n"
    assert (strict("a.md"), strict("b.md")) == (3, 0)
    assert add("bob", "write", "a.md") == one
    assert nocturn("grants", "revoke", one, other).returncode == 0
    assert listed(nocturn) == []


def test_all_of_an_agent_or_all_there_are_may_be_revoked(add, nocturn):
    for agent in ("bob", "eve"):
        for path in ("a.md", "b.md"):
            add(agent, "write", path)
    nocturn("grants", "revoke", "--agent", "bob")
    assert {row["agent"] for row in listed(nocturn)} == {"eve"}
    nocturn("grants", "revoke", "--all")
    assert listed(nocturn) == []
    assert nocturn("grants", "revoke", "--all").returncode == 0


@pytest.mark.parametrize("words", [[], ["00000000"], ["--all", "--agent", "bob"], ["", "--all"]])
def test_a_revocation_that_does_not_say_what_takes_nothing_back(add, nocturn, words):
    one = add("bob", "write", "a.md")
    assert nocturn("grants", "revoke", *words).returncode == 2
    assert nocturn("grants", "revoke", one, "00000000").returncode == 2
    assert len(listed(nocturn)) == 1


# ---- why -----------------------------------------------------------------------------------------


def test_explain_says_what_covers_a_call_and_why_the_others_do_not(add, nocturn):
    folder, exact = add("bob", "write", "people", "--folder"), add("eve", "write", "people/a.md")

    def explained(*words):
        rows = json.loads(nocturn("grants", "explain", *words, "--json").stdout)
        return {row["id"]: row["why_not"] for row in rows}

    told = explained("memory", "write", "people/a.md", "bob")
    assert (told[folder], "agent" in told[exact]) == (None, True)
    told = explained("memory", "remove", "people/a.md", "bob")
    assert "memory write" in told[folder]
    told = explained("memory", "write", "people/x/a.md", "bob")
    assert "folder" in told[folder]
    shown = nocturn("grants", "explain", "memory", "write", "people/a.md", "bob").stdout
    assert "covers it" in shown
    shown = nocturn("grants", "explain", "memory", "write", "b.md", "bob").stdout
    assert shown.startswith("no grant covers it\n")


def test_nothing_granted_is_said_and_makes_nothing(nocturn, tmp_path):
    assert nocturn("grants", "list").stdout == ""
    assert nocturn("grants", "list", "--json").stdout == "[]\n"
    done = nocturn("grants", "explain", "memory", "write", "a.md", "bob")
    assert (done.returncode, done.stdout) == (0, "no grant covers it: there are none\n")
    assert not (tmp_path / "ws").exists()
