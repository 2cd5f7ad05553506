"""Plans of the rules over tools: what they are, and their parts that walk and look for things and signs.

A plan asks for calls of tools, is sent what they say, and ends with an answer. It goes by nothing else.
"""

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, TypeVar

from rapidfuzz import fuzz

from virl.agent.character import Character
from virl.agent.tool import ToolData
from virl.geo.globe import signed_turn
from virl.mind.lexicon import Lexicon, words_of
from virl.mind.wishes import kinds_wanted
from virl.platform.city.names import score_names
from virl.routines.by_tools.goals import ToolGoal
from virl.tools.base import COMPASS, Listing, ToolResult
from virl.tools.looking import Find, LookedView, SignRead
from virl.tools.moving import Moved, Surroundings, WayOn, Whereabouts
from virl.tools.places import ListedPlace
from virl.tools.routes import RouteLegs, RouteStretch

T = TypeVar("T")
DataT = TypeVar("DataT", bound=ToolData)
SAME_SIGN = 70.0  # least likeness of 100 of a sign's text to a name (chosen)
STRIDE = 4  # panoramas between two looks: about 40 m (chosen)
KEPT_TURNS = 3
BACK_DEG = 135.0  # a way that turns by more leads back (chosen)
THERE_M = 25.0  # a way so short is no way (chosen)
SHORT_LEG_M = 6.0  # legs so short only lead onto the street (chosen)
END_TURNS = 8  # for what is to be done at the end (chosen)
ASIDE_DEG = 75.0  # a way leads where it is wanted within so many degrees (chosen)
LOOK_M = 40.0  # walked between two looks for things, which are seen from 20 m or nearer (chosen)
LONGEST_MOVE = 20  # panoramas, as `move` takes them


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool call of a plan: tool, arguments, and the reason in words."""

    tool: str
    args: Mapping[str, object] = field(default_factory=dict)
    says: str = ""


@dataclass(frozen=True, slots=True)
class PlanEnd:
    """The end of a plan: its answer and whether it succeeded."""

    answer: str
    succeeded: bool
    place_id: str | None = None


Plan = Generator[PlannedCall, ToolResult[Any], PlanEnd]
"""A generator of tool calls that is sent each result; results' data are `None` from old journals."""
Part = Generator[PlannedCall, ToolResult[Any], T]
"""A generator of tool calls, part of a plan, that returns a value to the plan."""


@dataclass(slots=True)
class Situation:
    """The situation in which a plan is made: character, goal, tools, and turns left."""

    character: Character
    goal: ToolGoal
    lexicon: Lexicon
    agents: Mapping[str, str]
    """Descriptions of the agents that can be consulted, by name."""
    turns_left: int
    known: str = ""
    """Answer to give if no turn is left, in words."""

    def has(self, *tools: str) -> bool:
        """Return whether the character has all of these tools."""
        return set(tools) <= set(self.character.tools)


def read(kind: type[DataT], tool: str, args: Mapping[str, object], says: str) -> Part[DataT | None]:
    """Call a tool and return its data; `None` if they are of another type.

    Args:
        kind: of the data.
        tool: name.
        args: of the call.
        says: why, in a sentence.
    """
    data = (yield PlannedCall(tool, args, says)).data
    return data if isinstance(data, kind) else None


def read_items(kind: type[DataT], tool: str, args: Mapping[str, object], says: str) -> Part[list[DataT]]:
    """Call a tool and return the items of its list; empty if it returns no list of this type.

    Args:
        kind: of the items.
        tool: name.
        args: of the call.
        says: why, in a sentence.
    """
    data = (yield PlannedCall(tool, args, says)).data
    return [one for one in data.items if isinstance(one, kind)] if isinstance(data, Listing) else []


def look_where(situation: Situation, says: str) -> Part[Surroundings | None]:
    """Call `where_am_i` and return the surroundings; `None` without the tool or if it fails."""
    if not situation.has("where_am_i"):
        return None
    found = yield from read(Whereabouts, "where_am_i", {}, says)
    return found.surroundings if found else None


def detect_wanted(situation: Situation, says: str) -> Part[list[Find]]:
    """Call `detect` for the things in the goal, and return the finds all around."""
    args = {"labels": list(situation.goal.things), "direction": "around"}
    return (yield from read_items(Find, "detect", args, says))


def notice_things(situation: Situation, seen: dict[str, int]) -> Part[None]:
    """Look for the goal's things, and keep in `seen` the most of each that were in sight at once."""
    if not situation.has("detect"):
        return
    found = yield from detect_wanted(situation, "What stands here?")
    for thing, number in Counter(one.label for one in found if one.is_sure).items():
        seen[thing] = max(number, seen.get(thing, 0))


