"""Who lives in a city: what a character file says. Described in `docs/reference/characters.md`.

The fields here are those of every character. A routine declares further ones, each a `CharacterField`.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Generic, Literal, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, create_model

from virl.agent.tool import tool_names
from virl.errors import BadInput, did_you_mean
from virl.geo.globe import LatLng
from virl.geo.region import position_fault
from virl.mind.settings import MindSettings
from virl.platform.city.places import DAYS
from virl.settings.faults import spell_value
from virl.settings.model import Settings

_NUMBER = r"(-?\d{1,3}(?:\.\d{1,20})?)"
_PIN = re.compile(rf"!3d{_NUMBER}!4d{_NUMBER}")
_CENTER = re.compile(rf"/@{_NUMBER},{_NUMBER}")
_PAIR = re.compile(rf"\s*(?:loc:\s*)?{_NUMBER}\s*,\s*{_NUMBER}\s*")
_HOST = re.compile(r"(?:www\.|maps\.)?google\.[a-z.]{2,6}")
_SHORT_LINK_HOSTS = frozenset({"maps.app.goo.gl", "goo.gl", "g.co"})
_SEARCH_FIELDS = ("q", "query", "ll")
"""Names of a Google Maps link's URL parameters that hold the text or position searched for."""


def _read_map_link(text: str) -> str | LatLng | None:
    """Return the position that a Google Maps link shows, or the address it searches; `None` for other text.

    The pin of a place counts before what was looked for, and that before the middle of the map. A shortened
    link, which only Google can read, and one that holds neither, raise `BadInput`.
    """
    link = urlsplit(text.strip())
    host = (link.hostname or "").lower()
    if link.scheme not in {"http", "https"} or not (host in _SHORT_LINK_HOSTS or _HOST.fullmatch(host)):
        return None
    if host in _SHORT_LINK_HOSTS:
        raise BadInput(f"{text}: a shortened link: open it, and copy the long one from the browser")
    address = unquote(link.path + "?" + link.query)
    asked = parse_qs(link.query)
    looked_for = next((asked[name][0] for name in _SEARCH_FIELDS if name in asked), "")
    shown = _PAIR.fullmatch(looked_for) or (None if looked_for else _CENTER.search(address))
    pins = _PIN.findall(address) or ([shown.groups()] if shown else [])
    if pins:
        lat, lng = pins[-1]
        return LatLng(float(lat), float(lng))
    if not looked_for:
        raise BadInput(f"{text}: the link holds no position: give latitude and longitude, or an address")
    return looked_for


ROUTINE_NAME = r"^[A-Za-z0-9_-]{1,80}$"

ValueT = TypeVar("ValueT")


def _weekly_clock(text: str) -> str:
    """Return a weekday and time in the form `wed 12:30`; raise `ValueError` for other text."""
    day, _, clock = text.strip().lower().partition(" ")
    hour, _, minute = clock.partition(":")
    if day not in DAYS or not (hour.isdigit() and minute.isdigit() and int(hour) < 24 and int(minute) < 60):
        raise ValueError(f"must be a day and a time, such as 'wed 12:30', not {spell_value(text)}")
    return f"{day} {int(hour):02d}:{int(minute):02d}"


def _name_of_routine(name: str) -> str:
    """Return a routine's name unchanged; raise `ValueError` for characters but letters, digits, `_`, `-`."""
    if not re.fullmatch(ROUTINE_NAME, name):
        raise ValueError(f"must be a name of letters, digits, '_' and '-', not {spell_value(name)}")
    return name


def _one_line(text: str) -> str:
    """Return a text unchanged; raise `ValueError` if it has several lines."""
    if "\n" in text.strip():
        raise ValueError("must be one line: write `>-` after `about:`, or join the lines")
    return text


def _tool_names(given: object) -> object:
    """Return a list of tool names unchanged, and all names for `all`; raise `ValueError` for other values."""
    if given == "all":
        return tool_names()
    if not isinstance(given, list | tuple):
        wrong = "but is empty" if given is None else f"not {spell_value(given)}"
        if isinstance(given, str) and "," in given:
            wrong += f": write [{given.strip()}]"
        raise ValueError(f"must be a list, such as [look, look_closer], {wrong}")  # noqa: TRY004 - as pydantic takes it
    return given


def _tool_name(given: object) -> object:
    """Return a tool's name unchanged; raise `ValueError` if there is no such tool."""
    known = tool_names()
    if given not in known:
        close = did_you_mean(given, known) if isinstance(given, str) else ""
        raise ValueError(f"must be one of {', '.join(known)}, not {spell_value(given)}{close}")
    return given


ToolName = Annotated[str, BeforeValidator(_tool_name)]
"""The name of a tool that is installed; virl's own are described in `docs/reference/characters.md`."""


MOST_WORDING = 10_000
"""Greatest length of the text `intention`, in characters; chosen: rules take seconds to read so many."""


class Limits(Settings):
    """The limits at which an agent gives up."""

    steps: int = Field(default=60, ge=1, le=100_000)
    """Most moves from panorama to panorama."""
    calls: int = Field(default=60, ge=1, le=1000)
    """Most requests to the model, for characters that live by `tools`."""
    minutes: float | None = Field(default=None, gt=0)
    """Most minutes of work, for characters that live by `tools`; `None` sets no limit."""


class Point(Settings):
    """A start given as a position: (latitude, longitude), WGS84 degrees."""

    lat: float = Field(ge=-90, le=90)
    lng: float = Field(ge=-180, le=180)


