"""Coordination: from a draft to a real place at a real time, reached in a real way, or what is against it."""

from collections.abc import Callable
from dataclasses import replace
from math import isfinite, isinf

from virl.clock import DAY_MINUTES, parse_clock, show_clock
from virl.platform.city.places import Place
from virl.routines.day.activity import WORST, DayProgress, Kind, Proposal, Spot, TravelOption, cost_of
from virl.routines.day.feedback import ASKED_FOR, Wanted
from virl.routines.day.replies import DayDraft, DayEstimate
from virl.routines.day.town import EATING, Town, known_usd

_CENT = 0.005
_HURTS = ("energy", "stress", "pain")
"""Feelings that no activity may push to their worst; hunger is mended by a meal, and moods pass."""

WAIT = 45  # minutes that an activity may be put off, until a place opens; chosen
SHORTEST_VISIT = 30  # minutes that are left of a longer visit when it is cut short; chosen
ASKED_FOR_HOURS = 6  # most places of a sort whose hours are looked up; chosen
UNRATED = 3.5  # of 5: what a place without ratings counts as; chosen
MINUTES_A_STAR = 12.0  # of walking that a whole star is worth; chosen
WEAK_ENERGY, WEAK_PAIN = 25.0, 60.0  # of 100: one who walks little; chosen
Dine = Callable[[DayDraft, DayProgress], Place | None]
"""Function that recommends a place to eat; returns `None` if it finds none."""


def coordinate(  # noqa: PLR0911 - a sort of draft each
    draft: DayDraft, standing: DayProgress, town: Town, *, scenic: Spot | None, dine: Dine
) -> Proposal:
    """Return a draft as a proposal with its place, way and times.

    Args:
        draft: of any kind but `end`.
        standing: where the client is.
        town: where to look.
        scenic: the scenic spot, if one was found.
        dine: recommends where to eat.

    Raises:
        Unfit: it cannot be done like this.
    """
    if draft.kind == "scenic":
        if scenic is None:
            raise Unfit("No scenic spot was found.")
        return visit(draft, standing, town, scenic)
    if draft.kind == "eat":
        recommended = dine(draft, standing)
        if recommended is not None:
            return visit(draft, standing, town, Spot.of(recommended))
        sorts = ("cafe", "restaurant") if "breakfast" in draft.what.lower() else EATING
        return _visit_sort(draft, standing, town, sorts)
    if not draft.place.strip():
        return stay(draft, standing, town)
    if draft.kind == "transport":
        return _journey_proposal(draft, standing, town)
    sort = draft.place.strip().lower().replace(" ", "_")
    if sort in town.sorts:
        return _visit_sort(draft, standing, town, (sort,))
    place = town.find_named(draft.place, standing.here.position)
    if place is not None:
        return visit(draft, standing, town, Spot.of(place))
    if spot := town.address(draft.place):
        return visit(draft, standing, town, spot)
    raise Unfit(f"There is no place called {draft.place!r} within reach.")


def as_wanted(wanted: Wanted, standing: DayProgress, town: Town, scenic: Spot | None) -> Proposal:
    """Return an activity as the client changed it, at their place or where it was proposed.

    Args:
        wanted: the client's change, and the activity that it changes.
        standing: of the day so far.
        town: of the day.
        scenic: spot that was found; `None` without one.

    Raises:
        Unfit: it cannot be done like this.
    """
    change, old = wanted.amendment, wanted.old
    starts = parse_clock(change.starts) if change.starts else max(old.starts, standing.now)
    ends = parse_clock(change.ends) if change.ends else min(starts + old.ends - old.starts, 24 * 60)
    if ends <= starts:
        raise Unfit(f"It would begin at {show_clock(starts)} and end at {show_clock(ends)}.")
    draft = DayDraft(
        kind="normal" if change.place or old.kind == "transport" else old.kind,
        starts=show_clock(starts),
        ends=show_clock(ends),
        place=change.place,
        what=change.what or (f"Go to {change.place}" if change.place else old.what),
        mode="any",
        reason=ASKED_FOR,
    )
    if not change.place:
        return visit(draft, standing, town, old.spot) if old.spot.name else stay(draft, standing, town)
    # The client has named where to eat, so nobody is asked to recommend a place.
    found = coordinate(draft, standing, town, scenic=scenic, dine=lambda _draft, _standing: None)
    if found.spot.sort not in EATING:
        return found
    usd = known_usd(found.place, meal=True) if found.place else None
    return replace(found, kind="eat", usd=usd)


def stay(draft: DayDraft, standing: DayProgress, town: Town) -> Proposal:
    """Return a proposal for something done on the spot, without way, opening hours or cost.

    Args:
        draft: of the mind.
        standing: of the day so far.
        town: of the day.

    Raises:
        Unfit: the day is over.
    """
    starts = max(parse_clock(draft.starts), standing.now)
    ends = min(starts + _minutes_of(draft), town.day.minutes[1])
    if ends <= starts:
        raise Unfit("No time is left in the day.")
    spot = Spot(lat=standing.here.lat, lng=standing.here.lng)
    return Proposal("normal", draft.what, draft.reason, starts, ends, spot, usd=0.0)


