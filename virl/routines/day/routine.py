"""Diego, the interactive concierge: he plans a client's day, and mends the plan when they speak up.

Each activity is drafted, held against the city (ways, opening hours, Aria for meals), its effect on the
client and their money estimated, audited, revised if need be, and only then kept (V-IRL, 3.4.2 and 4.4).
`prompts/day/draft.md` asks for the draft; without a model, `draft_rules.py` answers. Every reply of the mind
and every activity is written down, so a run that was cut off goes on where it was.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.consult import consult
from virl.agent.routine import Wish
from virl.clock import parse_clock, show_clock
from virl.errors import BadInput, NotFound
from virl.mind.base import ReplyT
from virl.mind.lexicon import Lexicon
from virl.mind.understanding import Reading
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
    changes_of,
    clamp_feelings,
    cost_of,
)
from virl.routines.day.coordinate import (
    SHORTEST_VISIT,
    Unfit,
    as_wanted,
    coordinate,
    impossible,
    objections,
    stay,
)
from virl.routines.day.feedback import (
    MOST_TURNS,
    UNMET,
    Amended,
    ProposedDay,
    Wanted,
    apart_of,
    hear,
    listen,
    still_wanted,
    unknown_numbers,
    wanted_of,
)
from virl.routines.day.replies import DayDraft, DayEstimate, DayVerdict
from virl.routines.day.scenic import find_scenic
from virl.routines.day.settings import DAY, FEELINGS
from virl.routines.day.showing import show_day
from virl.routines.day.town import Town, known_usd
from virl.routines.day.wish_rules import words_of_likes

_WALK_MINUTES = 15.0  # longest walk to a meal; chosen, as Aria's own
_CANDIDATES, _REVIEWS = (
    8,
    5,
)  # V-IRL's Diego weighs 3, each with 5 reviews; here more, so that one can be paid
TOPIC = "activity"
SAFE_MINUTES = 45  # of what takes the place of drafts that would not do; chosen
LEAD = 20  # minutes kept free before an activity that the client wants at a time; chosen
LEAST_GAP = 30  # minutes before that in which something else is planned; chosen


def _read_wish(character: Character, lexicon: Lexicon) -> Reading:
    """Return the intention's reading: pastimes liked and disliked, and thrift."""
    check_language(character)
    client = client_of(character)
    used = tuple(words_of_likes(client.intention, lexicon))
    return Reading(client.intention, used, (client.name, character.name), "day")


WISH = Wish(_read_wish)


def run(agent: Agent) -> None:
    """Run the planning of the client's day; write it as page, calendar and report."""
    show_day(agent, plan_day(agent))


