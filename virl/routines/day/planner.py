"""Planning a day: draft, coordinate, estimate, audit, revise and commit each activity (V-IRL, section 4.4).

Every reply of the mind and every activity is written down, so a run that was cut off goes on where it was.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from virl.agent.agent import Agent
from virl.agent.consult import consult
from virl.clock import parse_clock, show_clock
from virl.errors import BadInput, NotFound
from virl.geo.globe import LatLng
from virl.platform.city.places import Place
from virl.routines.clients.settings import CLIENT, Client
from virl.routines.day.activity import WORST, Activity, DayProgress, Spot
from virl.routines.day.amending import MOST_TURNS, UNMET, hear
from virl.routines.day.asking import Questions
from virl.routines.day.coordinate import SHORTEST_VISIT, Unfit, as_wanted, coordinate, stay
from virl.routines.day.hours import stretches
from virl.routines.day.listening import listen
from virl.routines.day.outcome import activities_of, cost_of
from virl.routines.day.prices import known_usd
from virl.routines.day.proposal import Proposal, RefusedDraft
from virl.routines.day.proposed import (
    Amended,
    ProposedDay,
    Wanted,
    apart_of,
    still_wanted,
    unknown_numbers,
    wanted_of,
)
from virl.routines.day.replies import DayDraft, DayEstimate
from virl.routines.day.scenic import ScenicSpot, find_scenic
from virl.routines.day.settings import DAY, FEELINGS, Day, Mode
from virl.routines.day.town import Town

_CENT = 0.005
_HURTS = ("energy", "stress", "pain")
"""Feelings beyond whose worst nobody is sent; hunger is mended by a meal, and moods come and go."""
_WALK_MINUTES = 15.0  # longest walk to a meal; chosen, as Aria's own
_CANDIDATES, _REVIEWS = (
    8,
    5,
)  # V-IRL's Diego weighs 3, each with 5 reviews; here more, so that one can be paid
TOPIC = "activity"
SAFE_MINUTES = 45  # of what takes the place of drafts that would not do; chosen
LEAD = 20  # minutes kept free before an activity that the client wants at a time; chosen
LEAST_GAP = 30  # minutes before that in which something else is planned; chosen


@dataclass(frozen=True, slots=True)
class DayPlan:
    """A day that was planned."""

    client: Client
    day: Day
    start: Spot
    activities: tuple[Activity, ...]
    scenic: ScenicSpot | None
    said: tuple[str, ...]
    """The client's wishes on the way, for the rest of the day."""
    amendments: tuple[str, ...]
    """The client's words on proposed days, with the changes made and those that could not be."""
    ended: str
    """The reason why the day ends there."""
    seconds: Mapping[tuple[LatLng, LatLng, Mode], float] = field(default_factory=dict)
    """The seconds of ways that were asked for: a check need not pay for them again."""


def plan_day(agent: Agent) -> DayPlan:
    """Plan the client's day, or go on planning it.

    Raises:
        BadInput: the character has no client or no day.
        VirlError: whatever the mind or the city raises; the run can be resumed.
    """
    client, day = CLIENT.of(agent.character), DAY.of(agent.character)
    if client is None or day is None:
        missing = "client" if client is None else "day"
        raise BadInput(f"{agent.source}: section `{missing}:` is missing: see docs/reference/agents.md")
    agent.user.expect(FEELINGS)
    town = Town(agent.city, day, agent.character.day_and_minute[0], agent.start.position)
    scenic = find_scenic(agent, town)
    return _Planner(agent, client, town, scenic).plan()


