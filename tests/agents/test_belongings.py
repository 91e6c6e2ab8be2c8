"""What an agent has, with a workspace and without: one road, one budget, and no way around it."""

import json
from dataclasses import dataclass, field

import pytest

from nocturn import ConfigurationError, tool
from nocturn.agents.bare import BareStage
from nocturn.agents.belongings import NOTE_TOOLS, Belongings, host_tools
from nocturn.agents.briefing import briefing, offers
from nocturn.agents.tool import ToolContext, ToolResult
from nocturn.testing import FixedSecrets, RecordingApprover

SECRET = "q7Xw2Lm9Zt4Kd8RvP3sN6bHc"


@tool(axis="write", effects=[("mail", "send", "to")])
def send_mail(to: str, urgent: bool = False) -> str:
    """Sends a mail."""
    return f"sent to {to}, and the house key is {SECRET}{'!' if urgent else ''}"


@dataclass
class Search:
    """A tool of somebody's own making."""

    name: str = "web_search"
    description: str = "Searches the web."
    parameters: dict = field(default_factory=lambda: {"type": "object", "title": "mine"})
    given: list = field(default_factory=list)

    async def execute(self, arguments, ctx=None):
        self.given.append((arguments, ctx is not None and ctx.alive()))
        fails = arguments.get("words") == "nothing"
        return ToolResult(f"found {SECRET}", is_error=fails)


@pytest.fixture
def persona(tmp_path):
    folder = tmp_path / "ava"
    folder.mkdir()
    return folder


@pytest.fixture(params=["a workspace", "none"])
def stage(request, nocturn_workspace, persona):
    secrets = [FixedSecrets(house=SECRET)]
    if request.param == "a workspace":
        yield nocturn_workspace(secrets=secrets)
    else:
        with BareStage(persona, secrets) as bare:
            yield bare


@pytest.fixture
def have(stage):
    made = []

    def have(*tools, on=stage, notes=(), **options):
        has = Belongings(on, tools=host_tools(tools), notes=notes, **options)
        made.append(has)
        return {each.name: each for each in has.tools}

    yield have
    for each in made:
        each.close()


def test_with_a_workspace_and_without_one_the_hosts_tools_take_the_road_from_model_and_script(have):
    person, search = RecordingApprover(), Search()
    has = have(send_mail, search, mode="guarded", approver=person)
    assert list(has) == ["code_run", "send_mail", "web_search"]
    sent = has["send_mail"].execute({"to": "lina"})
    assert (sent.output, sent.is_error) == (
        "sent to lina, and the house key is [REDACTED]",
        False,
    )
    code = """
      print(nocturn.call("send_mail", {to: "bob"}));
      print(nocturn.call("web_search", {words: ["anything", 1]}));
      try { nocturn.call("web_search", {words: "nothing"}) } catch (e) { print(e.code, e.message) }
      try { nocturn.call("code_run", {code: "1"}) } catch (e) { print(e.code) }
    """
    told = json.loads(has["code_run"].execute({"code": code}).output)
    assert [line["text"] for line in told["console"]] == [
        "sent to bob, and the house key is [REDACTED]",
        "found [REDACTED]",
        "INTERNAL found [REDACTED]",
        "UNKNOWN_TOOL",
    ]
    assert [each["ruling"] for each in told["calls"]] == ["once", "ungated", "ungated", None]
    assert search.given == [({"words": ["anything", 1]}, True), ({"words": "nothing"}, True)]
    assert [each.effects[0].target for each in person.questions] == ["lina", "bob"]


def test_what_goes_wrong_is_a_result_that_says_so(have):
    has = have(send_mail, Search())
    for name, arguments, code in (
        ("send_mail", {"to": "lina"}, "GATE_DENIED"),
        ("send_mail", {"to": 1}, "BAD_ARGUMENTS"),
        ("send_mail", ["lina"], "BAD_ARGUMENTS"),
        ("send_mail", {"to": {1}}, "BAD_ARGUMENTS"),
        ("code_run", {"code": "1", "more": 1}, "BAD_ARGUMENTS"),
        ("code_run", {"code": "x" * 262_145}, "TOO_LARGE"),
        ("web_search", {"words": SECRET}, "LEAK_BLOCKED"),
        ("code_run", {"code": f"'{SECRET}'"}, "LEAK_BLOCKED"),
        ("web_search", {"words": "nothing"}, "INTERNAL"),
    ):
        result = has[name].execute(arguments)
        assert result.is_error, name
        assert result.output.partition(":")[0] == code
        assert SECRET not in result.output


