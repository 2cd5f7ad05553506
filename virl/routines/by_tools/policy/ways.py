"""Parts of plans that walk."""

from collections.abc import Mapping

from virl.geo import signed_turn
from virl.routines.by_tools.policy.hands import Part, PlannedCall, Situation
from virl.routines.by_tools.policy.streets import notice_things
from virl.routines.by_tools.policy.told import COMPASS, RouteTold, StandingTold, route_told, standing_told

THERE_M = 25.0  # a way so short is no way (chosen)
SHORT_LEG_M = 6.0  # legs so short only lead onto the street (chosen)
KEPT_TURNS = 8  # for what is to be done at the end (chosen)
ASIDE_DEG = 75.0  # a way leads where it is wanted within so many degrees (chosen)
LONGEST_MOVE = 20  # panoramas, as `move` takes them


def go_to(
    situation: Situation, target: Mapping[str, object], way: RouteTold
) -> Part[tuple[float, list[str]]]:
    """Go along the shortest way, asked for anew at every turn of it, and notice things where they are wanted.

    Returns:
        Metres left, and what was noticed on the way.
    """
    standing: StandingTold | None = None
    seen: dict[str, int] = {}
    stuck = 0
    if situation.has("where_am_i"):
        standing = standing_told((yield PlannedCall("where_am_i", {}, "Which ways are there?")).text)
    while way.metres > THERE_M and situation.turns_left > KEPT_TURNS and stuck < 2:
        asked = _next_move(way, standing)
        if asked is None:
            break
        reply = yield PlannedCall("move", asked, f"On to the destination, {way.metres:.0f} m away.")
        standing = standing_told(reply.text) or standing
        stuck = stuck + 1 if reply.failed else 0
        if standing and standing.moves_left < 1 and not reply.failed:
            way = (yield from _way(target)) or way
            break
        if situation.goal.things and not reply.failed and situation.turns_left > KEPT_TURNS + 6:
            yield from notice_things(situation, seen)
        way = (yield from _way(target)) or way
    return way.metres, [_noticed(seen)] if seen else []


def _way(target: Mapping[str, object]) -> Part[RouteTold | None]:
    reply = yield PlannedCall("route", target, "How does the way go on?")
    return route_told(reply.text)


def _next_move(way: RouteTold, standing: StandingTold | None) -> dict[str, object] | None:
    """The arguments of `move` along the first leg that leads anywhere."""
    legs = [leg for leg in way.legs if leg[0] >= SHORT_LEG_M] or list(way.legs)
    if not legs:
        return None
    metres, toward = legs[0]
    heading = 45.0 * COMPASS.index(toward)
    if standing is None or not standing.ways:
        return {"direction": toward, "steps": 1}
    onward = min(standing.ways, key=lambda one: abs(signed_turn(heading, one.heading)))
    if abs(signed_turn(heading, onward.heading)) > ASIDE_DEG:
        return {"direction": toward, "steps": 1}
    steps = round(metres / max(onward.metres, 1.0))
    return {"pano_id": onward.pano_id, "steps": min(max(steps, 1), LONGEST_MOVE)}


def _noticed(seen: Mapping[str, int]) -> str:
    told = ", ".join(f"{thing} (up to {number} in sight at once)" for thing, number in sorted(seen.items()))
    return f"On the way stand: {told}."
