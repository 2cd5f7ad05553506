"""What is wrong with fields, in words that need no knowledge of pydantic or Python.

`faults_of` serves whatever people or models write: YAML files, `--set`, the arguments of tools. What a field
may hold is told from the model's types.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from virl.errors import did_you_mean, nearest_name
from virl.settings.kinds import (
    Kind,
    allowed,
    fields_of,
    kind_at,
    literals_of,
    names_in,
    span,
    takes_list,
    takes_position,
    takes_texts,
)

Location = tuple[str | int, ...]

FEW_NAMES = 3  # of a choice, each in quotes; chosen
LONGEST = 40  # characters of a value that an error repeats; chosen


@dataclass(frozen=True, slots=True)
class FieldFault:
    """What is wrong with one field."""

    location: Location
    """The way to it: names of fields, and places in lists from 0."""
    field: str
    """The way as people write it: entries of lists are counted from 1."""
    reason: str

    def __str__(self) -> str:
        """Field and reason."""
        return f"{self.field}: {self.reason}" if self.field else self.reason


@dataclass(frozen=True, slots=True)
class _Found:
    """One of pydantic's errors, with the names of a union's branches taken out of its way."""

    fault: ErrorDetails
    location: Location
    union: Location | None
    """The way to the outermost field of several types, `None` if the error is in none."""
    branch: str

    @property
    def is_of_another_type(self) -> bool:
        """Whether nothing of the branch fits the value."""
        kinds = ("_type", "_parsing", "literal_error")
        return self.location == self.union and self.fault["type"].endswith(kinds)


def faults_of(error: ValidationError, model: type[BaseModel], data: object) -> list[FieldFault]:
    """Everything that is wrong, each field once.

    Args:
        error: what validating `data` raised.
        model: what it was to fit.
        data: as it was given.
    """
    alone: list[_Found] = []
    unions: dict[Location, list[_Found]] = {}
    for fault in error.errors():
        found = _cleaned(fault, data)
        if found.union is not None:
            unions.setdefault(found.union, []).append(found)
        elif not _follows_from_others(fault):
            alone.append(found)
    said = dict(_said(found, model, data) for found in _without_misspelt(alone))
    for location, founds in unions.items():
        said |= _of_a_union(location, founds, model, data)
    return [FieldFault(where, spell(names_in(model, where)), reason) for where, reason in said.items()]


def _follows_from_others(fault: ErrorDetails) -> bool:
    """Whether a list is called too short only because its entries have faults of their own."""
    least = fault.get("ctx", {}).get("min_length", 0)
    return (
        fault["type"] == "too_short"
        and isinstance(fault["input"], list | tuple | dict)
        and len(fault["input"]) >= least
    )


def _without_misspelt(founds: Sequence[_Found]) -> Iterator[_Found]:
    """All but the missing fields whose names others resemble: one slip is one fault."""
    unknown = [found.location for found in founds if found.fault["type"] == "extra_forbidden"]
    for found in founds:
        *section, name = found.location or ("",)
        near = [str(one[-1]) for one in unknown if list(one[:-1]) == section]
        if not (found.fault["type"] == "missing" and nearest_name(str(name), near)):
            yield found


def spell(location: Sequence[str | int]) -> str:
    """A way to a field as people write it, such as `limits.steps` or `tools, entry 2`."""
    said = ""
    for part in location:
        if isinstance(part, int):
            said += f"{', ' if said else ''}entry {part + 1}"
        else:
            said += (", " if said and said[-1].isdigit() and "entry " in said else "." if said else "") + part
    return said


def shown(value: object) -> str:
    """A value as a file spells it, in one short line."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        said = "{" + ", ".join(f"{key}: {_bare(held)}" for key, held in list(value.items())[:9]) + "}"
        return said if len(said) <= LONGEST and len(value) < 9 else "a section"
    if isinstance(value, list | tuple):
        said = "[" + ", ".join(map(_bare, value[:9])) + "]"
        return said if len(said) <= LONGEST and len(value) < 9 else f"a list of {len(value)}"
    if isinstance(value, int | float):
        said = str(value)
        return said if len(said) <= LONGEST else "so large a number"
    said = repr(value)
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}{said[0]}..."


