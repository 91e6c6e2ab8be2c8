"""Calls that a guest does not wait for: together, in order, bounded, and ruled on one by one."""

import threading

import pytest

from nocturn import Limits, NocturnError, Workspace, tool

SECONDS = 20  # no test waits so long unless it fails


class Meeting:
    """Tools that hold each other up, so that being together is shown without a clock."""

    def __init__(self):
        self.room = threading.Barrier(10)
        self.lock = threading.Lock()
        self.inside = self.most = self.began = 0
        self.go = threading.Event()
        self.at_work = []

    def tools(self):
        @tool(axis="read", effects="ungated")
        def meet(number: int) -> int:
            """Comes back once ten of it are at work."""
            self.room.wait(SECONDS)
            return number

        @tool(axis="read", effects="ungated")
        def crowd() -> int:
            """Counts how many of it are at work at one time."""
            with self.lock:
                self.inside += 1
                self.most = max(self.most, self.inside)
                self.began += 1
                if self.began >= 4:
                    self.go.set()
            self.go.wait(SECONDS)
            with self.lock:
                self.inside -= 1
            return self.most

        @tool(axis="read", effects="ungated")
        def hold() -> str:
            """Comes back once it is let go."""
            with self.lock:
                self.began += 1
                self.at_work.append(threading.current_thread())
            self.go.wait(SECONDS)
            return "late"

        @tool(axis="read", effects="ungated")
        def let_go() -> None:
            """Lets go of hold."""
            self.go.set()

        @tool(axis="read", effects="ungated")
        def fail(code: str) -> None:
            """Fails."""
            raise NocturnError(code, "as it was asked to") if code else ValueError("/etc/shadow")

        return meet, crowd, hold, let_go, fail


@pytest.fixture
def meeting():
    return Meeting()


@pytest.fixture
def ws(tmp_path, meeting):
    with Workspace(tmp_path, tools=meeting.tools()) as workspace:
        yield workspace


def test_ten_calls_take_the_time_of_one_and_come_back_each_to_its_own(ws):
    result = ws.run(
        "const all = [...Array(10).keys()];"
        "await Promise.all(all.map(number => nocturn.callAsync('meet', {number})))"
    )
    assert (result.status, result.value) == ("ok", list(range(10)))
    assert [call.code for call in result.calls] == [None] * 10


def test_more_than_may_be_in_flight_wait_for_their_turn(ws, meeting):
    result = ws.run(
        "const calls = Array.from({length: 50}, () => nocturn.callAsync('crowd'));"
        "(await Promise.all(calls)).length",
        limits=Limits(calls_in_flight=4),
    )
    assert (result.value, meeting.most, meeting.began) == (50, 4, 50)


def test_a_call_that_blocks_is_in_flight_too_and_lets_those_before_it_come_back(ws, meeting):
    source = (
        "const order = []; const late = nocturn.callAsync('hold').then(v => order.push(v));"
        "nocturn.call('let_go'); order.push(nocturn.now().timezone.length > 0); await late; order"
    )
    assert ws.run(source).value == [True, "late"]
    meeting.go.clear()
    # With room for one, the blocking call would wait for the other, which it is to let go of.
    alone = ws.run(source, limits=Limits(calls_in_flight=1, wall_seconds=0.3))
    assert alone.status == "time_limit"
    meeting.go.set()


def test_every_wrapper_has_a_form_that_gives_a_promise(ws):
    result = ws.run(
        "const m = nocturn.memory, p = m.write.async('a.md', 's', 'text');"
        "const kind = p instanceof Promise; await p;"
        "const all = await Promise.all([m.read.async('a.md'), m.stat.async('a.md'), m.list.async(),"
        "  nocturn.now.async()]);"
        "await m.remove.async('a.md');"
        "[kind, all[0].includes('text'), all[1].path, all[2].notes.length, typeof all[3].iso,"
        " m.list().notes.length, [m.read.async, nocturn.callAsync].every(Object.isFrozen)]",
        mode="watched",
    )
    assert result.value == [True, True, "a.md", 1, "string", 0, True]


