"""Imani, the urban planner: she has a whole region looked at, and maps what stands in it.

The panoramas of the region are found by relocating and put in a short order; each is looked at with RX-399's
senses (V-IRL, section 3.3).
"""

from virl.agent import Agent
from virl.cli import run_module
from virl.counting.rounds import count_along
from virl.counting.where import onward_by_hop, region_of
from virl.journal.folder import SURVEY
from virl.platform.movement.region.navigator import RegionNavigator


def live(agent: Agent) -> None:
    """Visit every panorama of the region and count, until the last or the limit of steps."""
    run = agent.run
    navigator = RegionNavigator(
        agent.city.streetview,
        region_of(agent),
        file=run.folder / SURVEY,
        progress=lambda asked, to_ask, _: run.progress("looking for panoramas", asked, to_ask),
    )
    moves = min(len(navigator.panoramas()) - 1, agent.character.limits.steps)
    run.progress("walking", run.steps[-1].step if run.steps else 0, moves)
    count_along(agent, navigator.walk, onward_by_hop)


if __name__ == "__main__":
    run_module("imani")
