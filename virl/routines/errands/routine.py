"""Peng, the route optimiser: he runs his errands in the order that takes the least time.

He reads them, finds each in the city, takes the best order from the matrix of travel times, and walks it
(V-IRL, section 3.1).
"""

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.routine import Wish
from virl.mind.lexicon import Lexicon
from virl.platform.outcome import Outcome
from virl.routines.errands.finding import find_errands
from virl.routines.errands.rules import ErrandQuestion, list_errands
from virl.routines.errands.settings import ERRANDS
from virl.routines.errands.showing import answer, exhibits, reason
from virl.routines.errands.trip import plan_trip
from virl.routines.errands.walk import walk_trip


def _read_errands(character: Character, lexicon: Lexicon) -> None:
    """Read where errands lead that are given in words."""
    errands = ERRANDS.of(character)
    if errands and errands.text.strip() and not errands.stops:
        list_errands(ErrandQuestion(text=errands.text), lexicon)


WISH = Wish(_read_errands, field="errands")


def run(agent: Agent) -> None:
    """Plan the trip and walk it, until its end or the limit of steps."""
    task = find_errands(agent)
    trip = plan_trip(agent, task)
    outcomes = walk_trip(agent, task, trip) if task.errands.walk else ()
    ended = agent.run.steps[-1].outcome if agent.run.steps else None
    is_done = not task.left_out and all(outcome.reached for outcome in outcomes)
    at_limit = ended is not None and ended.kind == "limit"
    agent.run.end(
        Outcome("finished" if is_done else "limit" if at_limit else "missed", reason(task, trip, outcomes)),
        answer=answer(task, trip, outcomes),
        exhibits=exhibits(agent, task, trip),
    )