def test_a_call_that_fails_rejects_and_what_cannot_be_asked_for_does_too(ws):
    result = ws.run(
        "const told = e => [e instanceof NocturnError, e.code, e.tool];"
        "const odd = {get ifVersion() { throw 'odd' }};"
        "await Promise.all(["
        "  nocturn.callAsync('fail', {code: 'CONFLICT'}).catch(told),"
        "  nocturn.callAsync('fail', {code: ''}).catch(e => e.message.includes('shadow')),"
        "  nocturn.callAsync('nope').catch(told), nocturn.callAsync().catch(told),"
        "  nocturn.callAsync('meet', {number: 'x'}).catch(told),"
        "  nocturn.memory.remove.async('a.md', odd).catch(e => e)])"
    )
    assert result.value == [
        [True, "CONFLICT", "fail"], False, [True, "UNKNOWN_TOOL", "nope"],
        [True, "UNKNOWN_TOOL", ""], [True, "BAD_ARGUMENTS", "meet"], "odd",
    ]  # fmt: skip


def test_an_uncaught_refusal_of_a_call_in_flight_has_its_code_and_its_place(ws):
    result = ws.run("const x = 1;\nawait nocturn.callAsync('nope')", filename="t.js")
    assert (result.status, result.error.code) == ("guest_error", "UNKNOWN_TOOL")
    lost = ws.run("nocturn.callAsync('nope'); 5")
    assert (lost.value, lost.unhandled_rejections[0].code) == (5, "UNKNOWN_TOOL")


def test_g19_arguments_are_taken_when_the_call_is_made_and_exactly_as_given(ws):
    result = ws.run(
        "JSON.stringify = () => '{}'; Object.prototype.toJSON = () => ({tool: 'x'});"
        "Array.prototype[Symbol.iterator] = () => ({next: () => ({done: true})});"
        "Promise.prototype.then = () => 1; Map.prototype.get = Map.prototype.set = () => 1;"
        "Promise.resolve = Promise = undefined; globalThis.nocturn = {};"
        "const args = {code: 'CONFLICT'}; const call = nocturn.callAsync('fail', args);"
        "args.code = ''; try { await call } catch (e) { e.code }"
    )
    assert (result.value, result.calls[0].code) == ("CONFLICT", "CONFLICT")


def test_a_run_ends_when_all_that_it_started_has(ws, meeting):
    meeting.go.set()
    result = ws.run("nocturn.callAsync('hold').then(v => console.log(v)); 'now'")
    assert (result.value, [line.text for line in result.console]) == ("now", ["late"])


def test_at_the_deadline_a_call_in_flight_is_late_and_one_that_waits_never_begins(
    ws, meeting, read_journal
):
    ws.memory.write("seen.md", "s", "so that there is a journal")
    result = ws.run(
        "for (let i = 0; i < 5; i++) nocturn.callAsync('hold'); await nocturn.callAsync('let_go')",
        limits=Limits(wall_seconds=0.3, calls_in_flight=2),
    )
    assert result.status == "time_limit"
    assert [(call.tool, call.code) for call in result.calls] == [("hold", "CANCELLED")] * 2
    meeting.go.set()
    ws.close()
    for thread in meeting.at_work:
        thread.join(SECONDS)
    late = [row for row in read_journal(ws) if row.get("tool") == "hold"]
    assert [row.get("late") for row in late] == [True, True]
    assert meeting.began == 2


def test_a_script_that_throws_does_not_wait_for_its_calls(ws, meeting):
    result = ws.run("nocturn.callAsync('hold'); throw new Error('first')")
    assert (result.status, result.calls[0].code) == ("guest_error", "CANCELLED")
    meeting.go.set()


def test_the_limit_of_a_runs_calls_counts_those_in_flight(ws):
    result = ws.run(
        "const all = await Promise.allSettled(Array.from({length: 5}, () => nocturn.now.async()));"
        "all.map(each => each.reason?.code ?? each.status)",
        limits=Limits(calls=3),
    )
    assert sorted(result.value) == ["LIMIT", "LIMIT", "fulfilled", "fulfilled", "fulfilled"]
    assert (result.usage.calls, len(result.calls)) == (5, 4)


