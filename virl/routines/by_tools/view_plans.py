"""The plan for a picture: look around at several places, go back to none, and settle on one view.

A view is chosen among the pictures that could be taken from a place, by what was read and found around it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from rapidfuzz import fuzz

from virl.geo.globe import LatLng, bearing, destination, distance, signed_float_turn, signed_turn
from virl.platform.perception.base import Amount
from virl.routines.by_tools.street_plans import (
    BACK_DEG,
    Plan,
    PlanEnd,
    PlanPart,
    Situation,
    call_for_data,
    call_for_items,
    detect_wanted,
    look_for_signs,
    read_surroundings,
)
from virl.tools.base import short
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
ROW = 2  # shops that make a row (chosen)
ROW_CHANCE = (0.1, 0.4, 0.7)
"""Probabilities that a view shows a row of shops: with no sign read, with one, with two close together.

Estimated in Virlton, seeds 1 and 2, as is what follows.
"""
FRONTS_CHANCE = 0.25  # added to it if the view seems to have many shopfronts
HELD_CHANCE = (0.97, 0.99)  # that a picture shows a large thing if one was found so large, or two
UNSURE_CHANCE, NOT_SEEN_CHANCE = 0.8, 0.25  # if one is nearly so large, or none
ENOUGH_SHOPS = 3  # more make a picture no better (chosen)
ENOUGH, MOST = 3, 12  # places that are looked at (chosen)
KEPT_TURNS = 3  # turns that are kept for the end of the plan
TURNS_A_PLACE = 5  # move, where_am_i, read_signs, detect, and a closer look
LONG_WALK = 8  # moves without a crossing before a place is looked at that is none (chosen)
LONGEST_MOVE = 20  # as `move` takes them; it ends at crossings
PANORAMAS_M = 10.0  # between two of them, as a rule
AHEAD_M = 40.0  # how far a way is thought to lead on (chosen)
AHEAD_DEG = 30.0  # what lies so close to a way's heading lies on it (chosen)
AWAY_M = 60.0  # farther from where one has looked is no better (chosen)
LONGEST_SIGN = 24  # characters of a sign in the first sentence of an answer (chosen)
STREET_DEG = 60.0  # width of a look down a street (chosen)
SHOPFRONTS: dict[Amount | None, int] = {"many": 3, "some": 1}  # in signs (chosen)
SHOPS_M = 30.0  # of that distance, for which a shop seen along a way makes up (chosen)
TOWARDS_DEG = 40.0  # between a way and what lies along it (chosen)
STRAIGHT = 10.0  # degrees that a way turns to make up for a metre (chosen)
HERE_M = 3.0  # what is closer is the same place (chosen)
APART_M = 25.0  # between two places that differ (chosen)
SURE = 0.75  # score from which on a thing is taken to be in a picture (chosen)
CLOSER = 2  # pictures of a place that are looked at more closely (chosen)
BLIND = 3  # places in a row without a find, after which the detector is not called (chosen)
WHERE = "Where is this?"


def view_plan(situation: Situation) -> Plan:
    """Plan to walk, look around at several places, and choose one view as a picture."""
    search, corner = PictureSearch(), situation.goal.corner
    surroundings = yield from read_surroundings(situation, WHERE)
    while surroundings and len(search.looked_at) < MOST and situation.turns_left > KEPT_TURNS:
        if _is_worth_a_look(situation, search, surroundings):
            yield from _look_around(situation, search, surroundings)
            if best := search.best(corner=corner):
                situation.known = _describe_shot(best, len(search.looked_at))
        if _is_complete(situation, search) or not situation.has("move"):
            break
        surroundings = yield from _move_on(situation, search, surroundings)
    best = search.best(corner=corner)
    if best is None or not (best.shops or best.things):
        report = (
            f"No {situation.goal.wanted_words} was found: {len(search.looked_at)} places were looked at, "
            "and none shows lettering or what holds a picture together."
        )
        return PlanEnd(report, succeeded=False)
    enough = len(search.looked_at) >= ENOUGH and bool(best.shops) and (best.corner or not corner)
    return PlanEnd(_describe_shot(best, len(search.looked_at)), succeeded=enough)


@dataclass(frozen=True, slots=True)
class Shot:
    """A candidate picture: position, heading and width of a view in degrees, with what it shows."""

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
        """Return whether the picture surely shows a row of at least two shops."""
        if len(self.shops) != ROW:
            return len(self.shops) > ROW
        # One shop may have two signs, but seldom so far from each other.
        first, last = (one.direction.degrees for one in self.shops)
        return abs(signed_float_turn(first, last)) >= TWO_SHOPS_DEG

    @property
    def anchor_count(self) -> int:
        """Number of wanted things in the picture that are large, at most 2."""
        return min(sum(one.share >= HOLDS for one in self.things), 2)

    @property
    def chance(self) -> float:
        """Estimated probability, in [0, 1], that the picture has a row of shops and a large wanted thing."""
        found = min(len(self.shops), ROW)
        row = 1.0 if self.row else ROW_CHANCE[found] + (FRONTS_CHANCE if self.fronts and found < ROW else 0.0)
        unsure = UNSURE_CHANCE if any(one.share >= NEARLY_HOLDS for one in self.things) else NOT_SEEN_CHANCE
        return row * (HELD_CHANCE[self.anchor_count - 1] if self.anchor_count else unsure)

    @property
    def worth(self) -> tuple[float, int, int, float]:
        """Sort key, larger is better: (chance, shops, minus width in degrees, highest score of a thing)."""
        sure = max((one.score for one in self.things), default=0.0)
        return self.chance, min(len(self.shops), ENOUGH_SHOPS), -self.width, sure

    @property
    def thing_words(self) -> str:
        """Wanted things in the picture in words, such as "a bench and a tree"; empty without any."""
        return " and ".join(f"a {label}" for label in sorted({one.label for one in self.things}))

    @property
    def description(self) -> str:
        """Contents of the picture in words, such as the lettering of its shops."""
        signs = ", ".join(repr(one.text) for one in self.shops[:ENOUGH_SHOPS])
        lettering = f"{'a row of shops with ' if self.row else ''}the lettering {signs}" if signs else ""
        return ", and ".join(filter(None, (lettering, self.thing_words))) or "nothing in particular"


@dataclass(frozen=True, slots=True)
class Scene:
    """The signs and things found around a panorama, from which pictures are composed."""

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

        def value(shot: Shot) -> tuple[tuple[float, int, int, float], float]:
            """Return the sort key (worth, minus twice the degrees that the contents are off the middle)."""
            contents = (*shot.shops, *shot.things)
            turns = [signed_float_turn(shot.heading, one.direction.degrees) for one in contents]
            return shot.worth, -abs(min(turns) + max(turns)) if turns else 0.0

        headings = map(float, range(0, 360, TURN_DEG))
        return max((self._shot(heading, width) for heading in headings for width in WIDTHS_DEG), key=value)

    def read_closer(self, heading: float, signs: Iterable[Find]) -> "Scene":
        """Return the scene with the signs around a heading in degrees replaced by those of a closer view.

        A sign elsewhere is replaced, too, if it is a piece of one of the new ones.
        """
        new = tuple(signs)
        others = [
            one
            for one in self.signs
            if not any(_is_same_sign(one, other, PIECES_DEG) for other in new)
            or abs(signed_float_turn(heading, one.direction.degrees)) > READ_DEG / 2
        ]
        return replace(self, signs=(*others, *new), closer=(*self.closer, heading))

    def heading_to_read(self, shot: Shot) -> float | None:
        """Return the heading in degrees for a closer view of a picture's signs; `None` if that was taken."""
        unread = [one for one in shot.shops if not any(_is_inside(at, one, READ_DEG) for at in self.closer)]
        if not unread:
            return None
        first = shot.shops[0].direction.degrees
        turns = [signed_float_turn(first, one.direction.degrees) for one in shot.shops]
        middle = round(first + (min(turns) + max(turns)) / 2) % 360
        near = any(abs(signed_float_turn(middle, at)) < MARGIN_DEG for at in self.closer)
        return None if near else float(middle)

    def _shot(self, heading: float, width: int) -> Shot:
        """Return the candidate picture toward a heading, `width` wide, both in degrees, with its contents."""
        signs = [one for one in self.signs if _is_inside(heading, one, width)]
        shops: list[Find] = []
        for sign in sorted(signs, key=lambda one: signed_float_turn(heading, one.direction.degrees)):
            if not any(_is_same_sign(sign, other) for other in shops):
                shops.append(sign)
        things = tuple(one for one in self.things if _is_inside(heading, one, width))
        fronts = any(abs(signed_float_turn(heading, at)) <= MARGIN_DEG for at in self.fronts)
        return Shot(self.position, heading, width, self.corner, tuple(shops), things, fronts)


