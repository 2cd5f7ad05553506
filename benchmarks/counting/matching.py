"""Which of the things reported are true ones: one to one by position, and as V-IRL judges them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from virl.geo.globe import Floats, LatLng, bearing, distances, in_sector
from virl.platform.city.city import Thing
from virl.platform.city.claims import pairs_within

RADIUS_M = 5.0  # from a thing reported to the true one; chosen: so near, somebody sent there finds it
VIRL_RANGE_M = 20.0  # V-IRL's: a true thing farther from the camera than this makes nothing right

Outcome = Literal["right", "duplicate", "false"]


@dataclass(frozen=True, slots=True)
class Glance:
    """The ray from a camera along which a box pointed."""

    position: LatLng
    """Position of the camera, as reported."""
    left: float
    """Heading of the box's left edge, degrees."""
    right: float


@dataclass(frozen=True, slots=True)
class Reported:
    """A thing as a memory reports it at the end of a walk."""

    label: str
    position: LatLng
    glances: tuple[Glance, ...]
    """Rays of its views, in the order of the walk."""
    shows: str | None = None
    """Id of the true thing that most of its views show; `None` if they show none of its kind."""


@dataclass(frozen=True, slots=True)
class Matches:
    """The matches of things reported with true ones; things reported are numbered from 0."""

    right: Mapping[int, str]
    """Id of the true thing that each right one is matched to, one to one, by its number."""
    duplicates: Mapping[int, str]
    """Id of the nearest true thing, matched to another already, by the number of the duplicate."""

    def outcome(self, number: int) -> Outcome:
        """Return whether the thing reported with this number is right, a duplicate or false."""
        if number in self.right:
            return "right"
        return "duplicate" if number in self.duplicates else "false"


def match_positions(reported: Sequence[Reported], things: Sequence[Thing], radius: float) -> Matches:
    """Return the one-to-one matches of reported and true things of a kind within `radius` metres.

    Args:
        reported: in any order.
        things: all true things that may be near them, whether anybody should have seen them or not.
        radius: metres that the two of a pair are apart at most.
    """
    right: dict[int, str] = {}
    duplicates: dict[int, str] = {}
    for label in {one.label for one in reported}:
        rows = [number for number, one in enumerate(reported) if one.label == label]
        columns = [thing for thing in things if thing.kind == label]
        here, true = [reported[row].position for row in rows], [thing.position for thing in columns]
        right |= {rows[i]: columns[j].id for i, j in pairs_within(here, true, radius).items()}
        apart = _distances_between(here, true)
        for i, row in enumerate(rows):
            nearest = int(apart[i].argmin()) if columns else None
            if row not in right and nearest is not None and apart[i, nearest] <= radius:
                duplicates[row] = columns[nearest].id
    return Matches(right, duplicates)


def match_headings(reported: Sequence[Reported], things: Sequence[Thing], reach: float) -> dict[int, str]:
    """Return {number of a right thing: id of the true one} as V-IRL judges: some box points at it.

    Nothing is one to one here: a thing reported twice is right twice.

    Args:
        reported: in any order.
        things: true things.
        reach: metres from the camera to a true thing at most.

    Returns:
        The id of the nearest such thing, by the number of the thing reported.
    """
    right = {}
    for number, one in enumerate(reported):
        glances, alike = one.glances, [thing for thing in things if thing.kind == one.label]
        apart = _distances_between(
            [glance.position for glance in glances], [thing.position for thing in alike]
        )
        seen = [
            (apart[i, j], alike[j].id)
            for i, j in np.argwhere(apart <= reach).tolist()
            if in_sector(bearing(glances[i].position, alike[j].position), glances[i].left, glances[i].right)
        ]
        if seen:
            right[number] = min(seen)[1]
    return right


def _distances_between(first: Sequence[LatLng], second: Sequence[LatLng]) -> Floats:
    """Return the metres between all pairs of positions, shape (first, second)."""
    if not (first and second):
        return np.zeros((len(first), len(second)))
    a, b = np.array(first), np.array(second)
    return distances(a[:, None, 0], a[:, None, 1], b[None, :, 0], b[None, :, 1])
