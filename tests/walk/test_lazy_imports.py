"""A first run is quick because it loads nothing that it does not need."""

import json

import pytest

SERVER = ("asyncio", "starlette", "uvicorn")
SCANNER = ("ahocorasick_rs", "re2", "nocturn.guard.views")
HEAVY = (
    *("pydantic", "frontmatter", "yaml", "typer", "rich", "click", "pytest", "sqlite3"),
    *SERVER,
    *SCANNER,
    *("tree_sitter", "nocturn.host.typescript"),
)


@pytest.fixture
def loaded(fresh_python):
    """Tells which heavy modules a program has loaded at its end."""
    told = f"\nimport json, sys; print(json.dumps([n for n in {HEAVY!r} if n in sys.modules]))"
    return lambda program: json.loads(fresh_python(program + told).splitlines()[-1])


def test_a_first_result_loads_no_pydantic_no_yaml_and_no_command_line(loaded):
    program = (
        "import sys; from nocturn import Workspace\n"
        "with Workspace(sys.argv[1]) as ws: assert ws.run('1+1').value == 2"
    )
    assert loaded(program) == []


def test_a_tool_of_ones_own_loads_nothing_until_it_is_called(loaded):
    program = (
        "import sys; from nocturn import Limits, NocturnError, RunResult, Workspace, tool\n"
        "@tool(axis='read', effects='ungated')\n"
        "def mine(x: int) -> int: return x\n"
        "with Workspace(sys.argv[1], tools=[mine], limits=Limits()) as ws: ws.run('1+1')"
    )
    assert loaded(program) == []


def test_a_run_that_carries_nothing_makes_no_search_ready_for_the_secrets_there_are(loaded):
    program = (
        "import os, sys; from nocturn import EnvironmentSecrets, Workspace\n"
        "os.environ['KEY'] = 'q7Xw2Lm9Zt4Kd8Rv'\n"
        "with Workspace(sys.argv[1], secrets=[EnvironmentSecrets('KEY')]) as ws: ws.run('1+1')"
    )
    assert not set(SCANNER) & set(loaded(program))


def test_the_command_lines_libraries_are_loaded_by_the_command_line_alone(loaded):
    program = (
        "import sys; from nocturn import Workspace\n"
        "with Workspace(sys.argv[1]) as ws: ws.memory.write('a.md', 's', 'c'); ws.memory.catalog()"
    )
    assert not {"typer", "rich", "click", "pytest"} & set(loaded(program))


def test_a_command_loads_no_other(fresh_python):
    program = (
        "import sys; from nocturn.cli.main import main\n"
        "sys.argv = ['nocturn', 'eval', '1', '--workspace', sys.argv[1]]\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*sorted(each for each in sys.modules if each.startswith('nocturn.cli.')))"
    )
    loaded = {each.removeprefix("nocturn.cli.") for each in fresh_python(program).split()[1:]}
    assert loaded == {"codes", "groups", "main", "options", "running"}