class _Planner:
    """The rounds of a day, and what each needs."""

    def __init__(self, agent: Agent, client: Client, town: Town, scenic: ScenicSpot | None) -> None:
        """Prepare to plan the day of a client in a town; `scenic` is its scenic spot, if any."""
        self._agent, self._client, self._town, self._scenic = agent, client, town, scenic
        self._day = town.day

    def plan(self) -> DayPlan:
        """Plan a day, propose it, and plan it again as the client amends it, until it is taken."""
        position = self._agent.start.position
        start = Spot(lat=float(position.lat), lng=float(position.lng), name="where the day starts")
        standing = DayProgress(
            now=self._day.minutes[0],
            here=start,
            state=self._day.feelings,
            budget_usd=self._day.budget_usd,
            scenic_id=self._scenic.spot.id if self._scenic else None,
        )
        proposed = self._fill_day(ProposedDay((), (), standing, ""), 0, [])
        changes: list[str] = []
        for turn in range(1, MOST_TURNS + 1):
            amended = hear(self._agent, turn, proposed, self._day.budget_usd)
            if amended is None:
                break
            changes += [f'"{amended.said}"' if amended.said else "", *amended.describe(proposed)]
            if amended.is_something:
                proposed = self._amend_day(proposed, amended, turn)
                changes += [
                    note.text for note in self._agent.run.notes(UNMET) if note.key.startswith(f"{turn}-")
                ]
        done, said = proposed.after.done, proposed.after.wishes
        told = tuple(filter(None, changes))
        return DayPlan(
            self._client, self._day, start, done, self._scenic, said, told, proposed.ended, self._town.seconds
        )

    def _amend_day(self, proposed: ProposedDay, amended: Amended, turn: int) -> ProposedDay:
        """Return the day planned again from the first change on."""
        for number in unknown_numbers(amended.reply, proposed.rounds):
            self._note_unmet(f"{turn}-{number}", f"The day has no activity {number}.")
        more = 0.0 if amended.reply.budget_usd is None else amended.reply.budget_usd - self._day.budget_usd
        self._day = self._day.model_copy(update={"budget_usd": self._day.budget_usd + more})
        first = amended.first(proposed, more)
        earlier = still_wanted(amended, proposed, first)
        kept = proposed.before_round(first, more)
        standing = replace(
            kept.after,
            state={**kept.after.state, **amended.state},
            wishes=(*proposed.after.wishes, *amended.reply.wishes),
            set_apart=proposed.after.set_apart
            | apart_of(amended, proposed)
            | {one.old.spot.id for one in earlier if one.old.spot.id},
        )
        wanted = sorted([*wanted_of(amended, proposed), *earlier], key=lambda one: one.amendment.starts or "")
        return self._fill_day(replace(kept, after=standing), turn, wanted)

    def _fill_day(self, kept: ProposedDay, turn: int, wanted: list[Wanted]) -> ProposedDay:
        """Return a day whose first rounds are kept, and whose others are planned until it is full."""
        rounds, befores, standing = list(kept.rounds), list(kept.befores), kept.after
        since, ended = -1, ""
        while len(rounds) < self._day.activities:
            number = len(rounds)
            if turn == 0:
                standing = listen(self._agent, number, standing, since)
            befores.append(standing)
            chosen = self._next_activity(
                f"{turn}-{number}" if turn else str(number), standing, number, wanted
            )
            if isinstance(chosen, str):
                ended = chosen
                befores.pop()
                break
            rounds.append(tuple(chosen))
            since, standing = standing.now, standing.advance(chosen)
        ended = ended or f"The plan holds {self._day.activities} activities, the maximum."
        return ProposedDay(tuple(rounds), tuple(befores), standing, ended)

    def _next_activity(
        self, key: str, standing: DayProgress, number: int, wanted: list[Wanted]
    ) -> list[Activity] | str:
        """Return the next activity with its way, or why there is none.

        What is wanted comes when it is due.
        """
        due = next((one for one in wanted if _is_due(one, number, standing)), None)
        if due is None:
            times = [parse_clock(one.amendment.starts) - LEAD for one in wanted if one.amendment.starts]
            chosen = self._committed_activities(key) or self._draft_round(
                key, standing, min([*times, self._day.minutes[1]])
            )
            if not isinstance(chosen, str) or not wanted:
                return chosen
            due = wanted[0]
        wanted.remove(due)
        key = f"{key}w"
        return (
            self._committed_activities(key)
            or self._as_wanted(key, due, standing)
            or self._draft_round(key, standing, self._day.minutes[1])
        )

    def _as_wanted(self, key: str, wanted: Wanted, standing: DayProgress) -> list[Activity]:
        """Return a changed activity with its way; none, and a note why, if it cannot be."""
        town = self._town_until(self._day.minutes[1])
        try:
            proposal = as_wanted(wanted, standing, town, self._scenic.spot if self._scenic else None)
        except Unfit as fault:
            self._note_unmet(key, str(fault))
            return []
        estimate = self._questions(town, standing).estimate(key, proposal, standing)
        if faults := _impossible(proposal, estimate, standing, town):
            self._note_unmet(key, " ".join(faults))
            return []
        return self._commit(key, proposal, estimate, standing, ())

    def _note_unmet(self, key: str, why: str) -> None:
        """Note, once for each key, that a wish cannot be met, and why."""
        if self._agent.run.find_note(UNMET, key) is None:
            self._agent.run.note(UNMET, key, f"This cannot be: {why}")

    def _town_until(self, until: int) -> Town:
        """Return the town for a day that ends then."""
        day = self._day.model_copy(update={"ends": show_clock(until)})
        return replace(self._town, day=day)

    def _questions(self, town: Town, standing: DayProgress) -> Questions:
        """Return the questions for the client's situation, without a scenic spot moved or dropped."""
        offered = self._scenic and self._scenic.spot.id not in standing.set_apart
        return Questions(
            self._agent, self._client, town, self._scenic.description if self._scenic and offered else None
        )

    def _committed_activities(self, key: str) -> list[Activity]:
        """Return the activities that a note holds; empty if there is no such note."""
        noted = self._agent.run.find_note(TOPIC, key)
        held = noted.data["activities"] if noted else []
        return [Activity.model_validate(one) for one in held] if isinstance(held, list) else []

    def _draft_round(self, name: str, standing: DayProgress, until: int) -> list[Activity] | str:
        """Return the next activity with its way, or why there is none."""
        if standing.now >= until:
            return "The day is over."
        town = self._town_until(until)
        questions = self._questions(town, standing)
        refused: list[RefusedDraft] = []
        for attempt in range(self._day.revisions + 1):
            key = f"{name}.{attempt}"
            draft = questions.draft(key, standing, refused)
            if draft.kind == "end":
                return draft.reason
            try:
                proposal = self._coordinate(key, draft, standing, refused, town)
            except Unfit as fault:
                refused.append(RefusedDraft.of(draft, str(fault)))
                continue
            estimate = questions.estimate(key, proposal, standing)
            objection = self._objection(key, proposal, estimate, standing, town)
            if not objection:
                return self._commit(name, proposal, estimate, standing, refused)
            refused.append(RefusedDraft.of(draft, objection, proposal))
        return self._fall_back(name, standing, refused, town)

    def _coordinate(
        self,
        key: str,
        draft: DayDraft,
        standing: DayProgress,
        refused: Sequence[RefusedDraft],
        town: Town,
    ) -> Proposal:
        """Return the proposal that a draft becomes in the town, off places that were used or refused."""
        apart = standing.excluded_ids() | {one.place_id for one in refused if one.place_id}
        dine = partial(_recommend, self._agent, self._client, key=key.replace(".", "-"), apart=apart)
        scenic = self._scenic.spot if self._scenic else None
        return coordinate(draft, standing, town, scenic=scenic, dine=dine)

    def _objection(
        self, key: str, proposal: Proposal, estimate: DayEstimate, standing: DayProgress, town: Town
    ) -> str:
        """Return the faults of an activity: those that can be computed, else those that the mind sees."""
        if faults := _objections(proposal, estimate, standing, town):
            return " ".join(faults)
        verdict = self._questions(town, standing).audit(key, proposal, estimate, standing)
        return "" if verdict.fits else verdict.reason

    def _fall_back(
        self, name: str, standing: DayProgress, refused: Sequence[RefusedDraft], town: Town
    ) -> list[Activity]:
        """Return time on the spot, which can always be done: it needs no way, no hours and no money."""
        draft = DayDraft(
            kind="normal",
            starts=show_clock(standing.now),
            ends=show_clock(min(standing.now + SAFE_MINUTES, town.day.minutes[1])),
            place="",
            what="Time of one's own",
            mode="any",
            reason="Nothing else that was drafted could be done.",
        )
        proposal = stay(draft, standing, town)
        estimate = self._questions(town, standing).estimate(f"{name}.safe", proposal, standing)
        return self._commit(name, proposal, estimate, standing, refused, fallback=True)

    def _commit(
        self,
        name: str,
        proposal: Proposal,
        estimate: DayEstimate,
        standing: DayProgress,
        refused: Sequence[RefusedDraft],
        *,
        fallback: bool = False,
    ) -> list[Activity]:
        """Note a proposal as activities of the day, with the drafts refused before it, and return them."""
        activities = activities_of(proposal, estimate, standing, fallback=fallback)
        last = activities[-1]
        where = f" at {last.spot.name}" if last.spot.name and not last.mode else ""
        self._agent.run.note(
            TOPIC,
            name,
            f"{last.time} {last.what}{where}. {last.reason}",
            data={
                "activities": [one.model_dump(mode="json") for one in activities],
                "refused": [asdict(one) for one in refused],
            },
        )
        return activities