def test_questions_of_calls_in_flight_are_put_one_at_a_time_and_nothing_is_told_between(tmp_path):
    told, open_questions = [], []

    def approver(question):
        open_questions.append(question)
        assert len(open_questions) == 1
        told.append("?")
        asked.set()
        ready.wait(SECONDS)  # until the guest has printed
        told.append("!")
        open_questions.pop()
        return "no" if question.effects[0].target == "1.md" else True

    asked, ready = threading.Event(), threading.Event()

    @tool(axis="read", effects="ungated")
    def question() -> None:
        """Comes back once a question is open."""
        asked.wait(SECONDS)

    @tool(axis="read", effects="ungated")
    def printed() -> None:
        """The guest has printed all that it prints before."""
        ready.set()

    with Workspace(tmp_path, approver=approver, tools=[question, printed]) as ws:
        ws.permissions  # noqa: B018 - loaded before the clock matters
        result = ws.run(
            "const w = n => nocturn.memory.write.async(n + '.md', 's', 'text').catch(e => e.code);"
            "const all = [0, 1, 2].map(w); await nocturn.callAsync('question');"
            "console.log('meanwhile'); await nocturn.callAsync('printed'); await Promise.all(all)",
            mode="guarded",
            on_console=lambda line: told.append(line.text),
            on_call=lambda call: told.append(call.tool),
        )
    assert [each if isinstance(each, str) else each["path"] for each in result.value] == [
        "0.md", "GATE_DENIED", "2.md",
    ]  # fmt: skip
    at = [place for place, each in enumerate(told) if each == "?"]
    assert len(at) == 3
    assert all(told[place + 1] == "!" for place in at)


def test_what_was_held_back_is_told_as_soon_as_nobody_is_asked(tmp_path):
    asked, told = threading.Event(), threading.Event()

    @tool(axis="read", effects=[("x", "do", "what")])
    def slow(what: str) -> bool:
        """Comes back once the line that was printed during the question is told."""
        return told.wait(SECONDS) and bool(what)

    @tool(axis="read", effects="ungated")
    def question() -> None:
        """Comes back once a question is open."""
        asked.wait(SECONDS)

    @tool(axis="read", effects="ungated")
    def printed() -> None:
        """Lets the person answer: the line has come in by now. Its own end must not bring it on."""
        answer.set()
        told.wait(SECONDS)

    def approver(_):
        asked.set()
        return answer.wait(SECONDS)

    answer = threading.Event()
    with Workspace(tmp_path, approver=approver, tools=[slow, question, printed]) as ws:
        result = ws.run(
            "const p = nocturn.callAsync('slow', {what: 'x'}); await nocturn.callAsync('question');"
            "console.log('meanwhile'); await nocturn.callAsync('printed'); await p",
            mode="guarded",
            on_console=lambda _: told.set(),
            limits=Limits(wall_seconds=SECONDS),
        )
    assert (result.status, result.value) == ("ok", True)


def test_ctrl_c_with_calls_in_flight_ends_the_run_and_the_workspace_goes_on(ws, meeting):
    execution = []

    def cancel(_):
        execution.append(1)
        for each in tuple(ws._running):
            each.cancel()

    result = ws.run("nocturn.callAsync('hold'); console.log('up'); for (;;);", on_console=cancel)
    assert result.status == "cancelled"
    meeting.go.set()
    assert ws.run("await nocturn.callAsync('let_go'); 1").value == 1


def test_a_guest_that_computes_while_a_person_decides_uses_its_own_time_up(tmp_path):
    decided = threading.Event()

    def approver(_):
        decided.wait(SECONDS)
        return True

    with Workspace(tmp_path, approver=approver) as ws:
        result = ws.run(
            "nocturn.memory.write.async('a.md', 's', 'text'); for (;;);",
            mode="guarded",
            limits=Limits(cpu_seconds=0.2, wall_seconds=SECONDS),
        )
        assert (result.status, result.calls[0].code) == ("time_limit", "CANCELLED")
        decided.set()
    assert not (tmp_path / "memory").exists()
