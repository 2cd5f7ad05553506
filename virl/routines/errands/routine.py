"""Peng, the route optimiser: he runs his errands in the order that takes the least time.

He reads them, finds each in the city, takes the best order from the matrix of travel times, and walks it
(V-IRL, section 3.1).
"""

from collections.abc import Sequence
from pathlib import Path

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.going_on import link_taken
from virl.agent.routine import Wish
from virl.errors import BadInput, NoImagery, NotFound
from virl.geo.globe import bearing, distance
from virl.journal.records import ViewRecord
from virl.mind.lexicon import Lexicon
from virl.mind.understanding import Reading
from virl.mind.wishes import words_for_kinds
from virl.plain_text import capitalize
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Camera, Pose
from virl.platform.movers.base import Choice
from virl.platform.navigators.point import DestinationOutcome, PointNavigator, plan_route
from virl.routines.errands.finding import ErrandStop, Task, find_errands, fit
from virl.routines.errands.rules import ANY_ORDER, read_errands
from virl.routines.errands.settings import ERRANDS
from virl.routines.errands.showing import conclude
from virl.routines.errands.trip import Trip, goals_of, plan_trip, ways_of

__all__ = ["WISH", "fit", "run"]

_ARRIVAL = "arrival"
"""Topic under which the journal keeps its notes on arrivals at stops."""
_LOOK_FOV, _LOOK_PITCH = 75.0, 4.0  # degrees, chosen: a shop front across a street
_FOOD_SHOPS = ("supermarket", "bakery", "convenience_store", "liquor_store")
"""Place types of shops that sell food as goods, which other places serve as dishes."""
_NOT_DONE = (
    *("every", "each", "all", "both", "either", "or", "another"),
    *("return to the", "can wait", "on the|his|her|my|their way back|home"),
    *("to start", "start|starts|starting with|at|by|from", "at last"),
)
"""Phrases that ask for more than visiting stops in an order, or leave a choice open, such as "either"."""
_AT_IT_M = 2.0  # from nearer, the direction of a place says nothing


def _read_errands(character: Character, lexicon: Lexicon) -> Reading | None:
    """Return errands given in words, with the words that rules act on; `None` if they are a list."""
    errands = ERRANDS.of(character)
    if errands is None or errands.stops:
        return None
    used = read_errands(errands.text, lexicon)
    goods = words_for_kinds(errands.text, _FOOD_SHOPS, lexicon)
    orders = (found[0] for found in ANY_ORDER.finditer(errands.text))
    return Reading(errands.text, used, (character.name,), "errands", _NOT_DONE, (*goods, *orders))


WISH = Wish(_read_errands, field="errands")


def check_character(character: Character, source: Path) -> None:
    """Raise `BadInput` unless the character has errands.

    Raises:
        BadInput: it does not.
    """
    if ERRANDS.of(character) is None:
        raise BadInput(f"{source}: `errands:` is missing: list `stops`, or describe them in `text`")


def run(agent: Agent) -> None:
    """Plan the errands' trip, walk it to its end or the limit of steps, and end the run."""
    try:
        task = find_errands(agent)
    except NotFound as fault:
        agent.run.end(Outcome("not found", f"{fault}"), answer={"succeeded": False})
        return
    trip = plan_trip(agent, task)
    conclude(agent, task, trip, _walk_trip(agent, task, trip) if task.errands.walk else ())


def _walk_trip(agent: Agent, task: Task, trip: Trip) -> Sequence[DestinationOutcome]:
    """Walk the trip, or the rest of it in a resumed run; return the outcomes of its stops in order."""
    goals = goals_of(task, trip)
    plan = plan_route(
        agent.city.streetview,
        ways_of(agent, task, trip),
        task.start.stand,
        [goal.stand for goal in goals],
        mode=task.errands.travel,
    )
    navigator = PointNavigator(
        agent.city.streetview, agent.mover, plan, max_steps=agent.character.limits.steps
    )
    written = list(agent.run.steps)
    # The last step is decided once more: its link may not have been taken.
    trail = [one.pose.pano_id for one in written[:-1]]
    pose = agent.start_pose
    if written:
        pose = Pose(written[-1].pose.pano_id, written[-1].pose.heading)
    for step in navigator.walk(pose, trail, [one.step for one in written[:-1] if one.decided_by]):
        if step.index < len(written):
            known = written[step.index]
            # The user's choices are read; the navigator decides again as it did.
            step.settle(
                Choice(link_taken(step.links, known), known.decided, decided_by=known.decided_by)
                if known.decided_by
                else step.choose()
            )
        else:
            choice = step.choice
            agent.run.step(
                step,
                views=(),
                asked=(),
                decided=capitalize(choice.reason),
                next_pano_id=choice.link.pano_id if choice.link else None,
                outcome=choice.outcome,
            )
        _look_at_stops(agent, goals, navigator.outcomes, step.pose.heading)
    return navigator.outcomes


def _look_at_stops(
    agent: Agent, goals: Sequence[ErrandStop], outcomes: Sequence[DestinationOutcome], heading: float
) -> None:
    """Note each stop with an outcome; add a view if reached, toward `heading` where right at the stop."""
    for number, (goal, outcome) in enumerate(zip(goals, outcomes, strict=False), start=1):
        if agent.run.find_note(_ARRIVAL, str(number)) is None:
            errand = f" ({goal.what})" if goal.what else ""
            agent.run.note(
                _ARRIVAL,
                str(number),
                f"{goal.title}{errand}: {outcome.reason}.",
                data={"reached": outcome.reached},
                views=_look(agent, goal, heading) if outcome.reached else (),
            )


def _look(agent: Agent, goal: ErrandStop, heading: float) -> Sequence[ViewRecord]:
    """Return the kept view of a stop, or toward `heading` degrees if at the stop; empty without imagery."""
    if distance(goal.stand, goal.position) > _AT_IT_M:
        heading = bearing(goal.stand, goal.position)
    try:
        view = agent.city.streetview.view(goal.pano_id, Camera(heading, _LOOK_PITCH, _LOOK_FOV))
    except NoImagery:
        return ()
    return agent.run.keep(view, "look", caption=goal.title)