def legible(signs: Iterable[Find]) -> tuple[Find, ...]:
    """Return the signs with enough letters to be worth a picture: four, a Chinese one counting twice."""
    return tuple(
        sign
        for sign in signs
        if sum(char.isalpha() * (2 if char > "\N{CJK RADICAL REPEAT}" else 1) for char in sign.text)
        >= LETTERS
    )


def _is_inside(heading: float, found: Find, width: float) -> bool:
    """Return whether a find lies in a view of a heading and width in degrees, away from its edges."""
    return abs(signed_float_turn(heading, found.direction.degrees)) <= width / 2 - MARGIN_DEG


def _is_same_sign(sign: Find, other: Find, near_deg: float = ONE_SIGN_DEG) -> bool:
    """Return whether two signs are one: less than `near_deg` degrees from each other, or alike in text."""
    near = abs(signed_float_turn(sign.direction.degrees, other.direction.degrees)) < near_deg
    return near or fuzz.partial_ratio(sign.text.casefold(), other.text.casefold()) >= SAME_TEXT


@dataclass(slots=True)
class PictureSearch:
    """The state of a search for a picture: panoramas visited, and candidate pictures from there."""

    shots: list[Shot] = field(default_factory=list)
    looked_at: list[LatLng] = field(default_factory=list)
    visited_ids: set[str] = field(default_factory=set)
    cues: list[float] = field(default_factory=list)
    """Headings, degrees, of shop signs and streets with shops at the latest place, else of unread boards."""
    blind: int = 0
    """Number of places in a row where the detector found no wanted thing."""

    def best(self, *, corner: bool) -> Shot | None:
        """Return the best picture so far, if `corner` preferably one at a street corner; `None` if none."""
        return max(self.shots, key=lambda one: (one.corner or not corner, one.worth), default=None)


