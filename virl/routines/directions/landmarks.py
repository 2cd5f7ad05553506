"""Landmarks that can be seen from a walk: names of places nearby, read on the signs along it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from virl.geo.globe import LatLng, distance, egocentric_word
from virl.platform.city.places import Place, Places
from virl.platform.navigators.tourist.signs import MIN_RESEMBLANCE, SignReader, name_likeness
from virl.routines.directions.walkway import Stand

SIGHT_M = 30.0
"""The farthest a place may be whose sign is read, metres. Chosen: from the middle of a crossing to the second
house round its corners."""

APART_M = 200.0
"""Within so many metres no other known place may have a name like a landmark's. Chosen: two blocks."""

LEAST_LETTERS = 2
"""The fewest letters of a landmark's name; a single letter names nothing and costs a search."""

LEFT, RIGHT, AHEAD = -90.0, 90.0, 0.0


@dataclass(frozen=True, slots=True)
class Landmark:
    """A place whose name was read from where one walks."""

    place: Place
    where: str
    """One of the eight directions, as one arrives."""
    likeness: float
    """The likeness of the text read to the landmark's name, [0, 100]."""


class Lookout:
    """A spotter of landmarks from the stands of a walk, as somebody would who walks there.

    Args:
        places: who knows the names.
        signs: who reads.
        alone: whether a name that reads like that of another place within `APART_M` is left out; else only
            one that fits two places in sight equally well.
        free: whether places cost nothing to ask for: then no sign is read where none of them is near.
    """

    def __init__(self, places: Places, signs: SignReader, *, alone: bool = True, free: bool = False) -> None:
        """Prepare to look for landmarks; `alone` refuses those that another place nearby resembles."""
        self._alone = alone
        self._free = free
        self._places = places
        self._signs = signs
        self._near: dict[LatLng, list[Place]] = {}

    def in_sight(self, stand: Stand, turns: Sequence[float]) -> list[Landmark]:
        """Return the places whose names are read from a stand, the best landmark first.

        A name that reads like that of another place nearby is left out.

        Args:
            stand: where to look.
            turns: the middles of the views, degrees clockwise from the heading.

        Raises:
            NoImagery: there is no view there.
        """
        here, pano_id, heading = stand.panorama.position, stand.panorama.id, stand.pose.heading
        if self._free and not self._places_in_sight(here):
            return []
        signs = [
            sign
            for turn in turns
            for sign in self._signs.signs(pano_id, heading + turn)
            if sum(map(str.isalnum, sign.text)) >= LEAST_LETTERS
        ]
        if not signs:
            return []
        around, near = self._places_around(here), self._places_in_sight(here)
        found: dict[str, Landmark] = {}
        for sign in signs:
            fits = sorted(
                ((name_likeness(sign.text, place.name), place.id, place) for place in near), reverse=True
            )
            likeness, _, place = fits[0] if fits else (0.0, "", None)
            if not self._alone and len(fits) > 1 and fits[1][0] == likeness:
                continue
            if place is None or likeness < MIN_RESEMBLANCE:
                continue
            seen = Landmark(place, egocentric_word(heading, sign.heading), likeness)
            if place.id not in found or found[place.id].likeness < likeness:
                found[place.id] = seen
        clear = [one for one in found.values() if not (self._alone and _is_mistakable(one.place, around))]
        return sorted(clear, key=lambda one: (-_worth(one), one.place.id))

    def sees(self, stand: Stand, place: Place, turns: Sequence[float]) -> Landmark | None:
        """Return a certain place, if its name is read from a stand.

        Args:
            stand: of the walk.
            place: with a name.
            turns: headings to look to, degrees.
        """
        read = [
            Landmark(place, egocentric_word(stand.pose.heading, sign.heading), likeness)
            for turn in turns
            for sign in self._signs.signs(stand.panorama.id, stand.pose.heading + turn)
            if (likeness := name_likeness(sign.text, place.name)) >= MIN_RESEMBLANCE
        ]
        return max(read, key=lambda one: one.likeness, default=None)

    def _places_in_sight(self, here: LatLng) -> list[Place]:
        """Return the places whose signs may be read at a position."""
        return [place for place in self._places_around(here) if distance(here, place.position) <= SIGHT_M]

    def _places_around(self, here: LatLng) -> list[Place]:
        """Return the open places around a position; asked for once."""
        if here not in self._near:
            self._near[here] = [
                one for one in self._places.nearby(here, APART_M, whole=SIGHT_M) if one.is_open
            ]
        return self._near[here]


def best(
    landmarks: Sequence[Landmark], *, but: Collection[str] = (), where: Collection[str]
) -> Landmark | None:
    """Return the first landmark that is none of some places and lies in one of some directions.

    Args:
        landmarks: the best first.
        but: ids of places.
        where: words of directions.
    """
    return next((one for one in landmarks if one.place.id not in but and one.where in where), None)


def _is_mistakable(place: Place, around: Sequence[Place]) -> bool:
    """Return whether another place around has a name like this one's."""
    return any(
        other.id != place.id and name_likeness(other.name, place.name) >= MIN_RESEMBLANCE for other in around
    )


def _worth(landmark: Landmark) -> float:
    """Return the score of a landmark: higher for clearly read signs and well-known places."""
    known = (
        min(landmark.place.review_count, 100) / 100.0
    )  # chosen: beyond a hundred reviews all are well known
    return landmark.likeness / 100.0 + known
