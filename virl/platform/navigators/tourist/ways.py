"""The links that egocentric words mean, and where a walker is told of a crossing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Protocol

from virl.geo.globe import LatLng, compass_word, distance, egocentric_word, normalize_heading, signed_turn
from virl.platform.city.streetview import Link, Panorama

DIRECTIONS = tuple(egocentric_word(0.0, 45.0 * i) for i in range(8))
"""Names of eight directions, clockwise from dead ahead: front, front right, right and so on."""
COMPASS = tuple(compass_word(45.0 * i) for i in range(8))
"""Names of eight compass directions, clockwise from north."""
REACH_DEG = 60.0
"""Largest angle in degrees between a direction in words and a way for the words to mean that way.
Chosen: V-IRL's 45 degrees, and as much more as keeps a way that leaves half-way between two words within
reach of both."""
AHEAD_DEG = 45.0
"""Largest angle in degrees from the heading to a way that leads ahead at a crossing (V-IRL's)."""
PARTS: Mapping[str, float] = MappingProxyType(
    {
        "a quarter of the way": 1 / 4,
        "a third of the way": 1 / 3,
        "halfway": 1 / 2,
        "two thirds of the way": 2 / 3,
        "three quarters of the way": 3 / 4,
    }
)
"""Share of the way from one crossing to the next, (0, 1), by the phrase for it."""


def heading_of(direction: str, heading: float) -> float:
    """Return the heading in degrees of a direction in words, seen by one who faces `heading`.

    Raises:
        ValueError: the direction is none of `DIRECTIONS` and none of `COMPASS`.
    """
    if direction in COMPASS:
        return 45.0 * COMPASS.index(direction)
    return normalize_heading(heading + 45.0 * DIRECTIONS.index(direction))


def link_ahead(links: Sequence[Link], heading: float, came_from: str | None) -> Link | None:
    """Return the link that `forward` takes, along the street or across; `None` where no way leads ahead.

    Args:
        links: links that leave the panorama.
        heading: heading that the walker faces, degrees.
        came_from: id of the panorama before; `None` at the start of a walk.
    """
    onward = [link for link in links if link.pano_id != came_from]
    if came_from is not None and len(onward) == 1:
        return onward[0]
    best = _nearest_link(onward, heading)
    return best if best and abs(signed_turn(heading, best.heading)) <= AHEAD_DEG else None


def link_toward(links: Sequence[Link], heading: float, direction: str) -> Link | None:
    """Return the link nearest to a direction in words from `heading`; `None` if none is within `REACH_DEG`.

    Args:
        links: links that leave the panorama.
        heading: heading that the walker faces, degrees.
        direction: name of a direction in `DIRECTIONS` or `COMPASS`.
    """
    target = heading_of(direction, heading)
    best = _nearest_link(links, target)
    return best if best and abs(signed_turn(target, best.heading)) <= REACH_DEG else None


def directions_of(links: Sequence[Link], heading: float, came_from: str | None) -> tuple[str, ...]:
    """Return the directions in words of links for one who faces `heading`, clockwise, each once.

    The way that `link_ahead` takes is `front`, and no other is, so that what is told of a crossing and what
    walking on does there are the same.

    Args:
        links: links that leave the panorama.
        heading: heading that the walker faces, degrees.
        came_from: id of the panorama before; `None` at the start.
    """
    ahead = link_ahead(links, heading, came_from)
    leaving = {_side_direction(heading, link) for link in links if link != ahead}
    return tuple(word for word in DIRECTIONS if word in leaving or (word == DIRECTIONS[0] and ahead))


def direction_of(links: Sequence[Link], heading: float, link: Link) -> str:
    """Return words for a link's direction by which `link_toward` finds it, if possible `left` or `right`.

    Where another link leaves nearer to each of the eight, it is the nearest of them.

    Args:
        links: links that leave the panorama.
        heading: heading that the walker faces, degrees.
        link: one of the links.
    """
    off = abs(signed_turn(heading, link.heading))
    plain = ("left", "right") if 30.0 <= off <= 150.0 else ()  # chosen: less is ahead, more is back
    nearest = sorted(DIRECTIONS, key=lambda word: abs(signed_turn(heading_of(word, heading), link.heading)))
    found = (word for word in (*plain, *nearest) if link_toward(links, heading, word) == link)
    return next(found, nearest[0])


def words_for(links: Sequence[Link], heading: float, came_from: str | None, link: Link) -> tuple[str, str]:
    """Return (action, direction) in words that takes a link: ("forward", "") or ("turn", direction).

    Args:
        links: links that leave the panorama.
        heading: heading that the walker faces, degrees.
        came_from: id of the panorama before; `None` at the start.
        link: one of the links.
    """
    if link == link_ahead(links, heading, came_from):
        return "forward", ""
    return "turn", direction_of(links, heading, link)


def _side_direction(heading: float, link: Link) -> str:
    """Return the direction in words of a link that is not ahead for one who faces `heading`, never front."""
    word = egocentric_word(heading, link.heading)
    if word != DIRECTIONS[0]:
        return word
    return "front left" if signed_turn(heading, link.heading) < 0 else "front right"


def _nearest_link(links: Sequence[Link], heading: float) -> Link | None:
    """Return the link that leaves nearest to a heading, degrees; `None` without links."""
    return min(links, key=lambda link: abs(signed_turn(heading, link.heading)), default=None)


KEY_RADIUS_M = 5.0
"""Radius in metres around a key position of the route in which V-IRL tells of crossings."""


class CrossingHints(Protocol):
    """A rule for the panoramas at which the walker is told of a crossing."""

    @property
    def mode(self) -> str:
        """Name of the rule: `"honest"` or `"paper"`."""
        ...

    def tells(self, panorama: Panorama) -> bool:
        """Return whether the walker is told of a crossing at a panorama."""
        ...


@dataclass(frozen=True, slots=True)
class HonestHints:
    """A rule that tells of every crossing that the panorama's own links show."""

    mode: ClassVar[str] = "honest"
    """Name of the rule."""

    def tells(self, panorama: Panorama) -> bool:
        """Return whether three or more ways meet at a panorama."""
        return panorama.is_crossing


@dataclass(frozen=True, slots=True)
class PaperHints:
    """A rule that tells of crossings at the key positions of the true route alone, as V-IRL does."""

    key_positions: Sequence[LatLng]
    """Positions of the route's turns, without its ends; if it never turns, all crossings are told of."""
    radius: float = KEY_RADIUS_M

    mode: ClassVar[str] = "paper"
    """Name of the rule."""

    def tells(self, panorama: Panorama) -> bool:
        """Return whether three or more ways meet near a key position, or anywhere if there is none."""
        near = not self.key_positions or any(
            distance(panorama.position, position) <= self.radius for position in self.key_positions
        )
        return panorama.is_crossing and near