def visit(draft: DayDraft, standing: DayProgress, town: Town, spot: Spot) -> Proposal:
    """Return a proposal to visit a spot, as early as the way and opening hours allow.

    Args:
        draft: of the mind.
        standing: of the day so far.
        town: of the day.
        spot: where it is done.

    Raises:
        Unfit: no time is left, or the place is not open.
    """
    way = _way(draft, standing, town, spot, standing.now)
    starts = max(parse_clock(draft.starts), standing.now + (way.minutes if way else 0))
    until = town.day.minutes[1]
    ends = min(starts + _minutes_of(draft), until)
    if ends - starts < min(_minutes_of(draft), SHORTEST_VISIT):
        raise Unfit(f"The way to {spot.name} leaves too little of the day.")
    place = _place_at(town, spot)
    if place is not None:
        shortest = SHORTEST_VISIT
        fitted = fit(place, town.weekday, starts, ends, wait=WAIT, shortest=shortest, until=until)
        if fitted is None:
            raise Unfit(f"{place.name} is not open from {show_clock(starts)} to {show_clock(ends)}.")
        starts, ends = fitted
    kind: Kind = draft.kind if draft.kind == "eat" or draft.kind == "scenic" else "normal"  # noqa: PLR1714
    usd = known_usd(place, meal=kind == "eat") if place else None
    return Proposal(kind, draft.what, draft.reason, starts, ends, spot, way, place, usd)


def objections(proposal: Proposal, estimate: DayEstimate, standing: DayProgress, town: Town) -> list[str]:
    """Return the objections to a proposal, a sentence each; empty if it is possible.

    Args:
        proposal: with its way.
        estimate: of what it does and costs.
        standing: where the client is.
        town: where.
    """
    found = []
    for name in _HURTS:
        by, value = getattr(estimate, name).by, standing.state[name]
        worst = WORST[name]
        if (worst == 0.0 and value + by < 0 and by < 0) or (worst == 100.0 and value + by > 100 and by > 0):
            found.append(f"It asks too much: {name} is at {value:.0f} of 100 and would change by {by:+d}.")
    return [*impossible(proposal, estimate, standing, town), *found]


def stretches(place: Place, day: int) -> list[tuple[int, int]]:
    """Return (opening, closing) times of a place on a day, in minutes after its midnight, sorted.

    Args:
        place: with its details.
        day: 0 is Monday.

    Returns:
        Openings and closings; one that began the day before opens below 0, one that lasts into the next day
        closes beyond 1440. All day where nobody has listed hours: unknown is not closed.
    """
    if not place.is_open:
        return []
    if not place.hours:
        return [(0, DAY_MINUTES)]
    found = [(one.opens, one.closes) for one in place.hours if one.day == day]
    found += [
        (one.opens - DAY_MINUTES, one.closes - DAY_MINUTES)
        for one in place.hours
        if one.day == (day - 1) % 7 and one.closes > DAY_MINUTES
    ]
    return sorted(found)


def fit(
    place: Place, day: int, starts: int, ends: int, *, wait: int, shortest: int, until: int
) -> tuple[int, int] | None:
    """Return (start, end) for a visit so that the place is open throughout; `None` if impossible.

    Args:
        place: with its details.
        day: 0 is Monday.
        starts: when it was to begin, minutes after midnight.
        ends: when it was to end.
        wait: minutes it may begin later.
        shortest: minutes it must last, where it was to last as long.
        until: when the day ends.

    Returns:
        Beginning and end, or `None` if it does not fit.
    """
    least = min(shortest, ends - starts)
    for opens, closes in stretches(place, day):
        begin = max(starts, opens)
        end = min(begin + ends - starts, closes, until)
        if begin - starts <= wait and end - begin >= least:
            return begin, end
    return None


class Unfit(Exception):
    """Error: a draft cannot be carried out; the text says why."""


def _journey_proposal(draft: DayDraft, standing: DayProgress, town: Town) -> Proposal:
    """Return a proposal for a journey alone."""
    place = town.find_named(draft.place, standing.here.position)
    spot = Spot.of(place) if place else town.address(draft.place)
    if spot is None:
        raise Unfit(f"There is no place or address called {draft.place!r}.")
    leaves = max(parse_clock(draft.starts), standing.now)
    way = _way(draft, standing, town, spot, leaves)
    if way is None:
        raise Unfit(f"The client is at {spot.name} already.")
    return Proposal(
        "transport", draft.what, draft.reason, leaves + way.minutes, leaves + way.minutes, spot, way
    )


