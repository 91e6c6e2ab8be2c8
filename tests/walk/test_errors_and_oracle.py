"""The contract's section 2: what a guest learns of a refusal, and what it never learns."""

import json
import logging
import re

import pytest

from nocturn import Limits, NocturnError, tool
from nocturn.errors import CODES
from nocturn.testing import FixedSecrets, RecordingApprover

SECRET = "correct-horse-battery-staple"


@pytest.fixture
def armed(nocturn_workspace):
    return nocturn_workspace(
        approver=RecordingApprover(), secrets=[FixedSecrets(phrase=SECRET, short="abc")]
    )


def test_a_failed_call_throws_an_error_with_four_fields(ws):
    result = ws.run(
        """
        try { nocturn.memory.read("no.md") } catch (e) {
          [e instanceof Error, e instanceof NocturnError, e.name, e.code, e.tool,
           typeof e.message, typeof e.detail, String(e).startsWith("NocturnError: "),
           Object.keys(e).join()]
        }
        """
    )
    assert result.value == [
        True, True, "NocturnError", "NOT_FOUND", "memory_read", "string", "object", True,
        "code,tool,detail",
    ]  # fmt: skip


def test_an_uncaught_refusal_is_the_runs_error_with_code_and_place(ws):
    result = ws.run("// one\nnocturn.memory.read('no.md')", filename="mine.js")
    error = result.error
    assert (result.status, error.code, error.name) == ("guest_error", "NOT_FOUND", "NocturnError")
    assert (error.file, error.line) == ("mine.js", 2)
    assert error.source_line == "nocturn.memory.read('no.md')"


def test_a_nocturn_error_that_the_guest_made_has_no_code(ws):
    error = ws.run("throw new NocturnError('GATE_DENIED', 'm', 't', {})").error
    assert error.name == "NocturnError"
    assert error.code in (None, "GATE_DENIED")


def test_what_goes_wrong_in_a_tool_is_internal_and_a_call_id(nocturn_workspace, caplog):
    @tool(axis="read", effects="ungated")
    def broken() -> str:
        raise ValueError("secret /etc/shadow")

    ws = nocturn_workspace(tools=[broken])
    with caplog.at_level(logging.ERROR, "nocturn"):
        result = ws.run(
            "try { nocturn.call('broken') } catch (e) { [e.code, e.message, e.stack, e.detail] }"
        )
    code, message, stack, detail = result.value
    assert code == "INTERNAL"
    assert list(detail) == ["call"]
    assert detail["call"] in message
    for text in (message, stack):
        assert not re.search(r"shadow|ValueError|Traceback|\.py|/", text.replace("<input>", ""))
    # The person finds it by the id: the traceback is in the log.
    assert detail["call"] in caplog.text
    assert "ValueError" in caplog.text


def test_a_tools_traceback_is_redacted_in_the_log(nocturn_workspace, caplog):
    @tool(axis="read", effects="ungated")
    def broken() -> str:
        raise ValueError(f"connect with {SECRET}")

    ws = nocturn_workspace(tools=[broken], secrets=[FixedSecrets(phrase=SECRET)])
    assert ws.run("nocturn.call('broken')").error.code == "INTERNAL"
    assert "[REDACTED]" in caplog.text
    # The source line of the traceback names the variable, never the value.
    assert SECRET not in caplog.text


@pytest.mark.parametrize("fault", [SystemExit(3), GeneratorExit(), RecursionError(), MemoryError()])
def test_not_even_an_exit_in_a_tool_ends_the_run(nocturn_workspace, fault):
    @tool(axis="read", effects="ungated")
    def broken() -> str:
        raise fault

    ws = nocturn_workspace(tools=[broken])
    result = ws.run("try { nocturn.call('broken') } catch (e) { e.code }")
    assert (result.status, result.value) == ("ok", "INTERNAL")


def test_a_tool_may_refuse_in_its_own_words(nocturn_workspace):
    @tool(axis="read", effects="ungated")
    def picky(city: str) -> str:
        raise NocturnError("NOT_FOUND", f"no weather for {city}", detail={"city": city})

    ws = nocturn_workspace(tools=[picky])
    result = ws.run("try { nocturn.call('picky', {city: 'x'}) } catch (e) { e }")
    assert result.calls[0].code == "NOT_FOUND"
    error = ws.run("nocturn.call('picky', {city: 'x'})").error
    assert (error.code, error.message) == ("NOT_FOUND", "no weather for x")
    assert error.detail == {"city": "x"}


