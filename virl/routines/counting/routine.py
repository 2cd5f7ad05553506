"""RX-399, the urban assistance robot: it goes along a route, or all over a region, and tells what is there.

At every panorama it looks to both sides, looks closer at what might be what it counts, and remembers each
thing once, with its position (V-IRL, section 3.3).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from virl.agent.agent import Agent
from virl.agent.character import Character, Point
from virl.agent.character_file import LoadedCharacter
from virl.agent.going_on import onward_pose
from virl.agent.routine import Wish
from virl.errors import BadInput, NotFound, VirlError, raise_all
from virl.geo.globe import LatLng, bearing, distance
from virl.geo.region import Region
from virl.platform.city.city import City
from virl.platform.city.starts import draw_tour, spot_name
from virl.platform.city.streetview import Panorama, Pose
from virl.platform.navigators.point import PointNavigator, plan_route
from virl.platform.navigators.region import RegionNavigator
from virl.platform.providers.cities import region_called, region_of_city
from virl.routines.counting.finds import SURVEY
from virl.routines.counting.rounds import count_along
from virl.routines.counting.settings import counting_of, read_intention

MAX_FROM_CITY_M = 100_000.0  # how far a region may lie from its city's centre; as for region files
NEAR_A_STREET_M = 800.0
"""Metres from a route's stop, or a region's centre or a corner, within which a panorama must lie."""
WISH = Wish(read_intention, field="intention")
LEG_M = 200.0
"""Metres between stops of a tour that replaces a route outside the city; as on the route of agent RX-399."""


def check_character(character: Character, source: Path) -> None:
    """Raise `BadInput` unless the character says what to count, and either a route or a region.

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
    """Replace a route (by a tour drawn with `seed`) or region outside the city; return (character, changes).

    Where no way leads from the start, it is the only stop. A region of another city becomes this one's.

    Args:
        character: character as its file has it.
        city: city of the run.
        start: panorama at which the run begins.
        seed: seed of what is chosen at random.
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
    """Count along the character's route, or all over its region, until the end or the limit of steps.

    Raises:
        BadInput: the character has both a route and a region.
    """
    city, limit, run = agent.city, agent.character.limits.steps, agent.run
    if agent.character.region is None:
        plan = plan_route(city.streetview, city.maps, agent.start.position, route_of(agent))
        # The round keeps the limit, so the navigator's is one step beyond.
        navigator = PointNavigator(city.streetview, agent.mover, plan, max_steps=limit + 1)
        count_along(agent, navigator.walk, onward_pose)
    elif agent.character.route:
        raise BadInput(f"{agent.run.start.agent}: has both `route:` and `region:`: remove one")
    else:
        survey = RegionNavigator(
            city.streetview,
            region_of(agent),
            file=run.folder / SURVEY,
            progress=lambda asked, to_ask, _: run.progress("looking for panoramas", asked, to_ask),
        )
        moves = min(len(survey.panoramas()) - 1, limit)
        run.progress("walking", run.steps[-1].step if run.steps else 0, moves)
        count_along(agent, survey.walk, onward_by_hop)


def route_of(agent: Agent) -> list[LatLng]:
    """Return the positions of a character's route, in order.

    Raises:
        BadInput: it has none, or one that is not in the city.
    """
    who = agent.run.start.agent
    if not agent.character.route:
        raise BadInput(f"{who}: `route:` is missing: list the addresses or positions to visit, in order")
    stops = []
    for number, stop in enumerate(agent.character.route, start=1):
        if not isinstance(stop, str):
            stops.append(LatLng(stop.lat, stop.lng))
            continue
        with agent.loaded.errors_at("route"):
            try:
                stops.append(agent.city.maps.geocode(stop))
            except NotFound as fault:
                raise BadInput(f"entry {number}: {fault}") from fault
    return stops


def missing_stops(character: Character, city: City) -> Iterator[str]:
    """Yield the addresses and positions of a character's route that the city does not have."""
    for stop in character.route:
        if not isinstance(stop, str):
            if city.streetview.nearest(LatLng(stop.lat, stop.lng), NEAR_A_STREET_M) is None:
                yield str(LatLng(stop.lat, stop.lng))
            continue
        try:
            city.maps.geocode(stop)
        except NotFound:
            yield stop


def region_of(agent: Agent) -> Region:
    """Return the region that a character covers: its own, else the city's.

    That is the city's district; a city without one, whose streets are all known, is covered whole.

    Raises:
        BadInput: there is neither, or the region lies elsewhere.
    """
    city, who = agent.city, agent.run.start.agent
    if agent.character.region is not None:
        region = _to_region(agent.character.region)
        metres = distance(region.center, city.center)
        if metres > MAX_FROM_CITY_M:
            raise BadInput(f"{who}: region: lies {metres / 1000:,.0f} km from the centre of {city.title}")
        return region
    try:
        return region_of_city(city)
    except BadInput as fault:
        raise BadInput(f"{who}: {fault}") from fault


def fit_region(character: Character, city: City) -> tuple[Character, tuple[str, ...]]:
    """Replace a region without street view by the city's own; return (character, sentences on changes)."""
    if character.region is None:
        return character, ()
    region = _to_region(character.region)
    if any(city.streetview.nearest(at, NEAR_A_STREET_M) for at in (region.center, *region.corners)):
        return character, ()
    reason = f"The region is not in {city.title}: takes that of {city.title}."
    return character.model_copy(update={"region": None}), (reason,)


def onward_by_hop(agent: Agent) -> Pose:
    """Return the pose to go on from: the start, or after steps the next panorama, facing away from the last.

    Raises:
        NoStreetView: the panorama is not there any more.
    """
    if not agent.run.steps:
        return agent.start_pose
    last = agent.run.steps[-1]
    there = agent.city.streetview.panorama(last.next_pano_id or last.pose.pano_id)
    return Pose(there.id, bearing(LatLng(last.pose.lat, last.pose.lng), there.position))


def _to_region(region: str | Sequence[tuple[float, float]]) -> Region:
    """Return the region with a name, or with corners as (latitude, longitude) in degrees."""
    if isinstance(region, str):
        return region_called(region)
    return Region(tuple(LatLng(*corner) for corner in region))
