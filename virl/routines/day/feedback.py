"""The client's say: between two activities, and in the proposed day, which they may amend.

What was said is written down with what came of it, and heard only once, in a resumed run too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from virl.agent.agent import Agent
from virl.agent.user import Moment
from virl.clock import show_clock
from virl.journal.records import NoteRecord
from virl.routines.day.activity import Activity, DayProgress
from virl.routines.day.replies import Amendment, Amendments, Told
from virl.routines.day.settings import FEELINGS

ASKED_FOR = "You asked for it."
"""Reason of an activity that the client asked for."""
FEEDBACK = "feedback"
AMENDMENT = "amendment"
UNMET = "unmet"
"""Topic of the notes on changes that are impossible."""
MOST_TURNS = 20  # proposals of one day; chosen
QUESTION = "Change anything, such as `3 at 14:00`, `no 2` or `budget 60`?"


def listen(agent: Agent, number: int, standing: DayProgress, since: int) -> DayProgress:
    """Return the client's situation after their feedback at this moment, if any.

    What was said is written down with what came of it, and heard only once.

    Args:
        agent: whose user is heard.
        number: activities so far.
        standing: where the client is.
        since: the minute at which they could speak up before, -1 for never.
    """
    noted = agent.run.find_note(FEEDBACK, str(number))
    if noted is None:
        if agent.run.find_note("draft", f"{number}.0"):
            return standing  # the user was silent before the run was cut off
        felt = ", ".join(f"{name} {value:.0f}" for name, value in standing.state.items())
        last = standing.done[-1] if standing.done else None
        done = f"{last.time} {last.what}{f' at {last.spot.name}' if last.spot.name else ''}. " if last else ""
        said = agent.user.feedback(
            Moment(
                f"{done}It is {show_clock(standing.now)}; "
                f"{standing.budget_usd:.2f} dollars are left; {felt}.",
                number,
                standing.now,
                since,
            )
        )
        if said is None:
            return standing
        noted = _note_feedback(agent, number, standing, said.say, said.state)
    state, wishes = noted.data["state"], noted.data["wishes"]
    return _change_standing(
        standing, state if isinstance(state, dict) else {}, wishes if isinstance(wishes, list) else []
    )


@dataclass(frozen=True, slots=True)
class ProposedDay:
    """A proposed day: each round with its activities, the way first."""

    rounds: tuple[tuple[Activity, ...], ...]
    befores: tuple[DayProgress, ...]
    """The client's situation before each round."""
    after: DayProgress
    """The client's situation after the last round."""
    ended: str
    """Reason why the day ends after its last activity."""

    def to_prompt(self) -> list[dict[str, object]]:
        """Return the activities with their numbers, as data for prompts."""
        return [{"number": number, **one[-1].to_prompt()} for number, one in enumerate(self.rounds, start=1)]

    @property
    def summary(self) -> str:
        """The activities as numbered lines, and the dollars left."""
        lines = [
            f"{number}. {one[-1].time} {one[-1].what}{f', {one[-1].spot.name}' if one[-1].spot.name else ''}"
            + (f" (${sum(part.cost_usd for part in one):.2f})" if any(part.cost_usd for part in one) else "")
            for number, one in enumerate(self.rounds, start=1)
        ]
        return "\n".join([*lines, f"{self.after.budget_usd:.2f} dollars are left."])

    def before_round(self, first: int, more_usd: float) -> "ProposedDay":
        """Return the rounds before round `first`, with `more_usd` more US dollars to spend."""
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
        standing = self.befores[first] if first < len(self.befores) else self.after
        after = replace(standing, budget_usd=standing.budget_usd + more_usd, done=sum(kept, ()))
        return ProposedDay(kept, befores, after, "")


@dataclass(frozen=True, slots=True)
class Amended:
    """Changes that the client makes to a proposed day."""

    said: str
    reply: Amendments
    state: Mapping[str, float]
    """Feelings that the client sets, each in [0, 100]."""

    @property
    def is_something(self) -> bool:
        """Return whether the client's words change the day at all."""
        return (
            bool(self.reply.changes or self.reply.wishes or self.state) or self.reply.budget_usd is not None
        )

    def first(self, proposed: ProposedDay, more_usd: float) -> int:
        """Return the index of the first round to be planned again.

        It is the first that changes, costs too much, or costs.

        A wish or a feeling holds for the whole day, a budget from the first thing that costs something on.
        """
        found = [change.number - 1 for change in self.reply.changes if change.number <= len(proposed.rounds)]
        if self.reply.wishes or self.state:
            found.append(0)
        if self.reply.budget_usd is not None:
            costly = [
                number for number, one in enumerate(proposed.rounds) if any(part.cost_usd for part in one)
            ]
            short = [
                number for number, one in enumerate(proposed.rounds) if one[-1].budget_usd + more_usd < 0
            ]
            found += short[:1] if found else costly[:1]
        return min(found, default=len(proposed.rounds))

    def describe(self, proposed: ProposedDay) -> list[str]:
        """Return the changes as sentences."""
        found = [_describe_change(change, proposed) for change in self.reply.changes]
        if self.reply.budget_usd is not None:
            found.append(f"budget ${self.reply.budget_usd:.2f}")
        found += [f"{name} {value:.0f}" for name, value in self.state.items()]
        return found + list(self.reply.wishes)


