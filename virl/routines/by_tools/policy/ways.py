"""Parts of plans that walk."""

from collections.abc import Mapping
from math import inf

from virl.geo.globe import signed_turn
from virl.routines.by_tools.policy.hands import Part, PlannedCall, Situation, look_where, read
from virl.routines.by_tools.policy.streets import notice_things
from virl.tools.base import COMPASS
from virl.tools.moving import Moved, Surroundings
from virl.tools.routes import RouteLegs, RouteStretch

THERE_M = 25.0  # a way so short is no way (chosen)
SHORT_LEG_M = 6.0  # legs so short only lead onto the street (chosen)
KEPT_TURNS = 8  # for what is to be done at the end (chosen)
ASIDE_DEG = 75.0  # a way leads where it is wanted within so many degrees (chosen)
LOOK_M = 40.0  # walked between two looks for things, which are seen from 20 m or nearer (chosen)
LONGEST_MOVE = 20  # panoramas, as `move` takes them


def go_to(
    situation: Situation, target: Mapping[str, object], way: RouteLegs
) -> Part[tuple[float, list[str]]]:
    """Go along the shortest way, asked for anew after every leg, and notice things where they are wanted.

    Args:
        situation: of the agent.
        target: argument of the tools: `address` or `place_id`.
        way: from here.

    Returns:
        Metres left, and what was noticed on the way.
    """
    seen: dict[str, int] = {}
    stuck, unseen = 0, inf
    standing = yield from look_where(situation, "Which ways are there?")
    while way.distance_m > THERE_M and situation.turns_left > KEPT_TURNS and stuck < 2:
        asked = _next_move(way, standing)
        if asked is None:
            break
        reply = yield PlannedCall("move", asked, f"On to the destination, {way.distance_m:.0f} m away.")
        moved = reply.data if isinstance(reply.data, Moved) else None
        standing = moved.surroundings if moved else standing
        stuck = stuck + 1 if reply.failed else 0
        if standing and standing.moves_left < 1 and not reply.failed:
            way = (yield from _route_to(target)) or way
            break
        gone = moved.distance_m if moved else 0.0
        unseen += gone
        if situation.goal.things and unseen >= LOOK_M and situation.turns_left > KEPT_TURNS + 6:
            yield from notice_things(situation, seen)
            unseen = 0.0
        way = _way_left(way, gone) or (yield from _route_to(target)) or way
    return way.distance_m, [_describe_noticed(seen)] if seen else []


def _way_left(way: RouteLegs, gone: float) -> RouteLegs | None:
    """Return the rest of a way after a part of the first leg; `None` if all of it was gone, or nothing."""
    leg, *others = _legs(way) or (None,)
    if not gone or leg is None or leg.distance_m - gone < SHORT_LEG_M:
        return None
    rest = leg.model_copy(update={"distance_m": leg.distance_m - gone})
    return way.model_copy(update={"distance_m": way.distance_m - gone, "legs": (rest, *others)})


def _legs(way: RouteLegs) -> tuple[RouteStretch, ...]:
    """Return the legs from the first on that leads anywhere."""
    first = next((number for number, leg in enumerate(way.legs) if leg.distance_m >= SHORT_LEG_M), 0)
    return way.legs[first:]


def _route_to(target: Mapping[str, object]) -> Part[RouteLegs | None]:
    """Ask the tool `route` for the way to a target; None if it fails."""
    return read(RouteLegs, "route", target, "How does the way go on?")


def _next_move(way: RouteLegs, standing: Surroundings | None) -> dict[str, object] | None:
    """Return the arguments of `move` along the first leg that leads anywhere."""
    leg = next(iter(_legs(way)), None)
    if leg is None:
        return None
    heading = 45.0 * COMPASS.index(leg.toward)
    if standing is None or not standing.ways:
        return {"direction": leg.toward, "steps": 1}
    onward = min(standing.ways, key=lambda one: abs(signed_turn(heading, one.direction.degrees)))
    if abs(signed_turn(heading, onward.direction.degrees)) > ASIDE_DEG:
        return {"direction": leg.toward, "steps": 1}
    steps = round(leg.distance_m / max(onward.distance_m, 1.0))
    return {"pano_id": onward.pano_id, "steps": min(max(steps, 1), LONGEST_MOVE)}


def _describe_noticed(seen: Mapping[str, int]) -> str:
    """Return a sentence on the things along the way, with the most of each that were in sight at once."""
    told = ", ".join(f"{thing} (up to {number} in sight at once)" for thing, number in sorted(seen.items()))
    return f"On the way stand: {told}."
