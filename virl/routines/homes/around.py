"""What is near a home: of each wanted kind of place the nearest on foot, from one search and one matrix."""

from collections.abc import Sequence

from virl.agent.agent import Agent
from virl.geo import LatLng
from virl.platform.places import Place
from virl.routines.homes.home import Home, Near
from virl.routines.homes.replies import HomeWant

WALKED_TO = 2  # places of a kind, nearest as the crow flies, that the walk is looked up to (chosen)


def nearby_of(agent: Agent, home: Home, wants: Sequence[HomeWant], radius: float) -> tuple[Near, ...]:
    """The nearest place of each kind.

    Args:
        agent: in the city.
        home: the home.
        wants: kinds of place.
        radius: metres as the crow flies.

    Raises:
        NoRoute: the home is off the map.
    """
    types = tuple(want.place_type for want in wants)
    if not types:
        return ()
    here = LatLng(home.lat, home.lng)
    places = {
        place.id: place for place in agent.city.places.nearby(here, radius, types) if place.is_open
    }.values()
    by_type = {kind: [place for place in places if kind in place.types] for kind in types}
    minutes = _walks(agent, here, [place for some in by_type.values() for place in some[:WALKED_TO]])
    return tuple(_nearest(kind, some, minutes) for kind, some in by_type.items())


def _walks(agent: Agent, here: LatLng, places: Sequence[Place]) -> dict[str, float]:
    """Minutes on foot by place id; a place that stands for two kinds is asked for once."""
    once = {place.id: place.position for place in places}
    if not once:
        return {}
    seconds = agent.city.maps.travel_times([here], list(once.values()))[0]
    return {place_id: float(walk) / 60 for place_id, walk in zip(once, seconds, strict=True)}


def _nearest(kind: str, places: Sequence[Place], minutes: dict[str, float]) -> Near:
    walks = [(minutes[place.id], place) for place in places[:WALKED_TO] if minutes[place.id] < float("inf")]
    if not walks:
        return Near(place_type=kind)
    walk, place = min(walks, key=lambda one: (one[0], one[1].id))
    return Near(place_type=kind, name=place.name, walk_minutes=round(walk, 1), count=len(places))
