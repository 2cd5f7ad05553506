"""The plan for a picture: look around at several places, go back to none, and settle on one view.

A view is chosen among the pictures that could be taken from a place, by what was read and found around it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from rapidfuzz import fuzz

from virl.geo.globe import LatLng, bearing, destination, distance, signed_float_turn, signed_turn
from virl.platform.perception.base import Amount
from virl.routines.by_tools.street_plans import (
    BACK_DEG,
    Part,
    Plan,
    PlanEnd,
    Situation,
    detect_wanted,
    look_for_signs,
    look_where,
    read,
    read_items,
)
from virl.tools.looking import Find, LookedView
from virl.tools.moving import Moved, Surroundings, WayOn

READ_DEG = 60.0  # width of a view in which signs are read
WIDTHS_DEG = (60, 75)  # of a picture; in wider ones things are small (chosen)
MARGIN_DEG = 10.0  # between what is wanted in a picture and its edge (chosen)
TURN_DEG = 5  # between two pictures that are weighed (chosen)
PIECES_DEG = 10.0  # between a sign and a piece of it that was read in another view (chosen)
TWO_SHOPS_DEG = 28.0  # between two signs that are not of one shop (chosen)
ONE_SIGN_DEG = 5.0  # what is read so close together is one sign, read in pieces (chosen)
SAME_TEXT = 65.0  # least likeness of 100 of two readings of one sign (chosen)
LETTERS = 4  # of a text that is worth a picture; a sign of Chinese counts as two (chosen)
HOLDS = 0.01  # share of a view of a thing that is large enough to hold a picture together
NEARLY_HOLDS = 0.004
ROW = 2  # shops (chosen)
ROW_CHANCE = (0.1, 0.4, 0.7)
"""Probabilities that a view shows a row of shops: no sign read, one, or two close to each other.

Estimated in Virlton, seeds 1 and 2, as is what follows.
"""
FRONTS_CHANCE = 0.25  # as much more if it seems to have many shopfronts
HELD_CHANCE = (0.97, 0.99)  # that a picture shows a large thing if one was found so large, or two
UNSURE_CHANCE, NOT_SEEN_CHANCE = 0.8, 0.25  # if one is nearly so large, or none
ENOUGH_SHOPS = 3  # more make a picture no better (chosen)
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


def view_plan(situation: Situation) -> Plan:
    """Plan to walk, look around at several places, and choose a picture."""
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


@dataclass(frozen=True, slots=True)
class Shot:
    """A candidate picture: heading and width of the view, with what it shows."""

    position: LatLng
    heading: float
    width: int
    corner: bool
    shops: tuple[Find, ...]
    """A sign of each shop in the picture, from left to right."""
    things: tuple[Find, ...] = ()
    """Wanted things in the picture."""
    fronts: bool = False
    """True if the view seems to show many shopfronts, whatever signs were read."""

    @property
    def row(self) -> bool:
        """Return whether the picture surely shows several shops; one shop may have two signs."""
        if len(self.shops) <= ROW:
            return len(self.shops) == ROW and self._spread() >= TWO_SHOPS_DEG
        return True

    @property
    def anchor_count(self) -> int:
        """The number of large wanted things in the picture, at most 2."""
        return min(sum(one.share >= HOLDS for one in self.things), 2)

    @property
    def chance(self) -> float:
        """The estimated probability, [0, 1], that the picture has a row of shops and a large wanted thing."""
        found = min(len(self.shops), ROW)
        row = 1.0 if self.row else ROW_CHANCE[found] + (FRONTS_CHANCE if self.fronts and found < ROW else 0.0)
        unsure = UNSURE_CHANCE if any(one.share >= NEARLY_HOLDS for one in self.things) else NOT_SEEN_CHANCE
        return row * (HELD_CHANCE[self.anchor_count - 1] if self.anchor_count else unsure)

    @property
    def worth(self) -> tuple[float, int, int, float]:
        """The sort key of the picture's value; larger is better."""
        sure = max((one.score for one in self.things), default=0.0)
        return self.chance, min(len(self.shops), ENOUGH_SHOPS), -self.width, sure

    def _spread(self) -> float:
        """Return the angle in degrees from the first shop to the last."""
        return abs(signed_float_turn(self.shops[0].direction.degrees, self.shops[-1].direction.degrees))

    @property
    def description(self) -> str:
        """The description of the picture's contents in words."""
        signs = ", ".join(repr(one.text) for one in self.shops[:ENOUGH_SHOPS])
        lettering = f"{'a row of shops with ' if self.row else ''}the lettering {signs}" if signs else ""
        held = " and ".join(f"a {label}" for label in sorted({one.label for one in self.things}))
        return ", and ".join(filter(None, (lettering, held))) or "nothing in particular"


