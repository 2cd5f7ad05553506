"""Addresses and stops around a start, drawn from a seed for those that a town lacks."""

from collections.abc import Collection, Iterator
from random import Random

from virl.errors import NoRoute, NoStreetView, NotFound
from virl.geo.globe import LatLng, destination
from virl.platform.city.city import City
from virl.platform.city.locate import locate
from virl.platform.city.maps import Address, ReverseMaps, walked_route
from virl.platform.city.networks import streets_at
from virl.platform.city.streetview import Panorama

_TRIES = 24
"""Number of spots drawn for one stop or address. Chosen."""
_NEAREST_M, _FARTHEST_M = 80.0, 400.0
"""Metres from the start of addresses. Chosen: as Virlton's errands lie."""
_STREET_M, _HOUSE_M = 60.0, 40.0
"""Metres from a drawn spot to a street, and from there to a house."""
_DETOUR = 2.5
"""Most times that a way is longer than the straight line, unless all are. Chosen."""


def draw_tour(city: City, start: LatLng, stops: int, leg_m: float, random: Random) -> list[LatLng]:
    """Return the stops of a tour around a start, each about `leg_m` metres from the one before.

    Fewer stops, or none, are returned where no way leads on.

    Args:
        city: with streets.
        start: of the tour.
        stops: number.
        leg_m: metres.
        random: source of chance.
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
    """Return an address near a start, not among the `taken` texts; `None` where no way leads anywhere.

    Where no address is known, it is a spot on a street; `None` where no way leads anywhere.

    Args:
        city: with streets.
        start: near which it lies.
        taken: texts of addresses.
        random: source of chance.
    """
    spots: list[LatLng] = []
    for at in _spots(city, start, random):
        address = _address_at(city, at)
        if address and address.text not in taken:
            return address
        if address is None and spot_name(city, at) not in taken:
            spots.append(at)
    return Address(spot_name(city, spots[0]), spots[0]) if spots else None


def is_there(city: City, text: str, near: LatLng) -> bool:
    """Return whether a text is an address or place that a city has beside street view.

    Args:
        city: that knows addresses and places.
        text: address, name or kind.
        near: where it is searched.
    """
    try:
        position = locate(city, text, near)[1]
    except NotFound:
        return False
    return city.streetview.nearest(position) is not None


def spot_name(city: City, position: LatLng) -> str:
    """Return the address nearest to a position as text; street and position where none is known."""
    if address := _address_at(city, position):
        return address.text
    streets = city.inventory.streets() if city.inventory else ()
    street = streets_at([position], streets)[0]
    return f"{street.name} at {position}" if street and street.name else str(position)


def _address_at(city: City, position: LatLng) -> Address | None:
    """Return the address within `_HOUSE_M` metres of a position; `None` if there or in the maps is none."""
    return city.maps.address_at(position, _HOUSE_M) if isinstance(city.maps, ReverseMaps) else None


def _spots(city: City, start: LatLng, random: Random) -> Iterator[LatLng]:
    """Yield positions of panoramas `_NEAREST_M` to `_FARTHEST_M` metres from a start, reached on foot."""
    for number in range(_TRIES):
        metres = random.uniform(_NEAREST_M, _FARTHEST_M)
        spot = destination(start, random.uniform(0.0, 360.0), metres)
        at = city.streetview.nearest(spot, _STREET_M * (1.0 + number / 4.0))  # few streets: look farther
        metres_on_foot = (at and _way_m(city, start, at.position)) or 0.0
        if at and _NEAREST_M / 2 <= metres_on_foot <= _FARTHEST_M * _DETOUR:
            yield at.position


def _on_a_street(city: City, spot: LatLng) -> Panorama | None:
    """Return the panorama within `_STREET_M` metres of a spot; `None` if there is none."""
    return city.streetview.nearest(spot, _STREET_M)


def _way_m(city: City, one: LatLng, other: LatLng) -> float | None:
    """Return the metres on foot between two positions; `None` if no way leads there."""
    try:
        return walked_route(city.maps, [one, other]).distance
    except (NoRoute, NoStreetView):
        return None