def report_things(situation: Situation, *, seen: bool) -> Part[list[str]]:
    """Look for the goal's things at the walk's end; return a sentence on them; empty if none is wanted."""
    if not situation.goal.things or not situation.has("detect"):
        return []
    here: dict[str, int] = {}
    yield from notice_things(situation, here)
    if not here:
        return [] if seen else [f"None of these stands in sight: {', '.join(situation.goal.things)}."]
    told = ", ".join(f"{number} {thing}" for thing, number in sorted(here.items()))
    return [f"In sight at the end: {told}."]


def count_things(situation: Situation) -> Plan:
    """Plan to count the things of each kind in sight."""
    here: dict[str, int] = {}
    yield from notice_things(situation, here)
    counts = ", ".join(f"{here.get(thing, 0)} {thing}" for thing in situation.goal.things)
    return PlanEnd(f"In sight from here: {counts}.", succeeded=True)


def tell_signs(situation: Situation) -> Plan:
    """Plan to report what the signs in sight say, each once."""
    read_here = dict.fromkeys(sign.text for sign in (yield from _signs(situation)) if sign.text)
    told = ", ".join(map(repr, read_here)) or "none that can be read"
    return PlanEnd(f"Signs in sight from here: {told}.", succeeded=bool(read_here))


def look_for_sign(situation: Situation, name: str, *, near: bool) -> Part[str]:
    """Look for a place's sign from here; return a sentence on whether it is seen.

    Args:
        situation: of the agent.
        name: of the place.
        near: whether the place is so near that its kind is enough.
    """
    signs = yield from _signs(situation)
    wanted = situation.goal.place_type
    by_name = [sign for sign in signs if _is_like_name(sign.text, name)]
    by_kind = [sign for sign in signs if near and wanted and sign.label == words_of(wanted)]
    found = next(iter([*by_name, *by_kind]), None)
    if found:
        told = f", it says {found.text!r}" if found.text else ""
        return f"Its sign can be seen from the street: at {found.direction.degrees:.0f} degrees{told}."
    return "Its sign cannot be seen from here."


def find_on_street(situation: Situation) -> Plan:
    """Plan to walk new streets until a thing, or a sign of the place type, is seen."""
    goal = situation.goal
    standing: Surroundings | None = None
    been: list[str] = []
    stops = 0
    while situation.turns_left > KEPT_TURNS:
        found = yield from _in_sight(situation)
        stops += 1
        if found:
            here = yield from _describe_here(situation)
            if goal.place_type and not goal.things and situation.has("nearby_places"):
                args = {"types": [goal.place_type], "radius_m": 60.0, "limit": 1}
                for place in (yield from read_items(ListedPlace, "nearby_places", args, "Which one is it?")):
                    return PlanEnd(f"{found} {here} It is {place.name}.", succeeded=True, place_id=place.id)
            return PlanEnd(f"{found} {here}", succeeded=True)
        standing = yield from _onward(situation, standing, been)
        if standing is None or standing.moves_left < 1:
            break
    return PlanEnd(f"No sight of {goal.wanted_words} at {stops} stops.", succeeded=False)


def roam(standing: Surroundings, been: Sequence[str], boards: Mapping[float, int]) -> WayOn | None:
    """Return the link to a new panorama with most signboards, then the smallest turn; `None` without one.

    Args:
        standing: the ways from here.
        been: ids of panoramas.
        boards: numbers of boards of shops seen far down ways, by their degrees; the most come first.
    """
    onward = [
        way for way in standing.ways if abs(signed_turn(standing.heading, way.direction.degrees)) <= BACK_DEG
    ]
    new = [way for way in onward or standing.ways if way.pano_id not in been]

    def last_stand(way: WayOn) -> tuple[int, float]:
        """Return the sort key of a link: most signboards, then smallest turn."""
        heading = way.direction.degrees
        return -boards.get(heading, 0), abs(signed_turn(standing.heading, heading))

    return min(new, key=last_stand, default=None)


def _in_sight(situation: Situation) -> Part[str]:
    """Return a sentence on the first wanted thing in sight; empty if none is."""
    goal = situation.goal
    if goal.things:
        if situation.has("detect"):
            for thing in (yield from detect_wanted(situation, f"Is there a {goal.things[0]}?")):
                return f"There is a {thing.label} at {thing.direction.degrees:.0f} degrees."
        return ""
    for sign in (yield from _signs(situation)):
        kinds = kinds_wanted(sign.text, (), situation.lexicon) if sign.label == "sign" else [sign.label]
        same = goal.place_type in [kind.replace(" ", "_") for kind in kinds[:1]]
        if (goal.name and _is_like_name(sign.text, goal.name)) or (goal.place_type and same):
            return f"The sign {sign.text!r} can be seen at {sign.direction.degrees:.0f} degrees."
    return ""


