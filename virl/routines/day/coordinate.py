"""Coordination: a drafted activity gets a real place, time and way, or a reason why it is impossible."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite, isinf

from virl.clock import DAY_MINUTES, parse_clock, show_clock
from virl.platform.city.places import Place
from virl.routines.day.activity import DayProgress, Kind, Proposal, Spot, TravelOption, cost_of
from virl.routines.day.feedback import ASKED_FOR, RequestedChange
from virl.routines.day.replies import DayDraft, DayEstimate
from virl.routines.day.town import EATING, Town, known_usd

_HALF_CENT = 0.005
"""Rounding error forgiven when a cost is compared with the budget, US dollars."""
_HARM = {"energy": -1, "stress": 1, "pain": 1}
"""Direction of harm, 1 up or -1 down, of each feeling that no activity may push past 0 or 100.

Hunger is mended by a meal, and moods pass.
"""
_LONGEST_WAIT = 45
"""Minutes that an activity may be put off until a place opens; chosen."""
SHORTEST_VISIT = 30
"""Least minutes of a visit that is cut short, if it was to be longer; chosen."""
_HOURS_LOOKUPS = 6
"""Most places of a type whose opening hours are looked up; chosen."""
_UNRATED = 3.5
"""Stars of 5 assumed for a place without ratings; chosen."""
_MINUTES_A_STAR = 12.0
"""Minutes that a client walks farther for a place rated one star higher; chosen."""
_WEAK_ENERGY, _WEAK_PAIN = 25.0, 60.0
"""Energy (of 100) below which, and pain above which, a client walks little; chosen."""
Dine = Callable[[DayDraft], Place | None]
"""Function of a drafted meal that recommends a place to eat; it returns `None` if it finds none."""


class Unfit(Exception):
    """Error raised if a drafted activity cannot be carried out; its text says why."""


@dataclass(frozen=True, slots=True)
class Coordinator:
    """A finder of the real place, time and way for an activity in one situation of the client."""

    progress: DayProgress
    """The client's situation before the activity."""
    town: Town
    """Town in which places and ways are looked up; its day says when all must end."""
    scenic: Spot | None
    """The scenic spot; `None` if none was found."""

    def carry_out(self, draft: DayDraft, dine: Dine) -> Proposal:  # noqa: PLR0911 - a sort of draft each
        """Return a proposal that carries out a draft of any kind but `end`; `dine` recommends where to eat.

        Raises:
            Unfit: no place, way or time is found for the draft.
        """
        if draft.kind == "scenic":
            if self.scenic is None:
                raise Unfit("No scenic spot was found.")
            return self._visit(draft, self.scenic)
        if draft.kind == "eat":
            recommended = dine(draft)
            if recommended is not None:
                return self._visit(draft, Spot.of(recommended))
            return self._visit_sort(
                draft, ("cafe", "restaurant") if "breakfast" in draft.what.lower() else EATING
            )
        if not draft.place.strip():
            return self.stay(draft)
        sort = draft.place.strip().lower().replace(" ", "_")
        if sort in self.town.sorts and draft.kind != "transport":
            return self._visit_sort(draft, (sort,))
        place = self.town.find_named(draft.place, self.progress.here.position)
        spot = Spot.of(place) if place else self.town.address(draft.place)
        if draft.kind == "transport":
            return self._journey(draft, spot)
        if spot is None:
            raise Unfit(f"There is no place called {draft.place!r} within reach.")
        return self._visit(draft, spot)

    def carry_out_change(self, request: RequestedChange) -> Proposal:
        """Return a proposal for an activity as the client changed it, at its old place or the one they name.

        Raises:
            Unfit: no place, way or time is found for the changed activity.
        """
        change, old = request.amendment, request.old
        starts = parse_clock(change.starts) if change.starts else max(old.starts, self.progress.now)
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
            return self._visit(draft, old.spot) if old.spot.name else self.stay(draft)
        # The client has named where to eat, so nobody is asked to recommend a place.
        found = self.carry_out(draft, lambda _: None)
        if found.spot.sort not in EATING:
            return found
        usd = known_usd(found.place, meal=True) if found.place else None
        return replace(found, kind="eat", usd=usd)

    def stay(self, draft: DayDraft) -> Proposal:
        """Return a proposal to do a drafted activity where the client is, without way, opening hours or cost.

        Raises:
            Unfit: the day is over.
        """
        starts = max(parse_clock(draft.starts), self.progress.now)
        ends = min(starts + _minutes_of(draft), self.town.day.minutes[1])
        if ends <= starts:
            raise Unfit("No time is left in the day.")
        spot = Spot(lat=self.progress.here.lat, lng=self.progress.here.lng)
        return Proposal("normal", draft.what, draft.reason, starts, ends, spot, usd=0.0)

    def objections(self, proposal: Proposal, estimate: DayEstimate) -> list[str]:
        """Return sentences on why a proposal is impossible or, by its estimate, too hard; empty for none."""
        found = self.impossible(proposal, estimate)
        for name, sign in _HARM.items():
            by, value = getattr(estimate, name).by, self.progress.state[name]
            if by * sign > 0 and not 0 <= value + by <= 100:
                found.append(
                    f"It asks too much: {name} is at {value:.0f} of 100 and would change by {by:+d}."
                )
        return found

    def impossible(self, proposal: Proposal, estimate: DayEstimate) -> list[str]:
        """Return sentences on why times, opening hours or money rule a proposal out; empty for none."""
        now, until = self.progress.now, self.town.day.minutes[1]
        found = []
        if proposal.leaves < now:
            found.append(f"The client would have to leave before {show_clock(now)}.")
        if proposal.ends > until:
            found.append(f"It lasts beyond the end of the day at {show_clock(until)}.")
        if proposal.ends <= proposal.starts and proposal.kind != "transport":
            found.append("It takes no time.")
        if proposal.place and not any(
            opens <= proposal.starts and proposal.ends <= closes
            for opens, closes in opening_stretches(proposal.place, self.town.weekday)
        ):
            found.append(f"{proposal.place.name} is closed at that time.")
        cost = cost_of(proposal, estimate) + (proposal.way.usd if proposal.way else 0.0)
        left = self.progress.budget_usd
        if cost > left + _HALF_CENT:
            found.append(f"It costs {cost:.2f} dollars with the way, and {left:.2f} are left.")
        return found

    def _visit(self, draft: DayDraft, spot: Spot) -> Proposal:
        """Return a proposal to do a draft at a spot; raise `Unfit` if way, time or hours rule it out."""
        way = self._find_way(draft, spot, self.progress.now)
        starts = max(parse_clock(draft.starts), self.progress.now + (way.minutes if way else 0))
        until = self.town.day.minutes[1]
        ends = min(starts + _minutes_of(draft), until)
        if ends - starts < min(_minutes_of(draft), SHORTEST_VISIT):
            raise Unfit(f"The way to {spot.name} leaves too little of the day.")
        place = self.town.details_of(spot.id) if spot.id else None
        if spot.id and place is None:
            raise Unfit(f"{spot.name} is listed, but the directory no longer knows it.")
        if place is not None:
            fitted = fit_visit(
                place,
                self.town.weekday,
                starts,
                ends,
                wait=_LONGEST_WAIT,
                shortest=SHORTEST_VISIT,
                until=until,
            )
            if fitted is None:
                raise Unfit(f"{place.name} is not open from {show_clock(starts)} to {show_clock(ends)}.")
            starts, ends = fitted
        kind: Kind = "eat" if draft.kind == "eat" else "scenic" if draft.kind == "scenic" else "normal"
        usd = known_usd(place, meal=kind == "eat") if place else None
        return Proposal(kind, draft.what, draft.reason, starts, ends, spot, way, place, usd)

    def _journey(self, draft: DayDraft, spot: Spot | None) -> Proposal:
        """Return a proposal for only the drafted journey to a spot; raise `Unfit` without spot or way."""
        if spot is None:
            raise Unfit(f"There is no place or address called {draft.place!r}.")
        leaves = max(parse_clock(draft.starts), self.progress.now)
        way = self._find_way(draft, spot, leaves)
        if way is None:
            raise Unfit(f"The client is at {spot.name} already.")
        arrives = leaves + way.minutes
        return Proposal("transport", draft.what, draft.reason, arrives, arrives, spot, way)

    def _visit_sort(self, draft: DayDraft, sorts: tuple[str, ...]) -> Proposal:
        """Return a proposal at the best affordable place of some types; raise `Unfit` if none can be visited.

        A place of unknown hours is taken only where none is known to be open.
        """

        def stars(place: Place) -> float:
            """Return a place's rating in stars, less the walk there converted to stars."""
            # Where no way leads the walk is infinite: still ranked among themselves, by their ratings.
            rating = _UNRATED if place.rating is None else place.rating
            return rating - min(walks[place.id], 1e6) / _MINUTES_A_STAR

        here, excluded = self.progress.here.position, self.progress.excluded_ids()
        places = [place for sort in sorts for place in self.town.places_of_type(sort, here, excluded)]
        minutes = self.town.minutes(here, [place.position for place in places], "walking")
        walks = {place.id: walk for place, walk in zip(places, minutes, strict=True)}
        if any(map(isfinite, minutes)):  # else it is here that no way leads from
            names = (place.name for place in places if isinf(walks[place.id]))
            self.town.city.left_out.add_unreached("walking", names)
        ranked = sorted(places, key=lambda place: (-stars(place), place.id))
        faults: list[str] = []
        unsure: Proposal | None = None
        # Opening hours take a request for each place, so only the best are asked for theirs.
        for place in ranked[:_HOURS_LOOKUPS]:
            usd = known_usd(place, meal=draft.kind == "eat")
            if usd is not None and usd > self.progress.budget_usd:
                faults.append(f"{place.name} costs about {usd:.0f} dollars.")
                continue
            try:
                found = self._visit(draft, Spot.of(place))
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

    def _find_way(self, draft: DayDraft, spot: Spot, leaves: int) -> TravelOption | None:
        """Return a way begun at minute `leaves`, `None` if there already; raise `Unfit` if none will do."""
        progress = self.progress
        if progress.here.position == spot.position:
            return None
        weak = progress.state["energy"] < _WEAK_ENERGY or progress.state["pain"] > _WEAK_PAIN
        way = self.town.way(
            progress.here.position,
            spot.position,
            asked=draft.mode,
            weak=weak,
            budget_usd=progress.budget_usd,
            minute=leaves,
        )
        if way is None:
            raise Unfit(f"No way to {spot.name or 'there'} is short and cheap enough.")
        return way if way.minutes else None