def test_a_tool_cannot_invent_a_code(nocturn_workspace):
    @tool(axis="read", effects="ungated")
    def odd() -> str:
        raise NocturnError("MY_OWN", "words")

    assert nocturn_workspace(tools=[odd]).run("nocturn.call('odd')").error.code in CODES


def test_what_is_echoed_in_an_error_is_redacted_first(armed):
    source = f"const s = {SECRET!r};"
    for call in (
        "nocturn.call('x'.repeat(60) + s)",
        "nocturn.call('time_now', {['x'.repeat(60) + s]: 1})",
        "nocturn.memory.read('../' + s + '.md')",
        "nocturn.memory.read('x'.repeat(250) + s + '.md')",
        "nocturn.memory.read(s + '\\ud800.md')",
        "nocturn.call('time_now', {[s + '\\ud800']: 1})",
    ):
        result = armed.run(source + call)
        assert result.status == "guest_error"
        told = json.dumps([result.error.message, result.error.detail, result.to_dict()["calls"]])
        assert SECRET not in told, call
        assert SECRET[:10] not in told, call


def test_a_value_that_is_split_by_white_space_is_not_echoed_either(armed):
    split = repr(SECRET[:9] + "\n" + SECRET[9:])
    for call in (f"nocturn.memory.read({split})", f"nocturn.call({split})"):
        error = armed.run(call).error
        assert "[REDACTED]" in error.message
        assert SECRET[9:] not in error.message


@pytest.mark.parametrize(
    "guess",
    [
        "nocturn.call(s)",
        "nocturn.call('time_now', {[s]: 1})",
        "nocturn.memory.read(s + ':')",
        "nocturn.call('time_now', {[s]: (() => { const c = {}; c.c = c; return c })()})",
    ],
)
def test_an_echo_that_was_redacted_answers_no_more_guesses_than_the_budget(armed, caplog, guess):
    result = armed.run(
        f"""
        const told = [];
        for (let i = 0; i < 6; i++) {{
          const s = i < 4 ? {SECRET!r} : "no secret";
          try {{ {guess} }} catch (e) {{ told.push(e.code) }}
        }}
        nocturn.now();
        told
        """
    )
    assert "LEAK_BLOCKED" not in result.value[:3]
    assert result.value[3:] == ["LEAK_BLOCKED"] * 3
    assert SECRET not in caplog.text
    assert SECRET not in result.to_json()


def test_leak_blocked_says_the_same_whatever_was_found(armed):
    said = set()
    for call in (
        f"nocturn.memory.write('a.md', 's', {SECRET!r})",
        f"nocturn.memory.write('a.md', {SECRET!r}, 'c')",
        f"nocturn.memory.write({(SECRET + '.md')!r}, 's', 'c')",
        f"nocturn.memory.write('a.md', {SECRET[:9]!r}, {SECRET[9:]!r})",
    ):
        result = armed.run(f"try {{ {call} }} catch (e) {{ [e.code, e.message, e.detail] }}")
        assert result.value[0] == "LEAK_BLOCKED"
        said.add(json.dumps(result.value))
    assert len(said) == 1
    assert not re.search("phrase|exact|content|summary|path", said.pop())


def test_the_person_and_the_journal_learn_what_was_found(armed, read_journal):
    armed.memory.write("a.md", "s", "c")
    armed.run(f"nocturn.memory.write('a.md', 's', {SECRET!r})", mode="watched", agent="bob")
    (leak,) = (row for row in read_journal(armed) if "secret" in row)
    assert (leak["secret"], leak["agent"], leak["tool"]) == ("phrase", "bob", "memory_write")


def test_under_four_characters_nothing_is_matched(armed):
    assert armed.run("nocturn.memory.write('abc.md', 'abc', 'abc')", mode="watched").ok


def test_after_three_blocks_every_later_call_with_text_is_refused_unscanned(armed):
    result = armed.run(
        f"""
        const codes = [];
        const attempt = f => {{
          try {{ f(); codes.push("ok") }} catch (e) {{ codes.push(e.code) }}
        }};
        for (let i = 0; i < 3; i++) {{
          attempt(() => nocturn.memory.list({{cursor: "harmless" + i}}));
          attempt(() => nocturn.memory.list({{cursor: {SECRET!r}}}));
        }}
        attempt(() => nocturn.memory.list({{cursor: "harmless"}}));
        attempt(() => nocturn.memory.write("a.md", "s", "c"));
        attempt(() => nocturn.now());
        codes
        """,
        mode="watched",
    )
    assert result.value == ["ok", "LEAK_BLOCKED"] * 3 + ["LEAK_BLOCKED", "LEAK_BLOCKED", "ok"]
    assert not armed.path.exists()
    # It was that run's budget; the next one has its own.
    assert armed.run("nocturn.memory.list({cursor: 'harmless'})").ok


