"""Reading what tools say."""

import re
from dataclasses import dataclass
from typing import Literal

from virl.mind.rendering import FENCE_CLOSE, FENCE_OPEN
from virl.tools.base import Compass

COMPASS: tuple[str, ...] = Compass.__args__  # type: ignore[attr-defined]

_PLACE = re.compile(r"^id (?P<id>\S+) \| (?P<name>.*?) \| (?P<rest>.*)$")
_CONSULTED = re.compile(r"^place: id (?P<id>\S+) \| (?P<name>.*?) \| (?P<address>.*)$", re.MULTILINE)
_RATED = re.compile(r"\| rated ([\d.]+) by (\d+)")
_PRICE = re.compile(r"\| price (\d) of 4")
_AWAY = re.compile(r"\| (?:(?P<far>[\d.]+) (?P<unit>k?m) \w+|here)(?: \| (?P<address>.*))?$")
_NOW = re.compile(r"^now \([^)]*\): (open|closed|unknown);", re.MULTILINE)
_REVIEW = re.compile(r"^review, ([\d.]+) of 5: (.*)$", re.MULTILINE)
_ROUTE = re.compile(r"^(?P<far>[\d.]+) (?P<unit>k?m), (?P<minutes>\d+) min \w+: (?P<legs>.*)$", re.DOTALL)
_LEG = re.compile(r"(?<![\d.])([\d.]++) (k?m) (\w+)")
_FACING = re.compile(r"You face \w+, (\d+) degrees")
_WAY = re.compile(r"\((\w+), (\d+) degrees\), ([\d.]+) (k?m), pano_id ([^\s;.]+)")
_MOVES = re.compile(r"Moves left: (\d+)")
_POSITION = re.compile(r"\bat (-?\d+\.\d+), (-?\d+\.\d+)\.")
_FOUND = re.compile(
    r"^(?P<label>[^:']+?)(?: '(?P<text>.*)')?: [\w ]+ \((?P<compass>\w+), (?P<heading>\d+) degrees\)"
    r"(?:, score (?P<score>[\d.]+))?(?:, fills (?P<share>[\d.]+)%)?",
    re.MULTILINE,
)
_SIGN = re.compile(r"^'(?P<text>.*)': [\w ]+ \((?P<compass>\w+), (?P<heading>\d+) degrees\)", re.MULTILINE)
_SEEN = re.compile(r"^[\w ]+ \((?P<compass>\w+), (?P<heading>\d+) degrees\): (?P<said>.*)$", re.MULTILINE)
_GONE = re.compile(r"^You went ([\d.]+) (k?m) ")
_MANY = re.compile(r"^\d+ of (\d+) places within")


@dataclass(frozen=True, slots=True)
class PlaceTold:
    """A place, as lists of places tell it."""

    id: str
    name: str
    rating: float | None
    raters: int
    price: int | None
    closed_for_good: bool
    away_m: float
    """As the crow flies."""
    address: str
    now: Literal["open", "closed", "unknown"] = "unknown"
    reviews: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RouteTold:
    """A way: metres, minutes, and its legs as metres and a word of the compass."""

    metres: float
    minutes: int
    legs: tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True)
class WayTold:
    """A way that leads on."""

    heading: float
    metres: float
    pano_id: str


@dataclass(frozen=True, slots=True)
class StandingTold:
    """Where the agent stands and faces."""

    heading: float
    ways: tuple[WayTold, ...]
    crossing: bool
    moves_left: int
    position: str = ""


@dataclass(frozen=True, slots=True)
class FoundTold:
    """Something that is seen: a thing by its label, or a sign by its text; degrees clockwise from north."""

    label: str
    text: str
    heading: float
    score: float = 1.0
    """How sure the detector is, in [0, 1]."""
    share: float = 0.0
    """Of the view that it was found in, in [0, 1]; 0 where nobody said."""


