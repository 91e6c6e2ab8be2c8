from __future__ import annotations

import threading

import pytest

from nocturn.effects import Effect, Grant, Mode, Preview, Recall, binding
from nocturn.errors import (
    CANCELLED,
    GATE_DENIED,
    INTERNAL,
    STORAGE,
    ConfigurationError,
    NocturnError,
)
from nocturn.guard.approver import CallbackApprover
from nocturn.guard.gate import Gate
from nocturn.guard.policy import DEFAULT, Decision, Policy, Rule
from nocturn.guard.question import Edited
from nocturn.guard.remarks import Remark

LINA = Effect("memory", "write", "people/lina.md")
OTTO = Effect("memory", "write", "people/otto.md")
ROOT = Effect("memory", "write", "todo.md")
YES, NO = True, False
TEXT = b"daughter, 7 years old"
SHOWN = Preview(after=TEXT.decode(), before="old", version="v1")


class Person:
    """Answers in order, and keeps what was asked. The last answer is given for ever."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def ask(self, question):
        self.asked.append(question)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer(question) if callable(answer) else answer


def gate_with(person, grants, policy=DEFAULT, redact=lambda text: text):
    return Gate(policy, grants, person, redact)


def clear(gate, caller, *effects, content=TEXT, preview=SHOWN, **more):
    return gate.clear(caller, "memory_write", effects or (LINA,), content, preview, **more)


def refusal(gate, caller, *effects):
    with pytest.raises(NocturnError) as refused:
        clear(gate, caller, *effects)
    return refused.value


def reason(gate, caller, *effects):
    error = refusal(gate, caller, *effects)
    assert error.code == GATE_DENIED
    return error.detail["reason"]


def policy_of(decision, ceiling=Recall.ALWAYS):
    return Policy([Rule("memory", None, None, decision, ceiling)])


# --- policy and grants -------------------------------------------------------------------------


def test_what_the_policy_allows_runs_and_nobody_is_asked(grants, make_caller):
    person = Person(NO)
    clearance = clear(gate_with(person, grants), make_caller(Mode.WATCHED))
    assert (clearance.ruling, clearance.asked, clearance.expected) == ("allow", False, None)
    assert person.asked == []


def test_a_deny_beats_any_grant(grants, make_caller):
    grants.grants.append(Grant("lina-bot", "memory", "write", "people/lina.md"))
    person = Person(YES)
    gate = gate_with(person, grants, policy_of(Decision.DENY))
    assert reason(gate, make_caller()) == "policy"
    assert person.asked == []


def test_one_denied_effect_denies_the_call(grants, make_caller):
    rules = [
        Rule("memory", frozenset({"remove"}), None, Decision.DENY),
        Rule("memory", None, None, Decision.ALLOW),
    ]
    gate = gate_with(Person(YES), grants, Policy(rules))
    assert clear(gate, make_caller(), LINA).ruling == "allow"
    remove = Effect("memory", "remove", "a.md")
    assert reason(gate, make_caller(), LINA, remove) == "policy"


def test_a_call_without_effects_is_refused(grants, make_caller):
    gate = gate_with(Person(YES), grants)
    with pytest.raises(NocturnError) as refused:
        gate.clear(make_caller(Mode.WATCHED), "x", (), TEXT, SHOWN)
    assert refused.value.detail["reason"] == "policy"


@pytest.mark.parametrize("mode", [Mode.GUARDED, Mode.STRICT])
def test_what_a_grant_covers_runs_and_nobody_is_asked(grants, make_caller, mode):
    grants.grants.append(Grant("lina-bot", "memory", "write", "people/lina.md"))
    person = Person(NO)
    clearance = clear(gate_with(person, grants), make_caller(mode))
    assert (clearance.ruling, clearance.asked, clearance.expected) == ("grant", False, None)
    assert person.asked == []


@pytest.mark.parametrize(
    "grant",
    [
        Grant("other-bot", "memory", "write", "people/lina.md"),
        Grant("lina-bot", "memory", "remove", "people/lina.md"),
        Grant("lina-bot", "memory", "write", "people/*.md"),
        Grant("lina-bot", "memory", "write", "people/*"),
        Grant("lina-bot", "memory", "write", "peopl", folder=True),
    ],
)
def test_a_grant_of_another_agent_verb_or_name_does_not_cover(grants, make_caller, grant):
    grants.grants.append(grant)
    person = Person(NO)
    assert reason(gate_with(person, grants), make_caller()) == "declined"
    assert len(person.asked) == 1


@pytest.mark.parametrize("target", ["people/..", "people/.", "people/", "people/..\\x"])
def test_a_folder_grant_covers_no_target_that_is_not_in_the_folder(grants, make_caller, target):
    effect = Effect("file", "remove", target)
    grants.grants.append(Grant("lina-bot", "file", "remove", "people", folder=True))
    assert reason(gate_with(None, grants), make_caller(), effect) == "unattended"
    grants.grants.append(Grant("lina-bot", "file", "remove", target))
    assert clear(gate_with(None, grants), make_caller(), effect).ruling == "grant"


@pytest.mark.parametrize("answer", ["yes", "y", 1, object()])
def test_an_answer_that_was_not_on_offer_is_told_apart_from_a_persons_no(
    grants, make_caller, answer
):
    error = refusal(gate_with(Person(answer), grants), make_caller())
    assert error.detail["reason"] == "declined"
    assert "True, once, session, always, widen" in error.message
    for no in (False, None, "no"):
        assert "on offer" not in refusal(gate_with(Person(no), grants), make_caller()).message


def test_a_folder_grant_does_not_reach_into_folders_below(grants, make_caller):
    grants.grants.append(Grant("lina-bot", "memory", "write", "people", folder=True))
    gate = gate_with(None, grants)
    assert clear(gate, make_caller()).ruling == "grant"
    assert reason(gate, make_caller(), Effect("memory", "write", "people/x/y.md")) == "unattended"


def test_a_grant_for_a_star_covers_that_name_alone(grants, make_caller):
    gate = gate_with(Person("always", NO), grants)
    star = Effect("memory", "write", "people/*.md")
    clear(gate, make_caller(), star)
    assert clear(gate, make_caller(), star).ruling == "grant"
    assert reason(gate, make_caller()) == "declined"


def test_every_effect_of_a_call_must_be_covered(grants, make_caller):
    grants.grants.append(Grant("lina-bot", "memory", "write", "people/lina.md"))
    gate = gate_with(None, grants)
    assert reason(gate, make_caller(), LINA, OTTO) == "unattended"
    grants.grants.append(Grant("lina-bot", "memory", "write", "people/otto.md"))
    assert clear(gate, make_caller(), LINA, OTTO).ruling == "grant"


def test_with_ceiling_never_grants_are_not_read_and_nothing_is_remembered(grants, make_caller):
    grants.grants.append(Grant("lina-bot", "memory", "write", "people/lina.md"))
    person = Person(YES)
    gate = gate_with(person, grants, policy_of(Decision.ASK, Recall.NEVER))
    assert clear(gate, make_caller()).ruling == "once"
    assert clear(gate, make_caller()).ruling == "once"
    assert [option.value for option in person.asked[0].options] == ["once"]
    assert len(person.asked) == 2
    assert len(grants.grants) == 1


def test_a_stored_grant_does_not_outlast_a_ceiling_of_a_session(grants, make_caller):
    grants.grants.append(Grant("lina-bot", "memory", "write", "people/lina.md"))
    gate = gate_with(None, grants, policy_of(Decision.ASK, Recall.SESSION))
    assert reason(gate, make_caller()) == "unattended"


@pytest.mark.parametrize("mode", list(Mode))
def test_a_grants_file_that_cannot_be_used_refuses_every_gated_call(grants, make_caller, mode):
    def broken():
        raise ConfigurationError("grants.json is not JSON: move it away")

    grants.load = broken
    error = refusal(gate_with(Person(YES), grants), make_caller(mode))
    assert error.code == GATE_DENIED
    assert error.detail == {"reason": "policy", "configuration": "grants.json"}


def test_a_policy_file_that_cannot_be_used_refuses_every_gated_call(grants, make_caller):
    def broken():
        raise ConfigurationError("policy.toml was not written by nocturn: move it away")

    error = refusal(gate_with(Person(YES), grants, broken), make_caller(Mode.WATCHED))
    assert error.code == GATE_DENIED
    assert error.detail == {"reason": "policy", "configuration": "policy.toml"}


def test_the_policy_is_read_again_for_each_call(grants, make_caller):
    policies = [policy_of(Decision.ALLOW), policy_of(Decision.DENY)]
    gate = gate_with(None, grants, lambda: policies.pop(0))
    assert clear(gate, make_caller()).ruling == "allow"
    assert reason(gate, make_caller()) == "policy"


# --- nobody to ask -----------------------------------------------------------------------------


def test_strict_asks_nobody(grants, make_caller):
    person = Person(YES)
    assert reason(gate_with(person, grants), make_caller(Mode.STRICT)) == "unattended"
    assert person.asked == []


@pytest.mark.parametrize("ceiling", list(Recall))
def test_strict_speaks_of_grants_only_where_one_would_count(grants, make_caller, ceiling):
    gate = gate_with(None, grants, policy_of(Decision.ASK, ceiling))
    said = refusal(gate, make_caller(Mode.STRICT)).message
    assert ("nocturn grants add" in said) is (ceiling is Recall.ALWAYS)


@pytest.mark.parametrize("mode", [Mode.GUARDED, Mode.WATCHED])
def test_without_an_approver_what_would_ask_is_unattended(grants, make_caller, mode):
    gate = gate_with(None, grants, policy_of(Decision.ASK))
    assert reason(gate, make_caller(mode)) == "unattended"


def test_the_eleventh_question_of_a_run_is_not_asked(grants, make_caller):
    person = Person(YES)
    gate = gate_with(person, grants)
    caller = make_caller()
    for at in range(10):
        clear(gate, caller, Effect("memory", "write", f"{at}.md"))
    assert reason(gate, caller, LINA) == "unattended"
    assert len(person.asked) == 10
    assert clear(gate, make_caller(), LINA).ruling == "once"


# --- answers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [True, "once", lambda question: question.options[0]])
def test_a_yes_once_runs_once(grants, make_caller, answer):
    gate = gate_with(Person(answer, NO), grants)
    clearance = clear(gate, make_caller())
    assert (clearance.ruling, clearance.asked, clearance.expected) == ("once", True, "v1")
    assert clearance.digest == binding((LINA,), TEXT)
    assert clearance.effects == (LINA,)
    assert reason(gate, make_caller()) == "declined"
    assert grants.grants == []


def test_a_yes_for_the_session_lasts_until_the_gate_closes(grants, make_caller):
    gate = gate_with(Person("session", NO), grants)
    assert clear(gate, make_caller()).ruling == "session"
    assert clear(gate, make_caller()).ruling == "grant"
    assert reason(gate, make_caller(agent="other-bot")) == "declined"
    gate.close()
    assert reason(gate, make_caller()) == "declined"
    assert grants.grants == []


def test_a_yes_for_always_is_stored_for_this_agent_and_name(grants, make_caller):
    gate = gate_with(Person("always"), grants)
    assert clear(gate, make_caller()).ruling == "always"
    assert grants.grants == [Grant("lina-bot", "memory", "write", "people/lina.md")]
    assert clear(gate_with(None, grants), make_caller()).ruling == "grant"


def test_a_widening_covers_the_containing_folder(grants, make_caller):
    gate = gate_with(Person("widen"), grants)
    assert clear(gate, make_caller()).ruling == "widen"
    assert grants.grants == [Grant("lina-bot", "memory", "write", "people", folder=True)]
    assert clear(gate_with(None, grants), make_caller(), OTTO).ruling == "grant"


def test_a_yes_to_several_effects_is_remembered_for_each(grants, make_caller):
    person = Person("always")
    clear(gate_with(person, grants), make_caller(), LINA, OTTO)
    assert len(person.asked) == 1
    assert [grant.target for grant in grants.grants] == ["people/lina.md", "people/otto.md"]


def offered(grants, make_caller, *effects, named=True, ceiling=Recall.ALWAYS):
    person = Person(YES)
    gate = gate_with(person, grants, policy_of(Decision.ASK, ceiling))
    clear(gate, make_caller(named=named), *effects)
    return [(option.value, option.recall) for option in person.asked[0].options]


def test_a_named_agent_is_offered_all_four_answers(grants, make_caller):
    assert offered(grants, make_caller) == [
        ("once", Recall.NEVER),
        ("session", Recall.SESSION),
        ("always", Recall.ALWAYS),
        ("widen", Recall.ALWAYS),
    ]


def test_a_nameless_agent_is_offered_no_answer_beyond_the_session(grants, make_caller):
    assert offered(grants, make_caller, named=False) == [
        ("once", Recall.NEVER),
        ("session", Recall.SESSION),
        ("widen", Recall.SESSION),
    ]


def test_no_exact_answer_above_the_ceiling_and_the_widening_is_cut_down_to_it(grants, make_caller):
    assert offered(grants, make_caller, ceiling=Recall.SESSION) == [
        ("once", Recall.NEVER),
        ("session", Recall.SESSION),
        ("widen", Recall.SESSION),
    ]


def test_a_note_at_the_root_has_no_widening(grants, make_caller):
    assert "widen" not in dict(offered(grants, make_caller, ROOT))


def test_effects_in_different_folders_have_no_widening(grants, make_caller):
    assert "widen" not in dict(
        offered(grants, make_caller, LINA, Effect("memory", "write", "b/x.md"))
    )


@pytest.mark.parametrize(
    "answer",
    [
        *(False, None, 0, 1, 1.0, "", "no", "yes", "True", "ONCE", b"once", object(), ["once"]),
        *("always", "widen"),
    ],
)
def test_an_answer_that_was_not_offered_is_a_no(grants, make_caller, answer):
    gate = gate_with(Person(answer), grants)
    assert reason(gate, make_caller(named=False), ROOT) == "declined"
    assert grants.grants == []


def test_an_option_that_was_changed_is_a_no(grants, make_caller):
    def widened(question):
        (always,) = (each for each in question.options if each.value == "always")
        return type(always)("always", always.label, always.recall, (Grant("x", "y", "z", "*"),))

    assert reason(gate_with(Person(widened), grants), make_caller()) == "declined"


def test_a_no_sticks_for_that_effect_in_this_run(grants, make_caller):
    person = Person(NO, "widen", YES)
    gate = gate_with(person, grants)
    caller = make_caller()
    assert reason(gate, caller, LINA) == "declined"
    assert reason(gate, caller, LINA) == "declined"
    assert len(person.asked) == 1
    assert clear(gate, caller, OTTO).ruling == "widen"
    assert reason(gate, caller, LINA) == "declined"
    assert reason(gate, caller, OTTO, LINA) == "declined"
    assert clear(gate, make_caller(), LINA).ruling == "grant"


def test_a_yes_that_cannot_be_stored_clears_nothing(grants, make_caller):
    grants.error = NocturnError(STORAGE, "the disk is full")
    gate = gate_with(Person("always"), grants)
    assert refusal(gate, make_caller()).code == STORAGE
    assert grants.grants == []


# --- the question ------------------------------------------------------------------------------


def test_the_question_says_who_wants_what(grants, make_caller):
    person = Person(YES)
    clear(gate_with(person, grants), make_caller())
    (question,) = person.asked
    assert (question.tool, question.agent, question.named) == ("memory_write", "lina-bot", True)
    assert (question.mode, question.script, question.run) == (Mode.GUARDED, "remember.js", "run-1")
    assert (question.effects, question.preview) == ((LINA,), SHOWN)
    assert question.size_bytes == len(TEXT)
    assert question.digest == binding((LINA,), TEXT)


def test_no_secret_stands_in_a_question_or_a_refusal(grants, make_caller, scanner_of):
    value = "hunter2hunter2"
    person = Person(NO)
    gate = gate_with(person, grants, redact=scanner_of(value).redact)
    effect = Effect("memory", "write", f"{value}/{value}.md")
    preview = Preview(after=f"new {value}", before=f"old {value}", version="v1")
    with pytest.raises(NocturnError) as refused:
        gate.clear(make_caller(), "memory_write", (effect,), b"x", preview)
    (question,) = person.asked
    shown = [question.effects, question.preview, *(option.label for option in question.options)]
    assert value not in repr(shown) + refused.value.message
    assert "[REDACTED]" in repr(shown)


def test_a_clearance_is_for_what_was_shown_and_for_one_use(grants, make_caller):
    clearance = clear(gate_with(Person(YES), grants), make_caller())
    with pytest.raises(PermissionError):
        clearance.spend((LINA,), TEXT + b"!")
    with pytest.raises(PermissionError):
        clearance.spend((OTTO,), TEXT)
    clearance.spend((LINA,), TEXT)
    with pytest.raises(PermissionError):
        clearance.spend((LINA,), TEXT)


def test_a_new_note_that_was_asked_for_expects_that_nothing_is_there(grants, make_caller):
    clearance = clear(gate_with(Person(YES), grants), make_caller(), preview=Preview(after="x"))
    assert (clearance.asked, clearance.expected) == (True, None)


# --- text that is not to be trusted, other texts, dry runs --------------------------------------

ORDERS = Remark("instructions", "content", "speaks to a model", "addressed")
SHAPE = Remark("shape", "content", "may be a key", "key")


def tainted(caller):
    caller.standing.take_in("fetch_page")
    return caller


@pytest.mark.parametrize("why", ["outside", "instructions"])
def test_what_may_be_anothers_will_is_asked_even_where_a_grant_covers_it(grants, make_caller, why):
    grants.grants.append(Grant("lina-bot", "memory", "write", "people/lina.md"))
    person = Person("session")
    gate = gate_with(person, grants)
    for _ in range(2):  # and a yes for the session covers it no more than a grant does
        caller = tainted(make_caller()) if why == "outside" else make_caller()
        remarks = (ORDERS,) if why == "instructions" else ()
        assert clear(gate, caller, remarks=remarks).ruling == "session"
    assert [each.kind for each in person.asked[0].remarks] == [why]
    assert person.asked[0].outside == (("fetch_page",) if why == "outside" else ())
    assert clear(gate, make_caller()).ruling == "grant"


def test_nobody_to_ask_refuses_it_in_spite_of_a_grant(grants, make_caller):
    grants.grants.append(Grant("lina-bot", "memory", "write", "people/lina.md"))
    gate = gate_with(Person(YES), grants)
    assert reason(gate, tainted(make_caller(Mode.STRICT))) == "unattended"
    assert reason(gate_with(None, grants), tainted(make_caller())) == "unattended"


def test_what_the_policy_allows_runs_and_the_person_who_looks_on_is_warned(
    grants, make_caller, caplog
):
    gate = gate_with(Person(NO), grants)
    assert clear(gate, tainted(make_caller(Mode.WATCHED)), remarks=(ORDERS,)).ruling == "allow"
    (warning,) = caplog.messages
    assert "memory write people/lina.md" in warning
    assert "fetch_page" in warning
    assert "speaks to a model" in warning


def test_a_deny_beats_everything_that_is_pointed_out(grants, make_caller):
    gate = gate_with(Person(YES), grants, policy_of(Decision.DENY))
    with pytest.raises(NocturnError) as refused:
        clear(gate, tainted(make_caller()), remarks=(ORDERS,))
    assert refused.value.detail["reason"] == "policy"


def test_a_mere_remark_asks_nobody_whom_a_grant_speaks_for(grants, make_caller):
    grants.grants.append(Grant("lina-bot", "memory", "write", "people/lina.md"))
    assert clear(gate_with(Person(NO), grants), make_caller(), remarks=(SHAPE,)).ruling == "grant"


def test_no_remark_is_told_to_the_guest(grants, make_caller):
    with pytest.raises(NocturnError) as refused:
        clear(gate_with(None, grants), tainted(make_caller()), remarks=(ORDERS, SHAPE))
    said = refused.value.message + repr(refused.value.detail)
    assert not any(word in said for word in ("fetch_page", "model", "key", "outside"))


def test_another_text_is_handed_back_and_has_cleared_nothing(grants, make_caller):
    caller = make_caller()
    gate = gate_with(Person(Edited("mine"), YES), grants)
    assert clear(gate, caller, text="new text") == Edited("mine")
    assert clear(gate, caller, text="mine", again=True).ruling == "once"
    assert caller.asked.questions == 1


@pytest.mark.parametrize("answer", [Edited("mine"), "mine", ("edit", "mine")])
def test_another_text_where_none_may_be_given_is_a_no(grants, make_caller, answer):
    assert reason(gate_with(Person(answer), grants), make_caller()) == "declined"


def test_another_text_that_is_none_is_a_no(grants, make_caller):
    with pytest.raises(NocturnError) as refused:
        clear(gate_with(Person(Edited(7)), grants), make_caller(), text="new text")
    assert refused.value.detail["reason"] == "declined"


def test_a_text_that_does_not_read_as_it_is_may_not_be_edited(grants, make_caller, scanner_of):
    person = Person(NO)
    gate = gate_with(person, grants, redact=scanner_of("hunter2hunter2").redact)
    with pytest.raises(NocturnError):
        clear(gate, make_caller(), text="a hunter2hunter2")
    assert person.asked[0].text is None


def test_a_dry_run_offers_no_answer_that_lasts_and_remembers_none(grants, make_caller):
    person = Person(YES)
    caller = make_caller()
    caller.dry = True
    assert clear(gate_with(person, grants), caller).ruling == "once"
    (question,) = person.asked
    assert question.dry
    assert [option.value for option in question.options] == ["once"]
    assert grants.grants == []
    caller = make_caller()
    caller.dry = True
    assert reason(gate_with(Person("always"), grants), caller) == "declined"


# --- time --------------------------------------------------------------------------------------


@pytest.fixture
def never():
    """An event that is set when the test is over, so that what hangs on it ends."""
    event = threading.Event()
    yield event
    event.set()


def test_the_clocks_stand_still_while_a_person_decides(grants, make_caller):
    caller = make_caller()
    seen = []
    gate = gate_with(Person(lambda _: seen.append(caller.clock.paused) or True), grants)
    clear(gate, caller)
    assert seen == [1]
    assert caller.clock.paused == 0


@pytest.mark.parametrize("answer", [False, lambda _: 1 / 0])
def test_the_clocks_go_on_after_a_refusal(grants, make_caller, answer):
    caller = make_caller()
    refusal(gate_with(Person(answer), grants), caller)
    assert caller.clock.history == ["pause", "resume"]


def test_the_clocks_do_not_stop_where_nobody_is_asked(grants, make_caller):
    caller = make_caller(Mode.STRICT)
    refusal(gate_with(Person(YES), grants), caller)
    assert caller.clock.history == []


def test_no_answer_in_time_is_a_timeout_and_sticks(grants, make_caller, never):
    asked = []

    def hang(question):
        asked.append(question)
        never.wait()
        return True

    gate = gate_with(CallbackApprover(hang, timeout_seconds=0.05), grants)
    caller = make_caller()
    assert reason(gate, caller) == "timeout"
    assert reason(gate, caller) == "timeout"
    assert len(asked) == 1
    assert caller.clock.paused == 0


def test_the_time_of_a_person_who_is_at_work_does_not_run_out(grants, make_caller):
    class Writer:
        timeout_seconds = 0.05
        attended = True

        def ask(self, _):
            looked.wait()  # many times the timeout, and the gate has looked at the clock
            return True

    looked = threading.Event()
    writer = Writer()
    timer = threading.Timer(1.5, looked.set)
    timer.start()
    assert clear(gate_with(writer, grants), make_caller()).ruling == "once"
    timer.join()


def test_a_late_answer_is_dropped_with_its_question(grants, make_caller):
    late, done = threading.Event(), threading.Event()

    def answer(question):
        if question.effects == (OTTO,):
            return False
        late.wait()
        done.set()
        return "always"

    approver = CallbackApprover(answer, timeout_seconds=0.05)
    gate = gate_with(approver, grants)
    caller = make_caller()
    assert reason(gate, caller, LINA) == "timeout"
    late.set()
    done.wait()
    approver.timeout_seconds = 60.0
    assert reason(gate, caller, OTTO) == "declined"
    assert grants.grants == []


def test_a_question_that_hangs_is_still_the_one_that_is_open(grants, make_caller, never):
    asked = []

    def hang(question):
        asked.append(question)
        never.wait()

    gate = gate_with(CallbackApprover(hang, timeout_seconds=0.05), grants)
    assert reason(gate, make_caller(), LINA) == "timeout"
    assert reason(gate, make_caller(), OTTO) == "timeout"
    assert len(asked) == 1


def test_one_question_is_open_at_a_time_and_a_yes_serves_those_who_wait(grants, make_caller):
    opened = []
    inside = threading.Semaphore(1)

    def answer(question):
        assert inside.acquire(blocking=False)
        opened.append(question)
        inside.release()
        return "widen"

    gate = gate_with(CallbackApprover(answer), grants)
    rulings = []
    together = threading.Barrier(8)

    def call(at):
        together.wait()
        effect = Effect("memory", "write", f"people/{at}.md")
        rulings.append(clear(gate, make_caller(), effect).ruling)

    threads = [threading.Thread(target=call, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(rulings) == ["grant"] * 7 + ["widen"]
    assert len(opened) == 1


@pytest.mark.parametrize("error", [ValueError("/etc/shadow"), SystemExit(0), TimeoutError()])
def test_an_approver_that_breaks_is_an_internal_error_and_no_answer(grants, make_caller, error):
    def broken(_):
        raise error

    caller = make_caller()
    gate = gate_with(Person(broken, YES), grants)
    refused = refusal(gate, caller)
    assert refused.code == INTERNAL
    assert "shadow" not in str(refused)
    assert refused.__context__ is None
    assert clear(gate, caller).ruling == "once"


def test_a_run_that_ended_while_a_person_decided_gets_nothing(grants, make_caller):
    alive = [True]
    gate = gate_with(Person(lambda _: alive.clear() or "always"), grants)
    assert refusal(gate, make_caller(alive=lambda: bool(alive))).code == CANCELLED
    assert grants.grants == []


def test_a_run_that_has_ended_asks_nobody(grants, make_caller):
    person = Person(YES)
    assert refusal(gate_with(person, grants), make_caller(alive=lambda: False)).code == CANCELLED
    assert person.asked == []
