"""Parts of plans that look for things and signs on the street."""

from collections import Counter
from collections.abc import Mapping, Sequence

from rapidfuzz import fuzz

from virl.geo.globe import signed_turn
from virl.mind.lexicon import words_of
from virl.mind.wishes import kinds_wanted
from virl.platform.city.names import score_names
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
from virl.tools.looking import Find, LookedView, SignRead
from virl.tools.moving import Moved, Surroundings, WayOn
from virl.tools.places import ListedPlace

SAME_SIGN = 70.0  # least likeness of 100 of a sign's text to a name (chosen)
STRIDE = 4  # panoramas between two looks: about 40 m (chosen)
KEPT_TURNS = 3
BACK_DEG = 135.0  # a way that turns by more leads back (chosen)


def notice_things(situation: Situation, seen: dict[str, int]) -> Part[None]:
    """Look around for the things that are asked about; keeps the most of each that were in sight at once."""
    if not situation.has("detect"):
        return
    found = yield from detect_wanted(situation, "What stands here?")
    for thing, number in Counter(one.label for one in found if one.is_sure).items():
        seen[thing] = max(number, seen.get(thing, 0))


def report_things(situation: Situation, *, seen: bool) -> Part[list[str]]:
    """Report the things in sight where the walk has ended, in a sentence; nothing if none was asked for."""
    if not situation.goal.things or not situation.has("detect"):
        return []
    here: dict[str, int] = {}
    yield from notice_things(situation, here)
    if not here:
        return [] if seen else [f"None of these stands in sight: {', '.join(situation.goal.things)}."]
    told = ", ".join(f"{number} {thing}" for thing, number in sorted(here.items()))
    return [f"In sight at the end: {told}."]


def count_things(situation: Situation) -> Plan:
    """Count the things of each sort in sight."""
    here: dict[str, int] = {}
    yield from notice_things(situation, here)
    counts = ", ".join(f"{here.get(thing, 0)} {thing}" for thing in situation.goal.things)
    return PlanEnd(f"In sight from here: {counts}.", succeeded=True)


def tell_signs(situation: Situation) -> Plan:
    """Tell what the signs in sight say, each once."""
    read_here = dict.fromkeys(sign.text for sign in (yield from _signs(situation)) if sign.text)
    told = ", ".join(map(repr, read_here)) or "none that can be read"
    return PlanEnd(f"Signs in sight from here: {told}.", succeeded=bool(read_here))


def look_for_sign(situation: Situation, name: str, *, near: bool) -> Part[str]:
    """Look for the sign of a place from here; return a sentence on whether it can be seen.

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
    """Walk where one has not been until a thing, or the sign of a kind of place, is seen."""
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
    """Return the way to where one has not been that turns least; `None` if there is none.

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
        """Return the sort key of a way on: more signboards first, then the smaller turn."""
        heading = way.direction.degrees
        return -boards.get(heading, 0), abs(signed_turn(standing.heading, heading))

    return min(new, key=last_stand, default=None)


def _in_sight(situation: Situation) -> Part[str]:
    """Return a sentence on the first that is seen of what is wanted; empty if nothing is."""
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
    """Return the signs in sight, by the best tool that there is: reading, looking, detecting."""
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
    """Look around and return the signs that the describer names in the views."""
    views = yield from read_items(LookedView, "look", {}, says)
    return [
        SignRead(text=text, direction=view.direction)
        for view in views
        if view.direction
        for text in view.signs
    ]


def _describe_here(situation: Situation) -> Part[str]:
    """Ask where the agent stands, and return it as a sentence; empty if that is not known."""
    here = yield from look_where(situation, "Where is that?")
    return f"Seen from {here.position}." if here else ""


def _onward(
    situation: Situation, standing: Surroundings | None, been: list[str]
) -> Part[Surroundings | None]:
    """Return a few panoramas on; `None` where no way leads on."""
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
    """Make a move with these arguments, and return the surroundings after it; None if it fails."""
    moved = yield from read(Moved, "move", args, says)
    return moved.surroundings if moved else None


def _is_like_name(text: str, name: str) -> bool:
    """Return whether a text of three letters or more is as alike to a name as one sign's are."""
    return len(text) > 2 and score_names(fuzz.token_set_ratio, text, name) >= SAME_SIGN
