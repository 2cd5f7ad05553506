"""Plans a walk and tells it: what a local does for a visitor."""

from collections.abc import Callable, Iterator, Sequence

from pydantic import BaseModel, ConfigDict

from virl.errors import NoStreetView
from virl.geo.globe import LatLng, bearing, distance
from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, Prompts
from virl.platform.city.maps import Maps
from virl.platform.city.places import Place
from virl.platform.city.streetview import Panorama, Pose, StreetView
from virl.platform.movers.base import Mover
from virl.routines.directions.landmarks import LEFT, RIGHT, Lookout
from virl.routines.directions.milestones import ABEAM, DOORSTEP_M, Milestone, milestones_of
from virl.routines.directions.replies import WrittenDirections
from virl.routines.directions.walkway import Stand, length_of, stands_along, walk_to

LOOK_BACK = 5
"""Panoramas at the end of a walk from which the destination may be seen better than from the last. Chosen:
the doorstep where panoramas are 10 m apart."""

_AHEAD = ("front left", "front right")


class Directions(BaseModel):
    """Directions, and the walk that they were given for."""

    model_config = ConfigDict(frozen=True)

    destination: str
    place_id: str
    lat: float
    lng: float
    start: str
    """The panorama."""
    heading: float
    """Faced at the start: degrees clockwise from north."""
    instruction: str
    milestones: tuple[Milestone, ...]
    route: tuple[str, ...]
    """Panoramas."""
    length_m: float
    lacking: str = ""
    """The kind that the town lacks, if the destination is a substitute, as in `No library within 2,000 m`."""
    taken: str = ""
    """Words of the kind of the substitute."""
    succeeded: bool = True
    """False for a substitute that does not do as well."""

    @property
    def key_positions(self) -> tuple[LatLng, ...]:
        """The positions where the walk turns: V-IRL's intermediate key positions."""
        return tuple(LatLng(one.lat, one.lng) for one in self.milestones if one.kind == "turn")


def plan_walk(
    streetview: StreetView, maps: Maps, mover: Mover, start: Pose, destination: Place, lookout: Lookout
) -> tuple[Stand, ...]:
    """Plan the walk to where a place is seen best from nearby.

    Args:
        streetview: of the city.
        maps: of the city.
        mover: of the walker.
        start: of the walk.
        destination: of the walk.
        lookout: looks for names of places.

    Raises:
        NoStreetView: no panorama is near the place.
        NoRoute: no walk leads there.
        NoImagery: there is no view where one is needed.
    """
    end = _doorstep(streetview, mover, destination, lookout)
    walk = walk_to(streetview, maps, mover, start, end)
    return _cut(streetview, mover, start, walk, destination, lookout)


def directions_for(
    mind: Mind,
    walk: Sequence[Stand],
    destination: Place,
    lookout: Lookout,
    *,
    count_crossings: bool,
    beyond: Callable[[], Sequence[Stand]] = tuple,
    prompts: Prompts = OUR_PROMPTS,
) -> Directions:
    """Write directions for a walk, with landmarks seen from it, in a mind's words.

    Args:
        mind: writes them.
        walk: in order.
        destination: of the walk.
        lookout: looks for landmarks.
        count_crossings: whether crossings may be counted.
        beyond: gives the stands after the end.
        prompts: of the routine.

    Raises:
        NoImagery: there is no view where one is needed.
        MindFailed: the model gave no directions that could be said.
    """
    milestones = milestones_of(walk, destination, lookout, count_crossings=count_crossings, beyond=beyond)
    sights = [sight for one in milestones for sight in (one.passed, one.landmark) if sight]
    written = mind.ask(
        prompts.load("directions/instructions", WrittenDirections),
        destination=destination.name,
        names=list(dict.fromkeys([*(sight.name for sight in sights), destination.name])),
        milestones=[one.to_prompt() for one in milestones],
    )
    return Directions(
        destination=destination.name,
        place_id=destination.id,
        lat=destination.position.lat,
        lng=destination.position.lng,
        start=walk[0].panorama.id,
        heading=walk[0].pose.heading,
        instruction=" ".join(written.directions.split()),
        milestones=tuple(milestones),
        route=tuple(stand.panorama.id for stand in walk),
        length_m=length_of(tuple(walk)),
    )