def plan_day(agent: Agent) -> DayPlan:
    """Return the client's day, planned or resumed.

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


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions to the mind in planning one day, each asked once."""

    agent: Agent
    client: Client
    town: Town
    scenic: str | None
    """The scenic spot in words; `None` without one."""

    def draft(self, key: str, standing: DayProgress, refused: Sequence[RefusedDraft]) -> DayDraft:
        """Return the mind's draft of the next activity, other than the refused ones.

        Args:
            key: of the note.
            standing: of the day so far.
            refused: drafts, with the reasons.
        """
        inputs: dict[str, object] = self._inputs_now(standing) | {
            "day": DAY_NAMES[self.town.weekday],
            "until": show_clock(self.town.day.minutes[1]),
            "here": standing.location_name(),
            "offers": self.town.offers(standing.here.position, standing.excluded_ids()),
            "scenic": self.scenic,
            "refused": [one.to_prompt() for one in refused],
        }
        return self._ask_once("draft", key, "day/draft", DayDraft, _show_draft, inputs)

    def estimate(self, key: str, proposal: Proposal, standing: DayProgress) -> DayEstimate:
        """Return the mind's estimate of an activity's effects on the client and of its cost.

        Args:
            key: of the note.
            proposal: the activity.
            standing: of the day so far.
        """
        inputs = self._client(standing) | {"activity": proposal.to_prompt()}
        return self._ask_once("estimate", key, "day/estimate", DayEstimate, _show_estimate, inputs)

    def audit(self, key: str, proposal: Proposal, estimate: DayEstimate, standing: DayProgress) -> DayVerdict:
        """Return the mind's verdict on whether an activity makes sense now.

        Args:
            key: of the note.
            proposal: the activity.
            estimate: of its effects.
            standing: of the day so far.
        """
        inputs = self._inputs_now(standing) | {
            "after": clamp_feelings(standing.state, changes_of(estimate)),
            "activity": proposal.to_prompt() | {"cost_usd": cost_of(proposal, estimate)},
        }
        return self._ask_once("audit", key, "day/audit", DayVerdict, _show_verdict, inputs)

    def _client(self, standing: DayProgress) -> dict[str, object]:
        """Return the prompt inputs on the client: name, background, and feelings."""
        client = self.client
        about = {"name": client.name, "background": client.background, "intention": client.intention}
        return {"client": about, "state": dict(standing.state)}

    def _inputs_now(self, standing: DayProgress) -> dict[str, object]:
        """Return the prompt inputs on the day so far: client, time, dollars left, activities and wishes."""
        return self._client(standing) | {
            "now": show_clock(standing.now),
            "budget_usd": round(standing.budget_usd, 2),
            "done": [one.to_prompt() for one in standing.done],
            "wishes": list(standing.wishes),
        }

    def _ask_once(
        self,
        topic: str,
        key: str,
        prompt: str,
        reply: type[ReplyT],
        tell: Callable[[ReplyT], str],
        inputs: Mapping[str, Any],
    ) -> ReplyT:
        """Return the reply to a prompt; from the journal if it was asked under this key before."""
        if noted := self.agent.run.find_note(topic, key):
            return reply.model_validate(noted.data["reply"])
        answer: ReplyT = self.agent.mind.ask(self.agent.prompts.load(prompt, reply), **inputs)
        self.agent.run.note(
            topic,
            key,
            tell(answer),
            data={"reply": answer.model_dump(mode="json")},
        )
        return answer


def _show_draft(one: DayDraft) -> str:
    """Return a draft as a line of text for the journal."""
    return f"{one.starts}-{one.ends} {one.kind}: {one.what}{f', {one.place}' if one.place else ''}"


def _show_estimate(one: DayEstimate) -> str:
    """Return an estimate as a line of text for the journal: changed feelings, and dollars."""
    changes = ", ".join(f"{name} {by:+d}" for name, by in changes_of(one).items() if by)
    return f"{changes or 'no change'}; {one.cost_usd:.2f} dollars"


def _show_verdict(one: DayVerdict) -> str:
    """Return a verdict as a line of text for the journal."""
    return f"{'fits' if one.fits else 'does not fit'}: {one.reason}"