def test_three_leaks_of_scripts_and_calls_together_end_all_that_carries_text(have):
    has = have(Search())
    leak = {"words": SECRET}
    hidden = [ord(each) ^ 5 for each in SECRET]  # so that the script itself passes the scan
    words = f"{hidden}.map((c) => String.fromCharCode(c ^ 5)).join('')"
    code = f"nocturn.call('web_search', {{words: {words}}})"
    told = json.loads(has["code_run"].execute({"code": code}).output)
    assert told["error"]["code"] == "LEAK_BLOCKED"
    assert has["web_search"].execute(leak).output.startswith("LEAK_BLOCKED")
    assert has["web_search"].execute(leak).output.startswith("LEAK_BLOCKED")
    assert has["code_run"].execute({"code": "1"}).output.startswith("LEAK_BLOCKED")


def test_a_workspace_gives_its_notes_and_their_catalog_and_nothing_else_of_it(
    have, nocturn_workspace
):
    with nocturn_workspace("own", tools=[send_mail], secrets=[FixedSecrets(house=SECRET)]) as ws:
        has = have(on=ws, notes=NOTE_TOOLS, mode="watched")
        assert list(has) == ["code_run", *NOTE_TOOLS]
        assert briefing("You are Ava.", ws, has.values()) == "You are Ava."
        note = {"path": "people/lina.md", "summary": "daughter", "content": "Likes dinosaurs."}
        assert not has["memory_write"].execute(note).is_error
        assert has["memory_read"].execute({"path": "people/lina.md"}).output == (
            "---\ndescription: daughter\n---\nLikes dinosaurs."
        )
        code = (
            "try { nocturn.memory.remove('people/lina.md') } catch (e) { print(e.code) }"
            "nocturn.memory.list().notes.length"
        )
        told = json.loads(has["code_run"].execute({"code": code}).output)
        assert ([line["text"] for line in told["console"]], told["value"]) == (["UNKNOWN_TOOL"], 1)
        assert briefing(f"You are Ava. {SECRET}", ws, has.values()) == (
            "You are Ava. [REDACTED]\n\n"
            '<memory note="what you have chosen to remember about this user; the links are files '
            'you can memory_read">\npeople/lina.md — daughter\n</memory>'
        )
        only_code = have(on=ws)
        assert briefing("You are Ava.", ws, only_code.values()) == "You are Ava."
    assert briefing("", ws, ()) == ""


def test_a_persona_from_elsewhere_brings_no_permissions(have, persona):
    allow_all = 'version = 1\n[[rule]]\nruling = "allow"\nkind = "*"\n'
    grant = {"agent": "ava", "kind": "mail", "verb": "send", "target": "lina"}
    (persona / "policy.toml").write_text(allow_all)
    (persona / "grants.json").write_text(json.dumps({"version": 1, "grants": [grant]}))
    (persona / "vault.enc").write_bytes(b"of somebody else")
    refused = have(send_mail, agent="ava")["send_mail"].execute({"to": "lina"})
    assert refused.output.startswith("GATE_DENIED")
    assert sorted(each.name for each in persona.iterdir()) == [
        "grants.json",
        "policy.toml",
        "vault.enc",
    ]


def test_two_tools_of_one_name_and_what_is_no_tool_are_refused(have):
    nameless = Search(name="web search")
    schemeless = Search(parameters={"type": {1}})
    twice = [send_mail, send_mail]
    for wrong in (twice, [Search(name="code_run")], [nameless], [schemeless], [print], ["x"]):
        with pytest.raises(ConfigurationError):
            have(*wrong)


def test_a_schema_says_what_must_be_given_and_never_that_null_may_stand_for_nothing(have, stage):
    has = have(send_mail, Search())
    offered = {each["function"]["name"]: each for each in offers(stage, has.values())}
    assert offered["send_mail"]["function"]["parameters"] == {
        "type": "object",
        "properties": {"to": {"type": "string"}, "urgent": {"type": "boolean"}},
        "required": ["to"],
        "additionalProperties": False,
    }
    assert offered["web_search"]["function"]["parameters"] == {"type": "object", "title": "mine"}
    assert all(json.dumps(each) for each in offered.values())


def test_a_secret_is_taken_out_of_what_a_tool_says_of_itself(have, stage):
    said = {"type": "object", "properties": {"key": {"type": "string", "default": SECRET}}}
    has = have(Search(description=f"Asks with {SECRET}.", parameters=said))
    told = json.dumps(offers(stage, has.values()))
    assert SECRET not in told
    assert told.count("[REDACTED]") == 2


def test_a_tool_of_another_kind_knows_of_its_call_and_whether_somebody_waits(have):
    seen = []

    class Asks(Search):
        def execute(self, _, ctx=None):
            seen.append((ctx.call_id, ctx.agent, ctx.alive()))
            return ToolResult("ok")

    has = have(Asks())
    ctx = ToolContext("c1", "ava", lambda: False)
    assert not has["web_search"].execute({}, ctx).is_error
    assert not has["code_run"].execute({"code": "nocturn.call('web_search', {})"}).is_error
    assert seen == [("c1", "ava", False), ("", "", True)]


def test_once_they_are_closed_none_of_them_begins(stage):
    with Belongings(stage) as has:
        (code_run,) = has.tools
    assert code_run.execute({"code": "1"}).output.startswith("CANCELLED")