def _doorstep(streetview: StreetView, mover: Mover, destination: Place, lookout: Lookout) -> Panorama:
    """Return the nearest panorama from which the place's name is read; else one that something else tells.

    Nobody can be told to stop where nothing is to be seen.
    """
    nearest = streetview.nearest(destination.position)
    if nearest is None:
        raise NoStreetView(f"no street view near {destination.name}: choose another destination")
    candidates = _panoramas_around(streetview, mover, nearest, destination.position)
    for panorama in candidates:
        toward = bearing(panorama.position, destination.position)
        pose = Pose(panorama.id, toward)
        if lookout.sees(Stand(pose, panorama, (), None, None), destination, (0.0,)):
            return panorama
    return next(_known_by_others(candidates, lookout), nearest)


def _known_by_others(candidates: Sequence[Panorama], lookout: Lookout) -> Iterator[Panorama]:
    """Yield the panoramas on a doorstep where a visitor can stop, though the place is not seen."""
    for panorama in candidates:
        if panorama.is_crossing or len(panorama.links) == 1 or _shows_a_name(panorama, lookout):
            yield panorama


def _shows_a_name(panorama: Panorama, lookout: Lookout) -> bool:
    """Return whether one who walks along the street reads a landmark's name on either side."""
    pose = Pose(panorama.id, panorama.links[0].heading if panorama.links else 0.0)
    return bool(lookout.in_sight(Stand(pose, panorama, (), None, None), (LEFT, RIGHT)))


def _panoramas_around(
    streetview: StreetView, mover: Mover, nearest: Panorama, position: LatLng
) -> list[Panorama]:
    """Return the panoramas on the doorstep of a position that links lead to, nearest first."""
    found, fresh = {nearest.id: nearest}, [nearest]
    while fresh:
        here = fresh.pop()
        for link in mover.links(Pose(here.id, 0.0)):
            if link.pano_id not in found:
                there = streetview.panorama(link.pano_id)
                if distance(there.position, position) <= DOORSTEP_M:
                    found[there.id] = there
                    fresh.append(there)
    return sorted(found.values(), key=lambda one: (distance(one.position, position), one.id))


def _cut(
    streetview: StreetView,
    mover: Mover,
    start: Pose,
    walk: tuple[Stand, ...],
    destination: Place,
    lookout: Lookout,
) -> tuple[Stand, ...]:
    """Return the walk ended where the place is seen best, of the last stands on its doorstep.

    If it is seen from none of them, it ends where another name is read that can stand in for it, or at a
    crossing or the end of the street.
    """
    ranked = []
    for index, stand in list(enumerate(walk))[-LOOK_BACK:]:
        metres = distance(stand.panorama.position, destination.position)
        if metres <= DOORSTEP_M:
            ranked.append((_worse(stand, destination, lookout), metres, index))
    if not ranked:
        return walk
    _, _, last = min(ranked)
    path = [one.panorama.id for one in walk[: last + 1]]
    return tuple(stands_along(streetview, mover, start, path))


def _worse(stand: Stand, destination: Place, lookout: Lookout) -> int:
    """Return the rank of a stand as the end of the walk, from 0, best: the destination is abeam."""
    if seen := lookout.sees(stand, destination, (LEFT, RIGHT)):
        return 0 if seen.where in ABEAM else 1 if seen.where in _AHEAD else 2
    others = {seen.where for seen in lookout.in_sight(stand, (LEFT, RIGHT))}
    if others & set(ABEAM):
        return 3
    if stand.panorama.is_crossing or stand.at_an_end:
        return 4
    return 5 if others else 6
