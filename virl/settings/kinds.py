"""What a field of a model may hold, told from its type in plain words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, RootModel

FIELDS = "`field: value` lines"
_BOUNDS = (
    ("ge", "least", "at least"),
    ("gt", "least", "above"),
    ("le", "most", "at most"),
    ("lt", "most", "below"),
)
FEW_FIELDS = 4  # required fields of a section that are spelt out; chosen


@dataclass(frozen=True, slots=True)
class Kind:
    """A type as an annotation gives it."""

    type: Any
    metadata: tuple[Any, ...] = ()
    """Such as bounds of a number."""


def kind_at(model: type[BaseModel], location: Sequence[str | int]) -> Kind | None:
    """The kind of the field at a location, `None` if the types do not tell."""
    kinds = [_root(model)]
    for part in location:
        kinds = [inner for kind in kinds for one in _branches(kind) for inner in _inner(one, part)]
    if len(kinds) > 1:
        return Kind(Union[tuple(kind.type for kind in kinds)])  # noqa: UP007 - made of a list
    return kinds[0] if kinds else None


def names_in(model: type[BaseModel], location: Sequence[str | int]) -> list[str | int]:
    """A location with the names of what a pair holds, such as `lat`, for its places."""
    named: list[str | int] = []
    for index, part in enumerate(location):
        around = kind_at(model, location[:index])
        if isinstance(part, int) and around and _is_named_tuple(around.type):
            named.append(around.type._fields[part])
        else:
            named.append(part)
    return named


def allowed(kind: Kind) -> str:
    """What the kind allows, such as `a whole number, at least 1`."""
    said = [each for one in _branches(kind) if one.type is not NoneType for each in _allowed(one)]
    *others, last = dict.fromkeys(said) or ("empty",)
    return f"{', '.join(others)} or {last}" if others else last


def span(kind: Kind) -> str:
    """The bounds of a number, such as `at least 0 and below 360`; empty if it has none."""
    bounds: dict[str, str] = {}
    for one in _branches(kind):
        for limit in one.metadata:
            for name, side, words in _BOUNDS:
                bound = getattr(limit, name, None)
                if bound is not None:
                    bounds[side] = f"{words} {_number(bound)}"
    return " and ".join(bounds[side] for side in ("least", "most") if side in bounds)


def fields_of(kind: Kind | None) -> list[str]:
    """The fields of a section; empty if it is none, or one of several."""
    models = [one.type for one in _branches(kind) if _is_model(one.type)] if kind else []
    return list(models[0].model_fields) if len(models) == 1 else []


def literals_of(kind: Kind) -> list[str]:
    """The values of a choice."""
    return [
        str(value)
        for one in _branches(kind)
        if get_origin(one.type) is Literal
        for value in get_args(one.type)
    ]


def takes_list(kind: Kind) -> bool:
    """Whether a list of any length, or a text, fits."""
    return any(_is_list(one.type) or one.type is str for one in _branches(kind))


def takes_texts(kind: Kind) -> bool:
    """Whether a list of texts or names fits."""
    inner = [Kind(get_args(one.type)[0]) for one in _branches(kind) if _is_list(one.type)]
    return any(
        one.type is str or get_origin(one.type) is Literal for kind in inner for one in _branches(kind)
    )


def takes_position(kind: Kind) -> bool:
    """Whether a section with `lat` and `lng` fits."""
    return any(
        _is_model(one.type) and {"lat", "lng"} == set(required_fields(one.type)) for one in _branches(kind)
    )


def required_fields(model: type[BaseModel]) -> list[str]:
    """The fields that a section cannot do without."""
    return [name for name, field in model.model_fields.items() if field.is_required()]


def _root(model: type[BaseModel]) -> Kind:
    if issubclass(model, RootModel):
        field = model.model_fields["root"]
        return Kind(field.annotation, tuple(field.metadata))
    return Kind(model)


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _allowed(kind: Kind) -> list[str]:
    if get_origin(kind.type) is Literal:
        return [f"'{value}'" for value in get_args(kind.type)]
    return [_one_allowed(kind)]


def _one_allowed(kind: Kind) -> str:
    said = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}.get(kind.type)
    if said:
        bounds = span(kind)
        return f"{said}, {bounds}" if bounds else said
    if _is_model(kind.type):
        return _section(kind.type)
    if _is_named_tuple(kind.type):
        return f"[{', '.join(kind.type._fields)}]"
    return _list(kind) if _is_list(kind.type) else _generic(kind)


def _generic(kind: Kind) -> str:
    origin, arguments = get_origin(kind.type), get_args(kind.type)
    if origin is tuple:
        return f"a list of {len(arguments)}"
    return "`name: value` lines" if origin in {dict, Mapping} else "another value"


def _section(model: type[BaseModel]) -> str:
    required = required_fields(model)
    if 0 < len(required) <= FEW_FIELDS:
        return "{" + ", ".join(f"{field}: ..." for field in required) + "}"
    return FIELDS


def _list(kind: Kind) -> str:
    inner = Kind(get_args(kind.type)[0]) if get_args(kind.type) else Kind(str)
    names = literals_of(inner)
    if names:
        return f"a list, such as [{', '.join(names[:2])}]"
    if any(get_origin(one.type) is tuple or _is_named_tuple(one.type) for one in _branches(inner)):
        return "a list of [a, b] pairs"
    if inner.type in {int, float}:
        return "a list, such as [1, 2]"
    return "a list, such as [a, b]"


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _is_named_tuple(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def _is_list(kind: Any) -> bool:
    arguments = get_args(kind)
    return get_origin(kind) in {list, set, frozenset} or (
        get_origin(kind) is tuple and len(arguments) == 2 and arguments[1] is Ellipsis
    )


def _branches(kind: Kind) -> Iterator[Kind]:
    """The kind itself, or each of those it may be."""
    origin, arguments = get_origin(kind.type), get_args(kind.type)
    if origin is Annotated:
        metadata = [getattr(one, "metadata", [one]) for one in arguments[1:]]
        yield from _branches(Kind(arguments[0], (*kind.metadata, *(m for some in metadata for m in some))))
    elif origin in {Union, UnionType}:
        for one in arguments:
            yield from _branches(Kind(one, kind.metadata))
    else:
        yield kind


def _inner(kind: Kind, part: str | int) -> Iterator[Kind]:
    """What lies in one part of a section or a list."""
    arguments = get_args(kind.type)
    if _is_model(kind.type):
        field = kind.type.model_fields.get(str(part))
        if field:
            yield Kind(field.annotation, tuple(field.metadata))
    elif _is_named_tuple(kind.type):
        hints = get_type_hints(kind.type)
        name = kind.type._fields[part] if isinstance(part, int) and part < len(kind.type._fields) else part
        if name in hints:
            yield Kind(hints[name])
    elif _is_list(kind.type):
        yield Kind(arguments[0])
    elif get_origin(kind.type) is tuple and isinstance(part, int) and part < len(arguments):
        yield Kind(arguments[part])
    elif get_origin(kind.type) in {dict, Mapping} and len(arguments) == 2:
        yield Kind(arguments[1])