@dataclass(frozen=True, slots=True)
class Scene:
    """The signs and things found around a panorama."""

    position: LatLng
    corner: bool
    signs: tuple[Find, ...]
    things: tuple[Find, ...] = ()
    fronts: tuple[float, ...] = ()
    """Headings in degrees at which many shopfronts are seen."""
    closer: tuple[float, ...] = ()
    """Headings in degrees at which signs were read in a closer view."""

    def best(self) -> Shot:
        """Return the best picture from here; among equals the one with its contents in the middle."""
        shots = [shot for heading in range(0, 360, TURN_DEG) for shot in self._shots(float(heading))]
        return max(shots, key=lambda one: (one.worth, -_off_middle(one)))

    def read_closer(self, heading: float, signs: Iterable[Find]) -> "Scene":
        """Return the scene with the signs in a direction replaced by those read in a closer view.

        Pieces of its signs give way.
        """
        new = tuple(signs)
        others = [
            one
            for one in self.signs
            if not any(_is_same_sign(one, other, PIECES_DEG) for other in new)
            or abs(signed_float_turn(heading, one.direction.degrees)) > READ_DEG / 2
        ]
        return replace(self, signs=(*others, *new), closer=(*self.closer, heading))

    def to_read(self, shot: Shot) -> float | None:
        """Return the heading at which a picture's signs should be read closer; `None` if they were.

        `None` if they have been.
        """
        unread = [one for one in shot.shops if not any(_is_inside(at, one, READ_DEG) for at in self.closer)]
        if not unread:
            return None
        first = shot.shops[0].direction.degrees
        turns = [signed_float_turn(first, one.direction.degrees) for one in shot.shops]
        middle = round(first + (min(turns) + max(turns)) / 2) % 360
        near = any(abs(signed_float_turn(middle, at)) < MARGIN_DEG for at in self.closer)
        return None if near else float(middle)

    def _shots(self, heading: float) -> list[Shot]:
        """Return the candidate pictures toward a heading in degrees, one for each width."""
        shots = []
        for width in WIDTHS_DEG:
            signs = [one for one in self.signs if _is_inside(heading, one, width)]
            things = tuple(one for one in self.things if _is_inside(heading, one, width))
            shops = shops_of(sorted(signs, key=lambda one: signed_float_turn(heading, one.direction.degrees)))
            fronts = any(abs(signed_float_turn(heading, at)) <= MARGIN_DEG for at in self.fronts)
            shots.append(Shot(self.position, heading, width, self.corner, shops, things, fronts))
        return shots


def legible(signs: Iterable[Find]) -> tuple[Find, ...]:
    """Return the signs with enough letters to be read."""
    return tuple(sign for sign in signs if sum(map(_letter_weight, sign.text)) >= LETTERS)


def shops_of(signs: Sequence[Find]) -> tuple[Find, ...]:
    """Return one sign of each shop; similar signs close together count as one."""
    shops: list[Find] = []
    for sign in signs:
        if not any(_is_same_sign(sign, other) for other in shops):
            shops.append(sign)
    return tuple(shops)


def _is_inside(heading: float, found: Find, width: float) -> bool:
    """Return whether a find lies within a view of a heading and width in degrees, off its margins."""
    return abs(signed_float_turn(heading, found.direction.degrees)) <= width / 2 - MARGIN_DEG


def _off_middle(shot: Shot) -> float:
    """Return twice the angle in degrees from the picture's middle to that of its contents."""
    turns = [signed_float_turn(shot.heading, one.direction.degrees) for one in (*shot.shops, *shot.things)]
    return abs(min(turns) + max(turns)) if turns else 0.0


