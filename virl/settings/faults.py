"""Faults of fields that people or models write, in words that need no knowledge of pydantic or Python.

`faults_of` serves YAML files, `--set` and the arguments of tools. `_MESSAGES`
is the table from pydantic's type of error to a message; the model's JSON schema tells what a field may hold.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from virl.errors import BadFile, did_you_mean, nearest_name
from virl.settings.kinds import BOUNDS, Kind, allowed_text, kinds_at, literals_of, name_of, span

Location = tuple[str | int, ...]
"""Path to a field: names of fields, and indices in lists from 0."""

FEW_NAMES = 3  # of a choice, each in quotes; chosen
LONGEST = 40  # characters of a value that an error repeats; chosen
MOST_ENTRIES = 8  # of a list or section that an error repeats; chosen


@dataclass(frozen=True, slots=True)
class FieldFault:
    """A fault of one field of a file."""

    location: Location
    """Path to the field."""
    text: str
    """Text of the fault, such as `limits.steps: must be ...`; entries of lists are counted from 1 here."""

    def __str__(self) -> str:
        """Return the text of the fault."""
        return self.text


def faults_of(error: ValidationError, model: type[BaseModel], data: object) -> list[FieldFault]:
    """Return all faults that a validation found, one for each field.

    Args:
        error: what validating `data` raised.
        model: pydantic model that `data` does not fit.
        data: as it was given.
    """
    found = [_locate_error(one, model, data) for one in error.errors()]
    alone = [one for one in found if one.union is None and not _follows_from_others(one)]
    said = {one.location: _reason_of(one) for one in _without_misspelt(alone)}
    for union in dict.fromkeys(one.union for one in found if one.union is not None):
        said |= _union_faults(union, [one for one in found if one.union == union])
    return [
        FieldFault(where, f"{_spell_location(model, where)}: {reason}" if where else reason)
        for where, reason in said.items()
    ]


def bad_file(
    source: str,
    error: ValidationError,
    model: type[BaseModel],
    data: object,
    line_of: Callable[[Location], int | None] = lambda _: None,
) -> BadFile:
    """Return one error of all faults in the fields of `source`, such as a file, sorted by line (`line_of`).

    Args:
        source: the file, or what else the fields come from.
        error: what validating `data` raised.
        model: pydantic model that `data` does not fit.
        data: as it was given.
        line_of: returns the line of a field by its path; `None` for no line.
    """
    faults = [(line_of(one.location), one.text) for one in faults_of(error, model, data)]
    return BadFile(source, sorted(faults, key=lambda fault: fault[0] or 0))


def spell_value(value: object) -> str:
    """Return a value in YAML's spelling on one line; for a value too long, its kind in words."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        entries = [f"{key}: {_unquoted(held)}" for key, held in list(value.items())[: MOST_ENTRIES + 1]]
        said, instead = f"{{{', '.join(entries)}}}", "a section"
    elif isinstance(value, list | tuple):
        entries = [_unquoted(held) for held in value[: MOST_ENTRIES + 1]]
        said, instead = f"[{', '.join(entries)}]", f"a list of {len(value)}"
    elif isinstance(value, int | float):
        entries, said, instead = [], str(value), "so large a number"
    else:
        entries, said = [], repr(value)
        instead = f"{said[:LONGEST]}{said[0]}..."
    return said if len(said) <= LONGEST and len(entries) <= MOST_ENTRIES else instead


def _unquoted(value: object) -> str:
    """Return a value in YAML's spelling, texts without quotes and cut if they are long."""
    return " ".join(value.split())[: LONGEST + 1] if isinstance(value, str) else spell_value(value)


@dataclass(frozen=True, slots=True)
class _LocatedError:
    """One of pydantic's errors, with its path in the data, which names no branches of unions."""

    error: ErrorDetails
    model: type[BaseModel]
    """Model that the data was validated with."""
    data: object
    """The whole data that was validated."""
    location: Location
    union: Location | None
    """Path to the outermost field of several types around the error; `None` if there is none."""
    branch: str
    """Pydantic's name of the branch of that union; empty without a union."""

    @property
    def kinds(self) -> Sequence[Kind]:
        """Kinds of values that the field may have."""
        return kinds_at(self.model, self.location)

    @property
    def context(self) -> dict[str, Any]:
        """Pydantic's details of the error, such as `{"ge": 0}`."""
        return self.error.get("ctx", {})

    @property
    def is_of_another_type(self) -> bool:
        """Return whether the value is of another type than the union's branch asks for."""
        kinds = ("_type", "_parsing", "literal_error")
        return self.location == self.union and self.error["type"].endswith(kinds)


