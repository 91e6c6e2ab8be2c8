"""Where an error was: file, line, column, the line itself, its causes, and the user's frames."""

import json

import pytest

from nocturn import RunFailed, Workspace
from nocturn.layout import error_lines


@pytest.fixture(scope="module")
def ws(tmp_path_factory):
    modules = {"offered": "export function fails() {\n  throw new Error('offered') }"}
    with Workspace(tmp_path_factory.mktemp("ws"), modules=modules) as workspace:
        yield workspace


@pytest.mark.parametrize(
    "source",
    [
        "// 1\n// 2\n\nnull.x",
        "// 1\n// 2\nawait 0\nnull.x",
        "import 'offered'\n\n\nnull.x",
        "import 'offered'\nawait 0\n\nnull.x",
        "function f() {\n\n\nnull.x }\nexport default f()",
        "#!/usr/bin/env nocturn\n\n\nnull.x",
        "\r\n\r\n\r\nnull.x",
        "const f = async () => {\nawait 0\n\nnull.x }; await f()",
        "\n\nsetTimeout(() =>\nnope.x, 1); 5",
        "\n\nPromise.resolve().then(() =>\nnope.x)",
        "const s = '\u2028';\r\n//\u2028\n\nnull.x // 💥 \u2028",
        "\r\r\rnull.x",
        "// 1\n/* 2\n 3 */\n  let x = ;",
        "export const a = 1\n\n\nlet x = ;",
        "await 0\n\n\nlet x = ;",
        "\n\n\nJSON.parse('{')",
        "\n\n\nawait nocturn.callAsync('nope')",
        "\n\n\n(0, eval)('null.x')",
        "\n\n\nnew Function('null.x')()",
    ],
)
def test_g27_a_throw_on_line_four_says_line_four(ws, source):
    error = ws.run(source, filename="dir/file.js").error
    if error.code == "UNKNOWN_TOOL":  # it was made when the reply came, with no guest at work
        assert error.line in (None, 4)
        return
    assert (error.file, error.line) == ("dir/file.js", 4)
    assert error.column >= 1
    assert error.source_line in source


def test_a_column_counts_utf_16_units_and_the_caret_stands_under_it(ws):
    for before in ("", "const s = '💥é€';", "\t'\ud800';", "/* " + "💥" * 200 + " */"):
        error = ws.run(f"{before} nope()", filename="f.js").error
        assert error.column == len(f"{before} ".encode("utf-16-le", "surrogatepass")) // 2 + 1
        _, line, caret = error_lines(error).splitlines()
        assert line[caret.index("^") :].startswith("nope")


