"""The walk that directions are given for, from panorama to panorama, and the landmarks that are seen from it.

Landmarks are names of places nearby that are read on the signs along the walk.
"""

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from virl.errors import NoRoute
from virl.geo.globe import LatLng, distance, egocentric_word
from virl.platform.city.maps import Maps
from virl.platform.city.places import Place, Places
from virl.platform.city.streetview import Link, Panorama, Pose, StreetView
from virl.platform.movers.base import Mover, steered_by
from virl.platform.navigators.point import PointNavigator, plan_route
from virl.platform.navigators.tourist.signs import MIN_RESEMBLANCE, SignReader, name_likeness
from virl.platform.navigators.tourist.ways import direction_of, link_ahead, link_toward

LONGEST_BLOCK = 40
"""Most stands between two crossings. Chosen: 400 m; nobody can tell a part of more by sight."""
BACK, AROUND = 3, 12
"""Number of stands before a crossing to look for a way around it, and of that way at most. Chosen: a
block."""
MAX_STEPS = 2000
"""Panoramas of a walk. Chosen: 20 km."""
SIGHT_M = 30.0
"""The farthest a place may be whose sign is read, metres. Chosen: from the middle of a crossing to the second
house round its corners."""
APART_M = 200.0
"""Within so many metres no other known place may have a name like a landmark's. Chosen: two blocks."""
LEAST_LETTERS = 2
"""The fewest letters of a landmark's name; a single letter names nothing and costs a search."""
LEFT, RIGHT, AHEAD = -90.0, 90.0, 0.0


@dataclass(frozen=True, slots=True)
class Stand:
    """One panorama of a walk."""

    pose: Pose
    """The pose on arrival; at the start, as the walker faces."""
    panorama: Panorama
    links: tuple[Link, ...]
    onward: Link | None
    """The link that the walk takes; `None` at its end."""
    came_from: str | None

    @property
    def goes_on(self) -> bool:
        """Return whether walking on without a turn does what the walk does."""
        return self.onward == link_ahead(self.links, self.pose.heading, self.came_from)

    @property
    def at_an_end(self) -> bool:
        """Return whether no way leads on from here but the one back."""
        return link_ahead(self.links, self.pose.heading, self.came_from) is None

    @property
    def can_be_told(self) -> bool:
        """Return whether the word for the direction that the walk takes from here leads that way."""
        if self.onward is None or self.goes_on:
            return True
        return link_toward(self.links, self.pose.heading, self.turn) == self.onward

    @property
    def turn(self) -> str:
        """The direction that the walk takes from here, in one of eight words; empty at its end."""
        if self.onward is None:
            return ""
        return "front" if self.goes_on else direction_of(self.links, self.pose.heading, self.onward)


def walk_to(
    streetview: StreetView, maps: Maps, mover: Mover, start: Pose, end: Panorama
) -> tuple[Stand, ...]:
    """Return the walk from a pose to a panorama, along a route.

    Args:
        streetview: of the city.
        maps: of the city.
        mover: of the walker.
        start: of the walk.
        end: of the walk.

    Raises:
        NoRoute: there is none, or the links do not lead along it.
    """
    if start.pano_id == end.id:
        return tuple(stands_along(streetview, mover, start, [end.id]))
    here = streetview.panorama(start.pano_id)
    plan = plan_route(streetview, maps, here.position, [end.position])
    navigator = PointNavigator(streetview, mover, plan, max_steps=MAX_STEPS)
    with steered_by(None):
        poses = [step.pose for step in navigator.walk(start)]
    outcome = navigator.outcomes[0]
    if not outcome.reached:
        raise NoRoute(f"no walk leads to {end.position}: {outcome.reason}")
    path = _without_detours(poses)
    return _told_apart(streetview, mover, start, tuple(stands_along(streetview, mover, start, path)))


def length_of(walk: tuple[Stand, ...]) -> float:
    """Return the metres of a walk."""
    return sum(stand.onward.distance for stand in walk if stand.onward)


