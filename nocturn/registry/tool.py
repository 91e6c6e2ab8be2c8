"""A tool: a named host function with an input schema, and what it says of its effects."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, overload

from nocturn.errors import ConfigurationError
from nocturn.names import is_tool_name
from nocturn.registry.declared import UNGATED, Declared, Target, declared

if TYPE_CHECKING:
    from pydantic import BaseModel

    from nocturn.effects import Preview

__all__ = ["Registry", "Tool", "tool"]

_THE_HOSTS: Final = frozenset({"clearance", "joined", "preview"})
"""Parameters that the host fills in: a guest's argument of such a name would be lost or forged."""

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Tool:
    """A named host function, and all that the road needs to know of it.

    Attributes:
        name: 1 to 64 of ``a-z A-Z 0-9 _ -``.
        description: What it does, for people and models.
        axis: ``read`` or ``write``.
        effects: What it declares; empty for an ungated tool.
        function: The function itself, sync or async. Its parameters are the schema; keyword-only
            ones are the host's to fill: ``clearance``, ``preview``, and what ``canonical`` adds;
            ``joined`` for one that joins new text to old: a function that it gives both, before and
            after, if they are other than was foreseen, and that refuses what is a secret then.
        model: A pydantic model of the arguments in place of the function's parameters.
        canonical: Step 3: puts parsed arguments in canonical form or raises ``NocturnError``.
        caps: Step 4: the most bytes of UTF-8 that a canonical string argument may have, by name.
        foresee: Step 6: raises what can already be seen to fail; returns what would change. What it
            adds to the arguments, its function is given.
        outside: Whether it brings in text that somebody else has written, such as a web page's.
            From then on the run's calls are asked about even where a grant covers them.
        text: The name of the argument that a person may edit before saying yes.
        would: What a dry run replies in its place, from the canonical arguments and the preview.
        by_hand: Whether it is for a person's program alone: no guest's cage holds it.
        reads: Step 5: the texts that its canonical step has read on the host, each with its name.
            They are looked at one by one: nobody has cut a secret up to fit into a call.
        page: What its page says besides: ``returns``, ``notes``, ``wrapper``, ``example``; see
            :mod:`nocturn.registry.page`. ``members``: declarations of several wrappers, by room.
    """

    name: str
    description: str
    axis: Literal["read", "write"]
    effects: tuple[Declared, ...]
    function: Callable[..., Any]
    model: type[BaseModel] | None = None
    canonical: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    caps: Mapping[str, int] | None = None
    foresee: Callable[[dict[str, Any]], Preview] | None = None
    outside: bool = False
    text: str | None = None
    would: Callable[[Mapping[str, Any], Preview], Any] | None = None
    by_hand: bool = False
    reads: Callable[[Mapping[str, Any]], Iterable[tuple[str, str]]] | None = None
    page: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        if not is_tool_name(self.name):
            raise ConfigurationError(
                f"tool name {self.name!r} is not 1 to 64 of a-z, A-Z, 0-9, _ and -"
            )
        if self.axis not in ("read", "write"):
            raise ConfigurationError(f"tool {self.name}: axis is {self.axis!r}, not read or write")
        if self.axis == "write" and not self.effects:
            raise ConfigurationError(
                f"tool {self.name} writes, so it must declare what: "
                'effects=[("kind", "verb", "argument that holds the target")]'
            )
        if type(self.outside) is not bool:
            raise ConfigurationError(
                f"tool {self.name}: outside is {self.outside!r}, not True or False"
            )
        if self.text is not None and self.text not in self._arguments_by_name():
            raise ConfigurationError(
                f"tool {self.name}: text names {self.text!r}, which is none of its arguments"
            )
        if self.model is None:
            _require_types(self)
        elif taken := _THE_HOSTS & self.model.model_fields.keys():
            raise _is_the_hosts(self.name, min(taken))

    def _arguments_by_name(self) -> Iterable[str]:
        if self.model is not None:
            return self.model.model_fields
        return inspect.signature(self.function).parameters

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The pydantic model of the arguments: strict, frozen, no extra keys. Made on first use."""
        return _model_of(self.function) if self.model is None else _strict(self.model)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The names of the arguments, as a caller spells them."""
        fields = self.arguments.model_fields
        return tuple(field.alias or name for name, field in fields.items())

    def spelled(self, name: str) -> str:
        """Returns the name of an argument as a caller spells it."""
        field = self.arguments.model_fields.get(name)
        return name if field is None else field.alias or name

    @cached_property
    def parameters(self) -> frozenset[str]:
        """The names of the function's parameters, the host's included."""
        return frozenset(inspect.signature(self.function).parameters)

    def parse(self, text: str | bytes) -> dict[str, Any]:
        """Returns the arguments in ``text``, JSON, by name; the function's own defaults left out.

        Raises:
            pydantic.ValidationError: They are not what the schema says.
        """
        # As JSON, since that is what it was: in strict mode a list is no tuple, a string no enum.
        parsed = self.arguments.model_validate_json(text, strict=True)
        names = self.arguments.model_fields if self.model else parsed.model_fields_set
        return {name: getattr(parsed, name) for name in names}

    @property
    def gate(self) -> str:
        """What the gate rules on, in words: ``memory write``, or ``ungated``."""
        return ", ".join(f"{each.kind} {each.verb}" for each in self.effects) or UNGATED

    def to_dict(self) -> dict[str, Any]:
        """Returns ``{"name", "description", "axis", "effects", "input"}``, JSON-able."""
        effects = [{"kind": each.kind, "verb": each.verb} for each in self.effects]
        return {
            "name": self.name,
            "description": self.description,
            "axis": self.axis,
            "effects": effects,
            "input": self.schema(),
        }

    def schema(self) -> dict[str, Any]:
        """Returns the JSON schema of the arguments."""
        return self.arguments.model_json_schema()


