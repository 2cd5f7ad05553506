"""Where a stranger starts in a town, and addresses and stops around there for those that it lacks."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import shapely
from scipy.spatial import cKDTree
from shapely import LineString, Point

from virl.errors import NoRoute, NoStreetView, NotFound
from virl.geo.globe import Floats, LatLng, LocalFrame, destination, distance
from virl.platform.city.city import City
from virl.platform.city.interchange import streets_at
from virl.platform.city.inventory import MappedStreet
from virl.platform.city.locate import locate
from virl.platform.city.maps import Address, ReverseMaps, walked_route
from virl.platform.city.streetview import RADII_M, Panorama, relocate

PART_M = 600.0
"""Radius in metres around a spot of the part of town whose places count: ten minutes' walk across."""
SPOT_M = 100.0
"""Radius in metres around a spot of the square or shopping street whose places count."""
_FRONT_M = 50.0
"""Largest distance in metres from a place to the panorama before it."""
_TRIED = 400
"""Largest number of places that are tried for a street with a name; chosen."""
_PATHS = frozenset({"footway", "path", "steps", "corridor", "track", "bridleway"})
"""Values of OpenStreetMap's `highway` that are paths, not streets."""
_LINES, _BESIDE_M = 12, 200.0  # streets on which the nearest panorama may be, and how far along; chosen


@dataclass(frozen=True, slots=True)
class LivelySpot:
    """A spot on the street in the liveliest part of a town."""

    panorama: Panorama
    street: str
    """Name of the street there; empty where it is not known."""
    places: int
    """Number of shops and places within `PART_M` metres of the spot."""

    def __str__(self) -> str:
        where = self.street or str(self.panorama.position)
        places = "1 shop or place" if self.places == 1 else f"{self.places:,} shops and places"
        return f"{where}, the liveliest part: {places} within {PART_M:g} m"


def liveliest(city: City) -> LivelySpot | None:
    """Return the spot among the most shops and places of a town; `None` where not all of these are known.

    The part with the most of them within `PART_M` counts first, then the street or square in it with the most
    within `SPOT_M`. Footpaths and passages, and streets without a name, come last.
    """
    if not city.life:
        return None
    frame = LocalFrame(city.life[0])
    xy = _metres(frame, city.life)
    tree = cKDTree(xy)
    around = tree.query_ball_point(xy, PART_M, return_length=True)
    part = np.array(tree.query_ball_point(xy[around.argmax()], PART_M))
    beside = tree.query_ball_point(xy[part], SPOT_M, return_length=True)
    order = part[np.lexsort((part, -around[part], -beside))]
    before = (city.streetview.nearest(city.life[place], _FRONT_M) for place in order.tolist()[:_TRIED])
    found = [panorama for panorama in before if panorama]
    if not found:
        return None
    streets = streets_at(
        [panorama.position for panorama in found], city.inventory.streets() if city.inventory else ()
    )
    panorama, street = min(zip(found, streets, strict=True), key=lambda one: _rank(one[1]))
    name = street.name if street else ""
    count = len(tree.query_ball_point(_metres(frame, [panorama.position])[0], PART_M))
    return LivelySpot(panorama, name, count)


def _rank(street: MappedStreet | None) -> int:
    """Return how good a street is to start on: 0 with a name, 1 for a path with a name, 2 for any other."""
    if street is None or not street.name:
        return 2
    return int(street.kind in _PATHS)


def start_near(city: City, position: LatLng, place: str) -> Panorama:
    """Return the panorama nearest to a position, in the first of ever wider circles that holds one.

    Args:
        city: the city.
        position: any position on Earth.
        place: a name of the position for the error, such as `"the start"`.

    Raises:
        NoStreetView: there is none near; names the nearest one where all are known at once.
    """
    try:
        return relocate(city.streetview, position, place)
    except NoStreetView as fault:
        nearest, choice = _nearest(city, position), f"; {city.choice}" if city.choice else ""
        if nearest:
            metres = distance(position, nearest)
            raise NoStreetView(
                f"{fault}; the nearest is {metres:,.0f} m off, at {nearest}{choice}"
            ) from fault
        if distance(position, city.center) > RADII_M[-1]:
            raise NoStreetView(f"{fault}, such as {city.center}") from fault
        raise


def _nearest(city: City, position: LatLng) -> LatLng | None:
    """Return the position of the panorama nearest to a position, however far; `None` if that is not known."""
    frame = LocalFrame(position)
    drawn = [line for line in city.street_map.lines() if len(line) > 1] if city.street_map else []
    lines = np.array([LineString(_metres(frame, line)) for line in drawn], object)
    near = np.argsort(shapely.distance(lines, Point(0.0, 0.0)))[:_LINES]
    spots = shapely.line_interpolate_point(
        lines[near], shapely.line_locate_point(lines[near], Point(0.0, 0.0))
    )
    beside = [city.streetview.nearest(frame.position(spot.x, spot.y), _BESIDE_M) for spot in spots]
    found = [panorama.position for panorama in beside if panorama]
    return min(found, key=lambda one: distance(one, position), default=None)


def _metres(frame: LocalFrame, positions: Sequence[LatLng]) -> Floats:
    """Return positions in metres of a frame, shape (positions, 2): east and north."""
    lat, lng = np.array(positions, float).T
    return np.column_stack(frame.to_metres(lat, lng))


_TRIES = 24
"""Number of spots drawn at random for one stop or address. Chosen."""
_NEAREST_M, _FARTHEST_M = 80.0, 400.0
"""Least and largest distance in metres from a start to a drawn address. Chosen: as Virlton's errands lie."""
_STREET_M, _HOUSE_M = 60.0, 40.0
"""Most metres from a drawn spot to a panorama, more for late tries at an address; then to an address."""
_DETOUR = 2.5
"""Largest ratio of a way to the straight line, unless all ways are longer. Chosen."""


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
            at = city.streetview.nearest(spot, _STREET_M)
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

    Where no address is known, it is a spot on a street.

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


def _way_m(city: City, one: LatLng, other: LatLng) -> float | None:
    """Return the metres on foot between two positions; `None` if no way leads there."""
    try:
        return walked_route(city.maps, [one, other]).distance
    except (NoRoute, NoStreetView):
        return None
