"""A value with `await`, modules out of a folder and of the host's, and what is no module."""

import os

import pytest

from nocturn import ConfigurationError, Limits, Workspace


@pytest.fixture(scope="module")
def ws(tmp_path_factory):
    modules = {"greet": "export default 'hello'; export const loud = s => s + '!'"}
    with Workspace(tmp_path_factory.mktemp("ws"), modules=modules) as workspace:
        yield workspace


@pytest.fixture
def project(tmp_path):
    """A folder with a script beside others, and a secret outside of it."""
    inside = tmp_path / "project"
    (inside / "lib").mkdir(parents=True)
    (tmp_path / "secret.js").write_text("export default 'secret'")
    return inside


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("const x = await Promise.resolve(21); x * 2", 42),
        ("for (const n of [1, 2]) await n; let y = 1; { y + 1 }", 2),
        ("var v = 7; await 0; globalThis.v + this.v", 14),
        ("await 0; with ({a: 5}) a", 5),  # a script is sloppy, whatever it awaits
        ("await 0; ({then: 1}).then", 1),
        ("if (await true) 'yes'; else 'no'", "yes"),
        ("await 0; new Promise(f => setTimeout(f, 1, 'later'))", "later"),
        ("for await (const n of (async function* () { yield 3 })()) n", 3),
        ("'await'", "await"),
    ],
)
def test_a_script_may_await_and_still_has_a_value(ws, source, value):
    result = ws.run(source)
    assert (result.status, result.value) == ("ok", value)


def test_what_a_script_lets_and_consts_is_global_as_without_await(ws):
    result = ws.run("const a = await 1; let b = 2; function f() { return (0, eval)('a + b') } f()")
    assert result.value == 3


def test_a_module_is_what_imports_or_exports_and_its_value_is_its_default(ws):
    for source, value in (
        ("import g, {loud} from 'greet'; export default loud(g)", "hello!"),
        ("export const a = 1", None),
        ("export default await Promise.resolve(5)", 5),
        ("export default Promise.resolve(6)", 6),
        ("export default this === undefined", True),
        ("import * as all from 'nocturn'; export default Object.keys(all).sort()",
         ["NocturnError", "args", "call", "callAsync", "default", "memory", "now", "persona"]),
        ("import {now} from 'nocturn'; export default typeof now().iso", "string"),
        ("const {loud} = await import('greet'); loud('script')", "script!"),
        ("// export, import: words in a comment\n'import x from y'", "import x from y"),
    ):  # fmt: skip
        result = ws.run(source)
        assert (result.status, result.value) == ("ok", value), source


def test_an_import_of_anything_else_says_what_there_is_and_where_it_stands(ws):
    result = ws.run("let ran = 1;\nimport fs from 'node:fs'; console.log(ran)", filename="m.js")
    assert (result.status, result.console) == ("refused_source", ())
    assert "nocturn" in result.error.message
    assert "greet" in result.error.message
    assert (result.error.line, result.error.column) == (2, 16)
    for source in ("await import('node:fs')", "await import('./own.js')", "await import('')"):
        caught = ws.run(f"try {{ {source} }} catch (e) {{ e.name + e.message.includes('greet') }}")
        assert (caught.status, caught.value) == ("ok", "TypeErrortrue")


def test_code_without_a_folder_gets_no_file(ws, project, monkeypatch):
    (project / "a.js").write_text("export default 1")
    monkeypatch.chdir(project)
    for source in ("import a from './a.js'", f"import a from '{project}/a.js'"):
        assert ws.run(source, filename=str(project / "main.js")).status == "refused_source"


def test_a_script_imports_its_own_folders_files_also_in_a_cycle(ws, project):
    (project / "a.js").write_text("import {b} from './lib/b.mjs'; export const a = () => b + 1")
    (project / "lib/b.mjs").write_text(
        "import {a} from '../a.js'; import {top} from '../main.js'; export const b = 40; export {a}"
    )
    (project / "lib/types.ts").write_text("export const t = 1")
    source = (
        "import {a} from './a.js';\nimport {t} from /* here */ './lib/types.ts';\n"
        "import g from 'greet'; export const top = 0; export default [a() + t, g]"
    )
    result = ws.run(source, filename=str(project / "main.js"), folder=project)
    assert (result.status, result.value) == ("ok", [42, "hello"])
    lazily = ws.run("(await import('./lib/types.ts')).t", filename="main.js", folder=project)
    assert lazily.value == 1


def test_no_import_leaves_the_scripts_folder_or_reads_what_is_no_script(ws, project):
    (project / "out.js").symlink_to(project.parent / "secret.js")
    (project / "up").symlink_to(project.parent)
    (project / "data.json").write_text("{}")
    (project / "dir.js").mkdir()
    os.mkfifo(project / "fifo.js")
    (project / "device.js").symlink_to("/dev/zero")
    for name in (
        "../secret.js", "./lib/../../secret.js", "./out.js", "./up/secret.js", "./data.json",
        "./dir.js", "./fifo.js", "./device.js", "./none.js", "./%2e%2e/secret.js",
        "./..\\\\secret.js", "./lib/..//../secret.js",
    ):  # fmt: skip
        result = ws.run(f"import x from '{name}'; export default x", folder=project)
        assert result.status == "refused_source", name


def test_a_link_within_the_folder_and_a_link_to_the_folder_are_followed(ws, project):
    (project / "real.js").write_text("export default 4")
    (project / "link.js").symlink_to("real.js")
    (project.parent / "elsewhere").symlink_to(project)
    source = "import x from './link.js'; export default x"
    assert ws.run(source, folder=project.parent / "elsewhere").value == 4


def test_files_count_as_source_and_a_bad_one_is_named(ws, project):
    (project / "big.js").write_text("//" + "x" * 900)
    (project / "bad.js").write_bytes(b"//\xff")
    limits = Limits(source_bytes=800)
    source = "import './{}.js'"
    for name, bounds in (("big", limits), ("bad", None)):
        result = ws.run(source.format(name), folder=project, limits=bounds)
        assert result.status == "refused_source"
        assert f"{name}.js" in result.error.message
    assert ws.run(source.format("big"), folder=project).status == "ok"
    many = "".join(f"import './n{n}.js';" for n in range(1_001))
    assert ws.run(many, folder=project).status == "refused_source"


def test_a_long_chain_of_files_loads(ws, project):
    for n in range(200):
        (project / f"n{n}.js").write_text(
            f"import x from './n{n + 1}.js'; export default x + 1"
            if n < 199
            else "export default 0"
        )
    assert ws.run("import x from './n0.js'; export default x", folder=project).value == 199
    (project / "n199.js").write_text("import './n200.js'")
    (project / "n200.js").write_text("")
    assert ws.run("import x from './n0.js'", folder=project).status == "refused_source"


def test_who_changes_an_imported_file_is_another_agent(ws, project, read_journal):
    ws.memory.write("seen.md", "s", "so that there is a journal")
    source = "import './lib.js'; nocturn.now()"
    for text in ("1", "1", "2"):
        (project / "lib.js").write_text(text)
        assert ws.run(source, folder=project, filename="main.js").status == "ok"
    agents = [row["agent"] for row in read_journal(ws) if row.get("tool") == "time_now"][-3:]
    assert agents[0] == agents[1] != agents[2]


@pytest.mark.parametrize("name", ["", "nocturn", "a.js", "./a", "Caps", "a//b", "a b", 5, "é"])
def test_a_module_of_the_hosts_has_a_name_that_no_file_could_have(tmp_path, name):
    with pytest.raises(ConfigurationError):
        Workspace(tmp_path, modules={name: "export default 1"})
