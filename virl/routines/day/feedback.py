"""The client's say: between two activities, and in the proposed day, which they may amend.

What was said is written down with what came of it, and heard only once, in a resumed run too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from virl.agent.agent import Agent
from virl.agent.user import Moment
from virl.clock import show_clock
from virl.journal.records import NoteRecord
from virl.routines.day.activity import Activity, DayProgress
from virl.routines.day.replies import Amendment, Amendments, Told
from virl.routines.day.settings import FEELINGS

ASKED_FOR = "You asked for it."
"""Reason given in the plan for an activity that the client asked for."""
FEEDBACK = "feedback"
"""Topic under which the journal keeps its notes on what the client says between two activities."""
AMENDMENT = "amendment"
"""Topic under which the journal keeps its notes on what the client changes in a proposed day."""
UNMET = "unmet"
"""Topic under which the journal keeps its notes on changes asked for that are impossible."""
MOST_TURNS = 20  # proposals of one day; chosen
QUESTION = "Change anything, such as `3 at 14:00`, `no 2` or `budget 60`?"


def ask_for_feedback(agent: Agent, number: int, progress: DayProgress, since: int) -> DayProgress:
    """Ask for feedback after `number` activities, last asked at minute `since`; return the new situation.

    Args:
        agent: whose user is asked.
        number: count of activities so far.
        progress: the client's situation.
        since: minute of the day at which they could speak up before, -1 for never.
    """
    noted = agent.run.find_note(FEEDBACK, str(number))
    if noted is None:
        if agent.run.find_note("draft", f"{number}.0"):
            return progress  # the user was silent before the run was cut off
        felt = ", ".join(f"{name} {value:.0f}" for name, value in progress.state.items())
        last = progress.done[-1] if progress.done else None
        done = f"{last.time} {last.what}{f' at {last.spot.name}' if last.spot.name else ''}. " if last else ""
        said = agent.user.feedback(
            Moment(
                f"{done}It is {show_clock(progress.now)}; "
                f"{progress.budget_usd:.2f} dollars are left; {felt}.",
                number,
                progress.now,
                since,
            )
        )
        if said is None:
            return progress
        noted = _note_feedback(agent, number, progress, said.say, said.state)
    told, wishes = noted.data["state"], noted.data["wishes"]
    told = told if isinstance(told, dict) else {}
    return replace(
        progress,
        state={name: float(told.get(name, value)) for name, value in progress.state.items()},
        wishes=(*progress.wishes, *(wishes if isinstance(wishes, list) else ())),
    )


@dataclass(frozen=True, slots=True)
class ProposedDay:
    """A day as proposed to the client; each round is an activity, after its way if it has one."""

    rounds: tuple[tuple[Activity, ...], ...]
    befores: tuple[DayProgress, ...]
    """The client's situation before each round."""
    after: DayProgress
    """The client's situation after the last round."""
    ended: str
    """Reason why the day ends after its last activity."""

    def to_prompt(self) -> list[dict[str, object]]:
        """Return the rounds' activities as prompt input, each with its `number` from 1."""
        return [{"number": number, **one[-1].to_prompt()} for number, one in enumerate(self.rounds, start=1)]

    @property
    def summary(self) -> str:
        """The activities as numbered lines of text, and a last line with the US dollars left."""
        lines = [
            f"{number}. {one[-1].time} {one[-1].what}{f', {one[-1].spot.name}' if one[-1].spot.name else ''}"
            + (f" (${sum(part.cost_usd for part in one):.2f})" if any(part.cost_usd for part in one) else "")
            for number, one in enumerate(self.rounds, start=1)
        ]
        return "\n".join([*lines, f"{self.after.budget_usd:.2f} dollars are left."])

    def before_round(self, first: int, more_usd: float) -> "ProposedDay":
        """Return the rounds before index `first`, with `more_usd` more US dollars to spend."""
        kept = tuple(
            tuple(
                one.model_copy(update={"budget_usd": max(round(one.budget_usd + more_usd, 2), 0.0)})
                for one in chosen
            )
            for chosen in self.rounds[:first]
        )
        befores = tuple(
            replace(one, budget_usd=one.budget_usd + more_usd, done=sum(kept[:number], ()))
            for number, one in enumerate(self.befores[:first])
        )
        progress = self.befores[first] if first < len(self.befores) else self.after
        after = replace(progress, budget_usd=progress.budget_usd + more_usd, done=sum(kept, ()))
        return ProposedDay(kept, befores, after, "")


