"""The plan for a picture: look around at several places, none of them twice, and settle on one view."""

from dataclasses import dataclass

from virl.geo import normalize_heading, signed_turn
from virl.routines.by_tools.policy.hands import Part, Plan, PlanEnd, PlannedCall, Situation
from virl.routines.by_tools.policy.streets import STRIDE, roam
from virl.routines.by_tools.policy.told import (
    FoundTold,
    StandingTold,
    gone_told,
    signs_told,
    standing_told,
    views_told,
)

PLACES = 5  # that are looked at (chosen)
KEPT_TURNS = 3
LONGEST_WALK = 3  # moves on to the next place (chosen)
MARGIN_DEG = 10.0  # between what is wanted in a picture and its edge (chosen)
NARROWEST, WIDEST = 50, 100  # degrees of a picture (chosen)
ONE_SIGN_DEG = 14.0  # what is read so close together is one sign, read in pieces (chosen)
LETTERS = 4  # of a text that is worth a picture (chosen)
APART_M = 25.0  # between two places that differ (chosen)


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture that could be taken."""

    position: str
    heading: float
    width: int
    crossing: bool
    signs: int
    told: str

    @property
    def worth(self) -> tuple[bool, int, bool]:
        """More is better: something written on it, a corner, much to see."""
        return (self.crossing and self.signs > 1, self.signs, self.crossing)


def view_plan(situation: Situation) -> Plan:
    """Walk, look around at places that differ, and choose a picture."""
    shots: list[Shot] = []
    been: list[str] = []
    looked_at: list[str] = []
    standing = yield from _standing(situation)
    for number in range(PLACES):
        if situation.turns_left <= KEPT_TURNS:
            break
        if standing and standing.position not in looked_at:
            looked_at.append(standing.position)
            shots += yield from _shots(situation, standing)
            if shots:
                situation.known = _said(max(shots, key=lambda one: one.worth), number + 1)
        if number + 1 == PLACES or not (standing and situation.has("move")):
            break
        there = yield from _walk_on(situation, standing, been)
        if there is None:
            break
        standing = there
    if not shots:
        return PlanEnd("Nothing was seen that is worth a picture.", succeeded=False)
    best = max(shots, key=lambda one: one.worth)
    places = len({one.position for one in shots})
    return PlanEnd(_said(best, places), succeeded=best.signs > 0)


def _said(shot: Shot, places: int) -> str:
    corner = "a street corner" if shot.crossing else "a stretch of street"
    return (
        f"Stand at {shot.position}, on {corner}; point the camera at {shot.heading:.0f} degrees; make "
        f"the view {shot.width} degrees wide. Why: of {places} places it shows the most: {shot.told}."
    )


def _walk_on(situation: Situation, standing: StandingTold, been: list[str]) -> Part[StandingTold | None]:
    """On to the next crossing, or as far as the street goes; `None` where no new way leads on."""
    gone = 0.0
    for _ in range(LONGEST_WALK):
        way = roam(standing, been)
        if way is None or standing.moves_left < 1 or situation.turns_left <= KEPT_TURNS:
            return None
        been += [one.pano_id for one in standing.ways]
        steps = min(STRIDE * 2, standing.moves_left)
        reply = yield PlannedCall(
            "move", {"pano_id": way.pano_id, "steps": steps}, "Something else, further on."
        )
        told = standing_told(reply.text)
        if told is None or reply.failed:
            return None
        standing, gone = told, gone + gone_told(reply.text)
        if standing.crossing and gone >= APART_M:
            break
    return (yield from _standing(situation)) or standing


def _standing(situation: Situation) -> Part[StandingTold | None]:
    if situation.has("where_am_i"):
        return standing_told((yield PlannedCall("where_am_i", {}, "Where is this?")).text)
    return None


def _shots(situation: Situation, standing: StandingTold) -> Part[list[Shot]]:
    """The pictures that could be taken from here: around each sign, those that stand beside it."""
    signs: list[FoundTold] = []
    if situation.has("read_signs"):
        signs = signs_told((yield PlannedCall("read_signs", {}, "What is written here?")).text)
    elif situation.has("look"):
        for heading, said in views_told((yield PlannedCall("look", {}, "What is to be seen?")).text):
            signs += [FoundTold("sign", text, heading) for text in said.split("'")[1::2]]
    position = standing.position
    legible = [sign for sign in signs if sum(map(str.isalpha, sign.text)) >= LETTERS]
    shots = [_around(sign, legible, position, crossing=standing.crossing) for sign in legible]
    return shots or [
        Shot(position, standing.heading, NARROWEST, standing.crossing, 0, "nothing in particular")
    ]


def _around(sign: FoundTold, signs: list[FoundTold], position: str, *, crossing: bool) -> Shot:
    turns = sorted(
        ((signed_turn(sign.heading, other.heading), other) for other in signs), key=lambda one: one[0]
    )
    inside = [(turn, other) for turn, other in turns if abs(turn) <= WIDEST / 2 - MARGIN_DEG]
    first, last = inside[0][0], inside[-1][0]
    apart = [
        turn
        for number, (turn, _) in enumerate(inside)
        if number == 0 or turn - inside[number - 1][0] >= ONE_SIGN_DEG
    ]
    told = ", ".join(repr(other.text) for _, other in inside[:4])
    return Shot(
        position,
        normalize_heading(round(sign.heading + (first + last) / 2)),
        min(max(round(last - first + 2 * MARGIN_DEG), NARROWEST), WIDEST),
        crossing,
        len(apart),
        f"the lettering {told}",
    )