def hear(agent: Agent, turn: int, proposed: ProposedDay, budget_usd: float) -> Amended | None:
    """Return the client's changes to a proposed day; `None` if they accept it.

    Args:
        agent: whose user is heard.
        turn: which proposal it is, from 1.
        proposed: the day.
        budget_usd: of the whole day.
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
        amended = Amended(words, reply, dict(said.state))
        told = "; ".join(amended.describe(proposed)) or "nothing in it changes the day"
        noted = agent.run.note(
            AMENDMENT,
            str(turn),
            f'"{words}": {told}.' if words else f"{told}.",
            data={"say": words, "state": dict(said.state), "reply": reply.model_dump(mode="json")},
        )
    state = noted.data["state"]
    return Amended(
        str(noted.data["say"]),
        Amendments.model_validate(noted.data["reply"]),
        {str(name): float(value) for name, value in state.items()} if isinstance(state, dict) else {},
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """A proposed activity with the client's change of it."""

    amendment: Amendment
    old: Activity
    """The activity as proposed."""


def _describe_change(change: Amendment, proposed: ProposedDay) -> str:
    """Return a change as a line of text: the activity's number and name, and what is new."""
    known = change.number <= len(proposed.rounds)
    was = f" ({proposed.rounds[change.number - 1][-1].what})" if known else ", which does not exist"
    if change.drop:
        return f"{change.number}{was}: dropped"
    times = {"from": change.starts, "until": change.ends}
    new = [change.what, change.place, *(f"{name} {time}" for name, time in times.items() if time)]
    return f"{change.number}{was}: {', '.join(filter(None, new)) or 'as it is'}"


def wanted_of(amended: Amended, proposed: ProposedDay) -> list[Wanted]:
    """Return the activities that the client changes but keeps: those without a new start first."""
    known = [one for one in amended.reply.changes if one.number <= len(proposed.rounds) and not one.drop]
    found = [Wanted(one, proposed.rounds[one.number - 1][-1]) for one in known]
    return sorted(found, key=lambda one: (one.amendment.starts or "", one.amendment.number))


def still_wanted(amended: Amended, proposed: ProposedDay, first: int) -> list[Wanted]:
    """Return activities asked for in earlier proposals and not changed now, as they were planned.

    Args:
        amended: what they change now.
        proposed: the day in which they change it.
        first: the round from which on the day is planned anew; what comes before stays anyway.
    """
    changed = {change.number for change in amended.reply.changes}
    return [
        Wanted(
            Amendment(
                number=number,
                drop=False,
                place="",
                what="",
                starts=show_clock(one[-1].starts),
                ends=show_clock(one[-1].ends),
            ),
            one[-1],
        )
        for number, one in enumerate(proposed.rounds, start=1)
        if number > first and number not in changed and one[-1].reason == ASKED_FOR
    ]


def apart_of(amended: Amended, proposed: ProposedDay) -> frozenset[str]:
    """Return the ids of the places of activities that the client changes."""
    changed = [one.number for one in amended.reply.changes if one.number <= len(proposed.rounds)]
    ids = (proposed.rounds[number - 1][-1].spot.id for number in changed)
    return frozenset(one for one in ids if one)


def unknown_numbers(reply: Amendments, rounds: Sequence[object]) -> list[int]:
    """Return the activity numbers in the client's changes that the day does not have."""
    return [change.number for change in reply.changes if change.number > len(rounds)]


def _note_feedback(
    agent: Agent, number: int, standing: DayProgress, say: str, state: Mapping[str, float]
) -> NoteRecord:
    """Write a note on the client's feedback, with feelings and wishes that the mind reads in the words."""
    told: dict[str, float] = {}
    wishes: list[str] = []
    if say.strip():
        reply = agent.mind.ask(
            agent.prompts.load("day/listen", Told),
            said=say,
            state=dict(standing.state),
            now=show_clock(standing.now),
        )
        told = {name: float(value) for name in FEELINGS if (value := getattr(reply, name)) is not None}
        wishes = [" ".join(wish.split()) for wish in reply.wishes if wish.strip()]
    told |= state
    felt = ", ".join(f"{name} {value:.0f}" for name, value in told.items())
    heard = f'"{say.strip()}"' if say.strip() else ""
    return agent.run.note(
        FEEDBACK,
        str(number),
        f"{show_clock(standing.now)} {heard}{' ' if heard and felt else ''}{felt}".strip(),
        data={"say": say, "state": told, "wishes": wishes},
    )


def _change_standing(standing: DayProgress, state: Mapping[str, float], wishes: list[str]) -> DayProgress:
    """Return the situation with changed feelings and further wishes."""
    held = {name: float(state.get(name, value)) for name, value in standing.state.items()}
    return replace(standing, state=held, wishes=(*standing.wishes, *wishes))
