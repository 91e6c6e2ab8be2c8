from __future__ import annotations

import pytest

from nocturn.effects import Effect, Mode, Recall
from nocturn.guard.policy import DEFAULT, Decision, Policy, Rule


@pytest.mark.parametrize("verb", ["write", "remove", "move"])
@pytest.mark.parametrize(
    ("mode", "decision"),
    [
        (Mode.WATCHED, Decision.ALLOW),
        (Mode.GUARDED, Decision.ASK),
        (Mode.STRICT, Decision.ASK),
    ],
)
def test_the_built_in_policy_is_the_contracts(verb, mode, decision):
    ruling = DEFAULT.ruling(mode, Effect("memory", verb, "a.md"), "lina-bot")
    assert (ruling.decision, ruling.ceiling) == (decision, Recall.ALWAYS)
    assert ruling.rule.startswith("memory move|remove|write, " + mode.value)


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("effect", [Effect("mail", "send", "x"), Effect("memory", "chmod", "a.md")])
def test_what_no_rule_names_is_asked(mode, effect):
    assert DEFAULT.ruling(mode, effect, "lina-bot").decision is Decision.ASK


def test_a_policy_of_one_rule_rules_on_its_kind_only():
    policy = Policy([Rule("persona", None, None, Decision.ALLOW)])
    persona = Effect("persona", "add", "MEMORY.md")
    assert policy.ruling(Mode.STRICT, persona, "x").decision is Decision.ALLOW
    note = Effect("memory", "write", "a.md")
    assert policy.ruling(Mode.WATCHED, note, "x").decision is Decision.ASK


def test_a_rule_that_says_nothing_denies():
    ruling = Policy([Rule("mail", None, None)]).ruling(Mode.WATCHED, Effect("mail", "x", "y"), "a")
    assert (ruling.decision, ruling.ceiling) == (Decision.DENY, Recall.NEVER)


def test_the_safest_decision_is_the_first():
    assert next(iter(Decision)) is Decision.DENY