def parse_start(text: str) -> "str | Point":
    """Return the position in a text such as `60.17,24.94` or in a map link; other text, an address, as it is.

    Raises:
        BadInput: the position is not on Earth, or a link has none.
    """
    numbers = re.fullmatch(r"\s*(-?\d{1,3}(?:\.\d{0,12})?)\s*,\s*(-?\d{1,3}(?:\.\d{0,12})?)\s*", text)
    found = LatLng(*map(float, numbers.groups())) if numbers else _read_map_link(text) or text
    if isinstance(found, str):
        return found
    if fault := position_fault(found):
        raise BadInput(f"start {text!r}: {fault}")
    return Point(lat=found.lat, lng=found.lng)


class SensesChoice(Settings):
    """The perception models of a character: names in `platform/models/`, or paths of model files."""

    detector: str = "sign-detector"
    describer: str = "sign-describer"
    matcher: str = "sift"
    pictures: bool | None = None
    """True if a model with tools is shown pictures, false if words; `None` goes by the model's abilities."""

    @property
    def by_role(self) -> tuple[tuple[Literal["detector", "describer", "matcher"], str], ...]:
        """Pairs of a role and the name of its perception model."""
        return ("detector", self.detector), ("describer", self.describer), ("matcher", self.matcher)


class Character(Settings):
    """An inhabitant of the city: one YAML file, described in `docs/reference/characters.md`.

    Examples:
        >>> says = {"background": "A student.", "intention": "Find lunch.", "tools": ["look"]}
        >>> virl.Character(name="Ines", city="virlton", start="20 Vine Road", **says).name
        'Ines'
    """

    name: str = Field(min_length=1)
    age: int | None = Field(default=None, ge=0, le=150)
    city: str
    """Name of the city to live in, one of `platform/cities/`."""
    start: str | Point
    """An address in the city, or a position."""
    heading: float | None = Field(default=None, ge=0, lt=360)
    """The compass heading that the character faces at first, in degrees; `None` leaves it open."""
    clock: Annotated[str, AfterValidator(_weekly_clock)] = "wed 12:30"
    """Weekday and local time at which the run takes place, such as `wed 12:30`."""
    about: Annotated[str, AfterValidator(_one_line)] = Field(default="", max_length=120)
    """A line on what the character does, for lists of agents."""
    background: str
    intention: str = Field(min_length=1, max_length=MOST_WORDING)
    routine: Annotated[str, AfterValidator(_name_of_routine)] | None = None
    """Name of the routine to live by; `None`: `by-tools` if the character has tools, else the file's name.

    It is a routine of virl or of an installed package, `NAME.py` or a folder `NAME/` beside the character
    file, or the name of an agent whose routine it is."""
    tools: Annotated[tuple[ToolName, ...], BeforeValidator(_tool_names)] = ()
    """Tools that a language model may use, or `all`; without a `routine`, the character lives by them."""
    senses: SensesChoice = SensesChoice()
    mind: MindSettings = MindSettings()
    """Settings of the language model, if one is used; settings given with `--mind NAME?` override them."""
    route: tuple[str | Point, ...] = ()
    """The stops of agents that follow a route, in order: addresses or positions."""
    region: str | tuple[tuple[float, float], ...] | None = None
    """Region to visit: `[lat, lng]` corners, a region file, or a city's name; `None` for that of `city`."""
    instead: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Kinds of place to take instead, the preferred one first, by the kind that the town lacks."""
    accepts: tuple[str, ...] = ()
    """Kinds of place in the values of `instead` with which a run counts as having done its task."""
    limits: Limits = Limits()
    crowd: float | None = Field(default=None, ge=0, le=4)
    """People and traffic in drawn views, as a factor on what is usual, 0 for none; `None`: the city's."""

    @property
    def lives_by_tools(self) -> bool:
        """Return whether the character names tools and no routine, so that its mind decides by tools."""
        return bool(self.tools) and self.routine is None

    @property
    def day_and_minute(self) -> tuple[int, int]:
        """The character's clock as (day of the week, 0 for Monday; minutes after midnight)."""
        day, clock = self.clock.split()
        hour, minute = clock.split(":")
        return DAYS.index(day), int(hour) * 60 + int(minute)


@dataclass(frozen=True, slots=True, eq=False)
class CharacterField(Generic[ValueT]):
    """A field of character files that a routine declares, such as `errands`."""

    name: str
    kind: Any
    """Type of the field's value, as pydantic takes it, such as `Errands | None`."""
    default: ValueT
    about: str
    """Description of the field for its JSON schema, in a sentence."""
    named: Callable[[Any], Iterable[tuple[str, Callable[[], object]]]] = field(default=lambda _: ())
    """Function from the field's value to pairs: name of a field within it, function that checks its value.

    A check raises `VirlError` if the value stands for nothing. Called before a run begins."""
    labels: Callable[[Any], Iterable[str]] = field(default=lambda _: ())
    """Function from the field's value to the labels in it that the detector has to know."""

    def of(self, character: Character) -> ValueT:
        """Return this field's value in a character; the field's default if the character's model lacks it."""
        value: ValueT = getattr(character, self.name, self.default)
        return value


@cache
def character_model(
    fields: tuple[CharacterField[Any], ...], base: type[Character] = Character
) -> type[Character]:
    """Return a subclass of `base` with further fields; of several with one name the last counts."""
    declared: dict[str, Any] = {
        one.name: (one.kind, Field(default=one.default, description=one.about)) for one in fields
    }
    return create_model(
        "Character", __base__=base, __module__=__name__, __doc__=Character.__doc__, **declared
    )
