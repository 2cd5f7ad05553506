"""Starts of walks: the liveliest spot of a town, and addresses and stops drawn at random around a start."""

from collections.abc import Collection
from dataclasses import dataclass
from random import Random

import numpy as np
from scipy.spatial import cKDTree
from shapely import LineString, Point

from virl.errors import NoRoute, NoStreetView, NotFound
from virl.geo.globe import LatLng, LocalFrame, destination, distance
from virl.platform.city.city import City
from virl.platform.city.interchange import in_metres, streets_at
from virl.platform.city.locate import locate
from virl.platform.city.maps import Address, ReverseMaps, walked_route
from virl.platform.city.streetview import RADII_M, Panorama, relocate

PART_M = 600.0
"""Radius in metres of the part of town around a spot whose places count: 15 minutes' walk across."""
SPOT_M = 100.0
"""Radius in metres within which places count as at the square or shopping street around a spot."""
_FRONT_M = 50.0
"""Largest distance in metres from a place to a panorama for the place to count as in front of it."""
_TRIED = 400
"""Largest number of places tried in search of one whose street has a name; chosen."""
_PATHS = frozenset({"footway", "path", "steps", "corridor", "track", "bridleway"})
"""Values of OpenStreetMap's `highway` that are paths, not streets."""
_LINES, _BESIDE_M = 12, 200.0
"""Number of streets tried, nearest first, and metres around each where a panorama is sought; chosen."""


@dataclass(frozen=True, slots=True)
class LivelySpot:
    """A spot on the street in the liveliest part of a town."""

    panorama: Panorama
    street: str
    """Name of the street there; empty where it is not known."""
    places: int
    """Number of shops and places within `PART_M` metres of the spot."""

    def __str__(self) -> str:
        """Return the spot in words: street or position, and number of places around."""
        where = self.street or str(self.panorama.position)
        places = "1 shop or place" if self.places == 1 else f"{self.places:,} shops and places"
        return f"{where}, the liveliest part: {places} within {PART_M:g} m"


def liveliest(city: City) -> LivelySpot | None:
    """Return the street spot with the most shops and places around; `None` where these are not all known.

    The part with the most of them within `PART_M` counts first, then the street or square in it with the most
    within `SPOT_M`. Footpaths and passages, and streets without a name, come last.
    """
    if not city.life:
        return None
    frame = LocalFrame(city.life[0])
    xy = in_metres(frame, city.life)
    tree = cKDTree(xy)
    around = tree.query_ball_point(xy, PART_M, return_length=True)
    part = np.array(tree.query_ball_point(xy[around.argmax()], PART_M))
    beside = tree.query_ball_point(xy[part], SPOT_M, return_length=True)
    order = part[np.lexsort((part, -around[part], -beside))]
    fronts = (city.streetview.nearest(city.life[place], _FRONT_M) for place in order.tolist()[:_TRIED])
    panoramas = [panorama for panorama in fronts if panorama]
    if not panoramas:
        return None
    streets = streets_at([panorama.position for panorama in panoramas], city.mapped_streets)
    # Streets with a name first, then paths with one, then all others.
    ranks = [street.kind in _PATHS if street and street.name else 2 for street in streets]
    best = ranks.index(min(ranks))
    panorama, street = panoramas[best], streets[best]
    count = len(tree.query_ball_point(in_metres(frame, [panorama.position])[0], PART_M))
    return LivelySpot(panorama, street.name if street else "", count)


