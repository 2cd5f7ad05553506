"""Plans for places: find candidates, hold each against the conditions, choose, and look closer."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from rapidfuzz import fuzz

from virl.errors import MindFailed
from virl.mind.lexicon import found_in, words_of
from virl.mind.wishes import vote
from virl.platform.city.names import score_names
from virl.routines.by_tools.goals import ToolGoal, tool_words
from virl.routines.by_tools.street_plans import (
    Plan,
    PlanEnd,
    PlannedCall,
    PlanPart,
    Situation,
    call_for_data,
    call_for_items,
    find_on_street,
    go_to,
    look_for_sign,
    report_things,
)
from virl.tools.places import ListedPlace, NearbyListing, PlaceFacts
from virl.tools.routes import RouteLegs
from virl.tools.task import Consulted

LIKED = 4.0  # of 5: from here on, visitors speak well of a place (chosen)
RADII_M = (300.0, 800.0, 2000.0, 5000.0)  # in which places are listed, until enough of them fit
LISTED = 20  # most places that one list is asked for
LOOKED_UP = 10  # candidates of which details are asked (chosen)
ROUTED = 4  # candidates to which a way is asked, where the nearest is wanted (chosen)
ASKED = 2  # times that others are asked (chosen)
SAME_NAME = 75.0  # least likeness of 100 of a name that was asked for to one found (chosen)


@dataclass(frozen=True, slots=True)
class Choice:
    """A place that may be the answer, with the conditions of the goal that it fails."""

    place: ListedPlace
    faults: tuple[str, ...]
    """Conditions that the place fails, in words; empty if it meets all."""
    now: Literal["open", "closed", "unknown"] = "unknown"
    way: RouteLegs | None = None


def place_plan(situation: Situation) -> Plan:
    """Plan to find a place and report on it; without a tool that lists places, by signs on the street."""
    goal = situation.goal
    if goal.address and not (goal.name or goal.place_type):
        return (yield from _address_plan(situation))
    lists = situation.has("search_places") or situation.has("nearby_places")
    found: Choice | None = None
    if goal.ask_others and situation.has("consult"):
        found = yield from _ask_others(situation)
    elif not lists:
        return (yield from find_on_street(situation))
    chosen = found or ((yield from _search_best(situation)) if lists else None)
    if chosen is None:
        return PlanEnd((yield from _describe_lack(situation)), succeeded=False)
    return (yield from _report_plan(situation, chosen))


def count_places(situation: Situation) -> Plan:
    """Plan to count the places of the goal's type within 800 m of the agent."""
    goal = situation.goal
    args = {"types": [goal.place_type], "radius_m": RADII_M[1], "limit": 20}
    says = f"How many are there within {RADII_M[1]:.0f} m?"
    nearby = yield from call_for_data(NearbyListing, "nearby_places", args, says)
    number = nearby.found if nearby else 0
    return PlanEnd(
        f"Within {RADII_M[1]:.0f} m: {number} of the kind {words_of(goal.place_type)}.", succeeded=True
    )


def _address_plan(situation: Situation) -> Plan:
    """Plan to tell the way to the goal's address, and to go there if the agent can move."""
    goal = situation.goal
    if not situation.has("route"):
        raise MindFailed(f"the rules cannot reach {goal.address!r} without the tool route: add it to `tools`")
    reply = yield PlannedCall("route", {"address": goal.address}, f"How far is {goal.address}?")
    if not isinstance(way := reply.data, RouteLegs):
        return PlanEnd(f"No way to {goal.address} is known: {reply.text}", succeeded=False)
    facts = [f"{goal.address} is {_show_way(way)} from the start."]
    left = way.distance_m
    if situation.has("move"):
        left, seen = yield from go_to(situation, {"address": goal.address}, way)
        facts += [_describe_arrival(left), *seen]
        facts += yield from report_things(situation, seen=bool(seen))
    there = left <= 40 or not situation.has("move")
    return PlanEnd(" ".join(facts), succeeded=there)


def _ask_others(situation: Situation) -> PlanPart[Choice | None]:
    """Yield calls of `consult`; return a place named by an agent and meeting the conditions, or `None`."""
    name, words = situation.character.name, tool_words().helpers
    others = {one: about for one, about in situation.agents.items() if one.lower() != name.lower()}
    # Those who describe themselves as finding places, the best first.
    scores = {one: number for one, about in others.items() if (number := len(found_in(about, words)))}
    tried: set[tuple[str, str]] = set()
    faults: tuple[str, ...] = ()
    for helper in sorted(scores, key=lambda one: -scores[one])[:ASKED]:
        for request in (_compose_request(situation, ()), _compose_request(situation, faults)):
            if (helper, request) in tried or len(tried) >= ASKED:
                continue
            tried.add((helper, request))
            asked = {"agent": helper, "request": request}
            consulted = yield from call_for_data(Consulted, "consult", asked, f"{helper} may know.")
            found = consulted.place if consulted else None
            if found is None:
                break
            choice = yield from _look_up_choice(situation, found.id)
            if choice and not choice.faults:
                return choice
            if choice:
                faults = choice.faults
                situation.known = f"{helper} named {found.name} to {name}, but {'; '.join(faults)}."
    return None


