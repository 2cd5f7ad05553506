"""The plan of a walk, and the telling of it: its start, its turns and its end; as a local does it."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from virl.errors import NoStreetView
from virl.files.json_reading import JsonRecord
from virl.geo.globe import LatLng, bearing, distance, egocentric_word
from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, Prompts
from virl.platform.city.maps import Maps
from virl.platform.city.places import Place
from virl.platform.city.streetview import Panorama, Pose, StreetView
from virl.platform.movers.base import Mover
from virl.platform.navigators.tourist.ways import DIRECTIONS, PARTS
from virl.routines.directions.rules import Point, WrittenDirections
from virl.routines.directions.walkway import (
    AHEAD,
    LEFT,
    RIGHT,
    Landmark,
    Lookout,
    Stand,
    choose_landmark,
    length_of,
    stands_along,
    walk_to,
)

DOORSTEP_M = 25.0
"""Metres from the destination within which a walk may end. Chosen: V-IRL's radius of arrival."""
APPROACH = 6
"""Number of a walk's last panoramas where signs to both sides are read. Chosen: the range of signs."""
LONG_STRETCH = 8
"""Number of panoramas above which a stretch is long: a landmark passed on it is told. Chosen: a block."""
ABEAM = ("left", "right")
"""Directions in words of things beside a walker, by which one knows at once where to stop."""
SIDES = ("left", "right", "front left", "front right")
LOOK_BACK = 5
"""Number of panoramas at a walk's end among which the one that shows the destination best is chosen.
Chosen: the doorstep where panoramas are 10 m apart."""

_AHEAD = ("front left", "front right")


def plan_walk(
    streetview: StreetView, maps: Maps, mover: Mover, start: Pose, destination: Place, lookout: Lookout
) -> tuple[Stand, ...]:
    """Return the walk, as stands in order, to that panorama near a place from which the place is seen best.

    Args:
        streetview: street view of the city.
        maps: maps of the city.
        mover: says which links can be walked.
        start: pose in which the walk begins.
        destination: place to which it leads.
        lookout: reads names of places on signs.

    Raises:
        NoStreetView: no panorama is near the place.
        NoRoute: no walk leads there.
        NoImagery: there is no view where one is needed.
    """
    end = _find_end(streetview, mover, destination, lookout)
    walk = walk_to(streetview, maps, mover, start, end)
    ranked = []
    for index, stand in list(enumerate(walk))[-LOOK_BACK:]:
        metres = distance(stand.panorama.position, destination.position)
        if metres <= DOORSTEP_M:
            ranked.append((_end_rank(stand, destination, lookout), metres, index))
    if not ranked:
        return walk
    _, _, last = min(ranked)
    path = [one.panorama.id for one in walk[: last + 1]]
    return tuple(stands_along(streetview, mover, start, path))


class SightRecord(JsonRecord):
    """Record of a landmark that is seen from a milestone: place id, name, direction in words."""

    place_id: str
    name: str
    where: str


class Milestone(JsonRecord):
    """A point of a walk that directions mention: its start, a turn, or its end."""

    kind: str
    """Kind of the point: `start`, `turn` or `end`."""
    pano_id: str
    lat: float
    lng: float
    heading: float
    """Heading on arrival, degrees clockwise from north."""
    turn: str = ""
    """Direction in words in which the walk goes on; empty at its end."""
    crossings: int | None = None
    """Number of crossings since the last turn, a turn's own included; `None` if not counted."""
    crossing: bool = False
    """True if the walk's end is a crossing, the last one counted."""
    ends: bool = False
    """True if the street ends in another at a turn, or no link leads on at the end."""
    part: str = ""
    """Position of the end between two crossings in words, if no name can be read there; else empty."""
    part_of: str = ""
    """Next point of the street past the walk's end: `crossing`, or `end` of the street; empty if untold."""
    where: str = ""
    """Direction of the destination for a walker at the end, in words such as `front left`."""
    unseen: bool = False
    """True if no name, the destination's or another, can be read at the end.
    The walk then ends at a crossing or at the end of the street, if one is near enough."""
    landmark: SightRecord | None = None
    """Landmark seen from the point; `None` without one."""
    passed: SightRecord | None = None
    """Landmark passed on the way to the point; `None` without one."""

    def to_prompt(self) -> dict[str, object]:
        """Return the point as input of the prompt `directions/instructions`, without its position."""
        return self.model_dump(include=set(Point.model_fields))