class Registry:
    """Tools by name. A name that is there already raises: nobody replaces a tool unseen.

    Args:
        tools: The tools.
        reserved: Names that no tool may have, since they are another's.
    """

    def __init__(self, tools: Iterable[Tool] = (), reserved: Iterable[str] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._reserved = frozenset(reserved)
        for each in tools:
            self.add(each)

    def add(self, added: Tool) -> None:
        """Adds a tool.

        Raises:
            ConfigurationError: It is no tool, or its name is taken.
        """
        if not isinstance(added, Tool):  # pyright: ignore[reportUnnecessaryIsInstance] - a user's
            raise ConfigurationError(
                f"{added!r} is not a tool: put @tool(axis=…, effects=…) on the function"
            )
        if added.name in self._tools or added.name in self._reserved:
            raise ConfigurationError(f"there are two tools named {added.name}: rename one")
        self._tools[added.name] = added

    def get(self, name: str) -> Tool | None:
        """Returns the tool of this name, None where there is none."""
        return self._tools.get(name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def names(self) -> tuple[str, ...]:
        """Returns the names, sorted."""
        return tuple(sorted(self._tools))

    def cage(self, names: Iterable[str] | None) -> frozenset[str]:
        """Returns the names as a guest's cage, None for all that a guest may have.

        Raises:
            ConfigurationError: A name is not in the registry, or a guest may not have it.
        """
        every = frozenset(each.name for each in self if not each.by_hand)
        if names is None:
            return every
        wanted = frozenset((names,) if isinstance(names, str) else names)
        unknown = sorted(wanted - every)
        if unknown:
            told = "a guest may not have" if unknown[0] in self._tools else "there is no tool named"
            raise ConfigurationError(f"{told} {unknown[0]}; there are {', '.join(sorted(every))}")
        return wanted


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    axis: Literal["read", "write"] = ...,
    effects: Literal["ungated"] | Iterable[tuple[str, str, Target]] = ...,
    name: str | None = None,
    description: str | None = None,
    arguments: type[BaseModel] | None = None,
    canonical: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    caps: Mapping[str, int] | None = None,
    foresee: Callable[[dict[str, Any]], Preview] | None = None,
    outside: bool = False,
    text: str | None = None,
    would: Callable[[Mapping[str, Any], Preview], Any] | None = None,
    by_hand: bool = False,
    reads: Callable[[Mapping[str, Any]], Iterable[tuple[str, str]]] | None = None,
    page: Mapping[str, Any] | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    axis: Literal["read", "write"] = "write",
    effects: Literal["ungated"] | Iterable[tuple[str, str, Target]] = (),
    name: str | None = None,
    description: str | None = None,
    arguments: type[BaseModel] | None = None,
    canonical: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    caps: Mapping[str, int] | None = None,
    foresee: Callable[[dict[str, Any]], Preview] | None = None,
    outside: bool = False,
    text: str | None = None,
    would: Callable[[Mapping[str, Any], Preview], Any] | None = None,
    by_hand: bool = False,
    reads: Callable[[Mapping[str, Any]], Iterable[tuple[str, str]]] | None = None,
    page: Mapping[str, Any] | None = None,
) -> Any:
    """Makes a tool out of a typed function, sync or async.

    ::

        @tool(axis="read", effects="ungated")
        def weather(city: Annotated[str, "a city's name"]) -> dict[str, float]:
            "The weather of a city, in °C and m/s."
            ...

        @tool(axis="write", effects=[("mail", "send", "to")])
        def send_mail(to: str, text: str) -> str: ...

    Args:
        function: What does the tool's work, where the decorator is used without parentheses.
        axis: ``write`` unless the function changes nothing.
        effects: ``"ungated"``, or for each effect its kind, its verb, and the argument that holds
            its target (or a function from the arguments to it).
        name: The function's name where it is not given.
        description: The function's docstring where it is not given.
        arguments: A pydantic model in place of the function's parameters; the function then gets
            the model's fields by name.
        canonical: See :class:`Tool`.
        caps: See :class:`Tool`.
        foresee: See :class:`Tool`.
        outside: See :class:`Tool`.
        text: See :class:`Tool`.
        would: See :class:`Tool`.
        by_hand: See :class:`Tool`.
        reads: See :class:`Tool`.
        page: See :class:`Tool`.

    Raises:
        ConfigurationError: The name is not allowed, effects are missing, or a parameter has no
            type.
    """

    def make(made: Callable[..., Any]) -> Tool:
        return Tool(
            name=name or made.__name__,
            description=description or inspect.getdoc(made) or "",
            axis=axis,
            effects=declared(name or made.__name__, effects),
            function=made,
            model=arguments,
            canonical=canonical,
            caps=caps,
            foresee=foresee,
            outside=outside,
            text=text,
            would=would,
            by_hand=by_hand,
            reads=reads,
            page=page or {},
        )

    return make if function is None else make(function)


def _require_types(made: Tool) -> None:
    """Refuses at once what :func:`_model_of` could only refuse at the first call."""
    parameters = inspect.signature(made.function).parameters
    for parameter in parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            given = parameter.name in _THE_HOSTS or made.canonical is not None
            if not given and parameter.default is parameter.empty:
                raise ConfigurationError(
                    f"tool {made.name}: parameter {parameter.name} stands behind a *, where the "
                    "host fills in clearance and preview only: put it before the *"
                )
            continue
        if parameter.name in _THE_HOSTS:
            raise _is_the_hosts(made.name, parameter.name)
        if parameter.annotation is parameter.empty or parameter.kind is not _BY_NAME:
            raise ConfigurationError(
                f"tool {made.name}: parameter {parameter.name} needs a type, "
                "and must be one that can be passed by name"
            )
    if made.canonical is not None:
        return  # the target may be what it adds
    for effect in made.effects:
        if isinstance(effect.target, str):
            holder = parameters.get(effect.target)
            if holder is None or holder.default is not holder.empty:
                raise ConfigurationError(
                    f"tool {made.name}: the target {effect.target} is not an argument that is "
                    "always there: name a parameter without a default, or give a function"
                )


def _is_the_hosts(tool_name: str, name: str) -> ConfigurationError:
    return ConfigurationError(
        f"tool {tool_name}: the name {name} is what the host fills in, behind a *: "
        "call the argument something else"
    )


def _strict(model: type[BaseModel]) -> type[BaseModel]:
    """Returns the caller's model, strict whatever its own configuration says."""
    from pydantic import ConfigDict

    config = ConfigDict(strict=True, extra="forbid", frozen=True)
    body = {"model_config": config, "__module__": model.__module__, "__doc__": model.__doc__}
    made: type[BaseModel] = types.new_class(
        model.__name__, (model,), exec_body=lambda space: space.update(body)
    )
    return made


def _model_of(function: Callable[..., Any]) -> type[BaseModel]:
    """Makes the pydantic model of a function's parameters."""
    from typing import Annotated, get_args, get_origin, get_type_hints

    from pydantic import ConfigDict, Field, create_model

    parameters = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is not parameter.KEYWORD_ONLY
    ]
    # Only the guest's: the types of what the host fills in need not exist when the program runs.
    annotated = types.SimpleNamespace(__annotations__={p.name: p.annotation for p in parameters})
    names = inspect.unwrap(function).__globals__
    try:
        hints = get_type_hints(annotated, globalns=names, include_extras=True)
    except NameError as problem:
        raise ConfigurationError(
            f"tool {function.__name__}: the type {problem.name} is not known in the function's "
            "module when the program runs: import it there, outside of TYPE_CHECKING"
        ) from None
    fields: dict[str, Any] = {}
    for parameter in parameters:
        hint = hints[parameter.name]
        if get_origin(hint) is Annotated:
            words = [each for each in get_args(hint)[1:] if isinstance(each, str)]
            if words:
                hint = Annotated[hint, Field(description=words[0])]
        # The function fills its defaults in itself, so the schema need only say "not required".
        default = ... if parameter.default is parameter.empty else None
        fields[parameter.name] = (hint, default)
    config = ConfigDict(strict=True, extra="forbid", frozen=True)
    return create_model(f"{function.__name__}_arguments", __config__=config, **fields)


_BY_NAME: Final = inspect.Parameter.POSITIONAL_OR_KEYWORD
