"""The walk that directions are given for, from panorama to panorama, and the landmarks that are seen from it.

Landmarks are names of places nearby that are read on the signs along the walk.
"""

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field

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
"""Most stands between two crossings. Chosen: 400 m; parts of a longer block cannot be judged by eye."""
BACK, AROUND = 3, 12
"""Number of stands before an ambiguous turn where a way around begins, and the most stands of that way.
Chosen: a block."""
MAX_STEPS = 2000
"""Most panoramas of a walk. Chosen: 20 km."""
SIGHT_M = 30.0
"""Most metres at which a place's sign can be read.
Chosen: from the middle of a crossing to the second house round its corners."""
APART_M = 200.0
"""Metres around a landmark within which no other known place may have a similar name. Chosen: two blocks."""
LEAST_LETTERS = 2
"""Fewest letters of a landmark's name; a single letter identifies nothing."""
LEFT, RIGHT, AHEAD = -90.0, 90.0, 0.0
"""Directions of the views to the left, to the right and ahead, in degrees clockwise from the heading."""


@dataclass(frozen=True, slots=True)
class Stand:
    """A point of a walk: panorama, pose on arrival, and the link by which the walk goes on."""

    pose: Pose
    """Pose on arrival; at the start, the walker's own heading."""
    panorama: Panorama
    """Panorama at which the walker stands."""
    links: tuple[Link, ...]
    """Links that can be walked from there."""
    onward: Link | None
    """Link that the walk takes; `None` at its end."""
    came_from: str | None
    """Id of the panorama before; `None` at the start."""

    @property
    def goes_on(self) -> bool:
        """Return whether going straight on without instructions follows the walk."""
        return self.onward == link_ahead(self.links, self.pose.heading, self.came_from)

    @property
    def at_an_end(self) -> bool:
        """Return whether no link leads ahead: a dead end, or the street ends in another."""
        return link_ahead(self.links, self.pose.heading, self.came_from) is None

    @property
    def can_be_told(self) -> bool:
        """Return whether the word for the direction here, such as "left", leads along the walk's own link."""
        if self.onward is None or self.goes_on:
            return True
        return link_toward(self.links, self.pose.heading, self.turn) == self.onward

    @property
    def turn(self) -> str:
        """The direction in which the walk goes on, one of eight words; empty at its end."""
        if self.onward is None:
            return ""
        return "front" if self.goes_on else direction_of(self.links, self.pose.heading, self.onward)


def walk_to(
    streetview: StreetView, maps: Maps, mover: Mover, start: Pose, end: Panorama
) -> tuple[Stand, ...]:
    """Return the walk from a pose to a panorama: the pose on arrival and the link onward at each.

    Args:
        streetview: street view of the city.
        maps: maps of the city, which plan the route.
        mover: says which links can be walked.
        start: pose in which the walk begins.
        end: panorama at which it ends.

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
    path: list[str] = []
    for pose in poses:
        if pose.pano_id in path:  # a loop that led back to where it began is left out
            del path[path.index(pose.pano_id) :]
        path.append(pose.pano_id)
    return _avoid_ambiguous_turns(
        streetview, mover, start, tuple(stands_along(streetview, mover, start, path))
    )


def length_of(walk: tuple[Stand, ...]) -> float:
    """Return the length of a walk, in metres."""
    return sum(stand.onward.distance for stand in walk if stand.onward)


def straight_on(streetview: StreetView, mover: Mover, last: Stand) -> tuple[Stand, ...]:
    """Return the stands from a walk's last one straight on to the next crossing or the street's end.

    Empty where no way leads straight on, and where the street leads on for more than `LONGEST_BLOCK` stands.

    Args:
        streetview: street view of the city.
        mover: says which links can be walked.
        last: last stand of the walk.
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


def _avoid_ambiguous_turns(
    streetview: StreetView, mover: Mover, start: Pose, walk: tuple[Stand, ...]
) -> tuple[Stand, ...]:
    """Return a walk with ways around the turns that no word for a direction makes clear."""
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
    """Return panorama ids of a way around the ambiguous turn at index `wrong`; empty without one."""
    first = walk[max(wrong - BACK, 0)]
    later = {stand.panorama.id for stand in walk[wrong + 1 : wrong + 1 + AROUND]}
    before = {stand.panorama.id for stand in walk[: max(wrong - BACK, 0)]}
    ways: deque[tuple[Pose, str | None, tuple[str, ...]]] = deque()
    ways.append((first.pose, first.came_from, (first.panorama.id,)))
    seen = {(first.came_from, first.panorama.id)}
    # Breadth first, so the shortest way wins; by links, as words for turns depend on where one comes from.
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


