"""Policy, grants and trust through whole runs: the rows of section 6 that a policy file brings."""

import json
import subprocess
import sys
from datetime import timedelta

import pytest

from nocturn import ConfigurationError, Limits, NocturnError, tool
from nocturn.effects import Effect, Grant, Mode
from nocturn.testing import FixedSecrets, RecordingApprover

WRITE = "nocturn.memory.write('people/lina.md', 's', 'c')"
COMMAND = [sys.executable, "-c", "from nocturn.cli.main import main; main()"]


@pytest.fixture
def person():
    return RecordingApprover()


@pytest.fixture
def ws(nocturn_workspace, person):
    return nocturn_workspace(approver=person)


def rule(ruling, **points):
    lines = {"kind": "memory", **points, "ruling": ruling}
    return "[[rule]]\n" + "".join(f"{key} = {json.dumps(lines[key])}\n" for key in lines)


@pytest.fixture
def policy(ws):
    """Writes the workspace's policy and trusts it, as a person would."""

    def put(*rules):
        ws.permissions.set_up()
        (ws.path / "policy.toml").write_text("version = 1\n" + "".join(rules))
        ws.permissions.trust(ws.permissions.read("policy.toml"))

    return put


def denied(result):
    assert result.status == "guest_error"
    assert result.error.code == "GATE_DENIED"
    return result.error.detail["reason"]


def ruling(result):
    assert result.ok, result.error
    return result.calls[-1].ruling


# ---- policy -------------------------------------------------------------------------------------


def test_allow_runs_in_every_mode_and_nobody_is_asked(ws, policy, person):
    policy(rule("allow", agent="bob", target="people/*"))
    for mode in ("strict", "guarded", "watched"):
        assert ruling(ws.run(WRITE, mode=mode, agent="bob")) == "allow"
    assert person.questions == []
    assert denied(ws.run(WRITE, agent="eve")) == "unattended"
    assert denied(ws.run(WRITE)) == "unattended"


def test_deny_beats_a_grant_and_an_allow_and_says_its_line(ws, policy, person):
    ws.permissions.grant("bob", "write", "people", folder=True)
    policy(rule("allow", agent="bob", target="people/lina.md"), rule("deny", target="people/**"))
    for mode in ("strict", "guarded", "watched"):
        result = ws.run(WRITE, mode=mode, agent="bob")
        assert denied(result) == "policy"
        assert "policy.toml:7" in result.error.message
    assert person.questions == []
    assert not (ws.path / "memory/people").exists()


def test_ask_is_asked_even_when_watched(ws, policy, person):
    policy(rule("ask", recall="session", target="people/*", mode="watched"))
    assert ruling(ws.run(WRITE, mode="watched")) == "once"
    assert ruling(ws.run("nocturn.memory.write('a.md', 's', 'c')", mode="watched")) == "allow"
    assert len(person.questions) == 1


def test_with_ceiling_never_grants_are_not_read_and_nothing_is_remembered(ws, policy, person):
    ws.permissions.grant("bob", "write", "people/lina.md")
    before = (ws.path / "grants.json").read_bytes()
    policy(rule("ask", target="people/*"))
    for answer in (True, "once"):
        person.answer = answer
        assert ruling(ws.run(WRITE, mode="guarded", agent="bob")) == "once"
    for answer in ("session", "always", "widen"):
        person.answer = answer
        assert denied(ws.run(WRITE, mode="guarded", agent="bob")) == "declined"
    assert {tuple(o.value for o in q.options) for q in person.questions} == {("once",)}
    assert denied(ws.run(WRITE, agent="bob")) == "unattended"
    assert (ws.path / "grants.json").read_bytes() == before


def test_an_exact_answer_above_the_ceiling_is_not_offered_and_a_widening_is_cut_to_it(
    ws, policy, person, nocturn_workspace
):
    policy(rule("ask", recall="session"))
    person.answer = "always"
    assert denied(ws.run(WRITE, mode="guarded", agent="bob")) == "declined"
    assert [each.value for each in person.questions[0].options] == ["once", "session", "widen"]
    person.answer = "widen"
    assert ruling(ws.run(WRITE, mode="guarded", agent="bob")) == "widen"
    assert ruling(ws.run(WRITE, agent="bob")) == "grant"
    assert not (ws.path / "grants.json").exists()
    ws.close()
    assert denied(nocturn_workspace().run(WRITE, agent="bob")) == "unattended"


