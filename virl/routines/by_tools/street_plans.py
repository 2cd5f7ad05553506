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
from virl.pages.numbers import count_noun
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
KEPT_TURNS = 3  # turns that are kept for the end of the plan
BACK_DEG = 135.0  # a way that turns by more leads back (chosen)
THERE_M = 25.0  # a way so short is no way (chosen)
SHORT_LEG_M = 6.0  # legs so short only lead onto the street (chosen)
END_TURNS = 8  # for what is to be done at the end (chosen)
ASIDE_DEG = 75.0  # a way leads where it is wanted within so many degrees (chosen)
LOOK_M = 40.0  # walked between two looks for things, which are seen from 20 m or nearer (chosen)
LONGEST_MOVE = 20  # panoramas, as `move` takes them


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool call of a plan: name and arguments of the tool, and the sentence said with it."""

    tool: str
    args: Mapping[str, object] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PlanEnd:
    """The end of a plan: the answer to the user in words, and whether the goal was reached."""

    answer: str
    succeeded: bool
    place_id: str | None = None


Plan = Generator[PlannedCall, ToolResult[Any], PlanEnd]
"""Generator that yields tool calls, is sent the result of each, and returns the plan's end."""
PlanPart = Generator[PlannedCall, ToolResult[Any], T]
"""Generator that yields some of a plan's tool calls, and returns a value to the plan."""


@dataclass(slots=True)
class Situation:
    """The inputs of a plan: character, goal, phrases, agents to consult, and turns left."""

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


def call_for_data(
    kind: type[DataT], tool: str, args: Mapping[str, object], reason: str
) -> PlanPart[DataT | None]:
    """Yield a tool call; return the data of its result, `None` if they are of another type than `kind`.

    Args:
        kind: expected type of the data.
        tool: name of the tool.
        args: arguments of the call, by name.
        reason: sentence that the agent says with the call.
    """
    data = (yield PlannedCall(tool, args, reason)).data
    return data if isinstance(data, kind) else None


def call_for_items(
    kind: type[DataT], tool: str, args: Mapping[str, object], reason: str
) -> PlanPart[list[DataT]]:
    """Yield a tool call; return those items of its list that are of type `kind`, empty if there is no list.

    Args:
        kind: type of the items.
        tool: name of the tool.
        args: arguments of the call, by name.
        reason: sentence that the agent says with the call.
    """
    data = (yield PlannedCall(tool, args, reason)).data
    return [one for one in data.items if isinstance(one, kind)] if isinstance(data, Listing) else []


def read_surroundings(situation: Situation, reason: str) -> PlanPart[Surroundings | None]:
    """Yield a call of `where_am_i`; return the surroundings, `None` without the tool or if it fails."""
    if not situation.has("where_am_i"):
        return None
    found = yield from call_for_data(Whereabouts, "where_am_i", {}, reason)
    return found.surroundings if found else None


def detect_wanted(situation: Situation, reason: str) -> PlanPart[list[Find]]:
    """Yield a call of `detect` for the goal's things; return all finds around the agent, sure or not."""
    args = {"labels": list(situation.goal.things), "direction": "around"}
    return (yield from call_for_items(Find, "detect", args, reason))


def notice_things(situation: Situation, seen: dict[str, int]) -> PlanPart[None]:
    """Yield a look for the goal's things; raise each thing's count in `seen` to the number now in sight."""
    if not situation.has("detect"):
        return
    found = yield from detect_wanted(situation, "What stands here?")
    for thing, number in Counter(one.label for one in found if one.is_sure).items():
        seen[thing] = max(number, seen.get(thing, 0))


def report_things(situation: Situation, *, seen: bool) -> PlanPart[list[str]]:
    """Yield a look for the goal's things; return a sentence on them, none if `seen` only earlier."""
    if not situation.goal.things or not situation.has("detect"):
        return []
    here: dict[str, int] = {}
    yield from notice_things(situation, here)
    if not here:
        return [] if seen else [f"None of these stands in sight: {', '.join(situation.goal.things)}."]
    told = ", ".join(count_noun(number, thing) for thing, number in sorted(here.items()))
    return [f"In sight at the end: {told}."]


def count_things(situation: Situation) -> Plan:
    """Plan to count the goal's things in sight, each kind by itself."""
    here: dict[str, int] = {}
    yield from notice_things(situation, here)
    counts = ", ".join(count_noun(here.get(thing, 0), thing) for thing in situation.goal.things)
    return PlanEnd(f"In sight from here: {counts}.", succeeded=True)


def tell_signs(situation: Situation) -> Plan:
    """Plan to report the texts of the signs in sight, each once."""
    read_here = dict.fromkeys(sign.text for sign in (yield from _read_signs(situation)) if sign.text)
    told = ", ".join(map(repr, read_here)) or "none that can be read"
    return PlanEnd(f"Signs in sight from here: {told}.", succeeded=bool(read_here))