class Directions(JsonRecord):
    """Directions in words, with the walk that they describe."""

    destination: str
    place_id: str
    lat: float
    lng: float
    start: str
    """Id of the start panorama."""
    heading: float
    """Heading at the start, degrees clockwise from north."""
    instruction: str
    milestones: tuple[Milestone, ...]
    route: tuple[str, ...]
    """Ids of the walk's panoramas, in order."""
    length_m: float
    lacking: str = ""
    """Beginning of a sentence, such as `No library within 2,000 m`; empty unless the goal is a substitute."""
    taken: str = ""
    """Words for the substitute's type; empty unless the goal is a substitute."""
    succeeded: bool = True
    """True unless the goal is a substitute that does not do as well."""

    @property
    def key_positions(self) -> tuple[LatLng, ...]:
        """The positions of the walk's turns, V-IRL's intermediate key positions."""
        return tuple(LatLng(one.lat, one.lng) for one in self.milestones if one.kind == "turn")


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
    """Return directions for a walk in the mind's words; `beyond` gives the stands straight on from its end.

    Args:
        mind: writes the directions.
        walk: stands from start to end.
        destination: place at the walk's end.
        lookout: reads names of landmarks on signs.
        count_crossings: whether crossings may be counted.
        beyond: gives the stands after the end, as in `milestones_of`.
        prompts: finds the prompt.

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


def milestones_of(
    walk: Sequence[Stand],
    destination: Place,
    lookout: Lookout,
    *,
    count_crossings: bool,
    beyond: Callable[[], Sequence[Stand]] = tuple,
) -> list[Milestone]:
    """Return a walk's start, turns and end, with landmarks; `beyond` gives stands straight on from the end.

    Args:
        walk: at least one stand, in order.
        destination: place at the walk's end.
        lookout: reads names of landmarks on signs.
        count_crossings: whether crossings are counted.
        beyond: gives the stands after the walk's end, straight on to the next crossing or the street's end;
            called only where nothing else tells where to stop.

    Raises:
        NoImagery: there is no view where one is needed.
    """
    turns = [index for index, stand in enumerate(walk) if index and stand.onward and not stand.goes_on]
    named = {destination.id}
    found = [_milestone("start", walk[0], turn=walk[0].turn)] if len(walk) > 1 else []
    for before, index in pairwise([0, *turns]):
        turn = _turn_milestone(walk, before, index, lookout, named, count_crossings=count_crossings)
        named |= {sight.place_id for sight in (turn.landmark, turn.passed) if sight}
        found.append(turn)
    last = turns[-1] if turns else 0
    end = _end_milestone(walk, last, destination, lookout, count_crossings=count_crossings)
    if count_crossings and end.unseen and not (end.crossing or end.ends or len(walk) == 1):
        end = _milestone_between(end, walk, last, beyond())
    return [*found, end]


def _crossings_between(walk: Sequence[Stand], after: int, until: int) -> int:
    """Return the number of crossings among the stands of indexes `after` + 1 to `until`."""
    return sum(stand.panorama.is_crossing for stand in walk[after + 1 : until + 1])


def _turn_milestone(
    walk: Sequence[Stand],
    before: int,
    index: int,
    lookout: Lookout,
    named: set[str],
    *,
    count_crossings: bool,
) -> Milestone:
    """Return the milestone of the turn at `index` after that at `before`; ids in `named` are no landmarks."""
    stand = walk[index]
    seen = choose_landmark(lookout.in_sight(stand, (LEFT, RIGHT, AHEAD)), (*SIDES, "front"), named)
    # A name that is read right before the turn tells it as well, unless the turn before is there.
    if seen is None and index - 1 > before:
        seen = choose_landmark(lookout.in_sight(walk[index - 1], (LEFT, RIGHT)), SIDES, named)
    passed = None
    if index - before > LONG_STRETCH:
        excluded = named | ({seen.place.id} if seen else set())
        middle = walk[(before + index) // 2]
        passed = choose_landmark(lookout.in_sight(middle, (LEFT, RIGHT)), ABEAM, excluded)
    return _milestone(
        "turn",
        stand,
        turn=stand.turn,
        crossings=_crossings_between(walk, before, index) if count_crossings else None,
        ends=stand.at_an_end,
        landmark=_sight_record(seen),
        passed=_sight_record(passed),
    )


def _end_milestone(
    walk: Sequence[Stand], last: int, destination: Place, lookout: Lookout, *, count_crossings: bool
) -> Milestone:
    """Return the milestone at the walk's end; `last` is the index of the last turn, or 0 without turns."""
    stand = walk[-1]
    seen = lookout.sees(stand, destination, (LEFT, RIGHT) if len(walk) > 1 else (LEFT, RIGHT, AHEAD, 180.0))
    beside = None
    if seen is None:
        found = lookout.in_sight(stand, (LEFT, RIGHT))
        beside = choose_landmark(found, ABEAM, {destination.id})
        if beside:
            # At what is seen along the last stretch, while the door is still too far off, nobody should stop.
            early = {
                seen.place.id
                for stand in walk[max(last, len(walk) - 1 - APPROACH) + 1 : -1]
                if distance(stand.panorama.position, destination.position) > DOORSTEP_M
                for seen in lookout.in_sight(stand, (LEFT, RIGHT))
                if not seen.where.startswith("front")
            }
            beside = choose_landmark(found, ABEAM, {destination.id, *early})
        if beside is None and not (stand.panorama.is_crossing and count_crossings) and not stand.at_an_end:
            beside = choose_landmark(found, DIRECTIONS, {destination.id})
    toward = bearing(stand.panorama.position, destination.position)
    return _milestone(
        "end",
        stand,
        crossings=_crossings_between(walk, last, len(walk) - 1) if count_crossings else None,
        crossing=stand.panorama.is_crossing and count_crossings,
        ends=stand.at_an_end,
        where=seen.where if seen else egocentric_word(stand.pose.heading, toward),
        unseen=seen is None and beside is None,
        landmark=_sight_record(beside),
    )