class _Planner:
    """A planner of the client's day, round by round."""

    def __init__(self, agent: Agent, client: Client, town: Town, scenic: ScenicSpot | None) -> None:
        """Prepare to plan a client's day in a town with a scenic spot, or `None`."""
        self._agent, self._client, self._town, self._scenic = agent, client, town, scenic
        self._day = town.day

    def plan(self) -> DayPlan:
        """Return the planned day, proposed to the client and changed until they accept it."""
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
            # What was moved or dropped is not proposed again, and what is still wanted comes at its own time.
            set_apart=proposed.after.set_apart
            | apart_of(amended, proposed)
            | {one.old.spot.id for one in earlier if one.old.spot.id},
        )
        wanted = sorted([*wanted_of(amended, proposed), *earlier], key=lambda one: one.amendment.starts or "")
        return self._fill_day(replace(kept, after=standing), turn, wanted)

    def _fill_day(self, kept: ProposedDay, turn: int, wanted: list[Wanted]) -> ProposedDay:
        """Return a day with the rounds of `kept`, and new ones until the day is full."""
        rounds, befores, standing = list(kept.rounds), list(kept.befores), kept.after
        since, ended = -1, ""
        while len(rounds) < self._day.activities:
            number = len(rounds)
            # From the first proposal on, the client speaks by amending it.
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
        """Return the next activity after its way, or the reason why the day ends.

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
            due = wanted[0]  # nothing fits in before it
        wanted.remove(due)
        # A key of its own: the draft that found nothing to do before it has notes under the plain one.
        key = f"{key}w"
        return (
            self._committed_activities(key)
            or self._as_wanted(key, due, standing)
            or self._draft_round(key, standing, self._day.minutes[1])
        )

    def _as_wanted(self, key: str, wanted: Wanted, standing: DayProgress) -> list[Activity]:
        """Return an activity, after its way, as the client changed it; empty, with a note, if impossible."""
        town = self._town_until(self._day.minutes[1])
        try:
            proposal = as_wanted(wanted, standing, town, self._scenic.spot if self._scenic else None)
        except Unfit as fault:
            self._note_unmet(key, str(fault))
            return []
        estimate = self._questions(town, standing).estimate(key, proposal, standing)
        if faults := impossible(proposal, estimate, standing, town):
            self._note_unmet(key, " ".join(faults))
            return []
        return self._commit(key, proposal, estimate, standing, ())

    def _note_unmet(self, key: str, why: str) -> None:
        """Write a note, once for each key, on why a wish cannot be met."""
        if self._agent.run.find_note(UNMET, key) is None:
            self._agent.run.note(UNMET, key, f"This cannot be: {why}")

    def _town_until(self, until: int) -> Town:
        """Return the town for a day that ends at minute `until`."""
        day = self._day.model_copy(update={"ends": show_clock(until)})
        return replace(self._town, day=day)

    def _questions(self, town: Town, standing: DayProgress) -> Questions:
        """Return the questions for the client's situation, without a scenic spot moved or dropped."""
        offered = self._scenic and self._scenic.spot.id not in standing.set_apart
        return Questions(
            self._agent, self._client, town, self._scenic.description if self._scenic and offered else None
        )

    def _committed_activities(self, key: str) -> list[Activity]:
        """Return the activities in a round's note; empty without the note."""
        noted = self._agent.run.find_note(TOPIC, key)
        held = noted.data["activities"] if noted else []
        return [Activity.model_validate(one) for one in held] if isinstance(held, list) else []

    def _draft_round(self, name: str, standing: DayProgress, until: int) -> list[Activity] | str:
        """Return the next activity after its way, drafted by the mind, or the reason why the day ends."""
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
        """Return a draft as a proposal in the town, at a place neither visited nor refused."""
        apart = standing.excluded_ids() | {one.place_id for one in refused if one.place_id}
        dine = partial(_recommend, self._agent, self._client, key=key.replace(".", "-"), apart=apart)
        scenic = self._scenic.spot if self._scenic else None
        return coordinate(draft, standing, town, scenic=scenic, dine=dine)

    def _objection(
        self, key: str, proposal: Proposal, estimate: DayEstimate, standing: DayProgress, town: Town
    ) -> str:
        """Return the objections to an activity as text: calculated ones, else the mind's; empty for none."""
        if faults := objections(proposal, estimate, standing, town):
            return " ".join(faults)
        verdict = self._questions(town, standing).audit(key, proposal, estimate, standing)
        return "" if verdict.fits else verdict.reason

    def _fall_back(
        self, name: str, standing: DayProgress, refused: Sequence[RefusedDraft], town: Town
    ) -> list[Activity]:
        """Return an activity on the spot, which is always possible: no way, opening hours or cost."""
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
        """Write a proposal as activities into a note, with the refused drafts, and return the activities."""
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
    """Return whether a changed activity comes now: by its number, or since nothing fits before its start."""
    starts = wanted.amendment.starts
    if starts is None:
        return number >= wanted.amendment.number - 1
    return parse_clock(starts) - LEAD - standing.now < LEAST_GAP


def _recommend(
    agent: Agent, client: Client, wish: DayDraft, standing: DayProgress, *, key: str, apart: Collection[str]
) -> Place | None:
    """Return the best place to eat that Aria recommends and the client can pay; `None` without one.

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
