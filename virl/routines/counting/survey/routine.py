"""Imani, the urban planner: she sends RX-399 all over a region, and maps what it finds.

The robot visits every panorama of the region in a short order and counts (V-IRL, section 3.3). Its round is a
run within hers.
"""

from dataclasses import replace

from virl.agent.agent import Agent, Assembly
from virl.agent.consult import consult
from virl.journal.folder import CONSULTED
from virl.platform.outcome import Outcome
from virl.routines.counting.settings import counting_of
from virl.routines.counting.where import region_of

ROUND = "round"
"""Name of the robot's run."""


def check_assembly(assembly: Assembly) -> None:
    """Check that the character says what to count.

    Raises:
        BadInput: it does not.
    """
    counting_of(assembly.character, assembly.source)


def run(agent: Agent) -> None:
    """Have every panorama of the region looked at, and tell the counts."""
    character = agent.character
    counting = counting_of(character, agent.run.start.agent)
    told = consult(
        agent,
        "rx399",
        ROUND,
        about="RX-399 surveyed the region:",
        changes={
            "intention": character.intention,
            "start": character.start,
            "heading": character.heading,
            "route": (),
            "region": [(corner.lat, corner.lng) for corner in region_of(agent).corners],
            "senses": character.senses,
            "count": counting,
            "limits": character.limits.model_dump(),
        },
    )
    files = [f"{CONSULTED}/{ROUND}/{file}" for file in told.files]
    reason = f"RX-399 took {told.steps} steps, {told.distance_m:.0f} m: {told.reason}"
    ended = told.outcome or Outcome(told.status)  # of a run of an earlier version
    agent.run.end(replace(ended, reason=reason), found=told.found, files=files, claims=told.claims)