def test_an_error_in_a_file_that_was_imported_names_that_file_and_how_it_came_there(ws, tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/deep.js").write_text("export function deep(f) {\n  return f() }")
    (tmp_path / "broken.js").write_text("\n  let x = ;")
    source = (
        "import {deep} from './lib/deep.js'\nimport {fails} from 'offered'\n"
        "function inner() {\n  fails() }\nexport default deep(inner)"
    )
    error = ws.run(source, filename="p/main.js", folder=tmp_path).error
    assert (error.file, error.line, error.source_line) == (
        *("offered", 2),
        "  throw new Error('offered') }",
    )
    places = [
        frame.split("(")[-1].rstrip(")").removeprefix("at ") for frame in error.stack.split("\n")
    ]
    assert [place.rsplit(":", 1)[0] for place in places] == [
        *("offered:2", "p/main.js:4", "p/lib/deep.js:2", "p/main.js:5"),
    ]  # fmt: skip
    broken = ws.run("import './broken.js'", filename="p/main.js", folder=tmp_path).error
    assert (broken.name, broken.file, broken.line) == ("SyntaxError", "p/broken.js", 2)


def test_the_script_sees_its_name_and_not_where_it_lies(ws):
    stack = ws.run("new Error('x').stack", filename="/home/someone/secret place/a b(1).js").value
    assert "a b(1).js:1:" in stack
    assert "home" not in stack
    error = ws.run("throw new Error('x')", filename="/home/someone/a b(1).js").error
    assert (error.file, error.line) == ("/home/someone/a b(1).js", 1)
    for odd in ("<input>", "", "a\nb.js", "\0", "x/"):
        assert ws.run("throw new Error('x')", filename=odd).error.line == 1


def test_no_frame_of_ours_is_in_a_stack(ws):
    source = (
        "const o = {toJSON() { throw new Error('inner') }};"
        "[1].forEach(function each() { JSON.stringify(o) })"
    )
    error = ws.run(source, filename="f.js").error
    assert [frame.partition(" (")[0] for frame in error.stack.split("\n")] == [
        *("at toJSON", "at each"),
    ] + [frame.partition(" (")[0] for frame in error.stack.split("\n")[2:]]
    assert all("f.js:1:" in frame for frame in error.stack.split("\n"))
    refused = ws.run("function mine() { nocturn.memory.read('none.md') } mine()", filename="f.js")
    assert refused.error.stack.split("\n")[0].startswith("at mine (f.js:1:")


def test_causes_and_the_parts_of_an_aggregate_come_along_in_every_form(ws):
    source = (
        "const low = new TypeError('low', {cause: 'a text'});\n"
        "const mid = new Error('mid', {cause: low});\n"
        "throw new AggregateError([mid, new RangeError('part'), 7], 'all', {cause: mid})"
    )
    result = ws.run(source, filename="f.js")
    error = result.error
    assert (error.cause.message, error.cause.line, error.cause.cause.message) == ("mid", 2, "low")
    assert error.cause.cause.cause.message == "a text"
    assert [(each.name, each.message) for each in error.errors] == [
        *(("Error", "mid"), ("RangeError", "part"), ("Thrown", "7")),
    ]  # fmt: skip
    told = json.loads(result.to_json())["error"]
    assert told["cause"]["cause"]["source_line"] == source.split("\n", maxsplit=1)[0]
    assert told["errors"][1]["line"] == 3
    shown = error_lines(error)
    for words in ("AggregateError: all", "caused by f.js:2:", "TypeError: low", "part"):
        assert words in shown
    with pytest.raises(RunFailed, match=r"f\.js:3:"):
        result.raise_for_error()


@pytest.mark.parametrize(
    "source",
    [
        "const e = new Error('round'); e.cause = e; throw e",
        "const e = new AggregateError([], 'x'); e.errors.push(e, e, e); e.cause = e; throw e",
        "let e; for (let i = 0; i < 1e4; i++) e = new Error(i, {cause: e}); throw e",
        "const e = () => new Error('x'.repeat(1e4)); throw new AggregateError([...'ab'].map(e))",
        "throw new AggregateError(Array.from({length: 1e4}, () => new Error('x')), 'x')",
        "const e = new Error(); Object.defineProperty(e, 'cause', {get() { for (;;); }}); throw e",
        "const e = new Error(); e.errors = new Proxy([], {get() { for (;;); }}); throw e",
        "const e = new Error('\\u202e\\x1b'); e.stack = 'at (file.js:1:1)\\n'.repeat(1e6); throw e",
        "Object.defineProperty(Array.prototype, 0, {set() { throw 1 }}); throw AggregateError([1])",
        "Promise.any([Promise.reject(new Error('a')), Promise.reject(new Error('b'))])",
    ],
)
def test_an_error_of_any_shape_is_told_within_bounds_and_shown_safely(ws, source):
    result = ws.run(source, filename="file.js")
    assert result.status == "guest_error"
    assert len(result.to_json()) < 2_000_000
    shown = error_lines(result.error)
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_a_value_that_was_lost_is_not_taken_for_another(ws):
    result = ws.run(
        "Object.defineProperty(Object.prototype, 'value', {value: 'forged'}); await 1; 2"
    )
    assert (result.status, result.value, result.error.name) == ("guest_error", None, "TypeError")
