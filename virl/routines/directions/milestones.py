"""The points of a walk that matter to one who follows it: its start, its turns and its end."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from pydantic import BaseModel, ConfigDict

from virl.geo.globe import bearing, distance, egocentric_word
from virl.platform.city.places import Place
from virl.platform.navigators.tourist.ways import DIRECTIONS, PARTS, link_ahead
from virl.routines.directions.landmarks import AHEAD, LEFT, RIGHT, Landmark, Lookout, best
from virl.routines.directions.walkway import Stand

DOORSTEP_M = 25.0
"""The distance from the destination within which a walk may end. Chosen: V-IRL's radius of arrival."""

APPROACH = 6
"""Range in stands before the end where names beside the walk are read, too. Chosen: signs are read so far."""

LONG_STRETCH = 8
"""Panoramas of a stretch from which something passed on it is told of. Chosen: a block."""

ABEAM = ("left", "right")
"""The sides on which a thing tells a walker to stop at once."""

SIDES = ("left", "right", "front left", "front right")


class SightRecord(BaseModel):
    """A landmark, and where it is for one who arrives."""

    model_config = ConfigDict(frozen=True)

    place_id: str
    name: str
    where: str


class Milestone(BaseModel):
    """A point of a walk that matters."""

    model_config = ConfigDict(frozen=True)

    kind: str
    """`start`, `turn` or `end`."""
    pano_id: str
    lat: float
    lng: float
    heading: float
    """The heading on arrival."""
    turn: str = ""
    """The direction in which the walk goes on; empty at its end."""
    crossings: int | None = None
    """The number of crossings since the last turn, that of a turn itself included; `None` if not counted."""
    crossing: bool = False
    """True if the end is a crossing, the last of those counted."""
    ends: bool = False
    """True if the street ends in another one at a turn, or if no way leads on at the end."""
    part: str = ""
    """The place of an end between two crossings, in words, where no name can be read."""
    part_of: str = ""
    """The next point of the street there: `crossing` or `end`."""
    where: str = ""
    """The side of the destination, at the end."""
    unseen: bool = False
    """True if neither the destination's name nor another can be read at the end. The walk then ends at a
    crossing or at the end of the street, if one is near enough."""
    landmark: SightRecord | None = None
    """Seen from here."""
    passed: SightRecord | None = None
    """Passed on the way here."""

    def to_prompt(self) -> dict[str, object]:
        """Return the input of the prompt `directions/instructions`, without what could not be said."""
        kept = {
            "kind",
            "turn",
            "crossings",
            "crossing",
            "ends",
            "where",
            "unseen",
            "part",
            "part_of",
            "landmark",
            "passed",
        }
        return self.model_dump(include=kept)


def milestones_of(
    walk: Sequence[Stand],
    destination: Place,
    lookout: Lookout,
    *,
    count_crossings: bool,
    beyond: Callable[[], Sequence[Stand]] = tuple,
) -> list[Milestone]:
    """Return the milestones of a walk, with landmarks that are seen from it.

    Args:
        walk: at least one stand.
        destination: the place at its end.
        lookout: looks for landmarks.
        count_crossings: whether crossings are counted.
        beyond: the stands after the walk's end, straight on to the next crossing or the end of the street;
            asked only where nothing else tells where to stop.

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
    found.append(end)
    return found


def crossings_between(walk: Sequence[Stand], after: int, until: int) -> int:
    """Return the number of crossings after one stand and up to another.

    Args:
        walk: in order.
        after: number of a stand, which does not count.
        until: number of a stand, which counts.
    """
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
    """Return the milestone of the turn at `index`; `before` is the index of the one before."""
    stand = walk[index]
    seen = best(lookout.in_sight(stand, (LEFT, RIGHT, AHEAD)), but=named, where=(*SIDES, "front"))
    if seen is None and index - 1 > before:
        seen = best(lookout.in_sight(walk[index - 1], (LEFT, RIGHT)), but=named, where=SIDES)
    passed = None
    if index - before > LONG_STRETCH:
        but = named | ({seen.place.id} if seen else set())
        middle = walk[(before + index) // 2]
        passed = best(lookout.in_sight(middle, (LEFT, RIGHT)), but=but, where=("left", "right"))
    return _milestone(
        "turn",
        stand,
        turn=stand.turn,
        crossings=crossings_between(walk, before, index) if count_crossings else None,
        ends=link_ahead(stand.links, stand.pose.heading, stand.came_from) is None,
        landmark=_sight_record(seen),
        passed=_sight_record(passed),
    )


def _end_milestone(
    walk: Sequence[Stand], last: int, destination: Place, lookout: Lookout, *, count_crossings: bool
) -> Milestone:
    """Return the milestone at the end of a walk; `last` is the index of the last turn."""
    stand = walk[-1]
    seen = lookout.sees(stand, destination, (LEFT, RIGHT) if len(walk) > 1 else (LEFT, RIGHT, AHEAD, 180.0))
    beside = None
    if seen is None:
        found = lookout.in_sight(stand, (LEFT, RIGHT))
        beside = best(found, but={destination.id}, where=ABEAM)
        if beside:
            early = _seen_early(walk, last, destination, lookout)
            beside = best(found, but={destination.id, *early}, where=ABEAM)
        if beside is None and not (stand.panorama.is_crossing and count_crossings) and not stand.at_an_end:
            beside = best(found, but={destination.id}, where=DIRECTIONS)
    toward = bearing(stand.panorama.position, destination.position)
    return _milestone(
        "end",
        stand,
        crossings=crossings_between(walk, last, len(walk) - 1) if count_crossings else None,
        crossing=stand.panorama.is_crossing and count_crossings,
        ends=stand.at_an_end,
        where=seen.where if seen else egocentric_word(stand.pose.heading, toward),
        unseen=seen is None and beside is None,
        landmark=_sight_record(beside),
    )


def _seen_early(walk: Sequence[Stand], last: int, destination: Place, lookout: Lookout) -> set[str]:
    """Return the places beside the last stretch where it is still too far to stop.

    Nobody should stop at those.
    """
    return {
        seen.place.id
        for stand in walk[max(last, len(walk) - 1 - APPROACH) + 1 : -1]
        if distance(stand.panorama.position, destination.position) > DOORSTEP_M
        for seen in lookout.in_sight(stand, (LEFT, RIGHT))
        if not seen.where.startswith("front")
    }


def _milestone_between(
    end: Milestone, walk: Sequence[Stand], last: int, beyond: Sequence[Stand]
) -> Milestone:
    """Return an end that is told by how far along it is between two crossings."""
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


def _milestone(kind: str, stand: Stand, **told: object) -> Milestone:
    """Return a milestone of a kind at a stand, with these further fields."""
    position = stand.panorama.position
    return Milestone.model_validate(
        {
            "kind": kind,
            "pano_id": stand.panorama.id,
            "lat": position.lat,
            "lng": position.lng,
            "heading": stand.pose.heading,
            **told,
        }
    )


def _sight_record(landmark: Landmark | None) -> SightRecord | None:
    """Return the record of a landmark; None for none."""
    if landmark is None:
        return None
    return SightRecord(place_id=landmark.place.id, name=landmark.place.name, where=landmark.where)
