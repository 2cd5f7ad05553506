"""Hearing what a client changes in a proposed day; each change is heard once, in a resumed run too."""

from virl.agent.agent import Agent
from virl.agent.user import Moment
from virl.routines.day.proposed import Amended, ProposedDay
from virl.routines.day.replies import Amendments

TOPIC = "amendment"
UNMET = "unmet"
"""Topic of the notes on changes that cannot be made."""
MOST_TURNS = 20  # proposals of one day; chosen
QUESTION = "Change anything, such as `3 at 14:00`, `no 2` or `budget 60`?"


def hear(agent: Agent, turn: int, proposed: ProposedDay, budget_usd: float) -> Amended | None:
    """Return the client's changes to the proposed day, `None` if they take it as it is.

    Args:
        agent: whose user is heard.
        turn: which proposal it is, from 1.
        proposed: the day.
        budget_usd: of the whole day.
    """
    noted = agent.run.find_note(TOPIC, str(turn))
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
            TOPIC,
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