def _is_due(wanted: Wanted, number: int, standing: DayProgress) -> bool:
    """Return whether the client's wish comes now: its number is there, or nothing fits in before its time."""
    starts = wanted.amendment.starts
    if starts is None:
        return number >= wanted.amendment.number - 1
    return parse_clock(starts) - LEAD - standing.now < LEAST_GAP


def _recommend(
    agent: Agent, client: Client, wish: DayDraft, standing: DayProgress, *, key: str, apart: Collection[str]
) -> Place | None:
    """Return Aria's best candidate that the client can pay; `None` where she has none.

    Args:
        agent: who asks.
        client: who eats.
        wish: the meal as it was drafted.
        standing: where the client is.
        key: of the meal, once a run.
        apart: ids of places that will not do.

    Raises:
        VirlError: as `consult`.
    """
    here = {"lat": standing.here.lat, "lng": standing.here.lng}
    sort = "a cafe" if wish.place.strip().lower() == "cafe" else "a restaurant"
    words = (f"{client.name} is hungry and looks for {sort}: {wish.what}.", *standing.wishes)
    weekday = agent.character.clock.split()[0]
    result = consult(
        agent,
        "aria",
        f"meal-{key}",
        about=f"Where can {client.name} eat at {wish.starts}?",
        changes={
            "client": client.model_dump() | {"intention": " ".join(words), "where": here},
            "start": here,
            "clock": f"{weekday} {wish.starts}",
            "recommend": {
                "within_minutes": _WALK_MINUTES,
                "stay_minutes": SHORTEST_VISIT,
                "candidates": _CANDIDATES,
                "reviews": _REVIEWS,
            },
        },
    )
    candidates = result.answer.get("candidates")
    for candidate in candidates if isinstance(candidates, list) else []:
        try:
            place = agent.city.places.details(str(candidate["id"]))
        except NotFound:
            continue
        usd = known_usd(place, meal=True)
        if place.id not in apart and (usd is None or usd <= standing.budget_usd):
            return place
    return None