def _locate_error(error: ErrorDetails, model: type[BaseModel], data: object) -> _LocatedError:
    """Return one of pydantic's errors with its path in the data, without names of union branches."""
    location: Location = ()
    union: Location | None = None
    branch = ""
    here = data
    absent = len(error["loc"]) if error["type"] in {"missing", "missing_argument", "extra_forbidden"} else 0
    for index, part in enumerate(error["loc"], start=1):
        found, inner = _find_part(here, part)
        if found is not None:
            location, here = (*location, found), inner
        elif index == absent:
            location = (*location, part)
        elif union is None:
            union, branch = location, str(part)
    if error["type"] == "missing" and isinstance(location[-1], int):  # too short a pair is of another type
        location = location[:-1]
        error = {**error, "type": "tuple_type", "input": _value_at(data, location)}
    elif error["type"] == "invalid_key":
        location = (*location[:-1], "null" if error["input"] is None else spell_value(error["input"]))
    return _LocatedError(error, model, data, location, union, branch)


def _find_part(held: object, part: str | int) -> tuple[str | int | None, object]:
    """Return (key or index, value) of `part` in nested data, ignoring case; (`None`, `None`) if missing."""
    if isinstance(held, Mapping):
        alike = (key for key in held if str(key).lower() == str(part).lower())
        name = part if part in held else next(alike, None)
        return (None, None) if name is None else (str(name), held[name])
    if isinstance(held, list | tuple) and isinstance(part, int) and part < len(held):
        return part, held[part]
    return None, None


def _value_at(data: object, location: Location) -> object:
    """Return the value at a path within nested data; `None` if the path is missing."""
    for part in location:
        data = _find_part(data, part)[1]
    return data


def _follows_from_others(found: _LocatedError) -> bool:
    """Return whether a list counts as too short only because of faults in its entries."""
    given = found.error["input"]
    return (
        found.error["type"] == "too_short"
        and isinstance(given, list | tuple | dict)
        and len(given) >= found.context.get("min_length", 0)
    )


def _without_misspelt(founds: Sequence[_LocatedError]) -> Iterator[_LocatedError]:
    """Yield the errors, except missing fields whose name an unknown field misspells: one slip, one fault."""
    unknown = [found.location for found in founds if found.error["type"] == "extra_forbidden"]
    for found in founds:
        near = [str(one[-1]) for one in unknown if one[:-1] == found.location[:-1]]
        if not (found.error["type"] == "missing" and nearest_name(str(found.location[-1]), near)):
            yield found


def _union_faults(union: Location, founds: Sequence[_LocatedError]) -> dict[Location, str]:
    """Return by path the faults in the union branch that fits best, or else what all branches allow."""
    branches = [
        [found for found in founds if found.branch == name]
        for name in dict.fromkeys(found.branch for found in founds)
    ]
    meant = [one for one in branches if not any(found.is_of_another_type for found in one)]
    if meant:
        return {found.location: _reason_of(found) for found in _without_misspelt(min(meant, key=len))}
    return {union: _type_message(kinds_at(founds[0].model, union), _value_at(founds[0].data, union))}


def _spell_location(model: type[BaseModel], location: Location) -> str:
    """Return the path to a field of a model as text, such as `limits.steps` or `tools, entry 2`."""
    said = ""
    for index, part in enumerate(location):
        name = name_of(kinds_at(model, location[:index]), part)
        if isinstance(name, int):
            said += f", entry {name + 1}"
        else:
            said += f", {name}" if re.search(r"entry \d+$", said) else f".{name}"
    return said.removeprefix(".").removeprefix(", ")


def _reason_of(found: _LocatedError) -> str:
    """Return what is wrong with a value, as the end of a sentence."""
    kind = found.error["type"]
    said = _MESSAGES.get(kind) or (
        _describe_wrong_type if kind.endswith(("_type", "_parsing")) else _own_words
    )
    if isinstance(said, str):
        return said.format(**found.context, value=spell_value(found.error["input"]))
    return said(found)


