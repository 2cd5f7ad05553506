"""Where an agent counts: along the route of its character, or all over a region; and where it goes on."""

from collections.abc import Iterator, Sequence

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.going_on import link_taken
from virl.errors import BadInput, NotFound
from virl.geo.globe import LatLng, bearing, distance
from virl.geo.region import Region
from virl.platform.city.city import City
from virl.platform.city.streetview import Pose
from virl.platform.providers.cities import region_called, region_of_city

MAX_FROM_CITY_M = 100_000.0  # how far a region may lie from its city's centre; as for region files

NEAR_A_STREET_M = 800.0
"""Metres from a position to street view, as of a start."""


def route_of(agent: Agent) -> list[LatLng]:
    """Return the stops of a character's route, in order.

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
    """Yield the addresses and positions of a character's route that are not in a city."""
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
    """Return the region that a character covers: its own, or else the city's.

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
    """Replace a region without street view of the city by the city's own."""
    if character.region is None:
        return character, ()
    region = _to_region(character.region)
    if any(city.streetview.nearest(at, NEAR_A_STREET_M) for at in (region.center, *region.corners)):
        return character, ()
    reason = f"The region is not in {city.title}: takes that of {city.title}."
    return character.model_copy(update={"region": None}), (reason,)


def onward_by_link(agent: Agent) -> Pose:
    """Return the start, or for a run that goes on the pose after its last step, by the link that leads there.

    Raises:
        NoStreetView: the link is not there any more.
    """
    if not agent.run.steps:
        return _at_start(agent)
    last = agent.run.steps[-1]
    stood = Pose(last.pose.pano_id, last.pose.heading)
    link = link_taken(agent.mover.links(stood), last)
    return Pose(link.pano_id, link.heading)


def onward_by_hop(agent: Agent) -> Pose:
    """Return the start, or for a run that goes on the next panorama, facing straight to it.

    Raises:
        NoStreetView: the panorama is not there any more.
    """
    if not agent.run.steps:
        return _at_start(agent)
    last = agent.run.steps[-1]
    there = agent.city.streetview.panorama(last.next_pano_id or last.pose.pano_id)
    return Pose(there.id, bearing(LatLng(last.pose.lat, last.pose.lng), there.position))


def _at_start(agent: Agent) -> Pose:
    """Return the pose at the start: the character's heading, else that of the start."""
    heading = agent.character.heading
    return Pose(agent.start.id, agent.start.heading if heading is None else heading)


def _to_region(region: str | Sequence[tuple[float, float]]) -> Region:
    """Return a region by its name, or of its corners (lat, lng), degrees."""
    if isinstance(region, str):
        return region_called(region)
    return Region(tuple(LatLng(*corner) for corner in region))
