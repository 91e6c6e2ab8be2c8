from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nocturn.effects import Effect, Mode, Recall
from nocturn.guard.pattern import Pattern
from nocturn.guard.policy import DEFAULT, Decision, Policy, Rule

LINA = Effect("memory", "write", "people/lina.md")


def rule(decision=Decision.ALLOW, where="", **points):
    """A rule that looks at nothing but what is given here."""
    points = {"kind": None, "verbs": None, "modes": None, **points}
    for name in ("verbs", "modes", "agents"):
        if points.get(name):
            points[name] = frozenset(points[name])
    if points.get("target"):
        points["target"] = Pattern(points["target"])
    return Rule(**points, decision=decision, where=where)


def ruled(*rules, effect=LINA, mode=Mode.GUARDED, agent="bob", beneath=None):
    return Policy(rules, beneath).ruling(mode, effect, agent)


# ---- the built-in policy -----------------------------------------------------------------------


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
    assert ruling.where == "built-in"


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("effect", [Effect("mail", "send", "x"), Effect("memory", "chmod", "a.md")])
def test_what_no_rule_names_is_asked(mode, effect):
    ruling = DEFAULT.ruling(mode, effect, "lina-bot")
    assert (ruling.decision, ruling.rule) == (Decision.ASK, None)


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


# ---- which rule rules --------------------------------------------------------------------------


def test_the_first_rule_that_denies_rules_however_unspecific_it_is():
    rules = [
        rule(agents=["bob"], target="people/lina.md", verbs=["write"], kind="memory"),
        rule(Decision.DENY, "first"),
        rule(Decision.DENY, "second", target="people/lina.md"),
    ]
    assert ruled(*rules).where == "first"


@pytest.mark.parametrize(
    ("more", "less"),
    list(
        itertools.pairwise(
            [
                {"agents": ["bob"], "target": "people/lina.md"},
                {"agents": ["bob"]},
                {"agents": ["bob", "eve"], "target": "people/lina.md"},
                {"agents": ["bob", "eve"]},
                {"target": "people/lina.md"},
                {"target": "people/*.md"},
                {"target": "people/*", "verbs": ["write"]},
                {"target": "people/*"},
                {"target": "people/**"},
                {"target": "**"},
                {"verbs": ["write"], "kind": "memory"},
                {"verbs": ["write"]},
                {"verbs": ["write", "remove"]},
                {"kind": "memory", "modes": [Mode.GUARDED]},
                {"kind": "memory"},
                {"modes": [Mode.GUARDED]},
                {"modes": [Mode.GUARDED, Mode.STRICT]},
                {},
            ]
        )
    ),
)
def test_the_more_specific_rule_rules_in_either_order(more, less):
    for rules in itertools.permutations([rule(where="more", **more), rule(where="less", **less)]):
        assert ruled(*rules).where == "more"


def test_rules_that_are_alike_rule_in_their_order():
    assert ruled(rule(where="one"), rule(Decision.ASK, where="two")).where == "one"
    assert ruled(rule(Decision.ASK, where="two"), rule(where="one")).where == "two"


def test_the_rules_of_a_file_come_before_the_built_in_ones():
    assert ruled(rule(where="mine"), beneath=DEFAULT).where == "mine"
    assert ruled(rule(where="mine", agents=["eve"]), beneath=DEFAULT).where == "built-in"


def test_an_agent_a_mode_and_a_verb_that_a_rule_does_not_name_are_not_its_business():
    for other in ({"agents": ["eve"]}, {"modes": [Mode.STRICT]}, {"verbs": ["remove"]}):
        assert ruled(rule(Decision.DENY, **other)).rule is None


# ---- targets that are in no canonical form -----------------------------------------------------


@pytest.mark.parametrize(
    "target",
    ["open/../secret/x", "open/./../secret/x", "secret/./x", "open/..\\secret\\x", "secret//./x"],
)
def test_a_way_round_through_dots_is_allowed_by_no_pattern_and_denied_by_what_it_leads_to(target):
    effect = Effect("file", "write", target)
    assert ruled(rule(target="**"), effect=effect).decision is Decision.ASK
    assert ruled(rule(target="open/**"), effect=effect).decision is Decision.ASK
    denied = ruled(rule(), rule(Decision.DENY, target="secret/**"), effect=effect)
    assert denied.decision is Decision.DENY
    asked = ruled(rule(), rule(Decision.ASK, target="secret/**"), effect=effect)
    assert asked.decision is Decision.ASK