def test_an_agents_blocks_are_counted_across_its_runs(armed, read_journal):
    armed.memory.write("a.md", "s", "c")
    for _ in range(2):
        armed.run(f"nocturn.memory.read({(SECRET + '.md')!r})", agent="bob")
    rows = [row for row in read_journal(armed) if row.get("code") == "LEAK_BLOCKED"]
    assert [row["agent"] for row in rows] == ["bob", "bob"]


def test_calls_in_a_run_have_a_limit(nocturn_workspace):
    ws = nocturn_workspace(limits=Limits(calls=3))
    result = ws.run(
        "let n = 0; try { for (;;) { nocturn.now(); n++ } } catch (e) { [n, e.code, e.message] }"
    )
    done, code, message = result.value
    assert (done, code) == (3, "LIMIT")
    assert re.search(r"limit calls is 3\b", message)
    assert result.usage.calls == 4
    assert result.calls[-1].code == "LIMIT"
    assert ws.run("nocturn.now()").ok


def test_arguments_have_a_limit_to_the_byte(nocturn_workspace):
    @tool(axis="read", effects="ungated")
    def length(text: str) -> int:
        return len(text)

    ws = nocturn_workspace(tools=[length], limits=Limits(call_bytes=1_000))
    size = 1_000 - len('{"text":""}')
    assert ws.run(f"nocturn.call('length', {{text: 'x'.repeat({size})}})").value == size
    error = ws.run(f"nocturn.call('length', {{text: 'x'.repeat({size + 1})}})").error
    assert error.code == "TOO_LARGE"
    assert error.detail == {"field": "arguments", "limit": 1_000, "size": 1_001}
    assert ws.run("nocturn.call('length', {text: 'x'.repeat(9e6)})").error.code == "TOO_LARGE"
    with pytest.raises(NocturnError) as refused:
        ws.call("length", {"text": "x" * (size + 10)})
    assert refused.value.code == "TOO_LARGE"


def test_a_reply_has_a_limit_to_the_byte(nocturn_workspace):
    @tool(axis="read", effects="ungated")
    def repeat(count: int) -> str:
        return "x" * count

    ws = nocturn_workspace(tools=[repeat], limits=Limits(call_bytes=1_000))
    assert ws.run("nocturn.call('repeat', {count: 998}).length").value == 998
    result = ws.run("nocturn.call('repeat', {count: 999})")
    assert result.error.code == "TOO_LARGE"
    assert result.calls[0].code == "TOO_LARGE"
    assert "1000" in result.error.message
    assert "1001" in result.error.message


@pytest.mark.parametrize(
    ("source", "field"),
    [
        ("nocturn.memory.write('a.md', 's')", "content"),
        ("nocturn.memory.write('a.md', 7, 'c')", "summary"),
        ("nocturn.memory.write(null, 's', 'c')", "path"),
        ("nocturn.call('memory_write', {path:'a.md', summary:'s', content:'c', mode:'x'})", "mode"),
        ("nocturn.memory.list({limit: '5'})", "limit"),
        ("nocturn.memory.list({limit: 1.5})", "limit"),
        ("nocturn.memory.list({limit: true})", "limit"),
        ("nocturn.memory.write('a.md', 's', 'half \\ud800')", "content"),
        ("nocturn.memory.read({toString() { return 'a.md' }})", "path"),
    ],
)
def test_a_bad_argument_is_named(ws, source, field):
    error = ws.run(source, mode="watched").error
    assert error.code == "BAD_ARGUMENTS"
    assert error.detail["field"] == field
    assert field in error.message
    assert not ws.path.exists()


def test_no_message_of_ours_holds_an_absolute_path(ws):
    ws.path.mkdir()
    (ws.path / "memory").write_text("a file")
    for source in ("nocturn.memory.read('a.md')", "nocturn.memory.write('a.md','s','c')"):
        result = ws.run(source, mode="watched")
        assert result.error.code in CODES
        assert str(ws.path) not in result.to_json()
