"""Diego, the interactive concierge: he plans a client's day, and mends the plan when they speak up.

Each activity is drafted, held against the city (ways, opening hours, Aria for meals), its effect on the
client and their money estimated, audited, revised if need be, and only then kept (V-IRL, 3.4.2 and 4.4).
`prompts/day/draft.md` asks for the draft; without a model, `draft_rules.py` answers. Every reply of the mind
and every activity is written down, so a run that was cut off goes on where it was.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from pydantic import BaseModel

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.consult import consult
from virl.agent.routine import Wish
from virl.clock import parse_clock, show_clock
from virl.errors import BadInput, NotFound
from virl.journal.records import ViewRecord
from virl.mind.base import ReplyT
from virl.mind.lexicon import Lexicon
from virl.mind.understanding import Reading
from virl.pages.numbers import price
from virl.platform.city.places import DAY_NAMES, Place
from virl.routines.client import CLIENT, Client, check_language, client_of
from virl.routines.day.activity import (
    Activity,
    DayPlan,
    DayProgress,
    Proposal,
    RefusedDraft,
    ScenicSpot,
    Spot,
    activities_of,
    changes_in_words,
    changes_of,
    clamp_feelings,
    cost_of,
)
from virl.routines.day.coordinate import SHORTEST_VISIT, Coordinator, Unfit
from virl.routines.day.feedback import (
    MOST_TURNS,
    UNMET,
    ClientChanges,
    ProposedDay,
    RequestedChange,
    ask_for_changes,
    ask_for_feedback,
)
from virl.routines.day.replies import DayDraft, DayEstimate, DayVerdict
from virl.routines.day.scenic import find_scenic
from virl.routines.day.settings import DAY, FEELINGS, Day
from virl.routines.day.showing import show_day
from virl.routines.day.town import Town, known_usd
from virl.routines.day.wish_rules import words_of_likes

_WALK_MINUTES = 15.0  # longest walk to a meal; chosen, as Aria's own
_CANDIDATES, _REVIEWS = 8, 5
"""Most places that Aria weighs for a meal (V-IRL's Diego: 3), and most reviews that are read of each."""
TOPIC = "activity"
"""Topic under which the journal keeps its notes on planned activities."""
SAFE_MINUTES = 45  # of what takes the place of drafts that would not do; chosen
LEAD = 20  # minutes kept free before an activity that the client wants at a time; chosen
LEAST_GAP = 30  # minutes before that in which something else is planned; chosen


def _read_wish(character: Character, lexicon: Lexicon) -> Reading:
    """Return the client's intention and its words that the rules act on: pastimes and thrift."""
    check_language(character)
    client = client_of(character)
    used = tuple(words_of_likes(client.intention, lexicon))
    return Reading(client.intention, used, (client.name, character.name), "day")


WISH = Wish(_read_wish)


def run(agent: Agent) -> None:
    """Plan the client's day, or resume its planning; write it as page, calendar and report.

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
    show_day(agent, _Planner(agent, client, town, find_scenic(agent, town), day).plan())


@dataclass(frozen=True, slots=True)
class _Questions:
    """The questions to the mind in planning one day, each asked once for a journal key."""

    agent: Agent
    client: Client
    town: Town
    scenic: str | None
    """The scenic spot in words; `None` without one."""

    def draft(self, key: str, progress: DayProgress, refused: Sequence[RefusedDraft]) -> DayDraft:
        """Return the mind's draft of the next activity, other than the refused ones; noted under `key`."""
        inputs: dict[str, object] = self._inputs_now(progress) | {
            "day": DAY_NAMES[self.town.weekday],
            "until": show_clock(self.town.day.minutes[1]),
            "here": progress.location_name(),
            "offers": self.town.offers(progress.here.position, progress.excluded_ids()),
            "scenic": self.scenic,
            "refused": [one.to_prompt() for one in refused],
        }
        return self._ask_once("draft", key, DayDraft, inputs)

    def estimate(self, key: str, proposal: Proposal, progress: DayProgress) -> DayEstimate:
        """Return the mind's estimate of a proposal's cost and effects; noted under `key`."""
        inputs = self._client_inputs(progress) | {"activity": proposal.to_prompt()}
        return self._ask_once("estimate", key, DayEstimate, inputs)

    def audit(self, key: str, proposal: Proposal, estimate: DayEstimate, progress: DayProgress) -> DayVerdict:
        """Return the mind's verdict on whether a proposal makes sense now; noted under `key`."""
        inputs = self._inputs_now(progress) | {
            "after": clamp_feelings(progress.state, changes_of(estimate)),
            "activity": proposal.to_prompt() | {"cost_usd": cost_of(proposal, estimate)},
        }
        return self._ask_once("audit", key, DayVerdict, inputs)

    def _client_inputs(self, progress: DayProgress) -> dict[str, object]:
        """Return the prompt inputs on the client: `client` (name, background, intention), `state`."""
        return {"client": self.client.texts, "state": dict(progress.state)}

    def _inputs_now(self, progress: DayProgress) -> dict[str, object]:
        """Return the prompt inputs on the day so far: client, time, dollars left, activities and wishes."""
        return self._client_inputs(progress) | {
            "now": show_clock(progress.now),
            "budget_usd": round(progress.budget_usd, 2),
            "done": [one.to_prompt() for one in progress.done],
            "wishes": list(progress.wishes),
        }

    def _ask_once(self, topic: str, key: str, reply: type[ReplyT], inputs: Mapping[str, Any]) -> ReplyT:
        """Return the reply to the prompt `day/<topic>`, or the one noted under `key` before."""
        if noted := self.agent.run.find_note(topic, key):
            return reply.model_validate(noted.data["reply"])
        answer: ReplyT = self.agent.mind.ask(self.agent.prompts.load(f"day/{topic}", reply), **inputs)
        self.agent.run.note(
            topic, key, _describe_reply(answer), data={"reply": answer.model_dump(mode="json")}
        )
        return answer


def _describe_reply(reply: BaseModel) -> str:
    """Return a draft, an estimate or a verdict as a line of text for the journal."""
    match reply:
        case DayDraft(place=place):
            where = f", {place}" if place else ""
            return f"{reply.starts}-{reply.ends} {reply.kind}: {reply.what}{where}"
        case DayEstimate():
            changes = changes_in_words(changes_of(reply))
            return f"{changes or 'no change'}; {price(reply.cost_usd)}"
        case DayVerdict():
            return f"{'fits' if reply.fits else 'does not fit'}: {reply.reason}"
    raise TypeError(type(reply))


@dataclass(slots=True)
class _Planner:
    """A planner of one client's day: it drafts, checks and commits activities until the day is full."""

    agent: Agent
    client: Client
    town: Town
    scenic: ScenicSpot | None
    day: Day
    """Settings of the day, whose budget the client may change."""

    def plan(self) -> DayPlan:
        """Return the planned day, proposed to the client and changed until they accept it."""
        position = self.agent.start.position
        start = Spot(lat=float(position.lat), lng=float(position.lng), name="where the day starts")
        progress = DayProgress(
            now=self.day.minutes[0],
            here=start,
            state=self.day.feelings,
            budget_usd=self.day.budget_usd,
            scenic_id=self.scenic.spot.id if self.scenic else None,
        )
        proposed = self._fill_day(ProposedDay((), (), progress, ""), 0, [])
        changes: list[str] = []
        for turn in range(1, MOST_TURNS + 1):
            amended = ask_for_changes(self.agent, turn, proposed, self.day.budget_usd)
            if amended is None:
                break
            changes += [f'"{amended.said}"' if amended.said else "", *amended.describe(proposed)]
            if amended.is_something:
                proposed = self._amend_day(proposed, amended, turn)
                changes += [
                    note.text for note in self.agent.run.notes(UNMET) if note.key.startswith(f"{turn}-")
                ]
        done, said = proposed.after.done, proposed.after.wishes
        told = tuple(filter(None, changes))
        return DayPlan(
            self.client, self.day, start, done, self.scenic, said, told, proposed.ended, self.town.seconds
        )

    def _amend_day(self, proposed: ProposedDay, amended: ClientChanges, turn: int) -> ProposedDay:
        """Return the proposed day planned again from its first changed round on; `turn` counts from 1."""
        for change in amended.reply.changes:
            if change.number > len(proposed.rounds):
                self._note_unmet(f"{turn}-{change.number}", f"The day has no activity {change.number}.")
        more = 0.0 if amended.reply.budget_usd is None else amended.reply.budget_usd - self.day.budget_usd
        self.day = self.day.model_copy(update={"budget_usd": self.day.budget_usd + more})
        first = amended.first_round(proposed, more)
        changed, earlier = amended.of_activities(proposed), amended.earlier_requests(proposed, first)
        kept = proposed.before_round(first, more)
        progress = replace(
            kept.after,
            state={**kept.after.state, **amended.state},
            wishes=(*proposed.after.wishes, *amended.reply.wishes),
            # What was moved or dropped is not proposed again, and what is still wanted comes at its own time.
            refused_ids=proposed.after.refused_ids
            | {one.old.spot.id for one in (*changed, *earlier) if one.old.spot.id},
        )
        changed.sort(key=lambda one: one.amendment.number)
        wanted = sorted(
            [*(one for one in changed if not one.amendment.drop), *earlier],
            key=lambda one: one.amendment.starts or "",
        )
        return self._fill_day(replace(kept, after=progress), turn, wanted)

    def _fill_day(self, kept: ProposedDay, turn: int, wanted: list[RequestedChange]) -> ProposedDay:
        """Return a day of the rounds in `kept` and new ones after; remove requests it meets from `wanted`."""
        rounds, befores, progress = list(kept.rounds), list(kept.befores), kept.after
        since, ended = -1, ""
        while len(rounds) < self.day.activities:
            number = len(rounds)
            # From the first proposal on, the client speaks by amending it.
            if turn == 0:
                progress = ask_for_feedback(self.agent, number, progress, since)
            befores.append(progress)
            chosen = self._next_activity(
                f"{turn}-{number}" if turn else str(number), progress, number, wanted
            )
            if isinstance(chosen, str):
                ended = chosen
                befores.pop()
                break
            rounds.append(tuple(chosen))
            since, progress = progress.now, progress.advance(chosen)
        ended = ended or f"The plan holds {self.day.activities} activities, the maximum."
        return ProposedDay(tuple(rounds), tuple(befores), progress, ended)

    def _next_activity(
        self, key: str, progress: DayProgress, number: int, wanted: list[RequestedChange]
    ) -> list[Activity] | str:
        """Return the next activity with the way to it before, or a sentence on why the day ends."""
        due = next((one for one in wanted if _is_due(one, number, progress)), None)
        if due is None:
            times = [parse_clock(one.amendment.starts) - LEAD for one in wanted if one.amendment.starts]
            chosen = self._committed_activities(key) or self._draft_round(
                key, progress, min([*times, self.day.minutes[1]])
            )
            if not isinstance(chosen, str) or not wanted:
                return chosen
            due = wanted[0]  # nothing fits in before it
        wanted.remove(due)
        # A key of its own: the draft that found nothing to do before it has notes under the plain one.
        key = f"{key}w"
        return (
            self._committed_activities(key)
            or self._carry_out_request(key, due, progress)
            or self._draft_round(key, progress, self.day.minutes[1])
        )

    def _carry_out_request(self, key: str, request: RequestedChange, progress: DayProgress) -> list[Activity]:
        """Return the way to an activity and the activity as changed; empty, with a note, if impossible."""
        town = self._town_until(self.day.minutes[1])
        coordinator = Coordinator(progress, town, self.scenic.spot if self.scenic else None)
        try:
            proposal = coordinator.carry_out_change(request)
        except Unfit as fault:
            self._note_unmet(key, str(fault))
            return []
        estimate = self._questions(town, progress).estimate(key, proposal, progress)
        if faults := coordinator.impossible(proposal, estimate):
            self._note_unmet(key, " ".join(faults))
            return []
        return self._commit(key, proposal, estimate, progress, ())

    def _note_unmet(self, key: str, why: str) -> None:
        """Write a note, once for each journal key, on why a change asked for is impossible."""
        if self.agent.run.find_note(UNMET, key) is None:
            self.agent.run.note(UNMET, key, f"This cannot be: {why}")

    def _town_until(self, until: int) -> Town:
        """Return the town with a day that ends at `until`, in minutes after midnight."""
        day = self.day.model_copy(update={"ends": show_clock(until)})
        return replace(self.town, day=day)

    def _questions(self, town: Town, progress: DayProgress) -> _Questions:
        """Return the questions to the mind; the scenic spot is left out if the client moved or dropped it."""
        offered = self.scenic and self.scenic.spot.id not in progress.refused_ids
        return _Questions(
            self.agent, self.client, town, self.scenic.description if self.scenic and offered else None
        )

    def _committed_activities(self, key: str) -> list[Activity]:
        """Return the activities in the note with a key, read from the journal; empty without the note."""
        noted = self.agent.run.find_note(TOPIC, key)
        held = noted.data["activities"] if noted else []
        return [Activity.model_validate(one) for one in held] if isinstance(held, list) else []

    def _draft_round(self, name: str, progress: DayProgress, until: int) -> list[Activity] | str:
        """Return the way and activity that the mind drafts next, over by minute `until`; or why the day ends.

        It ends by `until`, in minutes after midnight; `name` is the journal key of its note.
        """
        if progress.now >= until:
            return "The day is over."
        town = self._town_until(until)
        questions = self._questions(town, progress)
        coordinator = Coordinator(progress, town, self.scenic.spot if self.scenic else None)
        refused: list[RefusedDraft] = []
        for attempt in range(self.day.revisions + 1):
            key = f"{name}.{attempt}"
            draft = questions.draft(key, progress, refused)
            if draft.kind == "end":
                return draft.reason
            excluded = progress.excluded_ids() | {one.place_id for one in refused if one.place_id}
            dine = partial(self._recommend, progress, key=key.replace(".", "-"), excluded_ids=excluded)
            try:
                proposal = coordinator.carry_out(draft, dine)
            except Unfit as fault:
                refused.append(RefusedDraft(draft.kind, draft.place, str(fault)))
                continue
            estimate = questions.estimate(key, proposal, progress)
            objection = " ".join(coordinator.objections(proposal, estimate))
            # The mind judges only what is possible by the numbers.
            if not objection:
                verdict = questions.audit(key, proposal, estimate, progress)
                objection = "" if verdict.fits else verdict.reason
            if not objection:
                return self._commit(name, proposal, estimate, progress, refused)
            refused.append(RefusedDraft(draft.kind, draft.place, objection, proposal.spot.id))
        return self._fall_back(name, progress, refused, town)

    def _recommend(
        self, progress: DayProgress, wish: DayDraft, *, key: str, excluded_ids: Collection[str]
    ) -> Place | None:
        """Return the best place for a drafted meal that Aria recommends and the client can pay, or `None`.

        `key` tells this consultation from the others of the run.
        """
        client = self.client
        here = {"lat": progress.here.lat, "lng": progress.here.lng}
        sort = "a cafe" if wish.place.strip().lower() == "cafe" else "a restaurant"
        words = (f"{client.name} is hungry and looks for {sort}: {wish.what}.", *progress.wishes)
        weekday = self.agent.character.clock.split()[0]
        result = consult(
            self.agent,
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
                place = self.agent.city.places.details(str(candidate["id"]))
            except NotFound:
                continue
            usd = known_usd(place, meal=True)
            if place.id not in excluded_ids and (usd is None or usd <= progress.budget_usd):
                return place
        return None

    def _fall_back(
        self, name: str, progress: DayProgress, refused: Sequence[RefusedDraft], town: Town
    ) -> list[Activity]:
        """Write free time where the client is, without way or cost, into note `name`; return the activity."""
        draft = DayDraft(
            kind="normal",
            starts=show_clock(progress.now),
            ends=show_clock(min(progress.now + SAFE_MINUTES, town.day.minutes[1])),
            place="",
            what="Time of one's own",
            mode="any",
            reason="Nothing else that was drafted could be done.",
        )
        proposal = Coordinator(progress, town, None).stay(draft)
        estimate = self._questions(town, progress).estimate(f"{name}.safe", proposal, progress)
        return self._commit(name, proposal, estimate, progress, refused, fallback=True)

    def _commit(
        self,
        name: str,
        proposal: Proposal,
        estimate: DayEstimate,
        progress: DayProgress,
        refused: Sequence[RefusedDraft],
        *,
        fallback: bool = False,
    ) -> list[Activity]:
        """Write a proposal as activities, with the refused drafts, into note `name`; return activities."""
        activities = activities_of(proposal, estimate, progress, fallback=fallback)
        last = activities[-1]
        where = f" at {last.spot.name}" if last.spot.name and not last.mode else ""
        self.agent.run.note(
            TOPIC,
            name,
            f"{last.time} {last.what}{where}. {last.reason}",
            data={
                "activities": [one.model_dump(mode="json") for one in activities],
                "refused": [asdict(one) for one in refused],
            },
            views=_view_of(self.agent, last.spot),
        )
        return activities


def _view_of(agent: Agent, spot: Spot) -> tuple[ViewRecord, ...]:
    """Return a view of a spot, kept in the run's folder; empty where virl does not draw the views itself."""
    drawn, there = agent.city.capabilities.looks, spot.position
    near = agent.city.streetview.nearest(there) if drawn and spot.id else None
    # From a scenic spot, which is a panorama, the view was rated before.
    return agent.keep_view_of(there, near, spot.name) if near and near.position != there else ()


def _is_due(request: RequestedChange, number: int, progress: DayProgress) -> bool:
    """Return whether a changed activity comes next: by its number, or because nothing fits before it."""
    starts = request.amendment.starts
    if starts is None:
        return number >= request.amendment.number - 1
    return parse_clock(starts) - LEAD - progress.now < LEAST_GAP
