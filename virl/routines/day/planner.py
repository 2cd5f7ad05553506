"""Planning a day: draft, coordinate, estimate, audit, revise and commit each activity (V-IRL, section 4.4).

Every reply of the mind and every activity is written down, so a run that was cut off goes on where it was.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial

from virl.agent.assembly import Agent
from virl.clock import show_clock
from virl.errors import BadInput
from virl.routines.clients.settings import CLIENT, Client
from virl.routines.day.activity import Activity, DayProgress, Spot
from virl.routines.day.asking import Questions
from virl.routines.day.audit import objections
from virl.routines.day.coordinate import Unfit, coordinate, stay
from virl.routines.day.dining import recommend
from virl.routines.day.listening import listen
from virl.routines.day.outcome import activities_of
from virl.routines.day.proposal import Proposal, RefusedDraft
from virl.routines.day.replies import DayDraft, DayEstimate
from virl.routines.day.scenic import ScenicSpot, find_scenic
from virl.routines.day.settings import DAY, FEELINGS, Day
from virl.routines.day.town import Town

TOPIC = "activity"
SAFE_MINUTES = 45  # of what takes the place of drafts that would not do; chosen


@dataclass(frozen=True, slots=True)
class DayPlan:
    """A day that was planned."""

    client: Client
    day: Day
    start: Spot
    activities: tuple[Activity, ...]
    scenic: ScenicSpot | None
    said: tuple[str, ...]
    """What the client said on the way, for the rest of the day."""
    ended: str
    """Why the day ends there."""


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
    town = Town(agent.city, day, agent.character.day_and_minute[0])
    scenic = find_scenic(agent, town)
    return _Planner(agent, client, town, scenic).plan()


class _Planner:
    """The rounds of a day, and what each needs."""

    def __init__(self, agent: Agent, client: Client, town: Town, scenic: ScenicSpot | None) -> None:
        self._agent, self._client, self._town, self._scenic = agent, client, town, scenic
        self._day, self._until = town.day, town.day.minutes[1]
        self._questions = Questions(agent, client, town, scenic.told if scenic else None)

    def plan(self) -> DayPlan:
        """All rounds, until the day is full."""
        position = self._agent.start.position
        start = Spot(lat=float(position.lat), lng=float(position.lng), name="where the day starts")
        standing = DayProgress(
            now=self._day.minutes[0],
            here=start,
            state=self._day.feelings,
            budget_usd=self._day.budget_usd,
            scenic_id=self._scenic.spot.id if self._scenic else None,
        )
        since, ended = -1, ""
        for number in range(self._day.activities):
            standing = listen(self._agent, number, standing, since)
            chosen = self._committed(number) or self._round(number, standing)
            if isinstance(chosen, str):
                ended = chosen
                break
            since, standing = standing.now, standing.after(chosen)
        ended = ended or f"The plan holds {self._day.activities} activities, the maximum."
        return DayPlan(self._client, self._day, start, standing.done, self._scenic, standing.wishes, ended)

    def _committed(self, number: int) -> list[Activity]:
        noted = self._agent.run.noted(TOPIC, str(number))
        held = noted.data["activities"] if noted else []
        return [Activity.model_validate(one) for one in held] if isinstance(held, list) else []

    def _round(self, number: int, standing: DayProgress) -> list[Activity] | str:
        """The next activity with its way, or why there is none."""
        if standing.now >= self._until:
            return "The day is over."
        refused: list[RefusedDraft] = []
        for attempt in range(self._day.revisions + 1):
            key = f"{number}.{attempt}"
            draft = self._questions.draft(key, standing, refused)
            if draft.kind == "end":
                return draft.reason
            try:
                proposal = self._coordinate(key, draft, standing, refused)
            except Unfit as fault:
                refused.append(RefusedDraft.of(draft, str(fault)))
                continue
            estimate = self._questions.estimate(key, proposal, standing)
            objection = self._objection(key, proposal, estimate, standing)
            if not objection:
                return self._commit(number, proposal, estimate, standing, refused)
            refused.append(RefusedDraft.of(draft, objection, proposal))
        return self._fall_back(number, standing, refused)

    def _coordinate(
        self, key: str, draft: DayDraft, standing: DayProgress, refused: Sequence[RefusedDraft]
    ) -> Proposal:
        apart = standing.apart() | {one.place_id for one in refused if one.place_id}
        dine = partial(recommend, self._agent, self._client, key=key.replace(".", "-"), apart=apart)
        scenic = self._scenic.spot if self._scenic else None
        return coordinate(draft, standing, self._town, scenic=scenic, dine=dine)

    def _objection(self, key: str, proposal: Proposal, estimate: DayEstimate, standing: DayProgress) -> str:
        """What is wrong with an activity: what can be computed first, then what the mind says."""
        if faults := objections(proposal, estimate, standing, self._town):
            return " ".join(faults)
        verdict = self._questions.audit(key, proposal, estimate, standing)
        return "" if verdict.fits else verdict.reason

    def _fall_back(
        self, number: int, standing: DayProgress, refused: Sequence[RefusedDraft]
    ) -> list[Activity]:
        """Something that can always be done: time on the spot, which needs no way, no hours and no money."""
        draft = DayDraft(
            kind="normal",
            starts=show_clock(standing.now),
            ends=show_clock(min(standing.now + SAFE_MINUTES, self._until)),
            place="",
            what="Time of one's own",
            mode="any",
            reason="Nothing else that was drafted could be done.",
        )
        proposal = stay(draft, standing, self._town)
        estimate = self._questions.estimate(f"{number}.safe", proposal, standing)
        return self._commit(number, proposal, estimate, standing, refused, fallback=True)

    def _commit(
        self,
        number: int,
        proposal: Proposal,
        estimate: DayEstimate,
        standing: DayProgress,
        refused: Sequence[RefusedDraft],
        *,
        fallback: bool = False,
    ) -> list[Activity]:
        activities = activities_of(proposal, estimate, standing, fallback=fallback)
        last = activities[-1]
        where = f" at {last.spot.name}" if last.spot.name and not last.mode else ""
        self._agent.run.note(
            TOPIC,
            str(number),
            f"{last.time} {last.what}{where}. {last.reason}",
            data={
                "activities": [one.model_dump(mode="json") for one in activities],
                "refused": [asdict(one) for one in refused],
            },
        )
        return activities