def straight_on(streetview: StreetView, mover: Mover, last: Stand) -> tuple[Stand, ...]:
    """Return the stands after a walk's last, straight on to the next crossing or the end of the street.

    Empty where no way leads straight on, and where the street leads on for more than `LONGEST_BLOCK` stands.

    Args:
        streetview: of the city.
        mover: of the walker.
        last: of the walk.
    """
    found: list[Stand] = []
    stand = last
    while len(found) < LONGEST_BLOCK:
        onward = link_ahead(stand.links, stand.pose.heading, stand.came_from)
        if onward is None:
            return tuple(found)
        pose = mover.take(Pose(stand.panorama.id, onward.heading), onward)
        links = mover.links(pose)
        came_from, here = stand.panorama.id, streetview.panorama(pose.pano_id)
        stand = Stand(pose, here, links, None, came_from)
        found.append(stand)
        if here.is_crossing:
            return tuple(found)
    return ()


def _told_apart(
    streetview: StreetView, mover: Mover, start: Pose, walk: tuple[Stand, ...]
) -> tuple[Stand, ...]:
    """Return a walk with ways around the crossings at which no word names its street alone."""
    index = 0
    while index < len(walk):
        way = () if walk[index].can_be_told else _way_around(mover, walk, index)
        if way:
            path = [stand.panorama.id for stand in walk]
            rejoined = path.index(way[-1])
            path[max(index - BACK, 0) : rejoined + 1] = way
            walk = tuple(stands_along(streetview, mover, start, path))
            index = path.index(way[-1])
        else:
            index += 1
    return walk


def _way_around(mover: Mover, walk: Sequence[Stand], wrong: int) -> tuple[str, ...]:
    """Return the panoramas from `BACK` stands before a wrong turn to one after it, by turns that can be told.

    Empty if no way leads there.
    """
    first = walk[max(wrong - BACK, 0)]
    later = {stand.panorama.id for stand in walk[wrong + 1 : wrong + 1 + AROUND]}
    before = {stand.panorama.id for stand in walk[: max(wrong - BACK, 0)]}
    ways: deque[tuple[Pose, str | None, tuple[str, ...]]] = deque()
    ways.append((first.pose, first.came_from, (first.panorama.id,)))
    seen = {(first.came_from, first.panorama.id)}
    while ways:
        pose, came_from, way = ways.popleft()
        links = mover.links(pose)
        for link in links:
            state = (pose.pano_id, link.pano_id)
            stand = Stand(pose, first.panorama, links, link, came_from)
            if link.pano_id in before or state in seen or not stand.can_be_told:
                continue
            seen.add(state)
            if link.pano_id in later:
                return (*way, link.pano_id)
            if len(way) < AROUND and link.pano_id not in way:
                ways.append(
                    (mover.take(Pose(pose.pano_id, link.heading), link), pose.pano_id, (*way, link.pano_id))
                )
    return ()


def _without_detours(poses: list[Pose]) -> list[str]:
    """Return the panoramas of a walk, without the ways that led back to where they began."""
    path: list[str] = []
    for pose in poses:
        if pose.pano_id in path:
            del path[path.index(pose.pano_id) :]
        path.append(pose.pano_id)
    return path


def stands_along(streetview: StreetView, mover: Mover, start: Pose, path: Sequence[str]) -> Iterator[Stand]:
    """Yield the stands of a walk along panoramas that links lead through.

    Args:
        streetview: of the city.
        mover: of the walker.
        start: of the walk.
        path: ids of the panoramas, the start first.

    Raises:
        NoRoute: no link leads from one to the next.
    """
    pose, came_from = start, None
    for index, pano_id in enumerate(path):
        panorama, links = streetview.panorama(pano_id), mover.links(pose)
        following = path[index + 1] if index + 1 < len(path) else None
        onward = next((link for link in links if link.pano_id == following), None)
        if following is not None and onward is None:
            raise NoRoute(f"no link leads from panorama {pano_id!r} to {following!r}")
        yield Stand(pose, panorama, links, onward, came_from)
        if onward is not None:
            came_from = pano_id
            pose = mover.take(Pose(pano_id, onward.heading), onward)


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
