"""RX-399, the urban assistance robot: it goes along a route, or all over a region, and tells what is there.

At every panorama it looks to both sides, looks closer at what might be what it counts, and remembers each
thing once, with its position (V-IRL, section 3.3).
"""

from pathlib import Path
from random import Random

from virl.agent.agent import Agent
from virl.agent.character import Character, Point
from virl.agent.character_file import LoadedCharacter
from virl.agent.routine import Wish
from virl.errors import BadInput, VirlError, raise_all
from virl.platform.city.city import City
from virl.platform.city.starts import draw_tour, spot_name
from virl.platform.city.streetview import Panorama
from virl.platform.navigators.point import PointNavigator, plan_route
from virl.platform.navigators.region import RegionNavigator
from virl.routines.counting.folder import SURVEY
from virl.routines.counting.rounds import count_along
from virl.routines.counting.settings import counting_of, read_intention
from virl.routines.counting.where import (
    fit_region,
    missing_stops,
    onward_by_hop,
    onward_by_link,
    region_of,
    route_of,
)

WISH = Wish(read_intention, field="intention")
LEG_M = 200.0
"""Metres from stop to stop of a tour that stands in for a route: as long as RX-399's in Virlton."""


def check_character(character: Character, source: Path) -> None:
    """Check that the character says what to count, and where to go, once.

    Raises:
        BadInput: it says nothing, or two things; names all that is wrong.
    """
    faults: list[VirlError] = []
    if character.region is not None and character.route:
        region = LoadedCharacter(source, character).field_source("region")
        said = f"{region}: there is a `route:` too: remove one of them"
        faults.append(BadInput(said))
    if character.region is None and not character.route:
        said = f"{source}: `route:` is missing: list the addresses or positions to visit, in order"
        faults.append(BadInput(said))
    try:
        counting_of(character, source)
    except BadInput as fault:
        faults.append(fault)
    raise_all(faults)


def fit(character: Character, city: City, start: Panorama, seed: int) -> tuple[Character, tuple[str, ...]]:
    """Replace a route of which a stop is not in the city by a tour of as many stops around the start.

    Where no way leads from the start, it is the only stop. A region of another city becomes this one's.

    Args:
        character: as its file has it.
        city: where it runs.
        start: where the run begins.
        seed: for what is chosen at random.
    """
    if character.region is not None:
        return fit_region(character, city)
    if not (missing := next(missing_stops(character, city), None)):
        return character, ()
    tour = draw_tour(city, start.position, len(character.route), LEG_M, Random(seed))
    told = f"a tour around the start leads to {', '.join(spot_name(city, at) for at in tour)}"
    if not tour:
        tour, told = [start.position], "no way leads on from the start, which is the only stop"
    route = tuple(Point(lat=at.lat, lng=at.lng) for at in tour)
    reason = f"{missing} of the route is not in {city.title}: {told}."
    return character.model_copy(update={"route": route}), (reason,)


def run(agent: Agent) -> None:
    """Count along the route, or at every panorama of the region, until the end or the limit of steps.

    Raises:
        BadInput: the character has both a route and a region.
    """
    if agent.character.region is None:
        _along_route(agent)
    elif agent.character.route:
        raise BadInput(f"{agent.run.start.agent}: has both `route:` and `region:`: remove one")
    else:
        _all_over(agent)


def _along_route(agent: Agent) -> None:
    """Walk the character's route, and count at each panorama."""
    city, limit = agent.city, agent.character.limits.steps
    plan = plan_route(city.streetview, city.maps, agent.start.position, route_of(agent))
    # The round keeps the limit, so the navigator's is one step beyond.
    navigator = PointNavigator(city.streetview, agent.mover, plan, max_steps=limit + 1)
    count_along(agent, navigator.walk, onward_by_link)


def _all_over(agent: Agent) -> None:
    """Walk through all panoramas of the character's region, up to its limit of steps, and count."""
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