def look_for_sign(situation: Situation, name: str, *, near: bool) -> PlanPart[str]:
    """Yield looks for a place's sign (`near`: any of its type); return a sentence on whether it is seen.

    Args:
        situation: character, goal and tools.
        name: name of the place.
        near: whether the place is so near that any sign of its type counts.
    """
    signs = yield from _read_signs(situation)
    wanted = situation.goal.place_type
    by_name = [sign for sign in signs if _is_like_name(sign.text, name)]
    by_kind = [sign for sign in signs if near and wanted and sign.label == words_of(wanted)]
    found = next(iter([*by_name, *by_kind]), None)
    if found:
        told = f", it says {found.text!r}" if found.text else ""
        return f"Its sign can be seen from the street: at {found.direction.degrees:.0f} degrees{told}."
    return "Its sign cannot be seen from here."


def find_on_street(situation: Situation) -> Plan:
    """Plan to walk new streets until one of the goal's things, or a sign of its place, is in sight."""
    goal = situation.goal
    surroundings: Surroundings | None = None
    visited_ids: list[str] = []
    stops = 0
    while situation.turns_left > KEPT_TURNS:
        found = yield from _describe_sighting(situation)
        stops += 1
        if found:
            at = yield from read_surroundings(situation, "Where is that?")
            here = f"Seen from {at.position}." if at else ""
            if goal.place_type and not goal.things and situation.has("nearby_places"):
                args = {"types": [goal.place_type], "radius_m": 60.0, "limit": 1}
                for place in (
                    yield from call_for_items(ListedPlace, "nearby_places", args, "Which one is it?")
                ):
                    return PlanEnd(f"{found} {here} It is {place.name}.", succeeded=True, place_id=place.id)
            return PlanEnd(f"{found} {here}", succeeded=True)
        surroundings = yield from _onward(situation, surroundings, visited_ids)
        if surroundings is None or surroundings.moves_left < 1:
            break
    return PlanEnd(f"No sight of {goal.wanted_words} at {stops} stops.", succeeded=False)


def choose_unvisited_link(
    surroundings: Surroundings, visited_ids: Sequence[str], boards: Mapping[float, int]
) -> WayOn | None:
    """Return the unvisited link with most `boards` (shop boards by heading), then least turn; `None` if none.

    Args:
        surroundings: the agent's heading, and the links from its panorama.
        visited_ids: ids of panoramas that are not gone to again.
        boards: numbers of shop boards seen far down the links, by the links' headings in degrees.
    """
    onward = [
        way
        for way in surroundings.ways
        if abs(signed_turn(surroundings.heading, way.direction.degrees)) <= BACK_DEG
    ]
    new = [way for way in onward or surroundings.ways if way.pano_id not in visited_ids]
    return min(
        new,
        key=lambda way: (
            -boards.get(way.direction.degrees, 0),
            abs(signed_turn(surroundings.heading, way.direction.degrees)),
        ),
        default=None,
    )


def _describe_sighting(situation: Situation) -> PlanPart[str]:
    """Yield looks; return a sentence on the first thing or sign in sight that the goal asks for, or empty."""
    goal = situation.goal
    if goal.things:
        if situation.has("detect"):
            for thing in (yield from detect_wanted(situation, f"Is there a {goal.things[0]}?")):
                return f"There is a {thing.label} at {thing.direction.degrees:.0f} degrees."
        return ""
    for sign in (yield from _read_signs(situation)):
        kinds = kinds_wanted(sign.text, (), situation.lexicon) if sign.label == "sign" else [sign.label]
        same = goal.place_type in [kind.replace(" ", "_") for kind in kinds[:1]]
        if (goal.name and _is_like_name(sign.text, goal.name)) or (goal.place_type and same):
            return f"The sign {sign.text!r} can be seen at {sign.direction.degrees:.0f} degrees."
    return ""


def _read_signs(situation: Situation) -> PlanPart[list[Find]]:
    """Yield calls of `read_signs`, else `detect` and `look`; return the signs in sight, empty if no tool."""
    if situation.has("read_signs"):
        return (yield from call_for_items(Find, "read_signs", {}, "What do the signs say?"))
    signs: list[Find] = []
    if situation.has("detect") and situation.goal.place_type:
        args = {"labels": [words_of(situation.goal.place_type)], "direction": "around"}
        signs += yield from call_for_items(Find, "detect", args, "Is there a sign?")
    if situation.has("look"):
        signs += yield from look_for_signs("What can be seen?")
    return signs


def look_for_signs(reason: str) -> PlanPart[list[SignRead]]:
    """Yield a call of `look`; return the signs that the describer read in its views."""
    views = yield from call_for_items(LookedView, "look", {}, reason)
    return [
        SignRead(text=text, direction=view.direction)
        for view in views
        if view.direction
        for text in view.signs
    ]