def _own_words(found: _LocatedError) -> str:
    """Return pydantic's own message, or a validator's, with "must" for phrases such as "Input should"."""
    said = found.error["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return said.replace("Input should be", "must be").replace("String should", "must")


def _describe_wrong_type(found: _LocatedError) -> str:
    """Return the message that a value is of another type than its field."""
    return _type_message(found.kinds, found.error["input"]) if found.kinds else _own_words(found)


def _type_message(kinds: Sequence[Kind], value: object) -> str:
    """Return the message that a value should be one of some kinds, and how to write it."""
    what = allowed_text(kinds) if kinds else "of another type"
    said = f"must contain {what}" if what.startswith("`") else f"must be {what}"
    if value is None:
        return f"{said}, but is empty"
    in_quotes = " (put it in quotes)" if said == "must be text" and not isinstance(value, list | dict) else ""
    return f"{said}{in_quotes}, not {spell_value(value)}{_remedy(kinds, value)}"


def _remedy(kinds: Sequence[Kind], value: object) -> str:
    """Return advice on how to write the value that was probably meant; empty if that is unclear."""
    takes_texts = any(entry.get("type") == "string" for one in kinds for entry in one.get("entries", ()))
    if isinstance(value, str) and "," in value and takes_texts:
        return f": write [{value.strip()}]" if len(value) <= LONGEST else ": put [ ] around it"
    if any({"lat", "lng"} == set(one.get("required", ())) for one in kinds):
        match value:
            case [int() | float() as lat, int() | float() as lng]:
                if abs(lat) > 90 >= abs(lng):
                    lat, lng = lng, lat
                return f": write {{lat: {lat}, lng: {lng}}}"
    return ""


def _unknown_field(found: _LocatedError) -> str:
    """Return the message that a field is unknown, with the name that was meant or all known ones."""
    sections = [one for one in kinds_at(found.model, found.location[:-1]) if "properties" in one]
    fields = list(sections[0]["properties"]) if len(sections) == 1 else []
    hint = did_you_mean(str(found.location[-1]), fields)
    return f"unknown field{hint or (': choose one of: ' + ', '.join(fields) if fields else '')}"


def _wrong_choice(found: _LocatedError) -> str:
    """Return the message that a value is none of the choices, with the one that was meant."""
    names, value = literals_of(found.kinds), found.error["input"]
    said = f"one of {', '.join(names)}" if len(names) > FEW_NAMES else found.context["expected"]
    hint = did_you_mean(value, names) if isinstance(value, str) else ""
    return f"must be {said}, not {spell_value(value)}{hint}"


def _out_of_range(found: _LocatedError) -> str:
    """Return the message that a number is out of range, with a hint at swapped latitude and longitude."""
    bounds = span(found.kinds) or " and ".join(
        f"{BOUNDS[name]} {bound}" for name, bound in found.context.items()
    )
    said = f"must be {bounds}, not {spell_value(found.error['input'])}"
    match found.location[-1:], _value_at(found.data, found.location[:-1]):
        case ("lat",), {"lat": int() | float() as lat, "lng": int() | float() as lng}:
            if abs(lat) <= 180 and abs(lng) <= 90:
                said += ": are latitude and longitude swapped?"
    return said


def _wrong_length(found: _LocatedError) -> str:
    """Return the message that a value is too short or too long."""
    given = found.error["input"]
    takes_any_length = any("entries" in one or one.get("type") == "string" for one in found.kinds)
    if found.kinds and not takes_any_length:  # a pair, a position
        return _type_message(found.kinds, given)
    least, most = found.context.get("min_length"), found.context.get("max_length")
    if least == 1:
        return "must not be empty"
    limit = f"at most {most}" if least is None else f"at least {least}"
    things = "characters" if isinstance(given, str) else "entries"
    have = len(given) if isinstance(given, str | list | tuple | dict) else "more"
    return f"must have {limit} {things}, not {have}"


_MESSAGES: Mapping[str, str | Callable[[_LocatedError], str]] = MappingProxyType(
    {
        "missing": "field is missing",
        "extra_forbidden": _unknown_field,
        "invalid_key": "the name of a field must be text: put it in quotes",
        "literal_error": _wrong_choice,
        "enum": _wrong_choice,
        **dict.fromkeys(
            ("greater_than", "greater_than_equal", "less_than", "less_than_equal", "multiple_of"),
            _out_of_range,
        ),
        "finite_number": "must be a finite number",
        "int_from_float": _describe_wrong_type,
        "int_parsing_size": "must be a smaller number",
        **dict.fromkeys(("too_long", "too_short", "string_too_long", "string_too_short"), _wrong_length),
        "string_pattern_mismatch": "must match the pattern {pattern}, not {value}",
    }
)
"""Messages, or functions that make them, by pydantic's error type; `{value}` is the value in YAML."""