def test_a_target_in_no_canonical_form_may_be_allowed_in_full():
    assert ruled(rule(target="../x"), effect=Effect("file", "write", "../x")).rule is not None


def test_a_target_that_is_too_long_to_walk_is_allowed_by_no_pattern_and_denied_by_each():
    effect = Effect("file", "write", "a" * 1_025)
    assert ruled(rule(target="**"), effect=effect).decision is Decision.ASK
    assert ruled(rule(), rule(Decision.DENY, target="b"), effect=effect).decision is Decision.DENY


# ---- for all policies --------------------------------------------------------------------------

names = st.none() | st.frozensets(st.sampled_from(["a", "b", "c"]), min_size=1)
rules = st.builds(
    Rule,
    kind=st.sampled_from([None, "memory", "mail"]),
    verbs=names,
    modes=st.none() | st.frozensets(st.sampled_from(list(Mode)), min_size=1),
    decision=st.sampled_from(list(Decision)),
    ceiling=st.sampled_from(list(Recall)),
    target=st.none()
    | st.builds(Pattern, st.sampled_from(["*", "**", "x/*", "x/**", "x/a", "**/a", "a", r"\*"])),
    agents=names,
    where=st.uuids().map(str),
)
tables = st.lists(rules, max_size=8)
effects = st.builds(
    Effect,
    st.sampled_from(["memory", "mail"]),
    st.sampled_from(["a", "b"]),
    st.sampled_from(["a", "x/a", "x/y/a", "*", "x/../a", "x/"]),
)
modes, agents = st.sampled_from(list(Mode)), st.sampled_from(["a", "b"])


@given(tables, rules, st.integers(0, 8), modes, effects, agents)
def test_no_rule_that_is_added_ever_overrides_a_deny(table, added, at, mode, effect, agent):
    before = Policy(table, DEFAULT).ruling(mode, effect, agent)
    after = Policy([*table[:at], added, *table[at:]], DEFAULT).ruling(mode, effect, agent)
    if before.decision is Decision.DENY:
        assert after.decision is Decision.DENY
    if after.decision is Decision.DENY:
        assert Decision.DENY in (before.decision, added.decision)


@given(tables, st.randoms(use_true_random=False), modes, effects, agents)
def test_the_order_of_a_table_matters_only_between_rules_that_are_alike(
    table, random, mode, effect, agent
):
    unlike = list({(each.specificity, each.decision): each for each in table}.values())
    if len({each.specificity for each in unlike}) < len(unlike):
        return
    before = Policy(unlike).ruling(mode, effect, agent)
    random.shuffle(unlike)
    after = Policy(unlike).ruling(mode, effect, agent)
    assert after.decision is before.decision
    if after.decision is not Decision.DENY:
        assert after == before


@given(rules, rules)
def test_a_rule_that_names_less_in_every_point_is_never_the_less_specific(one, other):
    def within(few, many):
        return many is None or (few is not None and few <= many)

    narrower = (
        within(one.verbs, other.verbs)
        and within(one.modes, other.modes)
        and within(one.agents, other.agents)
        and other.kind in (None, one.kind)
        and (other.target is None or (one.target and one.target.weight >= other.target.weight))
    )
    if narrower:
        assert one.specificity >= other.specificity


@given(tables, modes, effects, agents)
def test_a_rule_that_rules_names_the_effect_and_none_that_does_is_more_specific(
    table, mode, effect, agent
):
    ruling = Policy(table).ruling(mode, effect, agent)
    naming = [each for each in table if each.names(mode, effect, agent)]
    if ruling.rule is None:
        assert naming == []
        return
    assert ruling.rule in naming
    assert (ruling.decision, ruling.ceiling) == (ruling.rule.decision, ruling.rule.ceiling)
    if ruling.decision is not Decision.DENY:
        assert ruling.rule.specificity == max(each.specificity for each in naming)