def start_near(city: City, position: LatLng, place: str) -> Panorama:
    """Return the panorama nearest to a position, searched for up to 800 m off; errors call it `place`.

    Args:
        city: city whose street view is asked.
        position: any position on Earth.
        place: words for the position in the error, such as `"the start"`.

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
    """Return the position of a panorama near the closest streets, however far; `None` if none is found."""
    frame, origin = LocalFrame(position), Point(0.0, 0.0)
    lines = [LineString(in_metres(frame, line)) for line in city.street_lines if len(line) > 1]
    # The panorama nearest to the nearest street need not be the nearest of all, so several streets are tried.
    near = sorted(lines, key=origin.distance)[:_LINES]
    spots = (line.interpolate(line.project(origin)) for line in near)
    beside = [city.streetview.nearest(frame.position(spot.x, spot.y), _BESIDE_M) for spot in spots]
    found = [panorama.position for panorama in beside if panorama]
    return min(found, key=lambda one: distance(one, position), default=None)


_TRIES = 24
"""Largest number of spots drawn at random for one stop or address. Chosen."""
_NEAREST_M, _FARTHEST_M = 80.0, 400.0
"""Least and largest distance in metres from a start to a drawn address. Chosen: as Virlton's errands lie."""
_STREET_M, _HOUSE_M = 60.0, 40.0
"""Radius in metres of the search for a panorama at a drawn spot, and for an address at a panorama."""
_DETOUR = 2.5
"""Largest ratio of a way to the straight line, unless all ways are longer. Chosen."""


def draw_tour(city: City, start: LatLng, stops: int, leg_m: float, random: Random) -> list[LatLng]:
    """Return up to `stops` positions of a walk from `start`, each about `leg_m` metres on foot from the last.

    Args:
        city: city with street view and ways on foot.
        start: position where the tour starts.
        stops: number of stops; fewer, or none, are returned where no way leads on.
        leg_m: preferred metres of way between two stops.
        random: source of random numbers.
    """
    bearing, turn = random.uniform(0.0, 360.0), 360.0 / (stops + 1)
    tour = [start]
    for _ in range(stops):
        found: list[tuple[float, LatLng]] = []
        for number in range(_TRIES):
            # The first try lies straight ahead, later ones ever farther to the sides.
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
    """Return an address 80 to 400 m from a start, not in `taken`; `None` if none is found with a way to it.

    Where no address is known, it is a spot on a street.

    Args:
        city: city with street view and ways on foot.
        start: position 80 to 400 m from which the address is sought.
        taken: texts of addresses that are not returned.
        random: source of random numbers.
    """
    spots: list[LatLng] = []
    for number in range(_TRIES):
        metres = random.uniform(_NEAREST_M, _FARTHEST_M)
        spot = destination(start, random.uniform(0.0, 360.0), metres)
        # Where streets are few, panoramas are looked for ever farther from the spot.
        panorama = city.streetview.nearest(spot, _STREET_M * (1.0 + number / 4.0))
        on_foot = (panorama and _way_m(city, start, panorama.position)) or 0.0
        if not panorama or not _NEAREST_M / 2 <= on_foot <= _FARTHEST_M * _DETOUR:
            continue
        at = panorama.position
        address = _address_at(city, at)
        if address and address.text not in taken:
            return address
        if address is None and spot_name(city, at) not in taken:
            spots.append(at)
    return Address(spot_name(city, spots[0]), spots[0]) if spots else None


def is_there(city: City, text: str, near: LatLng) -> bool:
    """Return whether a text means an address or a place, sought around `near`, within 50 m of street view.

    Args:
        city: city whose addresses and places are searched.
        text: address, name of a place or kind of place.
        near: position around which places are searched.
    """
    try:
        position = locate(city, text, near)[1]
    except NotFound:
        return False
    return city.streetview.nearest(position) is not None


def spot_name(city: City, position: LatLng) -> str:
    """Return the address within 40 m of a position as text; else its street, if any, and the position."""
    if address := _address_at(city, position):
        return address.text
    street = streets_at([position], city.mapped_streets)[0]
    return f"{street.name} at {position}" if street and street.name else str(position)


def _address_at(city: City, position: LatLng) -> Address | None:
    """Return the nearest address within `_HOUSE_M` metres of a position; `None` if the maps know none."""
    return city.maps.address_at(position, _HOUSE_M) if isinstance(city.maps, ReverseMaps) else None


def _way_m(city: City, one: LatLng, other: LatLng) -> float | None:
    """Return the metres on foot from one position to the other; `None` if no way leads there."""
    try:
        return walked_route(city.maps, [one, other]).distance
    except (NoRoute, NoStreetView):
        return None
