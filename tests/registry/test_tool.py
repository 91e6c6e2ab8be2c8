"""How a function becomes a tool, and what is refused at once."""

from typing import Annotated

import pytest
from pydantic import BaseModel, Field, ValidationError, create_model

from nocturn import ConfigurationError, tool
from nocturn.registry.tool import Registry, Tool


def made(function, **options):
    options = {"axis": "read", "effects": "ungated"} | options
    return tool(**options)(function)


def nothing() -> None:
    """Does nothing.

    At length.
    """


def test_name_and_description_are_the_functions_unless_they_are_given():
    assert (made(nothing).name, made(nothing).description) == (
        "nothing",
        "Does nothing.\n\nAt length.",
    )
    given = made(nothing, name="mine", description="Mine.")
    assert (given.name, given.description) == ("mine", "Mine.")


@pytest.mark.parametrize("name", ["a", "a-B_9", "x" * 64])
def test_a_good_name_is_kept(name):
    assert made(nothing, name=name).name == name


@pytest.mark.parametrize("name", ["a b", "x" * 65, "ä", "a.b", "a\n", "a/b", "٣"])
def test_a_bad_name_is_refused(name):
    with pytest.raises(ConfigurationError):
        made(nothing, name=name)


@pytest.mark.parametrize(
    "options",
    [
        {"effects": ()},
        {"effects": "gated"},
        {"axis": "write"},
        {"axis": "both"},
        {"effects": [("mail", "send")]},
        {"effects": [("mail", "send", 3)]},
        {"effects": ["mail"]},
        {"effects": [("mail", "send", "no_such_argument")]},
    ],
)
def test_what_a_tool_does_must_be_said_in_full(options):
    with pytest.raises(ConfigurationError):
        made(nothing, **options)


def test_without_a_word_a_tool_writes_and_must_say_what():
    with pytest.raises(ConfigurationError):
        tool(nothing)


def test_a_target_must_always_be_there():
    def send(to: str, copy: str = "") -> None: ...

    assert made(send, effects=[("mail", "send", "to")]).gate == "mail send"
    with pytest.raises(ConfigurationError):
        made(send, effects=[("mail", "send", "copy")])


def test_a_parameter_without_a_type_is_refused_at_once():
    def untyped(x) -> None: ...
    def many(*x: int) -> None: ...
    def named(**x: int) -> None: ...
    def positional(x: int, /) -> None: ...

    for function in (untyped, many, named, positional):
        with pytest.raises(ConfigurationError):
            made(function)


def test_keyword_only_parameters_are_the_hosts():
    def send(to: str, *, clearance: object, preview: object) -> None: ...

    sent = made(send, effects=[("mail", "send", "to")])
    assert list(sent.schema()["properties"]) == ["to"]
    assert sent.parameters == {"to", "clearance", "preview"}


@pytest.mark.parametrize("name", ["clearance", "preview"])
def test_an_argument_cannot_have_a_name_that_the_host_fills_in(name):
    space = {}
    exec(f"def render({name}: bool) -> bool:\n    return {name}", space)
    model = create_model("Given", **{name: (bool, ...)})
    for function, options in ((space["render"], {}), (nothing, {"arguments": model})):
        with pytest.raises(ConfigurationError) as refused:
            made(function, **options)
        assert name in refused.value.message


def test_a_parameter_behind_the_star_that_nobody_would_fill_in_is_refused_at_once():
    def wrong(a: int, *, b: int) -> int:
        return a + b

    def right(a: int, *, b: int = 2) -> int:
        return a + b

    with pytest.raises(ConfigurationError) as refused:
        made(wrong)
    assert "parameter b" in refused.value.message
    assert made(right).fields == ("a",)
    assert made(wrong, canonical=lambda given: {**given, "b": 1}).fields == ("a",)


def test_the_types_of_what_the_host_fills_in_need_not_be_known():
    def send(to: str, *, clearance: "NoSuchType") -> "NorThis": ...  # noqa: F821

    assert list(made(send).schema()["properties"]) == ["to"]


def test_an_argument_of_a_type_that_is_not_known_is_refused():
    def send(to: "NoSuchType") -> None: ...  # noqa: F821

    with pytest.raises(ConfigurationError) as refused:
        made(send).schema()
    assert "NoSuchType" in refused.value.message


def test_arguments_are_strict_and_closed():
    def f(count: int, share: float, names: list[str], flag: bool = False) -> None: ...

    parse = made(f).parse
    good = '{"count": 1, "share": 2, "names": ["a"]}'
    assert parse(good) == {"count": 1, "share": 2.0, "names": ["a"]}
    for bad in (
        '{"count": "1", "share": 2, "names": []}',
        '{"count": 1.0, "share": "2", "names": []}',
        '{"count": true, "share": 2, "names": []}',
        '{"count": 1, "share": 2, "names": "a"}',
        '{"count": 1, "share": 2, "names": [], "flag": 1}',
        '{"count": 1, "share": 2, "names": [], "more": 1}',
        '{"count": 1}',
        "[]",
    ):
        with pytest.raises(ValidationError):
            parse(bad)


