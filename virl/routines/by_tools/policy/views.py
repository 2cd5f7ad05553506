"""The plan for a picture: look around at several places, go back to none, and settle on one view."""

from dataclasses import dataclass, field

from virl.geo.globe import LatLng, bearing, destination, distance, signed_turn
from virl.platform.perception.base import Amount
from virl.routines.by_tools.policy.hands import (
    Part,
    Plan,
    PlanEnd,
    Situation,
    detect_wanted,
    look_where,
    read,
    read_items,
)
from virl.routines.by_tools.policy.shots import Scene, Shot, legible
from virl.routines.by_tools.policy.streets import BACK_DEG, look_for_signs
from virl.tools.looking import Find, LookedView
from virl.tools.moving import Moved, Surroundings, WayOn

ENOUGH, MOST = 3, 12  # places that are looked at (chosen)
KEPT_TURNS = 3
TURNS_A_PLACE = 5  # move, where_am_i, read_signs, detect, and a closer look
LONG_WALK = 8  # moves without a crossing before a place is looked at that is none (chosen)
LONGEST_MOVE = 20  # as `move` takes them; it ends at crossings
PANORAMAS_M = 10.0  # between two of them, as a rule
AHEAD_M = 40.0  # how far a way is thought to lead on (chosen)
AHEAD_DEG = 30.0  # what lies so close to a way's heading lies on it (chosen)
AWAY_M = 60.0  # farther from where one has looked is no better (chosen)
STREET_DEG = 60.0  # width of a look down a street (chosen)
SHOPFRONTS: dict[Amount | None, int] = {"many": 3, "some": 1}  # in signs (chosen)
SHOPS_M = 30.0  # what a shop that is seen makes up for of it (chosen)
TOWARDS_DEG = 40.0  # between a way and what lies along it (chosen)
STRAIGHT = 10.0  # degrees that a way turns to make up for a metre (chosen)
HERE_M = 3.0  # what is closer is the same place (chosen)
APART_M = 25.0  # between two places that differ (chosen)
SURE = 0.75  # score from which on a thing is taken to be in a picture (chosen)
CLOSER = 2  # pictures of a place that are looked at more closely (chosen)
BLIND = 3  # places (chosen)
WHERE = "Where is this?"


@dataclass(slots=True)
class Walk:
    """The places visited so far, and the pictures that could be taken there."""

    shots: list[Shot] = field(default_factory=list)
    looked_at: list[LatLng] = field(default_factory=list)
    been: set[str] = field(default_factory=set)
    cues: list[float] = field(default_factory=list)
    """Headings from the last place, one for each sign or street of shops; without any, of unread boards."""
    blind: int = 0
    """The number of places where the detector found none of the things wanted."""

    def best(self, *, corner: bool) -> Shot | None:
        """Return the best picture so far, of a corner if one is wanted."""
        return max(self.shots, key=lambda one: (one.corner or not corner, one.worth), default=None)


def view_plan(situation: Situation) -> Plan:
    """Walk, look around at places that differ, and choose a picture."""
    walk, corner = Walk(), situation.goal.corner
    standing = yield from look_where(situation, WHERE)
    while standing and len(walk.looked_at) < MOST and situation.turns_left > KEPT_TURNS:
        if _is_worth_a_look(situation, walk, standing):
            yield from _look_around(situation, walk, standing)
            if best := walk.best(corner=corner):
                situation.known = _describe_shot(best, len(walk.looked_at))
        if _is_content(situation, walk) or not situation.has("move"):
            break
        standing = yield from _walk_on(situation, walk, standing)
    best = walk.best(corner=corner)
    if best is None or not (best.shops or best.things):
        report = (
            f"No {situation.goal.wanted_words} was found: {len(walk.looked_at)} places were looked at, "
            "and none shows lettering or what holds a picture together."
        )
        return PlanEnd(report, succeeded=False)
    enough = len(walk.looked_at) >= ENOUGH and bool(best.shops) and (best.corner or not corner)
    return PlanEnd(_describe_shot(best, len(walk.looked_at)), succeeded=enough)


def _describe_shot(shot: Shot, places: int) -> str:
    """Return the advice to take a shot, chosen of so many places, and why."""
    where = "a street corner" if shot.corner else "a stretch of street"
    return (
        f"Stand at {shot.position}, on {where}; point the camera at {shot.heading:.0f} degrees; make "
        f"the view {shot.width} degrees wide. Why: of {places} places it shows the most: {shot.description}."
    )


def _is_content(situation: Situation, walk: Walk) -> bool:
    """Return whether a picture has all that is wanted, and enough places were looked at."""
    goal, best = situation.goal, walk.best(corner=situation.goal.corner)
    if best is None or len(walk.looked_at) < ENOUGH:
        return False
    held = best.anchor_count > 0 or not goal.things or walk.blind >= BLIND
    return best.row and held and (best.corner or not goal.corner)


def _is_worth_a_look(situation: Situation, walk: Walk, standing: Surroundings) -> bool:
    """Return whether it is worth to look here: the start, corners if wanted, or any with few finds."""
    here = standing.position
    if here is None or any(distance(here, other) < APART_M for other in walk.looked_at):
        return False
    missing = ENOUGH - len(walk.looked_at)
    last = standing.moves_left < LONG_WALK * missing or not _ways_on(walk, standing)
    return not walk.looked_at or _may_shoot_at(situation, standing) or (missing > 0 and last)