def _bare(value: object) -> str:
    return " ".join(value.split())[: LONGEST + 1] if isinstance(value, str) else shown(value)


def _cleaned(fault: ErrorDetails, data: object) -> _Found:
    """Follow the error's way through the data: what leads nowhere there is the name of a union's branch."""
    location: list[str | int] = []
    union: Location | None = None
    branch = ""
    here = data
    last = len(fault["loc"]) - 1
    for index, part in enumerate(fault["loc"]):
        found, inner = _inside(here, part)
        if found is not None:
            location.append(found)
            here = inner
        elif index == last and fault["type"] in {"missing", "missing_argument", "extra_forbidden"}:
            location.append(part)
        elif union is None:
            union, branch = tuple(location), str(part)
    return _Found(fault, tuple(location), union, branch)


def _inside(held: object, part: str | int) -> tuple[str | int | None, object]:
    """The name of a part as the data has it, and what it holds; `None` if the data has no such part."""
    if isinstance(held, Mapping):
        name = next((key for key in held if key == part or str(key).lower() == str(part).lower()), None)
        return (None, None) if name is None else (str(name), held[name])
    if isinstance(held, list | tuple) and isinstance(part, int) and part < len(held):
        return part, held[part]
    return None, None


def _of_a_union(
    location: Location, founds: list[_Found], model: type[BaseModel], data: object
) -> dict[Location, str]:
    """What is wrong in the branch that was meant, or what all branches together allow."""
    branches: dict[str, list[_Found]] = {}
    for found in founds:
        branches.setdefault(found.branch, []).append(found)
    meant = [one for one in branches.values() if not any(found.is_of_another_type for found in one)]
    if meant:
        return dict(_said(found, model, data) for found in _without_misspelt(min(meant, key=len)))
    return {location: _another(kind_at(model, location), _at(data, location))}


def _said(found: _Found, model: type[BaseModel], data: object) -> tuple[Location, str]:
    """One of pydantic's errors in plain words."""
    fault, location = found.fault, found.location
    kind = kind_at(model, location)
    if fault["type"] == "invalid_key":
        name = "null" if fault["input"] is None else shown(fault["input"])
        return (*location[:-1], name), "the name of a field must be text: put it in quotes"
    if fault["type"] == "missing" and location and isinstance(location[-1], int):
        return location[:-1], _another(kind_at(model, location[:-1]), _at(data, location[:-1]))
    if fault["type"] == "extra_forbidden":
        return location, _unknown(str(location[-1]), fields_of(kind_at(model, location[:-1])))
    say = _WORDS.get(fault["type"])
    if say is None:
        return location, _else(fault, kind)
    reason = say(fault, kind)
    if location[-1:] == ("lat",) and _looks_swapped(_at(data, location[:-1])):
        reason += ": are latitude and longitude swapped?"
    return location, reason


def _at(data: object, location: Location) -> object:
    for part in location:
        data = _inside(data, part)[1]
    return data


def _looks_swapped(point: object) -> bool:
    match point:
        case {"lat": int() | float() as lat, "lng": int() | float() as lng}:
            return abs(lat) <= 180 and abs(lng) <= 90
    return False


def _unknown(name: str, fields: Sequence[str]) -> str:
    hint = did_you_mean(name, fields)
    return f"unknown field{hint or (': choose one of: ' + ', '.join(fields) if fields else '')}"


def _another(kind: Kind | None, value: object) -> str:
    """That a value of another type was expected."""
    what = allowed(kind) if kind else "of another type"
    said = f"must contain {what}" if what.startswith("`") else f"must be {what}"
    if value is None:
        return f"{said}, but is empty"
    in_quotes = " (put it in quotes)" if said == "must be text" and not isinstance(value, list | dict) else ""
    return f"{said}{in_quotes}, not {shown(value)}{_remedy(kind, value)}"


