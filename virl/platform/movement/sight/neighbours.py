"""Where the places stand whose signs a walker reads, so that their neighbours are known."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import radians, tan

from virl.geo import LatLng, destination, distance, signed_turn
from virl.platform.movement.sight.goal import SightGoal
from virl.platform.movement.sight.looking import KnownSign
from virl.platform.perception.fronts import WALL_M
from virl.platform.place_types import marked
from virl.platform.streetview import Panorama

SIDE_DEG = 25.0
"""Least degrees between a street and a front at its side: of one that is farther down, a small error of the
heading is a large one of the distance. Chosen."""
BESIDE_M = 14.0
"""Metres between the signs of neighbours at most. Chosen: a shop front is 6 to 12 m wide."""
STILL_M = 20.0
"""Metres from which a place counts as seen from here. Chosen: as far as its sign is read."""
LAST_READ = 60
"""Fronts remembered. Chosen: those of the last few panoramas."""


@dataclass(frozen=True, slots=True)
class Front:
    """A sign at the side of a street, and about where it is."""

    pano_id: str
    """Where it was read."""
    known: KnownSign
    position: LatLng


class Neighbours:
    """The fronts that a walker has read last, to know a place by what stands beside it.

    Args:
        goal: what is looked for; it has neighbours.
    """

    def __init__(self, goal: SightGoal) -> None:
        self._goal = goal
        self._fronts: deque[Front] = deque(maxlen=LAST_READ)

    def read(self, panorama: Panorama, signs: Sequence[KnownSign]) -> None:
        """Remember the signs read at a panorama, unless streets part there: then they may be of either."""
        if not panorama.is_crossing:
            self._fronts.extend(_fronts(panorama, signs))

    def near(self, here: LatLng) -> list[Front]:
        """The fronts seen from here that are of a kind that is looked for."""
        return [
            one
            for one in self._fronts
            if set(one.known.kinds) & set(self._goal.kinds) and distance(one.position, here) < STILL_M
        ]

    def hints(self, here: LatLng) -> list[Front]:
        """The fronts seen from here that may be the goal's.

        All its neighbours were read beside it; or one of a kind that is not common, as not every sign tells
        what it stands for. Of 24 places in Virlstead and Virlham this knew 22, and it took 5 of 68 others of
        their kinds for one.
        """
        return [one for one in self.near(here) if self._stands_there(one)]

    def _stands_there(self, own: Front) -> bool:
        beside = [
            one.known
            for one in self._fronts
            if distance(one.position, own.position) < BESIDE_M
            and not set(one.known.kinds) & set(own.known.kinds)
        ]
        seen = {kind for kind in self._goal.beside if any(_tells(one, kind) for one in beside)}
        return seen == set(self._goal.beside) or bool(seen - marked("common"))


def _fronts(panorama: Panorama, signs: Sequence[KnownSign]) -> Iterator[Front]:
    street = panorama.links[0].heading if panorama.links else 0.0
    for one in signs:
        side = signed_turn(street, one.sign.heading)
        if one.points_to is None and SIDE_DEG < abs(side) < 180.0 - SIDE_DEG:
            along = destination(panorama.position, street, WALL_M / tan(radians(abs(side))))
            across = street + (90.0 if side > 0 else -90.0)
            yield Front(panorama.id, one, destination(along, across, WALL_M))


def _tells(one: KnownSign, kind: str) -> bool:
    """Whether a sign tells of a kind, or of a wider one, as `school` of a `secondary_school`."""
    return any(kind == told or kind.endswith(f"_{told}") for told in one.kinds)