def test_a_yes_that_lasts_longer_than_the_ceiling_now_allows_is_none(ws, policy):
    ws.permissions.grant("bob", "write", "people/lina.md")
    assert ruling(ws.run(WRITE, agent="bob")) == "grant"
    policy(rule("ask", recall="session"))
    assert denied(ws.run(WRITE, agent="bob")) == "unattended"


def test_a_rule_for_every_kind_reaches_tools_of_ones_own(nocturn_workspace, person):
    @tool(axis="write", effects=[("mail", "send", "to")])
    def send_mail(to: str) -> str:
        return to

    ws = nocturn_workspace(approver=person, tools=[send_mail])
    ws.permissions.set_up()
    text = "version = 1\n" + rule("deny", kind="*", target="**evil**")
    (ws.path / "policy.toml").write_text(text)
    ws.permissions.trust(ws.permissions.read("policy.toml"))
    assert denied(ws.run("nocturn.call('send_mail', {to: 'a@evil.example'})", mode="watched")) == (
        "policy"
    )
    assert ws.run("nocturn.call('send_mail', {to: 'lina'})", mode="watched").value == "lina"


def test_a_policy_that_changes_counts_from_the_next_call_on(ws, policy):
    assert ruling(ws.run(WRITE, mode="watched")) == "allow"
    policy(rule("deny"))
    assert denied(ws.run(WRITE, mode="watched")) == "policy"
    (ws.path / "policy.toml").unlink()
    assert ruling(ws.run(WRITE, mode="watched")) == "allow"


@pytest.mark.parametrize("text", ["", "version = 1\n[[rule]]\n", "version = 2", "\x00"])
def test_a_broken_file_refuses_every_gated_call_even_where_it_is_trusted(ws, person, text):
    ws.permissions.set_up()
    file = ws.path / "policy.toml"
    file.write_text(text)
    ws.permissions._book.record(file, text.encode())
    for mode in ("strict", "guarded", "watched"):
        result = ws.run(WRITE, mode=mode)
        assert denied(result) == "policy"
        assert "policy.toml:" in result.error.message
        assert result.error.detail["configuration"] == "policy.toml"
    assert ws.run("nocturn.memory.list()").ok
    assert person.questions == []
    assert file.read_text() == text


def test_explain_agrees_with_what_happens(ws, policy):
    policy(
        rule("allow", target="open/**"),
        rule("ask", target="money/*"),
        rule("deny", target="**/secret*.md"),
        rule("ask", recall="always", agent="bob", target="open/asked.md"),
    )
    for target in ("money/a.md", "people/a.md"):
        ws.permissions.grant("bob", "write", target)
    ws.permissions.grant("bob", "write", "wide", folder=True)
    for path in (
        "a.md", "open/a.md", "open/x/a.md", "open/secret.md", "secrets.md", "open/asked.md",
        "money/a.md", "people/a.md", "wide/a.md", "wide/x/a.md",
    ):  # fmt: skip
        for agent in ("bob", "eve"):
            told = ws.permissions.explain(Mode.STRICT, Effect("memory", "write", path), agent)
            result = ws.run(f"nocturn.memory.write({path!r}, 's', 'c')", agent=agent)
            assert result.calls[0].ruling == told.outcome, (path, agent)


# ---- grants -------------------------------------------------------------------------------------


def test_a_grant_given_ahead_lets_a_strict_run(ws):
    ws.permissions.grant("bob", "write", "people", folder=True, lasting=timedelta(days=1))
    assert ruling(ws.run(WRITE, agent="bob")) == "grant"
    assert denied(ws.run("nocturn.memory.remove('people/lina.md')", agent="bob")) == "unattended"


def test_a_grant_whose_time_is_over_covers_nothing(ws):
    given = ws.permissions.grant("bob", "write", "people/lina.md", lasting=timedelta(hours=1))
    assert ruling(ws.run(WRITE, agent="bob")) == "grant"
    file = ws.path / "grants.json"
    file.write_text(file.read_text().replace(given.to_dict()["expires_at"], "2020-01-01T00:00:00Z"))
    ws.permissions.trust(ws.permissions.read("grants.json"))
    assert [each.expired for each in ws.grants.load()] == [True]
    assert denied(ws.run(WRITE, agent="bob")) == "unattended"


