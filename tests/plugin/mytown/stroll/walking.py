"""Walking straight on along a street."""

from collections.abc import Iterator
from functools import partial

from virl.agent.agent import Agent
from virl.geo.globe import signed_turn
from virl.platform.city.streetview import Pose
from virl.platform.movers.base import Choice, Mover, Step

MAX_TURN_DEG = 60.0
"""A link that turns off more sharply does not lead straight on; chosen."""


def straight_on(agent: Agent) -> Iterator[Step]:
    """The panoramas of a walk straight on, until the street ends or the limit of steps is reached.

    A run that was interrupted goes on after its last step.
    """
    taken = agent.run.steps
    if not taken:
        heading = agent.character.heading
        pose = Pose(agent.start.id, agent.start.heading if heading is None else heading)
        index, metres = 0, 0.0
    elif taken[-1].next_pano_id is None:
        return
    else:
        before = Pose(taken[-1].pose.pano_id, taken[-1].pose.heading)
        link = next(one for one in agent.mover.links(before) if one.pano_id == taken[-1].next_pano_id)
        pose, index, metres = agent.mover.take(before, link), taken[-1].step + 1, link.distance
    while True:
        panorama = agent.city.streetview.panorama(pose.pano_id)
        choose = partial(_choose, agent.mover, pose, agent.character.limits.steps - index)
        step = Step(index, pose, panorama, metres, choose)
        yield step
        if step.choice.link is None:
            return
        pose = agent.mover.take(pose, step.choice.link)
        index, metres = index + 1, step.choice.link.distance


def _choose(mover: Mover, pose: Pose, steps_left: int) -> Choice:
    if steps_left <= 0:
        return Choice(None, "The limit of steps is reached.")
    links = sorted(mover.links(pose), key=lambda link: abs(signed_turn(pose.heading, link.heading)))
    if not links or abs(signed_turn(pose.heading, links[0].heading)) > MAX_TURN_DEG:
        return Choice(None, "The street ends here.")
    return Choice(links[0], "Straight on.")
