"""Listening to the client between two activities."""

from collections.abc import Mapping
from dataclasses import replace

from virl.agent.agent import Agent
from virl.agent.user import Moment
from virl.clock import show_clock
from virl.journal.records import NoteRecord
from virl.routines.day.activity import DayProgress
from virl.routines.day.replies import Told
from virl.routines.day.settings import FEELINGS

TOPIC = "feedback"


def listen(agent: Agent, number: int, standing: DayProgress, since: int) -> DayProgress:
    """Return the client's situation once they have spoken up, if they do.

    What was said is written down with what came of it, and heard only once.

    Args:
        agent: whose user is heard.
        number: activities so far.
        standing: where the client is.
        since: the minute at which they could speak up before, -1 for never.
    """
    noted = agent.run.find_note(TOPIC, str(number))
    if noted is None:
        if agent.run.find_note("draft", f"{number}.0"):
            return standing  # the user was silent before the run was cut off
        said = agent.user.feedback(Moment(_describe_standing(standing), number, standing.now, since))
        if said is None:
            return standing
        noted = _note_feedback(agent, number, standing, said.say, said.state)
    state, wishes = noted.data["state"], noted.data["wishes"]
    return _change_standing(
        standing, state if isinstance(state, dict) else {}, wishes if isinstance(wishes, list) else []
    )


def _note_feedback(
    agent: Agent, number: int, standing: DayProgress, say: str, state: Mapping[str, float]
) -> NoteRecord:
    """Note what the client says and sets; the mind reads feelings and wishes from the words."""
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
        TOPIC,
        str(number),
        f"{show_clock(standing.now)} {heard}{' ' if heard and felt else ''}{felt}".strip(),
        data={"say": say, "state": told, "wishes": wishes},
    )


def _change_standing(standing: DayProgress, state: Mapping[str, float], wishes: list[str]) -> DayProgress:
    """Return the day's progress with changed feelings and further wishes."""
    held = {name: float(state.get(name, value)) for name, value in standing.state.items()}
    return replace(standing, state=held, wishes=(*standing.wishes, *wishes))


def _describe_standing(standing: DayProgress) -> str:
    """Return the last activity, time, dollars left and feelings, as text."""
    felt = ", ".join(f"{name} {value:.0f}" for name, value in standing.state.items())
    last = standing.done[-1] if standing.done else None
    done = f"{last.time} {last.what}{f' at {last.spot.name}' if last.spot.name else ''}. " if last else ""
    return f"{done}It is {show_clock(standing.now)}; {standing.budget_usd:.2f} dollars are left; {felt}."