def _milestone_between(
    end: Milestone, walk: Sequence[Stand], last: int, beyond: Sequence[Stand]
) -> Milestone:
    """Return the end's milestone, with words for where it is between crossings unless `beyond` is empty."""
    if not beyond:
        return end
    here = len(walk) - 1
    behind = max(
        index for index in range(last, here + 1) if index == last or walk[index].panorama.is_crossing
    )
    share = (here - behind) / (here - behind + len(beyond))
    part = min(PARTS, key=lambda words: abs(PARTS[words] - share))
    next_is = "crossing" if beyond[-1].panorama.is_crossing else "end"
    return end.model_copy(update={"part": part, "part_of": next_is})


def _milestone(kind: str, stand: Stand, **fields: object) -> Milestone:
    """Return a milestone of a kind (`start`, `turn` or `end`) at a stand, with values for other `fields`."""
    position = stand.panorama.position
    return Milestone.model_validate(
        {
            "kind": kind,
            "pano_id": stand.panorama.id,
            "lat": position.lat,
            "lng": position.lng,
            "heading": stand.pose.heading,
            **fields,
        }
    )


def _sight_record(landmark: Landmark | None) -> SightRecord | None:
    """Return the record of a landmark for a milestone; `None` for no landmark."""
    if landmark is None:
        return None
    return SightRecord(place_id=landmark.place.id, name=landmark.place.name, where=landmark.where)


def _find_end(streetview: StreetView, mover: Mover, destination: Place, lookout: Lookout) -> Panorama:
    """Return the panorama nearest to a place that shows its name, else one where a walker knows to stop.

    Nobody can be told to stop where nothing is to be seen: it takes a crossing, a dead end, or a name that is
    read there.
    """
    nearest = streetview.nearest(destination.position)
    if nearest is None:
        raise NoStreetView(f"no street view near {destination.name}: choose another destination")
    candidates = _panoramas_around(streetview, mover, nearest, destination.position)
    for panorama in candidates:
        toward = bearing(panorama.position, destination.position)
        pose = Pose(panorama.id, toward)
        if lookout.sees(Stand(pose, panorama, (), None, None), destination, (AHEAD,)):
            return panorama
    for panorama in candidates:
        pose = Pose(panorama.id, panorama.links[0].heading if panorama.links else 0.0)
        if (
            panorama.is_crossing
            or len(panorama.links) == 1
            or lookout.in_sight(Stand(pose, panorama, (), None, None), (LEFT, RIGHT))
        ):
            return panorama
    return nearest


def _panoramas_around(
    streetview: StreetView, mover: Mover, nearest: Panorama, position: LatLng
) -> list[Panorama]:
    """Return the panoramas linked to `nearest` within 25 m of a position, nearest first."""
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


def _end_rank(stand: Stand, destination: Place, lookout: Lookout) -> int:
    """Return a stand's rank as a walk's end, 0 (best: the place is seen beside it) to 6 (nothing is seen)."""
    if seen := lookout.sees(stand, destination, (LEFT, RIGHT)):
        return 0 if seen.where in ABEAM else 1 if seen.where in _AHEAD else 2
    others = {seen.where for seen in lookout.in_sight(stand, (LEFT, RIGHT))}
    if others & set(ABEAM):
        return 3
    if stand.panorama.is_crossing or stand.at_an_end:
        return 4
    return 5 if others else 6