def _walk_on(situation: Situation, walk: Walk, standing: Surroundings) -> Part[Surroundings | None]:
    """Walk on along the most promising way; `None` where no new way leads on."""
    ways = _ways_on(walk, standing)
    if not ways and len(walk.looked_at) < ENOUGH:  # a dead end: back, but not as far as where one has looked
        ways = list(standing.ways)
        walk.been.clear()
    most = min(LONGEST_MOVE if situation.goal.corner else LONG_WALK, standing.moves_left)
    free = {way: min(most, _free_steps(walk, standing, way)) for way in ways}
    ways = [way for way in ways if free[way] > 0]
    if not ways or situation.turns_left <= KEPT_TURNS + TURNS_A_PLACE:
        return None
    way = max(ways, key=lambda one: _promise(walk, standing, one))
    walk.been |= {one.pano_id for one in standing.ways}
    there = {"pano_id": way.pano_id, "steps": free[way]}
    moved = yield from read(Moved, "move", there, "Something else, further on.")
    if moved is None or moved.distance_m == 0.0:
        return None
    return (yield from look_where(situation, WHERE)) or moved.surroundings


def _ways_on(walk: Walk, standing: Surroundings) -> list[WayOn]:
    """Return the ways that lead where one has not been."""
    new = [way for way in standing.ways if way.pano_id not in walk.been]
    if not walk.been:
        return new
    return [way for way in new if abs(signed_turn(standing.heading, way.direction.degrees)) <= BACK_DEG]


def _free_steps(walk: Walk, standing: Surroundings, way: WayOn) -> int:
    """Return how many steps lead along a way before a place that was looked at."""
    here = standing.position
    ahead = [
        distance(here, one)
        for one in walk.looked_at
        if here
        and distance(here, one) >= HERE_M
        and abs(signed_turn(way.direction.degrees, bearing(here, one))) <= AHEAD_DEG
    ]
    return max(int(min(ahead) / PANORAMAS_M) - 1, 0) if ahead else LONGEST_MOVE


def _promise(walk: Walk, standing: Surroundings, way: WayOn) -> float:
    """Return the score of a way: shops that lie there, metres from places looked at, little turning."""
    here = standing.position
    promise = -abs(signed_turn(standing.heading, way.direction.degrees)) / STRAIGHT
    promise += SHOPS_M * sum(abs(signed_turn(way.direction.degrees, cue)) <= TOWARDS_DEG for cue in walk.cues)
    if here is None:
        return promise
    ahead = destination(here, way.direction.degrees, AHEAD_M)
    others = [distance(ahead, one) for one in walk.looked_at if distance(here, one) >= APART_M]
    return promise + min([AWAY_M, *others])


def _look_around(situation: Situation, walk: Walk, standing: Surroundings) -> Part[None]:
    """Look all around, and closer at what could be the best picture."""
    here = standing.position
    if here is None:
        return
    walk.looked_at.append(here)
    signs = yield from _read_signs(situation)
    things = (yield from _detect_things(situation, walk)) if signs else ()
    streets, boards = yield from _down_the_streets(situation, walk, standing)
    fronts = tuple(heading for heading, count in streets if count >= SHOPFRONTS["many"])
    scene = Scene(here, standing.is_crossing, signs, things, fronts)
    for _ in range(CLOSER if situation.has("read_signs") and _may_shoot_at(situation, standing) else 0):
        shot = scene.best()
        heading = scene.to_read(shot) if len(shot.shops) > 1 else None
        if heading is None or situation.turns_left <= KEPT_TURNS:
            break
        there = {"direction": heading}
        signs = legible((yield from read_items(Find, "read_signs", there, "What would the picture show?")))
        scene = scene.read_closer(heading, signs)
    walk.shots.append(scene.best())
    walk.cues = [one.direction.degrees for one in scene.signs]
    walk.cues += [heading for heading, count in streets for _ in range(count)]
    walk.cues = walk.cues or boards


def _may_shoot_at(situation: Situation, standing: Surroundings) -> bool:
    """Return whether the place can be the goal: a crossing where a corner is sought, else any."""
    return standing.is_crossing or not situation.goal.corner


def _down_the_streets(
    situation: Situation, walk: Walk, standing: Surroundings
) -> Part[tuple[list[tuple[float, int]], list[float]]]:
    """Return what is seen along the ways on.

    Returns:
        Their headings, each with how much of shops is seen: its signs and shopfronts; and the headings of
        those far down which boards are seen, read or not.
    """
    seen: list[tuple[float, int]] = []
    boards: list[float] = []
    for way in _ways_on(walk, standing) if situation.has("look", "move") else ():
        if situation.turns_left <= KEPT_TURNS + 2 * TURNS_A_PLACE:
            break
        there = {"direction": way.direction.degrees, "fov": STREET_DEG}
        for view in (yield from read_items(LookedView, "look", there, "Are there shops further on?")):
            fronts = SHOPFRONTS.get(view.shopfronts, 0)
            seen.append((way.direction.degrees, fronts + len(view.signs)))
            boards += [way.direction.degrees for road in view.roads if road.boards]
    return seen, boards


def _read_signs(situation: Situation) -> Part[tuple[Find, ...]]:
    """Read the legible signs here, by the tool `read_signs`, else by `look`; none without either."""
    if situation.has("read_signs"):
        return legible((yield from read_items(Find, "read_signs", {}, "What is written here?")))
    if situation.has("look"):
        return legible((yield from look_for_signs("What is to be seen?")))
    return ()


def _detect_things(situation: Situation, walk: Walk) -> Part[tuple[Find, ...]]:
    """Return the wanted things; a detector that finds none at places on end is not asked again."""
    if not situation.goal.things or not situation.has("detect") or walk.blind >= BLIND:
        return ()
    found = yield from detect_wanted(situation, "What holds a picture together?")
    wanted = [one for one in found if one.label in situation.goal.things]
    walk.blind = 0 if wanted else walk.blind + 1
    return tuple(one for one in wanted if one.score >= SURE)
