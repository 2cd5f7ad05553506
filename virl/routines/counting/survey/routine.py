"""Imani, the urban planner: she sends RX-399 all over a region, and maps what it finds.

The robot visits every panorama of the region in a short order and counts (V-IRL, section 3.3). Its round is a
run within hers.
"""

from dataclasses import replace
from pathlib import Path

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.consult import consult
from virl.agent.routine import Wish
from virl.geo.globe import destination, distance
from virl.journal.folder import CONSULTED
from virl.platform.city.city import City
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Panorama
from virl.routines.counting.routine import fit_region, region_of
from virl.routines.counting.settings import counting_of, read_intention

MOST_PANORAMAS = 1000
"""Most panoramas of a survey in a city other than the character's own; chosen: some minutes."""
_CORNERS = 24

WISH = Wish(read_intention, field="intention")
ROUND = "round"
"""Name of the folder of the consulted robot's run, among the run's consultations."""


def check_character(character: Character, source: Path) -> None:
    """Raise `BadInput` unless the character says what to count.

    Raises:
        BadInput: it does not.
    """
    counting_of(character, source)


def fit(character: Character, city: City, start: Panorama, seed: int) -> tuple[Character, tuple[str, ...]]:
    """Replace a foreign region by this city's or a part of it; return (character, sentences on changes).

    Args:
        character: character as its file has it.
        city: city of the run.
        start: panorama at which the run begins, around which the part lies.
        seed: not used.
    """
    del seed
    character, told = fit_region(character, city)
    if character.region is not None or city.region is not None or city.street_map is None:
        return character, told
    ids = city.street_map.panorama_ids()
    if len(ids) <= MOST_PANORAMAS:
        return character, told
    here = start.position
    metres = sorted(distance(here, city.streetview.panorama(pano_id).position) for pano_id in ids)
    radius = metres[MOST_PANORAMAS - 1]
    turns = (360.0 * corner / _CORNERS for corner in range(_CORNERS))
    region = tuple((at.lat, at.lng) for at in (destination(here, turn, radius) for turn in turns))
    reason = (
        f"{city.title} has {len(ids):,} panoramas: surveys the {MOST_PANORAMAS:,} within {radius:,.0f} m of "
        "the start (set `region:` for another part)."
    )
    return character.model_copy(update={"region": region}), (*told, reason)


def run(agent: Agent) -> None:
    """Send RX-399 to look at every panorama of the region, and end the run with its counts."""
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