def opening_stretches(place: Place, day: int) -> list[tuple[int, int]]:
    """Return (opening, closing) times of a place on a weekday (0 is Monday), minutes after midnight, sorted.

    One that began the day before opens below 0, one that lasts into the next day closes beyond 1440. All day
    where nobody has listed hours: unknown is not closed.
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


def fit_visit(
    place: Place, day: int, starts: int, ends: int, *, wait: int, shortest: int, until: int
) -> tuple[int, int] | None:
    """Return a visit's (start, end) in opening hours, `wait` late or cut to `shortest` at most, or `None`.

    Args:
        place: with its opening hours.
        day: weekday, 0 is Monday.
        starts: when the visit was to begin, minutes after midnight.
        ends: when it was to end, minutes after midnight.
        wait: most minutes by which it may begin later.
        shortest: minutes that it must last, unless it was to be shorter.
        until: when the day ends, minutes after midnight.
    """
    least = min(shortest, ends - starts)
    for opens, closes in opening_stretches(place, day):
        begin = max(starts, opens)
        end = min(begin + ends - starts, closes, until)
        if begin - starts <= wait and end - begin >= least:
            return begin, end
    return None


def _minutes_of(draft: DayDraft) -> int:
    """Return the duration of a drafted activity, in minutes."""
    return parse_clock(draft.ends) - parse_clock(draft.starts)