def _onward(
    situation: Situation, surroundings: Surroundings | None, visited_ids: list[str]
) -> PlanPart[Surroundings | None]:
    """Yield calls that lead to a move onward; return the surroundings there, `None` if there is no move."""
    if not situation.has("move"):
        return None
    if surroundings is None:
        if not situation.has("where_am_i"):
            return (yield from _move_on({"direction": "front"}, "On."))
        surroundings = yield from read_surroundings(situation, "Which ways are there?")
    views: list[LookedView] = []
    if surroundings and surroundings.is_crossing and situation.has("look") and not situation.goal.things:
        views = yield from call_for_items(LookedView, "look", {}, "Which of these roads has shops?")
    boards = {road.direction.degrees: road.boards for view in views for road in view.roads}
    way = choose_unvisited_link(surroundings, visited_ids, boards) if surroundings else None
    if surroundings is None or way is None:
        return None
    visited_ids += [one.pano_id for one in surroundings.ways]
    there = {"pano_id": way.pano_id, "steps": STRIDE}
    return (yield from _move_on(there, "Nothing of the kind here: on."))


def _move_on(args: Mapping[str, object], reason: str) -> PlanPart[Surroundings | None]:
    """Yield a call of `move` with `args`; return the surroundings after it, `None` if it fails."""
    moved = yield from call_for_data(Moved, "move", args, reason)
    return moved.surroundings if moved else None


def _is_like_name(text: str, name: str) -> bool:
    """Return whether a sign's text, of three letters or more, resembles a place's name."""
    return len(text) > 2 and score_names(fuzz.token_set_ratio, text, name) >= SAME_SIGN


def go_to(
    situation: Situation, target: Mapping[str, object], way: RouteLegs
) -> PlanPart[tuple[float, list[str]]]:
    """Yield moves along a way to a target; return (metres left, sentences on the goal's things passed).

    Args:
        situation: character, goal, tools and turns left.
        target: argument of the tool `route`: an `address` or a `place_id`.
        way: the way there from here.
    """
    seen: dict[str, int] = {}
    stuck, unseen = 0, inf
    surroundings = yield from read_surroundings(situation, "Which ways are there?")
    while way.distance_m > THERE_M and situation.turns_left > END_TURNS and stuck < 2:
        asked = _next_move(way, surroundings)
        if asked is None:
            break
        reply = yield PlannedCall("move", asked, f"On to the destination, {way.distance_m:.0f} m away.")
        moved = reply.data if isinstance(reply.data, Moved) else None
        surroundings = moved.surroundings if moved else surroundings
        stuck = stuck + 1 if reply.failed else 0
        if surroundings and surroundings.moves_left < 1 and not reply.failed:
            way = (yield from _route_to(target)) or way
            break
        gone = moved.distance_m if moved else 0.0
        unseen += gone
        if situation.goal.things and unseen >= LOOK_M and situation.turns_left > END_TURNS + 6:
            yield from notice_things(situation, seen)
            unseen = 0.0
        # Each question for a route takes a turn, so it is asked at the end of a leg only.
        way = _rest_of_way(way, gone) or (yield from _route_to(target)) or way
    told = ", ".join(f"{thing} (up to {number} in sight at once)" for thing, number in sorted(seen.items()))
    return way.distance_m, [f"On the way stand: {told}."] if seen else []


def _rest_of_way(way: RouteLegs, gone_m: float) -> RouteLegs | None:
    """Return what is left of a way `gone_m` metres into its first leg; `None` at 0 m or near the leg end."""
    leg, *others = _legs_ahead(way) or (None,)
    if not gone_m or leg is None or leg.distance_m - gone_m < SHORT_LEG_M:
        return None
    rest = leg.model_copy(update={"distance_m": leg.distance_m - gone_m})
    return way.model_copy(update={"distance_m": way.distance_m - gone_m, "legs": (rest, *others)})


def _legs_ahead(way: RouteLegs) -> tuple[RouteStretch, ...]:
    """Return a way's legs from the first of `SHORT_LEG_M` or longer; all legs if none is that long."""
    first = next((number for number, leg in enumerate(way.legs) if leg.distance_m >= SHORT_LEG_M), 0)
    return way.legs[first:]


def _route_to(target: Mapping[str, object]) -> PlanPart[RouteLegs | None]:
    """Yield a call of the tool `route` to a target; return the route, or `None` if the call fails."""
    return call_for_data(RouteLegs, "route", target, "How does the way go on?")


def _next_move(way: RouteLegs, surroundings: Surroundings | None) -> dict[str, object] | None:
    """Return the arguments of `move` along a way's first leg of sufficient length; `None` without legs."""
    leg = next(iter(_legs_ahead(way)), None)
    if leg is None:
        return None
    heading = 45.0 * COMPASS.index(leg.toward)
    if surroundings is None or not surroundings.ways:
        return {"direction": leg.toward, "steps": 1}
    onward = min(surroundings.ways, key=lambda one: abs(signed_turn(heading, one.direction.degrees)))
    if abs(signed_turn(heading, onward.direction.degrees)) > ASIDE_DEG:
        return {"direction": leg.toward, "steps": 1}
    steps = round(leg.distance_m / max(onward.distance_m, 1.0))
    return {"pano_id": onward.pano_id, "steps": min(max(steps, 1), LONGEST_MOVE)}