def test_a_grant_that_another_process_revokes_is_gone_in_the_middle_of_a_run(nocturn_workspace):
    @tool(axis="read", effects="ungated")
    def revoke(agent: str) -> str:
        words = ["grants", "revoke", "--agent", agent, "--workspace", str(ws.path)]
        subprocess.run([*COMMAND, *words], check=True, capture_output=True)
        return agent

    ws = nocturn_workspace(tools=[revoke], limits=Limits(wall_seconds=60))
    ws.permissions.grant("bob", "write", "people/lina.md")
    source = f"{WRITE}; nocturn.call('revoke', {{agent: 'bob'}}); {WRITE}"
    result = ws.run(source, agent="bob")
    assert [call.ruling for call in result.calls] == ["grant", "ungated", "unattended"]
    assert ws.grants.load() == ()


def test_grants_are_listed_and_revoked_from_python(ws, person):
    person.answer = "always"
    ws.run(WRITE, mode="guarded", agent="bob")
    (grant,) = ws.grants.load()
    assert grant == Grant("bob", "memory", "write", "people/lina.md")
    assert ws.permissions.covered(grant) == ("people/lina.md",)
    assert ws.grants.revoke(grant.id) == (grant,)
    assert denied(ws.run(WRITE, agent="bob")) == "unattended"


@pytest.mark.parametrize(
    ("agent", "verb", "target", "more"),
    [("bob", "write", "a.txt", {}), ("bob", "write", "people/*", {}),
     ("bob", "write", "../a.md", {}), ("bob", "wirte", "a.md", {}), ("a b", "write", "a.md", {}),
     ("", "write", "a.md", {}),
     ("bob", "write", "", {"folder": True}), ("bob", "write", "..", {"folder": True}),
     ("bob", "write", "/", {"folder": True}), ("bob", "write", "a/./b", {"folder": True}),
     ("bob", "", "x", {"kind": "mail"}), ("bob", "send", "", {"kind": "mail"}),
     ("script:0123456789abcdef", "write", "a.md", {}),
     ("bob", "write", "a.md", {"lasting": timedelta(0)})],
)  # fmt: skip
def test_what_could_never_cover_a_call_is_no_grant(ws, agent, verb, target, more):
    with pytest.raises(NocturnError) as refused:
        ws.permissions.grant(agent, verb, target, **more)
    assert refused.value.code in ("BAD_ARGUMENTS", "PATH_ESCAPE")
    assert not ws.path.exists()


def test_a_secret_is_not_written_into_the_grants(nocturn_workspace):
    ws = nocturn_workspace(secrets=[FixedSecrets(TOKEN="correct-horse-7731-battery")])
    with pytest.raises(NocturnError) as refused:
        ws.permissions.grant("bob", "write", "correct-horse-7731-battery.md")
    assert refused.value.code == "LEAK_BLOCKED"
    assert "correct-horse" not in refused.value.message
    assert not ws.path.exists()


def test_a_star_that_is_granted_is_a_star(nocturn_workspace):
    @tool(axis="write", effects=[("list", "add", "what")])
    def add(what: str) -> str:
        return what

    ws = nocturn_workspace(tools=[add])
    ws.permissions.grant("bob", "add", "milk/*", kind="list")
    assert ws.run("nocturn.call('add', {what: 'milk/*'})", agent="bob").ok
    assert denied(ws.run("nocturn.call('add', {what: 'milk/oat'})", agent="bob")) == "unattended"
    ws.permissions.grant("bob", "add", "milk", kind="list", folder=True)
    assert ws.run("nocturn.call('add', {what: 'milk/oat'})", agent="bob").ok
    assert denied(ws.run("nocturn.call('add', {what: 'milk/..'})", agent="bob")) == "unattended"


# ---- trust --------------------------------------------------------------------------------------


def test_what_is_trusted_is_what_was_read_and_nothing_newer(ws):
    ws.permissions.set_up()
    file = ws.path / "policy.toml"
    file.write_text("version = 1\n" + rule("deny"))
    shown = ws.permissions.read("policy.toml")
    file.write_text("version = 1\n" + rule("allow"))
    with pytest.raises(NocturnError) as refused:
        ws.permissions.trust(shown)
    assert refused.value.code == "CONFLICT"
    with pytest.raises(ConfigurationError):
        ws.permissions.policy()


def test_what_a_file_of_elsewhere_says_is_shown_without_being_taken(ws):
    ws.path.mkdir(mode=0o700)
    (ws.path / "policy.toml").write_text("version = 1\n" + rule("allow"))
    shown = ws.permissions.read("policy.toml")
    assert not shown.trusted
    assert [each.decision.name for each in shown.policy.rules] == ["ALLOW"]
    assert denied(ws.run(WRITE, mode="watched")) == "policy"