def _describe_lack(situation: Situation) -> PlanPart[str]:
    """Yield searches; return a sentence that no such place was found, with the nearest other one if known."""
    lacking = f"No {_goal_words(situation.goal)} was found"
    near: list[ListedPlace] = []
    if situation.has("nearby_places"):
        whole: dict[str, object] = {"radius_m": RADII_M[-1], "limit": 1}
        near = yield from call_for_items(ListedPlace, "nearby_places", whole, "What is there at all?")
    else:
        for other in map(words_of, situation.lexicon.related.get(situation.goal.place_type, ())):
            args = {"query": other, "limit": 1}
            near += yield from call_for_items(ListedPlace, "search_places", args, f"Is there a {other}?")
    if not near:
        return f"{lacking}."
    place = min(near, key=lambda one: one.away.distance_m)
    kinds = f" ({words_of(place.types[0])})" if place.types else ""
    return f"{lacking}; the nearest place is {place.name}{kinds}, {place.away.distance_m:.0f} m off."


def _compose_request(situation: Situation, faults: tuple[str, ...]) -> str:
    """Return the text of a request to an agent, stricter on price if a place named before has `faults`."""
    goal, name = situation.goal, situation.character.name
    sentences = [f"{name} wants a {_goal_words(goal)}" + (" that is open now." if goal.open_now else ".")]
    if goal.max_price is not None:
        sentences.append("It should be cheap." if faults else "It should not be expensive.")
    if goal.liked:
        sentences.append("Visitors should like it.")
    for wish in goal.wishes:
        say = situation.lexicon.attributes[wish.attribute].say
        sentences.append(f"It should be {say.so if wish.holds else say.not_so}.")
    return " ".join(sentences)


def _search_best(situation: Situation) -> PlanPart[Choice | None]:
    """Yield searches; return the best place, which meets the conditions or else fails fewest, or `None`."""
    goal = situation.goal
    candidates = yield from _list_candidates(situation)
    if goal.name:
        candidates = [
            one for one in candidates if score_names(fuzz.token_set_ratio, one.name, goal.name) >= SAME_NAME
        ]
    if not situation.has("place_details"):
        choices = [Choice(one, tuple(_failed_conditions(one, situation))) for one in candidates]
        return min(choices, key=lambda one: len(one.faults), default=None)
    best: list[Choice] = []
    poor: list[Choice] = []
    for number, candidate in enumerate(candidates):
        if number >= LOOKED_UP or situation.turns_left < 8:
            break
        known = list(_failed_conditions(candidate, situation))
        if known:
            poor.append(Choice(candidate, tuple(known)))
            continue
        choice = yield from _look_up_choice(situation, candidate.id)
        if choice is None or choice.faults:
            poor += [choice] if choice else []
            continue
        best.append(choice)
        enough = ROUTED if goal.nearest and situation.has("route") else 3 if goal.several else 1
        if len(best) >= enough:
            break
    if goal.nearest and situation.has("route") and best:
        return (yield from _nearest(best))
    return next(iter(best), None) or min(poor, key=lambda one: len(one.faults), default=None)


def _nearest(choices: list[Choice]) -> PlanPart[Choice]:
    """Yield calls of `route`; return the choice nearest on foot, with its way; the first if they all fail."""
    nearest: Choice | None = None
    for choice in sorted(choices, key=lambda one: one.place.away.distance_m):
        # No way is shorter than the straight line, so the others cannot be nearer.
        if nearest and nearest.way and choice.place.away.distance_m >= nearest.way.distance_m:
            break
        way = yield from _way_to(choice.place)
        if way and (nearest is None or nearest.way is None or way.distance_m < nearest.way.distance_m):
            nearest = replace(choice, way=way)
    return nearest or choices[0]