def test_a_default_is_the_functions_business():
    def f(x: int = 7) -> None: ...

    assert made(f).parse("{}") == {}
    assert made(f).parse('{"x": 1}') == {"x": 1}


def test_a_pydantic_field_keeps_its_bounds_and_a_word_is_its_description():
    def f(x: Annotated[int, "how many", Field(ge=1)]) -> None: ...

    schema = made(f).schema()["properties"]["x"]
    assert (schema["description"], schema["minimum"]) == ("how many", 1)
    with pytest.raises(ValidationError):
        made(f).parse('{"x": 0}')


class Inner(BaseModel):
    n: int


class Outer(BaseModel):
    inner: Inner
    spelled: int = Field(1, alias="Spelled")


def test_a_model_is_strict_whatever_its_own_configuration():
    def f(inner: Inner, spelled: int) -> int:
        return inner.n + spelled

    adding = made(f, arguments=Outer)
    assert adding.fields == ("inner", "Spelled")
    assert adding.parse('{"inner": {"n": 1}}') == {"inner": Inner(n=1), "spelled": 1}
    assert adding.parse('{"inner": {"n": 1}, "Spelled": 2}')["spelled"] == 2
    for bad in (
        '{"inner": {"n": "1"}}',
        '{"inner": {"n": 1}, "more": 1}',
        '{"inner": {"n": 1}, "Spelled": "2"}',
    ):
        with pytest.raises(ValidationError):
            adding.parse(bad)
    # The caller's own class is left as it was.
    assert Outer.model_validate_json('{"inner": {"n": 1}, "more": 1}').spelled == 1


def test_effects_take_their_target_from_the_arguments():
    def f(to: str) -> None: ...

    both = made(f, effects=[("mail", "send", "to"), ("log", "add", lambda a: a["to"].upper())])
    targets = [e.target for each in both.effects for e in each.effects({"to": "lina"})]
    assert targets == ["lina", "LINA"]
    assert both.gate == "mail send, log add"


def test_a_tool_tells_itself_as_json():
    def f(x: int) -> None:
        """Does."""

    told = made(f, effects=[("a", "b", "x")]).to_dict()
    assert list(told) == ["name", "description", "axis", "effects", "input"]
    assert told["effects"] == [{"kind": "a", "verb": "b"}]
    assert told["input"]["properties"]["x"]["type"] == "integer"


def test_a_registry_has_each_name_once_and_gives_cages():
    one, two = made(nothing, name="one"), made(nothing, name="two")
    registry = Registry([two, one])
    assert registry.names() == ("one", "two")
    assert registry.get("one") is one
    assert registry.get("three") is None
    assert [each.name for each in registry] == ["two", "one"]
    assert registry.cage(None) == {"one", "two"}
    assert registry.cage("one") == {"one"}
    assert registry.cage([]) == frozenset()
    with pytest.raises(ConfigurationError):
        registry.cage(["one", "three"])
    with pytest.raises(ConfigurationError):
        registry.add(made(nothing, name="one"))
    with pytest.raises(ConfigurationError):
        registry.add(nothing)


def test_a_tool_cannot_be_changed():
    with pytest.raises(AttributeError):
        made(nothing).name = "x"
    assert isinstance(made(nothing), Tool)


@pytest.mark.parametrize("options", [{"outside": 1}, {"outside": "yes"}, {"text": "nope"}])
def test_what_a_tool_says_of_its_texts_must_be_so(options):
    with pytest.raises(ConfigurationError):
        tool(axis="read", effects="ungated", **options)(lambda: None)


def test_a_target_function_may_name_several_targets() -> None:
    @tool(axis="write", effects=[("mail", "send", lambda arguments: arguments["to"])])
    def send(to: list[str]) -> str:
        return str(to)

    (declared,) = send.effects
    assert [each.target for each in declared.effects({"to": ["a", "b"]})] == ["a", "b"]


def test_no_cage_holds_a_tool_that_is_for_a_persons_program_alone() -> None:
    @tool(axis="read", effects="ungated", by_hand=True)
    def mine() -> str:
        return "mine"

    @tool(axis="read", effects="ungated")
    def theirs() -> str:
        return "theirs"

    registry = Registry([mine, theirs])
    assert registry.names() == ("mine", "theirs")
    assert registry.cage(None) == {"theirs"}
    with pytest.raises(ConfigurationError, match="a guest may not have mine"):
        registry.cage(["mine"])