def _visit_sort(draft: DayDraft, standing: DayProgress, town: Town, sorts: tuple[str, ...]) -> Proposal:
    """Return a proposal at the best place of some types that is open, affordable and not far.

    One of unknown hours is taken only where none is known to be open.
    """
    here = standing.here.position
    places = [place for sort in sorts for place in town.of_sort(sort, here, standing.excluded_ids())]
    minutes = town.minutes(here, [place.position for place in places], "walking")
    walks = {place.id: walk for place, walk in zip(places, minutes, strict=True)}
    if any(map(isfinite, minutes)):  # else it is here that no way leads from
        names = (place.name for place in places if isinf(walks[place.id]))
        town.city.left_out.add_unreached("walking", names)
    ranked = sorted(places, key=lambda place: (-_merit(place, walks[place.id]), place.id))
    faults: list[str] = []
    unsure: Proposal | None = None
    # Opening hours take a request for each place, so only the best are asked for theirs.
    for place in ranked[:ASKED_FOR_HOURS]:
        usd = known_usd(place, meal=draft.kind == "eat")
        if usd is not None and usd > standing.budget_usd:
            faults.append(f"{place.name} costs about {usd:.0f} dollars.")
            continue
        try:
            found = visit(draft, standing, town, Spot.of(place))
        except Unfit as fault:
            faults.append(str(fault))
            continue
        if not (found.place and found.place.is_unsure):
            return found
        unsure = unsure or found
    if unsure:
        return unsure
    kind = " or ".join(sort.replace("_", " ") for sort in sorts)
    raise Unfit(f"No {kind} can be visited then. {' '.join(faults[:2])}".strip())


def _merit(place: Place, walk: float) -> float:
    """Return a place's value: rating in stars, less the walk in minutes converted to stars."""
    rating = UNRATED if place.rating is None else place.rating
    # Where no way leads the walk is infinite: still ranked among themselves, by their ratings.
    return rating - min(walk, 1e6) / MINUTES_A_STAR


def _place_at(town: Town, spot: Spot) -> Place | None:
    """Return the place of a spot with its opening hours; `None` if the spot is an address."""
    if spot.id is None:
        return None
    place = town.details_of(spot.id)
    if place is None:
        raise Unfit(f"{spot.name} is listed, but the directory no longer knows it.")
    return place


def _way(draft: DayDraft, standing: DayProgress, town: Town, spot: Spot, leaves: int) -> TravelOption | None:
    """Return the way to a spot, begun at a minute of the day; `None` if the client is there."""
    here = standing.here
    if here.position == spot.position:
        return None
    weak = standing.state["energy"] < WEAK_ENERGY or standing.state["pain"] > WEAK_PAIN
    way = town.way(
        here.position,
        spot.position,
        asked=draft.mode,
        weak=weak,
        budget_usd=standing.budget_usd,
        minute=leaves,
    )
    if way is None:
        raise Unfit(f"No way to {spot.name or 'there'} is short and cheap enough.")
    return way if way.minutes else None


def _minutes_of(draft: DayDraft) -> int:
    """Return the duration of a draft in minutes."""
    return parse_clock(draft.ends) - parse_clock(draft.starts)


def impossible(proposal: Proposal, estimate: DayEstimate, standing: DayProgress, town: Town) -> list[str]:
    """Return sentences on why a proposal is impossible: times, opening hours, money; empty if it is possible.

    Args:
        proposal: with its way.
        estimate: of what it does and costs.
        standing: of the client before it.
        town: gives the hours and the end of the day.
    """
    found = [*_time_faults(proposal, standing, town), *_hour_faults(proposal, town)]
    way_usd = proposal.way.usd if proposal.way else 0.0
    cost = cost_of(proposal, estimate) + way_usd
    if cost > standing.budget_usd + _CENT:
        found.append(f"It costs {cost:.2f} dollars with the way, and {standing.budget_usd:.2f} are left.")
    return found


def _time_faults(proposal: Proposal, standing: DayProgress, town: Town) -> list[str]:
    """Return sentences on faults of a proposal's times; empty without faults."""
    until = town.day.minutes[1]
    found = []
    if proposal.leaves < standing.now:
        found.append(f"The client would have to leave before {show_clock(standing.now)}.")
    if proposal.ends > until:
        found.append(f"It lasts beyond the end of the day at {show_clock(until)}.")
    if proposal.ends <= proposal.starts and proposal.kind != "transport":
        found.append("It takes no time.")
    return found


def _hour_faults(proposal: Proposal, town: Town) -> list[str]:
    """Return a sentence if the place is closed during a proposal; else empty."""
    if proposal.place is None:
        return []
    for opens, closes in stretches(proposal.place, town.weekday):
        if opens <= proposal.starts and proposal.ends <= closes:
            return []
    return [f"{proposal.place.name} is closed at that time."]
