"""Declarations: valid TypeScript whatever a tool is called and says, and true to its schema."""

import enum
import shutil
import subprocess
from pathlib import Path
from typing import Annotated, Any, Literal

import hypothesis
import hypothesis.strategies as st
import pydantic
import pytest

from nocturn import Workspace, tool
from nocturn.registry.typegen import declarations

ROOT = Path(__file__).resolve().parents[2]


def read(text):
    """Returns the tree of a text, which has no error in it, as TypeScript's own parser sees it."""
    tree_sitter = pytest.importorskip("tree_sitter", reason="the extra ts is not installed")
    grammar = pytest.importorskip("tree_sitter_typescript", reason="the extra ts is not there")
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language_typescript()))
    root = parser.parse(text.encode()).root_node
    assert not root.has_error
    return root


def calls(*tools):
    """Returns what the declarations say of calls."""
    text = declarations(tools)
    return text[text.index("interface NocturnCall") : text.index('declare module "nocturn" {}')]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Leaf(pydantic.BaseModel):
    """A */ leaf."""

    size: float
    next: "Leaf | None" = None


@tool(axis="read", effects="ungated")
def grow(
    leaf: Leaf,
    kind: Literal["a", 1, True] | None,
    colours: list[Colour],
    pair: tuple[int, str],
    sizes: dict[str, int] | None = None,
    anything: Any = None,
) -> list[Leaf]:
    """Grows */ a tree.

    In two lines."""


def test_each_kind_of_schema_becomes_the_type_that_it_describes():
    said = " ".join(calls(grow).split())
    assert '(tool: "grow", args: { ' in said
    assert "leaf: Nocturn_grow_Leaf;" in said
    assert 'kind: "a" | 1 | true | null;' in said
    assert "colours: Array<Nocturn_grow_Colour>;" in said
    assert "pair: [number, string];" in said
    assert "sizes?: Record<string, number> | null;" in said
    assert "anything?: any;" in said
    assert "}): NocturnReply<Array<Nocturn_grow_reply_Leaf>, Async>;" in said
    whole = " ".join(declarations([grow]).split())
    assert 'type Nocturn_grow_Colour = "red" | "blue";' in whole
    assert "type Nocturn_grow_Leaf = { size: number; next?: Nocturn_grow_Leaf | null; };" in whole


def test_what_a_person_wrote_stands_in_comments_that_it_cannot_end():
    root = read(declarations([grow]))
    comments = [each.text for each in root.named_children if each.type == "comment"]
    assert any(b"A *\\/ leaf." in each for each in comments)


def test_a_tool_without_arguments_needs_none_and_one_without_types_gives_any():
    @tool(axis="read", effects="ungated")
    def bare():
        """Nothing."""

    assert '(tool: "bare", args?: Record<string, never>): NocturnReply<any, Async>;' in calls(bare)


names = st.text(min_size=1, max_size=12).filter(lambda name: not name.startswith("_"))


@hypothesis.settings(max_examples=20, suppress_health_check=[hypothesis.HealthCheck.too_slow])
@hypothesis.given(
    name=st.from_regex(r"[A-Za-z0-9_-]{1,12}", fullmatch=True),
    description=st.text(max_size=60)
    | st.sampled_from(["*/", "/*", "*\n/", "`${x}`", "*/ }", "//"]),
    field=names,
    about=st.text(max_size=30) | st.just("*/"),
    value=st.text(max_size=10),
)
def test_declarations_are_valid_whatever_names_and_descriptions_hold(
    name, description, field, about, value
):
    model = pydantic.create_model(
        "M", f=(Annotated[Literal["x", value], pydantic.Field(alias=field, description=about)], ...)
    )

    @tool(axis="read", effects="ungated", name=name, description=description, arguments=model)
    def any_tool(f: str) -> str: ...

    root = read(calls(any_tool))
    kinds = [each.type for each in root.named_children]
    assert "expression_statement" not in kinds  # nothing that was text has become code


def test_wrappers_are_declared_for_the_tools_that_come_with_nocturn_and_are_in_the_cage(ws):
    whole, caged = ws.types(), ws.types(["memory_read"])
    assert (
        "readonly write: NocturnWrapper<(path: string, summary: string, content: string," in whole
    )
    assert "readonly now: NocturnWrapper<() =>" in whole
    assert "readonly read: NocturnWrapper<(path: string) => string>;" in caged
    assert "memory_write" not in caged
    assert "readonly now" not in caged
    assert "memory_undo" not in whole  # by hand only: no guest has it
    read(whole)


def test_a_wrapper_that_a_tool_of_ones_own_speaks_of_is_not_believed(tmp_path):
    @tool(axis="read", effects="ungated", page={"wrapper": "nocturn.memory.read(path)"})
    def mine(path: str) -> str:
        """Mine."""

    with Workspace(tmp_path / "ws", tools=[mine]) as ws:
        assert ws.types(["mine"]).count("NocturnWrapper<(") == 0


def test_the_file_in_the_checkout_is_what_the_registry_gives(ws):
    if not (ROOT / "js" / "nocturn.d.ts").exists():
        pytest.skip("this is no checkout")
    assert (ROOT / "js" / "nocturn.d.ts").read_text(encoding="utf-8") == ws.types()


def test_the_compiler_agrees_where_there_is_one(ws, tmp_path):
    tsc = shutil.which("tsc")
    if tsc is None:
        pytest.skip("there is no TypeScript compiler here")
    (tmp_path / "nocturn.d.ts").write_text(ws.types())
    (tmp_path / "use.ts").write_text(
        'const a: string = nocturn.memory.read("a.md");\n'
        'const b: Promise<string> = nocturn.callAsync("memory_read", { path: "a.md" });\n'
        "// @ts-expect-error\nnocturn.call('nothing', {});\n"
        "// @ts-expect-error\nnocturn.memory.write('a.md');\n"
    )
    options = ["--strict", "--noEmit", "--lib", "es2023", "--target", "es2023"]
    files = [tmp_path / "nocturn.d.ts", tmp_path / "use.ts"]
    done = subprocess.run(
        [tsc, *options, *files], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout == ""