@dataclass(frozen=True, slots=True)
class ClientChanges:
    """The client's answer to a proposed day: their words, and the changes that the mind read in them."""

    said: str
    """The client's words; empty if they only set feelings."""
    reply: Amendments
    """Changes that the mind read in the words."""
    state: Mapping[str, float]
    """Feelings that the client sets, each in [0, 100]; empty if none."""

    @property
    def is_something(self) -> bool:
        """Return whether the client changes anything: activities, wishes, feelings or the budget."""
        return (
            bool(self.reply.changes or self.reply.wishes or self.state) or self.reply.budget_usd is not None
        )

    def first_round(self, proposed: ProposedDay, more_usd: float) -> int:
        """Return the index of the first round to plan again, with `more_usd` to spend; if none, the count.

        A wish or a feeling holds for the whole day, a budget from the first round on that costs something.
        """
        rounds = proposed.rounds
        found = [one.amendment.number - 1 for one in self.of_activities(proposed)]
        if self.reply.wishes or self.state:
            found.append(0)
        if self.reply.budget_usd is not None:
            # With other changes the day is planned anew from there, so earlier rounds stay while money lasts.
            found += [
                number
                for number, one in enumerate(rounds)
                if (one[-1].budget_usd + more_usd < 0 if found else any(part.cost_usd for part in one))
            ][:1]
        return min(found, default=len(rounds))

    def of_activities(self, proposed: ProposedDay) -> list["RequestedChange"]:
        """Return the changes asked for to activities of the proposed day, each with its activity."""
        return [
            RequestedChange(change, proposed.rounds[change.number - 1][-1])
            for change in self.reply.changes
            if change.number <= len(proposed.rounds)
        ]

    def earlier_requests(self, proposed: ProposedDay, first: int) -> list["RequestedChange"]:
        """Return earlier requests that are not changed now, of rounds of index `first` (from 0) or more."""
        changed = {change.number for change in self.reply.changes}
        later = list(enumerate(proposed.rounds, start=1))[first:]
        kept = [(number, one[-1]) for number, one in later if number not in changed]
        return [
            RequestedChange(
                Amendment(
                    number=number,
                    drop=False,
                    place="",
                    what="",
                    starts=show_clock(old.starts),
                    ends=show_clock(old.ends),
                ),
                old,
            )
            for number, old in kept
            if old.reason == ASKED_FOR
        ]

    def describe(self, proposed: ProposedDay) -> list[str]:
        """Return the changes as lines of text: activities, budget, feelings and wishes."""
        found = [_describe_change(change, proposed) for change in self.reply.changes]
        if self.reply.budget_usd is not None:
            found.append(f"budget ${self.reply.budget_usd:.2f}")
        found += [f"{name} {value:.0f}" for name, value in self.state.items()]
        return found + list(self.reply.wishes)


def ask_for_changes(
    agent: Agent, turn: int, proposed: ProposedDay, budget_usd: float
) -> ClientChanges | None:
    """Return the client's changes to a proposed day; `None` if they accept it.

    Args:
        agent: whose user is asked.
        turn: number of the proposal, from 1.
        proposed: the day that is shown to them.
        budget_usd: US dollars for the whole day.
    """
    noted = agent.run.find_note(AMENDMENT, str(turn))
    if noted is None:
        moment = Moment(
            f"The day that is proposed:\n{proposed.summary}", done=-1, proposed=turn, question=QUESTION
        )
        said = agent.user.feedback(moment)
        if said is None:
            return None
        words = said.say.strip()
        reply = Amendments(changes=(), budget_usd=None, wishes=())
        if words:
            reply = agent.mind.ask(
                agent.prompts.load("day/amend", Amendments),
                said=words,
                activities=proposed.to_prompt(),
                budget_usd=round(budget_usd, 2),
            )
        amended = ClientChanges(words, reply, dict(said.state))
        told = "; ".join(amended.describe(proposed)) or "nothing in it changes the day"
        noted = agent.run.note(
            AMENDMENT,
            str(turn),
            f'"{words}": {told}.' if words else f"{told}.",
            data={"say": words, "state": dict(said.state), "reply": reply.model_dump(mode="json")},
        )
    state = noted.data["state"]
    return ClientChanges(
        str(noted.data["say"]),
        Amendments.model_validate(noted.data["reply"]),
        {str(name): float(value) for name, value in state.items()} if isinstance(state, dict) else {},
    )


@dataclass(frozen=True, slots=True)
class RequestedChange:
    """An activity of a proposed day, and the change of it that the client asks for."""

    amendment: Amendment
    old: Activity
    """The activity as it was proposed, before the change."""


def _describe_change(change: Amendment, proposed: ProposedDay) -> str:
    """Return a change as a line of text: the activity's number and name, and what is new."""
    known = change.number <= len(proposed.rounds)
    was = f" ({proposed.rounds[change.number - 1][-1].what})" if known else ", which does not exist"
    if change.drop:
        return f"{change.number}{was}: dropped"
    times = {"from": change.starts, "until": change.ends}
    new = [change.what, change.place, *(f"{name} {time}" for name, time in times.items() if time)]
    return f"{change.number}{was}: {', '.join(filter(None, new)) or 'as it is'}"


def _note_feedback(
    agent: Agent, number: int, progress: DayProgress, say: str, state: Mapping[str, float]
) -> NoteRecord:
    """Write and return a note on feedback: words, set feelings, and what the mind reads in the words."""
    told: dict[str, float] = {}
    wishes: list[str] = []
    if say.strip():
        reply = agent.mind.ask(
            agent.prompts.load("day/listen", Told),
            said=say,
            state=dict(progress.state),
            now=show_clock(progress.now),
        )
        told = {name: float(value) for name in FEELINGS if (value := getattr(reply, name)) is not None}
        wishes = [" ".join(wish.split()) for wish in reply.wishes if wish.strip()]
    told |= state
    felt = ", ".join(f"{name} {value:.0f}" for name, value in told.items())
    heard = f'"{say.strip()}"' if say.strip() else ""
    return agent.run.note(
        FEEDBACK,
        str(number),
        f"{show_clock(progress.now)} {heard}{' ' if heard and felt else ''}{felt}".strip(),
        data={"say": say, "state": told, "wishes": wishes},
    )