def _remedy(kind: Kind | None, value: object) -> str:
    """How to write what was probably meant; empty if nobody can know."""
    if kind and isinstance(value, str) and "," in value and takes_texts(kind):
        return f": write [{value.strip()}]" if len(value) <= LONGEST else ": put [ ] around it"
    if kind and takes_position(kind):
        match value:
            case [int() | float() as lat, int() | float() as lng]:
                if abs(lat) > 90 >= abs(lng):
                    lat, lng = lng, lat
                return f": write {{lat: {lat}, lng: {lng}}}"
    return ""


def _choice(fault: ErrorDetails, kind: Kind | None) -> str:
    names = literals_of(kind) if kind else []
    value = fault["input"]
    if not names:
        return f"must be {fault.get('ctx', {}).get('expected', 'another value')}, not {shown(value)}"
    close = did_you_mean(value, names) if isinstance(value, str) else ""
    return f"must be {_one_of(names)}, not {shown(value)}{close}"


def _one_of(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"{names[0]!r}"
    if len(names) > FEW_NAMES:
        return f"one of {', '.join(names)}"
    return f"{', '.join(map(repr, names[:-1]))} or {names[-1]!r}"


def _out_of_range(fault: ErrorDetails, kind: Kind | None) -> str:
    ctx = fault.get("ctx", {})
    bounds = span(kind) if kind else ""
    if not bounds:
        [(name, bound)] = ctx.items()
        bounds = f"{_BOUNDS[name]} {bound}"
    return f"must be {bounds}, not {shown(fault['input'])}"


def _length(fault: ErrorDetails, kind: Kind | None) -> str:
    if kind and not takes_list(kind):  # `[a, b]`, a position
        return _another(kind, fault["input"])
    ctx = fault.get("ctx", {})
    least, most = ctx.get("min_length"), ctx.get("max_length")
    text = isinstance(fault["input"], str)
    if least == 1:
        return "must not be empty"
    number, unit = (least, "at least") if least is not None else (most, "at most")
    things = "characters" if text else "entries"
    have = len(fault["input"]) if isinstance(fault["input"], str | list | tuple | dict) else "more"
    return f"must have {unit} {number} {things}, not {have}"


def _else(fault: ErrorDetails, kind: Kind | None) -> str:
    """Errors of other packages' types, and those that virl's own types raise in plain words."""
    if fault["type"].endswith(("_type", "_parsing", "_attributes_type")) and kind:
        return _another(kind, fault["input"])
    said = fault["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return said.replace("Input should be", "must be").replace("String should", "must")


_BOUNDS: Mapping[str, str] = MappingProxyType(
    {"ge": "at least", "gt": "above", "le": "at most", "lt": "below", "multiple_of": "a multiple of"}
)
_WORDS: Mapping[str, Callable[[ErrorDetails, Kind | None], str]] = MappingProxyType(
    {
        "missing": lambda _, __: "field is missing",
        "literal_error": _choice,
        "enum": _choice,
        "greater_than": _out_of_range,
        "greater_than_equal": _out_of_range,
        "less_than": _out_of_range,
        "less_than_equal": _out_of_range,
        "multiple_of": _out_of_range,
        "finite_number": lambda _, __: "must be a finite number",
        "int_from_float": lambda fault, kind: _another(kind, fault["input"]),
        "int_parsing_size": lambda _, __: "must be a smaller number",
        "too_long": _length,
        "too_short": _length,
        "string_too_long": _length,
        "string_too_short": _length,
        "string_pattern_mismatch": lambda fault, _: (
            f"must match the pattern {fault.get('ctx', {}).get('pattern')}, not {shown(fault['input'])}"
        ),
    }
)
"""What to say of each of pydantic's types of error; those that end in `_type` are `_else`'s."""