def _is_same_sign(sign: Find, other: Find, apart: float = ONE_SIGN_DEG) -> bool:
    """Return whether two signs are one: less than `apart` degrees from each other, or alike in text."""
    near = abs(signed_float_turn(sign.direction.degrees, other.direction.degrees)) < apart
    return near or fuzz.partial_ratio(sign.text.casefold(), other.text.casefold()) >= SAME_TEXT


def _letter_weight(letter: str) -> int:
    """Return a letter's weight in a sign's length: 0 if it is none, 2 for CJK, else 1."""
    return letter.isalpha() * (2 if letter > "\N{CJK RADICAL REPEAT}" else 1)


@dataclass(slots=True)
class Walk:
    """The panoramas visited so far, with the candidate pictures from there."""

    shots: list[Shot] = field(default_factory=list)
    looked_at: list[LatLng] = field(default_factory=list)
    been: set[str] = field(default_factory=set)
    cues: list[float] = field(default_factory=list)
    """Headings in degrees from the latest place: of signs or streets of shops, else of unread boards."""
    blind: int = 0
    """Number of places in a row where the detector found no wanted thing."""

    def best(self, *, corner: bool) -> Shot | None:
        """Return the best picture so far, at a corner if wanted; `None` without any."""
        return max(self.shots, key=lambda one: (one.corner or not corner, one.worth), default=None)


def _describe_shot(shot: Shot, places: int) -> str:
    """Return the advice to take a picture, chosen among `places` places, with the reason."""
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
    """Return whether to look around here: at the start, at corners if wanted, or after few finds."""
    here = standing.position
    if here is None or any(distance(here, other) < APART_M for other in walk.looked_at):
        return False
    missing = ENOUGH - len(walk.looked_at)
    last = standing.moves_left < LONG_WALK * missing or not _ways_on(walk, standing)
    return not walk.looked_at or _may_shoot_at(situation, standing) or (missing > 0 and last)


def _walk_on(situation: Situation, walk: Walk, standing: Surroundings) -> Part[Surroundings | None]:
    """Move along the most promising link; return the surroundings there, `None` without a new link."""
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
    """Return the links to panoramas not visited yet."""
    new = [way for way in standing.ways if way.pano_id not in walk.been]
    if not walk.been:
        return new
    return [way for way in new if abs(signed_turn(standing.heading, way.direction.degrees)) <= BACK_DEG]


def _free_steps(walk: Walk, standing: Surroundings, way: WayOn) -> int:
    """Return the number of steps along a link before a panorama that was looked at."""
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
    """Return a link's score: shops toward it, metres from visited places, and a small turn."""
    here = standing.position
    promise = -abs(signed_turn(standing.heading, way.direction.degrees)) / STRAIGHT
    promise += SHOPS_M * sum(abs(signed_turn(way.direction.degrees, cue)) <= TOWARDS_DEG for cue in walk.cues)
    if here is None:
        return promise
    ahead = destination(here, way.direction.degrees, AHEAD_M)
    others = [distance(ahead, one) for one in walk.looked_at if distance(here, one) >= APART_M]
    return promise + min([AWAY_M, *others])


def _look_around(situation: Situation, walk: Walk, standing: Surroundings) -> Part[None]:
    """Look around here, and closer at the best candidate picture."""
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
    """Return whether the picture may be taken here: at a crossing if a corner is wanted, else anywhere."""
    return standing.is_crossing or not situation.goal.corner


def _down_the_streets(
    situation: Situation, walk: Walk, standing: Surroundings
) -> Part[tuple[list[tuple[float, int]], list[float]]]:
    """Return (headings with amounts of shops, headings with distant boards) along the links.

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
    """Return the legible signs here, by `read_signs`, else by `look`; empty without either tool."""
    if situation.has("read_signs"):
        return legible((yield from read_items(Find, "read_signs", {}, "What is written here?")))
    if situation.has("look"):
        return legible((yield from look_for_signs("What is to be seen?")))
    return ()


def _detect_things(situation: Situation, walk: Walk) -> Part[tuple[Find, ...]]:
    """Return the wanted things here; a detector without finds at several places in a row is not called."""
    if not situation.goal.things or not situation.has("detect") or walk.blind >= BLIND:
        return ()
    found = yield from detect_wanted(situation, "What holds a picture together?")
    wanted = [one for one in found if one.label in situation.goal.things]
    walk.blind = 0 if wanted else walk.blind + 1
    return tuple(one for one in wanted if one.score >= SURE)