def _list_candidates(situation: Situation) -> PlanPart[list[ListedPlace]]:
    """Yield calls that list places; return those that may be the goal, the most likely first."""
    goal = situation.goal
    found: dict[str, ListedPlace] = {}
    if goal.name and situation.has("search_places"):
        args = {"query": goal.name, "limit": 5}
        return (yield from call_for_items(ListedPlace, "search_places", args, f"Where is {goal.name}?"))
    if situation.has("nearby_places") and goal.place_type:
        for radius in RADII_M:
            args = {"types": [goal.place_type], "radius_m": radius, "limit": LISTED}
            says = f"Is there a {_goal_words(goal)} within {radius:.0f} m?"
            near = yield from call_for_items(ListedPlace, "nearby_places", args, says)
            found |= {one.id: one for one in near}
            fitting = sum(not list(_failed_conditions(one, situation)) for one in found.values())
            if fitting >= ROUTED or (fitting and not goal.open_now and not goal.liked):
                break
    else:
        args = {"query": goal.name or words_of(goal.place_type), "limit": LISTED}
        says = f"Which {_goal_words(goal)} is there?"
        found = {one.id: one for one in (yield from call_for_items(ListedPlace, "search_places", args, says))}
    listed = list(found.values())
    if goal.nearest:
        return sorted(listed, key=lambda one: one.away.distance_m)
    return (
        sorted(listed, key=lambda one: (-(one.rating or 0.0), one.away.distance_m)) if goal.liked else listed
    )


def _look_up_choice(situation: Situation, place_id: str) -> PlanPart[Choice | None]:
    """Yield a look-up of a place; return it with the conditions that it fails, `None` if not found."""
    if not situation.has("place_details"):
        return None
    about = yield from call_for_data(
        PlaceFacts, "place_details", {"place_id": place_id}, "What is known of it?"
    )
    if about is None:
        return None
    return Choice(about.place, tuple(_failed_conditions(about.place, situation, about)), about.now)


def _failed_conditions(
    place: ListedPlace, situation: Situation, about: PlaceFacts | None = None
) -> Iterator[str]:
    """Yield the conditions that a place fails, in words; without details, `about`, by listed facts alone."""
    goal = situation.goal
    if not place.is_open:
        yield "it has closed for good"
    elif about and about.now == "closed" and not goal.name:
        yield "it is closed now"
    elif about and goal.open_now and about.now != "open":
        yield "it is closed now" if about.now == "closed" else "nobody knows whether it is open"
    price = place.price_level
    if goal.max_price is not None and price is not None and price > goal.max_price:
        yield f"its price is {price} of 4"
    if goal.liked and (place.rating is None or place.rating < LIKED):
        yield "nobody has rated it" if place.rating is None else f"it is rated only {place.rating:.1f}"
    if about and goal.wishes:
        said = vote([review.text for review in about.reviews], situation.lexicon)
        for wish in goal.wishes:
            verdict = said.get(wish.attribute)
            say = situation.lexicon.attributes[wish.attribute].say
            if verdict is None or verdict.holds is None:
                yield f"nobody says whether it is {say.so}"
            elif verdict.holds != wish.holds:
                yield f"it is {say.so if verdict.holds else say.not_so}"


def _report_plan(situation: Situation, choice: Choice) -> Plan:
    """Plan the end with a chosen place: the walk there, what is seen, and the report."""
    goal, place = situation.goal, choice.place
    known = [f"{place.name}, {place.address}".rstrip(", ")]
    if choice.now != "unknown":
        known.append(f"{choice.now} now")
    if place.rating is not None:
        known.append(f"rated {place.rating:.1f} of 5 by {place.review_count}")
    if place.price_level is not None:
        known.append(f"price {place.price_level} of 4")
    against = f" Against it: {'; '.join(choice.faults)}." if choice.faults else ""
    facts = [f"The choice is {'; '.join(known)}.{against}"]
    situation.known = facts[0]
    way = choice.way
    wants_to_go = goal.go_there or bool(goal.things) or goal.sign
    if way is None and situation.has("route") and (goal.route or goal.nearest or wants_to_go):
        way = yield from _way_to(place)
    if way:
        facts.append(f"The walk is {_show_way(way)}.")
    if wants_to_go and way and situation.has("move", "route"):
        situation.known = " ".join(facts)
        left, seen = yield from go_to(situation, {"place_id": place.id}, way)
        facts += [_describe_arrival(left), *seen]
        facts += yield from report_things(situation, seen=bool(seen))
        if goal.sign:
            facts.append((yield from look_for_sign(situation, place.name, near=left <= 60)))
    return PlanEnd(" ".join(facts), succeeded=not choice.faults, place_id=place.id)


def _way_to(place: ListedPlace) -> PlanPart[RouteLegs | None]:
    """Yield a call of `route` to a place; return the way on foot, or `None` if the call fails."""
    return call_for_data(RouteLegs, "route", {"place_id": place.id}, f"How far is {place.name}?")


def _show_way(way: RouteLegs) -> str:
    """Return a way's metres and minutes as text, such as "320 m, 5 min"."""
    return f"{way.distance_m:.0f} m, {way.minutes} min"


def _describe_arrival(left: float) -> str:
    """Return a sentence on the metres left to the place; up to 40 m count as arrival."""
    return "The walk ended at the place." if left <= 40 else f"The walk ended {left:.0f} m before the place."


def _goal_words(goal: ToolGoal) -> str:
    """Return the words for a goal's place: its name, else its type, else its address."""
    return goal.name or words_of(goal.place_type) or goal.address