def _objections(proposal: Proposal, estimate: DayEstimate, standing: DayProgress, town: Town) -> list[str]:
    """Return the objections to an activity, each in a sentence; empty if it can be done.

    Args:
        proposal: with its way.
        estimate: of what it does and costs.
        standing: where the client is.
        town: where.
    """
    return [*_impossible(proposal, estimate, standing, town), *_strain(estimate, standing)]


def _impossible(proposal: Proposal, estimate: DayEstimate, standing: DayProgress, town: Town) -> list[str]:
    """Return what rules an activity out: sentences on its time, opening hours and money."""
    found = [*_time_faults(proposal, standing, town), *_hour_faults(proposal, town)]
    way_usd = proposal.way.usd if proposal.way else 0.0
    cost = cost_of(proposal, estimate) + way_usd
    if cost > standing.budget_usd + _CENT:
        found.append(f"It costs {cost:.2f} dollars with the way, and {standing.budget_usd:.2f} are left.")
    return found


def _time_faults(proposal: Proposal, standing: DayProgress, town: Town) -> list[str]:
    """Return sentences on what is wrong with a proposal's times; empty if nothing."""
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
    """Return a sentence if the place is closed at a proposal's time; else nothing."""
    if proposal.place is None:
        return []
    for opens, closes in stretches(proposal.place, town.weekday):
        if opens <= proposal.starts and proposal.ends <= closes:
            return []
    return [f"{proposal.place.name} is closed at that time."]


def _strain(estimate: DayEstimate, standing: DayProgress) -> list[str]:
    """Return sentences on the feelings that an activity would push beyond their worst."""
    found = []
    for name in _HURTS:
        by, value = getattr(estimate, name).by, standing.state[name]
        worst = WORST[name]
        if (worst == 0.0 and value + by < 0 and by < 0) or (worst == 100.0 and value + by > 100 and by > 0):
            found.append(f"It asks too much: {name} is at {value:.0f} of 100 and would change by {by:+d}.")
    return found
