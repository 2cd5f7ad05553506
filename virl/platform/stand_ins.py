"""Addresses and stops around a start, drawn from a seed for those that a town lacks."""

from collections.abc import Collection, Iterator
from random import Random

from virl.errors import NoRoute, NoStreetView
from virl.geo import LatLng, destination
from virl.platform.city import City
from virl.platform.maps import Address, ReverseMaps, walked_route
from virl.platform.streetview import Panorama

_TRIES = 24
"""Spots drawn for one stop or address. Chosen."""
_NEAREST_M, _FARTHEST_M = 80.0, 400.0
"""Metres from the start of addresses. Chosen: as Virlton's errands lie."""
_STREET_M, _HOUSE_M = 60.0, 40.0
"""Metres from a drawn spot to a street, and from there to a house."""
_DETOUR = 2.5
"""Times the straight line that a way is at most, unless there is no shorter one. Chosen."""


def draw_tour(city: City, start: LatLng, stops: int, leg_m: float, random: Random) -> list[LatLng]:
    """Return the stops of a tour around a start, each about `leg_m` metres from the one before.

    Fewer stops, or none, are returned where no way leads on.
    """
    bearing, turn = random.uniform(0.0, 360.0), 360.0 / (stops + 1)
    tour = [start]
    for _ in range(stops):
        found: list[tuple[float, LatLng]] = []
        for number in range(_TRIES):
            aside = random.uniform(-1.0, 1.0) * 180.0 * number / _TRIES
            spot = destination(tour[-1], (bearing + aside) % 360.0, leg_m * random.uniform(0.6, 1.0))
            at = _on_a_street(city, spot)
            metres = _way_m(city, tour[-1], at.position) if at and at.position not in tour else None
            if at and metres:
                found.append((metres, at.position))
            if metres and leg_m / 2 <= metres <= leg_m * _DETOUR:
                break
        if not found:
            break
        tour.append(min(found, key=lambda one: abs(one[0] - leg_m))[1])
        bearing += turn
    return tour[1:]


def draw_address(city: City, start: LatLng, taken: Collection[str], random: Random) -> Address | None:
    """Return an address not far on foot from a start, none of those taken; `None` if none is known."""
    return next(_addresses(city, start, taken, random), None)


def spot_name(city: City, position: LatLng) -> str:
    """Return the address nearest to a position; the position itself where none is known."""
    address = city.maps.address_at(position, _HOUSE_M) if isinstance(city.maps, ReverseMaps) else None
    return address.text if address else str(position)


def _addresses(city: City, start: LatLng, taken: Collection[str], random: Random) -> Iterator[Address]:
    if not isinstance(city.maps, ReverseMaps):
        return
    for _ in range(_TRIES):
        metres = random.uniform(_NEAREST_M, _FARTHEST_M)
        at = _on_a_street(city, destination(start, random.uniform(0.0, 360.0), metres))
        address = city.maps.address_at(at.position, _HOUSE_M) if at else None
        if not at or not address or address.text in taken:
            continue
        metres_on_foot = _way_m(city, start, at.position)
        if metres_on_foot and metres_on_foot <= _FARTHEST_M * _DETOUR:
            yield address


def _on_a_street(city: City, spot: LatLng) -> Panorama | None:
    return city.streetview.nearest(spot, _STREET_M)


def _way_m(city: City, one: LatLng, other: LatLng) -> float | None:
    """Return the metres on foot between two positions; `None` if no way leads there."""
    try:
        return walked_route(city.maps, [one, other]).distance
    except (NoRoute, NoStreetView):
        return None