def world(text: str) -> str:
    """What stands between the marks for text from the world; the whole text where there are none."""
    _, opened, rest = text.partition(FENCE_OPEN)
    return rest.partition(FENCE_CLOSE)[0].strip() if opened else text


def places_told(text: str) -> list[PlaceTold]:
    """The places of a list, in its order."""
    return [one for line in world(text).splitlines() if (one := _place(line))]


def details_told(text: str) -> PlaceTold | None:
    """All about a place."""
    inner = world(text)
    place = next(iter(places_told(text)), None)
    now = _NOW.search(inner)
    if place is None:
        return None
    reviews = tuple(found[2] for found in _REVIEW.finditer(inner))
    return PlaceTold(
        place.id,
        place.name,
        place.rating,
        place.raters,
        place.price,
        place.closed_for_good,
        place.away_m,
        place.address,
        now[1] if now else "unknown",  # type: ignore[arg-type]
        reviews,
    )


def recommended(text: str) -> tuple[str, str] | None:
    """Id and name of the place that an agent who was consulted chose."""
    found = _CONSULTED.search(world(text))
    return (found["id"], found["name"]) if found else None


def number_of_places(text: str) -> int:
    """How many places a list is taken from."""
    found = _MANY.search(text)
    return int(found[1]) if found else len(places_told(text))


def route_told(text: str) -> RouteTold | None:
    """A way; `None` where the text tells none."""
    found = _ROUTE.search(text)
    if found is None:
        return None
    legs = tuple(
        (_m(far, unit), toward) for far, unit, toward in _LEG.findall(found["legs"]) if toward in COMPASS
    )
    return RouteTold(_m(found["far"], found["unit"]), int(found["minutes"]), legs)


def standing_told(text: str) -> StandingTold | None:
    """Where the agent stands; `None` where the text does not say."""
    facing, moves = _FACING.search(text), _MOVES.search(text)
    if not facing:
        return None
    ways = tuple(
        WayTold(float(heading), _m(far, unit), pano) for _, heading, far, unit, pano in _WAY.findall(text)
    )
    at = _POSITION.search(text)
    position = f"{at[1]}, {at[2]}" if at else ""
    return StandingTold(
        float(facing[1]), ways, "A crossing." in text, int(moves[1]) if moves else 0, position
    )


def gone_told(text: str) -> float:
    """Metres of a move; 0 if nothing came of it."""
    found = _GONE.search(text)
    return _m(found[1], found[2]) if found else 0.0


def things_told(text: str) -> list[FoundTold]:
    """What a detector has found."""
    return [
        FoundTold(
            one["label"].strip(),
            one["text"] or "",
            float(one["heading"]),
            float(one["score"] or 1.0),
            float(one["share"] or 0.0) / 100,
        )
        for one in _FOUND.finditer(world(text))
    ]


def signs_told(text: str) -> list[FoundTold]:
    """The signs that were read."""
    return [FoundTold("sign", one["text"], float(one["heading"])) for one in _SIGN.finditer(world(text))]


def views_told(text: str) -> list[tuple[float, str]]:
    """The views of a look as heading and words."""
    return [(float(one["heading"]), one["said"]) for one in _SEEN.finditer(world(text))]


def _place(line: str) -> PlaceTold | None:
    found = _PLACE.match(line.strip())
    if not found:
        return None
    rest = f"| {found['rest']}"
    rated, price, away = _RATED.search(rest), _PRICE.search(rest), _AWAY.search(rest)
    far = _m(away["far"], away["unit"]) if away and away["far"] else 0.0
    return PlaceTold(
        found["id"],
        found["name"],
        float(rated[1]) if rated else None,
        int(rated[2]) if rated else 0,
        int(price[1]) if price else None,
        "| CLOSED FOR GOOD" in rest,
        far,
        (away["address"] or "") if away else "",
    )


def _m(number: str, unit: str) -> float:
    return float(number) * (1000.0 if unit == "km" else 1.0)