def _signs(situation: Situation) -> Part[list[Find]]:
    """Return the signs in sight, by the tool `read_signs`, else by `detect` and `look`."""
    if situation.has("read_signs"):
        return (yield from read_items(Find, "read_signs", {}, "What do the signs say?"))
    signs: list[Find] = []
    if situation.has("detect") and situation.goal.place_type:
        args = {"labels": [words_of(situation.goal.place_type)], "direction": "around"}
        signs += yield from read_items(Find, "detect", args, "Is there a sign?")
    if situation.has("look"):
        signs += yield from look_for_signs("What can be seen?")
    return signs


def look_for_signs(says: str) -> Part[list[SignRead]]:
    """Call `look` and return the signs that the describer names in the views."""
    views = yield from read_items(LookedView, "look", {}, says)
    return [
        SignRead(text=text, direction=view.direction)
        for view in views
        if view.direction
        for text in view.signs
    ]


def _describe_here(situation: Situation) -> Part[str]:
    """Return the agent's place as a sentence; empty if unknown."""
    here = yield from look_where(situation, "Where is that?")
    return f"Seen from {here.position}." if here else ""


def _onward(
    situation: Situation, standing: Surroundings | None, been: list[str]
) -> Part[Surroundings | None]:
    """Move a few panoramas on to new ones; return the surroundings there, `None` if no link leads on."""
    if not situation.has("move"):
        return None
    if standing is None:
        if not situation.has("where_am_i"):
            return (yield from _move_on({"direction": "front"}, "On."))
        standing = yield from look_where(situation, "Which ways are there?")
    views: list[LookedView] = []
    if standing and standing.is_crossing and situation.has("look") and not situation.goal.things:
        views = yield from read_items(LookedView, "look", {}, "Which of these roads has shops?")
    boards = {road.direction.degrees: road.boards for view in views for road in view.roads}
    way = roam(standing, been, boards) if standing else None
    if standing is None or way is None:
        return None
    been += [one.pano_id for one in standing.ways]
    there = {"pano_id": way.pano_id, "steps": STRIDE}
    return (yield from _move_on(there, "Nothing of the kind here: on."))


def _move_on(args: Mapping[str, object], says: str) -> Part[Surroundings | None]:
    """Call `move` with the arguments and return the surroundings after it; `None` if it fails."""
    moved = yield from read(Moved, "move", args, says)
    return moved.surroundings if moved else None


def _is_like_name(text: str, name: str) -> bool:
    """Return whether a text of three letters or more resembles a place's name, as a sign's would."""
    return len(text) > 2 and score_names(fuzz.token_set_ratio, text, name) >= SAME_SIGN


def go_to(
    situation: Situation, target: Mapping[str, object], way: RouteLegs
) -> Part[tuple[float, list[str]]]:
    """Walk to a target along the shortest way; return (metres left, things noticed).

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
    while way.distance_m > THERE_M and situation.turns_left > END_TURNS and stuck < 2:
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
        if situation.goal.things and unseen >= LOOK_M and situation.turns_left > END_TURNS + 6:
            yield from notice_things(situation, seen)
            unseen = 0.0
        way = _way_left(way, gone) or (yield from _route_to(target)) or way
    return way.distance_m, [_describe_noticed(seen)] if seen else []


def _way_left(way: RouteLegs, gone: float) -> RouteLegs | None:
    """Return the rest of a way after `gone` metres of its first leg; `None` if nothing is left or gone."""
    leg, *others = _legs(way) or (None,)
    if not gone or leg is None or leg.distance_m - gone < SHORT_LEG_M:
        return None
    rest = leg.model_copy(update={"distance_m": leg.distance_m - gone})
    return way.model_copy(update={"distance_m": way.distance_m - gone, "legs": (rest, *others)})


def _legs(way: RouteLegs) -> tuple[RouteStretch, ...]:
    """Return a way's legs from the first one with a direction."""
    first = next((number for number, leg in enumerate(way.legs) if leg.distance_m >= SHORT_LEG_M), 0)
    return way.legs[first:]


def _route_to(target: Mapping[str, object]) -> Part[RouteLegs | None]:
    """Call the tool `route` for the way to a target; return the way, or `None` if that fails."""
    return read(RouteLegs, "route", target, "How does the way go on?")


def _next_move(way: RouteLegs, standing: Surroundings | None) -> dict[str, object] | None:
    """Return the arguments of `move` along the way's first leg with a direction; `None` without any."""
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
    """Return a sentence on the things noticed on the way, with the most of each in sight at once."""
    told = ", ".join(f"{thing} (up to {number} in sight at once)" for thing, number in sorted(seen.items()))
    return f"On the way stand: {told}."
