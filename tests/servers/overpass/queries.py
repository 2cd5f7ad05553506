"""Queries that the stand-in answers: those of our clients, and those that Overpass's manual begins with.

    [out:json];node["amenity"="cafe"](60.1,24.9,60.2,25.0);out;
    (node(60.1,24.9,60.2,25.0);way(60.1,24.9,60.2,25.0););(._;>;);out body;
    nwr["shop"]["name"~"^B",i](around:300,60.17,24.94);out center 5;
    way(12);out body;>;out skel qt;

One statement or one union, with its parts together or after it. All else is refused.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from virl.osm.box import Box

Kind = Literal["node", "way", "relation"]
KINDS: Mapping[str, tuple[Kind, ...]] = {
    "node": ("node",),
    "way": ("way",),
    "relation": ("relation",),
    "rel": ("relation",),
    "nwr": ("node", "way", "relation"),
}
LEVELS = ("ids", "skel", "body", "tags", "meta")
GEOMETRIES = ("center", "geom", "bb")

_STRING = r'"(?:[^"\\]|\\.)*"'
_TEXT = rf"(?:{_STRING}|\w+)"
_NUMBERS = r"-?\d+(?:\.\d+)?(?:,-?\d+(?:\.\d+)?)*"
_FILTER = rf"\[(!?)(~?)({_TEXT})(?:(=|!=|~|!~)({_TEXT})(,i)?)?\]"
_AREA = rf"\((around:|id:)?({_NUMBERS})\)"
_SETTING = r"\[(\w+):([\w.,-]+)\]"
_CLAUSE = rf"(?:{_FILTER}|{_AREA})"
_SELECT = rf"({'|'.join(KINDS)})({_CLAUSE}*);"
_OUT = rf"out(?: (?:{'|'.join((*LEVELS, *GEOMETRIES))}|qt|asc|\d+))*;"
_QUERY = re.compile(
    rf"(?P<settings>(?:{_SETTING})*);?(?P<union>\()?(?P<selects>(?:{_SELECT})+)(?(union)\);)"
    rf"(?P<joined>\(\._;>;\);)?(?P<out>{_OUT})(?:>;(?P<out_parts>{_OUT}))?"
)
_BLANK = r"(?:\s|//[^\n]*|/\*.*?\*/)"
_BLANKS = re.compile(rf"({_STRING})|{_BLANK}*([][();:,=~!]){_BLANK}*|{_BLANK}+", re.DOTALL)


class BadQuery(ValueError):
    """No query that the server answers."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"line 1: parse error: {reason}")


@dataclass(frozen=True, slots=True)
class TagFilter:
    """A condition on tags: some key that fits has a value that fits, or none has."""

    key: re.Pattern[str]
    value: re.Pattern[str]
    is_met_by: bool
    """True where such a tag has to be there; else it may not."""

    def holds(self, tags: Mapping[str, str]) -> bool:
        """Return whether tags meet the condition."""
        return self.is_met_by == any(
            self.key.search(key) and self.value.search(text) for key, text in tags.items()
        )


@dataclass(frozen=True, slots=True)
class Select:
    """Objects that meet all conditions."""

    kinds: tuple[Kind, ...]
    filters: tuple[TagFilter, ...] = ()
    box: Box | None = None
    around: tuple[float, float, float] | None = None
    """Metres, latitude and longitude."""
    ids: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Out:
    """Form of what is written."""

    level: str = "body"
    geometry: str = ""
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query."""

    selects: tuple[Select, ...]
    joined: bool
    """True where the parts of the selected objects are written with them."""
    out: Out
    out_parts: Out | None
    """Form of the parts that are written after the selected objects."""
    form: Literal["json", "xml"] = "xml"
    timeout_s: int = 180
    box: Box | None = None
    """Box of all its statements."""


def read_query(text: str) -> Query:
    """Return the query that a text is.

    Raises:
        BadQuery: it is none that this server answers.
    """
    found = _QUERY.fullmatch(_BLANKS.sub(lambda one: one[1] or one[2] or " ", text).strip())
    if not found:
        raise BadQuery("the stand-in does not answer such a query")
    settings = dict(re.findall(_SETTING, found["settings"]))
    form, timeout = settings.get("out", "xml"), settings.get("timeout", "180")
    if form not in {"json", "xml"} or not timeout.isdecimal():
        raise BadQuery("the stand-in does not know such settings")
    box = _box(settings["bbox"].split(",")) if "bbox" in settings else None
    return Query(
        tuple(_select(one, box) for one in re.finditer(_SELECT, found["selects"])),
        bool(found["joined"]),
        _out(found["out"]),
        _out(found["out_parts"]) if found["out_parts"] else None,
        "json" if form == "json" else "xml",
        int(timeout),
        box,
    )


def _select(found: re.Match[str], box: Box | None) -> Select:
    filters: list[TagFilter] = []
    around, ids = None, None
    for clause in re.finditer(_CLAUSE, found[2]):
        *words, area, numbers = clause.groups()
        given = numbers.split(",") if numbers else []
        if not given:
            filters.append(_tag_filter(*words))
        elif area == "around:" and len(given) == 3:
            around = float(given[0]), float(given[1]), float(given[2])
        elif area is None and len(given) == 4:
            box = _box(given)
        elif area != "around:" and all(map(str.isdecimal, given)):
            ids = tuple(map(int, given))
        else:
            raise BadQuery(f"({area or ''}{numbers}) is no area")
    return Select(KINDS[found[1]], tuple(filters), box, around, ids)


def _tag_filter(absent: str, like: str, key: str, sign: str | None, value: str, any_case: str) -> TagFilter:
    values = _pattern(value, like="~" in sign, any_case=bool(any_case)) if sign else re.compile("")
    return TagFilter(_pattern(key, like=bool(like)), values, not absent and sign not in {"!=", "!~"})


def _pattern(text: str, *, like: bool, any_case: bool = False) -> re.Pattern[str]:
    if text.startswith('"'):
        text = re.sub(r"\\(.)", r"\1", text[1:-1])
    try:
        return re.compile(text if like else rf"\A{re.escape(text)}\Z", re.IGNORECASE if any_case else 0)
    except re.error:
        raise BadQuery(f"Invalid regular expression: {text!r}") from None


def _out(text: str) -> Out:
    words = text.removesuffix(";").split()
    level = next((word for word in words if word in LEVELS), "body")
    geometry = next((word for word in words if word in GEOMETRIES), "")
    return Out(level, geometry, next((int(word) for word in words if word.isdecimal()), None))


def _box(edges: list[str]) -> Box:
    try:
        south, west, north, east = map(float, edges)
    except ValueError:
        raise BadQuery("a bbox has four numbers") from None
    if not (-90 <= south <= north <= 90 and -180 <= west <= east <= 180):
        raise BadQuery("a bbox is south, west, north, east")
    return Box(south, west, north, east)