def _describe_shot(shot: Shot, places: int) -> str:
    """Return advice in words on how to take the picture `shot`, the best from `places` places looked at."""
    where = "a street corner" if shot.corner else "a stretch of street"
    named = " and ".join(short(one.text, LONGEST_SIGN) for one in shot.shops[:2])
    seen = ", and ".join(filter(None, (named, shot.thing_words)))
    return (
        f"A picture of {where}{f' with {seen}' if seen else ''}. "
        f"Stand at {shot.position}; point the camera at {shot.heading:.0f} degrees; make "
        f"the view {shot.width} degrees wide. Why: of {places} places it shows the most: {shot.description}."
    )


def _is_complete(situation: Situation, search: PictureSearch) -> bool:
    """Return whether the best picture has all that is wanted, and enough places were looked at."""
    goal, best = situation.goal, search.best(corner=situation.goal.corner)
    if best is None or len(search.looked_at) < ENOUGH:
        return False
    held = best.anchor_count > 0 or not goal.things or search.blind >= BLIND
    return best.row and held and (best.corner or not goal.corner)


def _is_worth_a_look(situation: Situation, search: PictureSearch, surroundings: Surroundings) -> bool:
    """Return whether to look here: at first, at picture spots or as a last resort; not near other looks."""
    here = surroundings.position
    if here is None or any(distance(here, other) < APART_M for other in search.looked_at):
        return False
    missing = ENOUGH - len(search.looked_at)
    last = surroundings.moves_left < LONG_WALK * missing or not _unvisited_links(search, surroundings)
    return not search.looked_at or _may_take_picture_at(situation, surroundings) or (missing > 0 and last)


def _move_on(
    situation: Situation, search: PictureSearch, surroundings: Surroundings
) -> PlanPart[Surroundings | None]:
    """Yield a move along the link of highest score; return the surroundings there, `None` if none is left."""
    ways = _unvisited_links(search, surroundings)
    if (
        not ways and len(search.looked_at) < ENOUGH
    ):  # a dead end: back, but not as far as where one has looked
        ways = list(surroundings.ways)
        search.visited_ids.clear()
    most = min(LONGEST_MOVE if situation.goal.corner else LONG_WALK, surroundings.moves_left)
    free = {way: min(most, _free_steps(search, surroundings, way)) for way in ways}
    ways = [way for way in ways if free[way] > 0]
    if not ways or situation.turns_left <= KEPT_TURNS + TURNS_A_PLACE:
        return None
    way = max(ways, key=lambda one: _link_score(search, surroundings, one))
    search.visited_ids |= {one.pano_id for one in surroundings.ways}
    there = {"pano_id": way.pano_id, "steps": free[way]}
    moved = yield from call_for_data(Moved, "move", there, "Something else, further on.")
    if moved is None or moved.distance_m == 0.0:
        return None
    return (yield from read_surroundings(situation, WHERE)) or moved.surroundings


def _unvisited_links(search: PictureSearch, surroundings: Surroundings) -> list[WayOn]:
    """Return the links to unvisited panoramas; after the first panorama without those that lead back."""
    new = [way for way in surroundings.ways if way.pano_id not in search.visited_ids]
    if not search.visited_ids:
        return new
    return [way for way in new if abs(signed_turn(surroundings.heading, way.direction.degrees)) <= BACK_DEG]