def stands_along(streetview: StreetView, mover: Mover, start: Pose, path: Sequence[str]) -> Iterator[Stand]:
    """Yield the stands of a walk along linked panoramas.

    Args:
        streetview: street view of the city.
        mover: says which links can be walked.
        start: pose in which the walk begins.
        path: ids of the panoramas in order, that of the start first.

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
    """A place whose name was read on a sign from a walk."""

    place: Place
    where: str
    """Direction of the landmark for a walker on arrival, one of eight words such as `front left`."""
    likeness: float
    """Likeness of the sign's text to the landmark's name, [0, 100]."""


@dataclass(frozen=True, slots=True)
class Lookout:
    """Finder of landmarks: it reads signs along a walk, and knows the names of places nearby."""

    places: Places
    """Directory of places and their names."""
    signs: SignReader
    """Reader of signs in views."""
    _: KW_ONLY
    alone: bool = True
    """True to leave out a name that reads like that of another place within `APART_M`.
    Else only one that fits two places in sight equally well is left out."""
    free: bool = False
    """True if asking for places is free: then signs are read only where a listed place is near."""
    _near: dict[LatLng, list[Place]] = field(default_factory=dict)
    """Open places around each position asked for."""

    def in_sight(self, stand: Stand, turns: Sequence[float]) -> list[Landmark]:
        """Return landmarks whose names are read from a stand in views `turns` degrees off ahead, best first.

        Raises:
            NoImagery: there is no view there.
        """
        here, pano_id, heading = stand.panorama.position, stand.panorama.id, stand.pose.heading
        if self.free and not self._places_in_sight(here):
            return []
        signs = [
            sign
            for turn in turns
            for sign in self.signs.signs(pano_id, heading + turn)
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
            if not self.alone and len(fits) > 1 and fits[1][0] == likeness:
                continue
            if place is None or likeness < MIN_RESEMBLANCE:
                continue
            seen = Landmark(place, egocentric_word(heading, sign.heading), likeness)
            if place.id not in found or found[place.id].likeness < likeness:
                found[place.id] = seen
        clear = [
            one
            for one in found.values()
            if not self.alone
            or all(
                other.id == one.place.id or name_likeness(other.name, one.place.name) < MIN_RESEMBLANCE
                for other in around
            )
        ]
        # First what is read clearly and known to many; from 100 reviews on all know a place (chosen).
        return sorted(
            clear,
            key=lambda one: (-one.likeness / 100.0 - min(one.place.review_count, 100) / 100.0, one.place.id),
        )

    def sees(self, stand: Stand, place: Place, turns: Sequence[float]) -> Landmark | None:
        """Return a place as a landmark if its name is read in views `turns` degrees off ahead; else `None`.

        Args:
            stand: stand of a walk from which one looks.
            place: place whose name is looked for.
            turns: the middles of the views, degrees clockwise from the stand's heading.
        """
        read = [
            Landmark(place, egocentric_word(stand.pose.heading, sign.heading), likeness)
            for turn in turns
            for sign in self.signs.signs(stand.panorama.id, stand.pose.heading + turn)
            if (likeness := name_likeness(sign.text, place.name)) >= MIN_RESEMBLANCE
        ]
        return max(read, key=lambda one: one.likeness, default=None)

    def _places_in_sight(self, here: LatLng) -> list[Place]:
        """Return the open places within 30 m of a position, whose signs may be read there."""
        return [place for place in self._places_around(here) if distance(here, place.position) <= SIGHT_M]

    def _places_around(self, here: LatLng) -> list[Place]:
        """Return the open places within 200 m of a position, asked for once."""
        if here not in self._near:
            self._near[here] = [
                one for one in self.places.nearby(here, APART_M, whole=SIGHT_M) if one.is_open
            ]
        return self._near[here]


def choose_landmark(
    landmarks: Sequence[Landmark], directions: Collection[str], excluded_ids: Collection[str]
) -> Landmark | None:
    """Return the first landmark that is seen in one of some directions; `None` if none is.

    Args:
        landmarks: landmarks, the best first.
        directions: directions in words, such as `front left`.
        excluded_ids: ids of places that are left out.
    """
    return next(
        (one for one in landmarks if one.where in directions and one.place.id not in excluded_ids), None
    )