def _free_steps(search: PictureSearch, surroundings: Surroundings, way: WayOn) -> int:
    """Return how many panoramas to go along a link before nearing a spot looked at; most if there is none."""
    here = surroundings.position
    ahead = [
        distance(here, one)
        for one in search.looked_at
        if here
        and distance(here, one) >= HERE_M
        and abs(signed_turn(way.direction.degrees, bearing(here, one))) <= AHEAD_DEG
    ]
    return max(int(min(ahead) / PANORAMAS_M) - 1, 0) if ahead else LONGEST_MOVE


def _link_score(search: PictureSearch, surroundings: Surroundings, way: WayOn) -> float:
    """Return a link's score, larger is better: shops that way, metres from earlier looks, less the turn."""
    here = surroundings.position
    promise = -abs(signed_turn(surroundings.heading, way.direction.degrees)) / STRAIGHT
    promise += SHOPS_M * sum(
        abs(signed_turn(way.direction.degrees, cue)) <= TOWARDS_DEG for cue in search.cues
    )
    if here is None:
        return promise
    ahead = destination(here, way.direction.degrees, AHEAD_M)
    others = [distance(ahead, one) for one in search.looked_at if distance(here, one) >= APART_M]
    return promise + min([AWAY_M, *others])


def _look_around(situation: Situation, search: PictureSearch, surroundings: Surroundings) -> PlanPart[None]:
    """Yield a look around, and closer in the best direction; note the best picture from here in `search`."""
    here = surroundings.position
    if here is None:
        return
    search.looked_at.append(here)
    signs = yield from _read_signs(situation)
    things = (yield from _detect_things(situation, search)) if signs else ()
    streets, boards = yield from _look_down_streets(situation, search, surroundings)
    fronts = tuple(heading for heading, count in streets if count >= SHOPFRONTS["many"])
    scene = Scene(here, surroundings.is_crossing, signs, things, fronts)
    for _ in range(
        CLOSER if situation.has("read_signs") and _may_take_picture_at(situation, surroundings) else 0
    ):
        shot = scene.best()
        heading = scene.heading_to_read(shot) if len(shot.shops) > 1 else None
        if heading is None or situation.turns_left <= KEPT_TURNS:
            break
        there = {"direction": heading}
        signs = legible(
            (yield from call_for_items(Find, "read_signs", there, "What would the picture show?"))
        )
        scene = scene.read_closer(heading, signs)
    search.shots.append(scene.best())
    search.cues = [one.direction.degrees for one in scene.signs]
    search.cues += [heading for heading, count in streets for _ in range(count)]
    search.cues = search.cues or boards


def _may_take_picture_at(situation: Situation, surroundings: Surroundings) -> bool:
    """Return whether pictures are taken here: only at a crossing if a corner is wanted."""
    return surroundings.is_crossing or not situation.goal.corner


def _look_down_streets(
    situation: Situation, search: PictureSearch, surroundings: Surroundings
) -> PlanPart[tuple[list[tuple[float, int]], list[float]]]:
    """Yield looks along unvisited links; return ((heading, shops) pairs, headings of boards), in degrees.

    Headings are in degrees; the boards are seen far down the street, read or not.
    """
    seen: list[tuple[float, int]] = []
    boards: list[float] = []
    for way in _unvisited_links(search, surroundings) if situation.has("look", "move") else ():
        if situation.turns_left <= KEPT_TURNS + 2 * TURNS_A_PLACE:
            break
        there = {"direction": way.direction.degrees, "fov": STREET_DEG}
        for view in (yield from call_for_items(LookedView, "look", there, "Are there shops further on?")):
            fronts = SHOPFRONTS.get(view.shopfronts, 0)
            seen.append((way.direction.degrees, fronts + len(view.signs)))
            boards += [way.direction.degrees for road in view.roads if road.boards]
    return seen, boards


def _read_signs(situation: Situation) -> PlanPart[tuple[Find, ...]]:
    """Yield a call of `read_signs`, else `look`; return the legible signs here, empty without either tool."""
    if situation.has("read_signs"):
        return legible((yield from call_for_items(Find, "read_signs", {}, "What is written here?")))
    if situation.has("look"):
        return legible((yield from look_for_signs("What is to be seen?")))
    return ()


def _detect_things(situation: Situation, search: PictureSearch) -> PlanPart[tuple[Find, ...]]:
    """Yield a call of `detect`, but none after `BLIND` places in vain; return the things found for sure."""
    if not situation.goal.things or not situation.has("detect") or search.blind >= BLIND:
        return ()
    found = yield from detect_wanted(situation, "What holds a picture together?")
    wanted = [one for one in found if one.label in situation.goal.things]
    search.blind = 0 if wanted else search.blind + 1
    return tuple(one for one in wanted if one.score >= SURE)
