"""The liveliest part of a town, where a stranger starts, and the panorama nearest to a position."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from scipy.spatial import cKDTree
from shapely import LineString, Point

from virl.errors import NoStreetView
from virl.geo.globe import Floats, LatLng, LocalFrame, distance
from virl.platform.city.city import City
from virl.platform.city.inventory import MappedStreet
from virl.platform.city.networks import streets_at
from virl.platform.city.relocate import RADII_M, relocate
from virl.platform.city.streetview import Panorama

PART_M = 600.0
"""Metres around a spot within which places count as its part of the town: ten minutes' walk across."""
SPOT_M = 100.0
"""Metres around a spot within which places count as its square or shopping street."""
_FRONT_M = 50.0
"""Metres from a place to the panorama before it at most."""
_TRIED = 400
"""Most places of a part that are tried for a street with a name; chosen."""
_PATHS = frozenset({"footway", "path", "steps", "corridor", "track", "bridleway"})
"""Values of OpenStreetMap's `highway` that are paths, not streets."""
_LINES, _BESIDE_M = 12, 200.0  # streets on which the nearest panorama may be, and how far along; chosen


@dataclass(frozen=True, slots=True)
class LivelySpot:
    """A spot on the street in the liveliest part of a town."""

    panorama: Panorama
    street: str
    """Name of its street; empty where that is not known."""
    places: int
    """Number of shops and places within `PART_M` metres of it."""

    def __str__(self) -> str:
        where = self.street or str(self.panorama.position)
        places = "1 shop or place" if self.places == 1 else f"{self.places:,} shops and places"
        return f"{where}, the liveliest part: {places} within {PART_M:g} m"


def liveliest(city: City) -> LivelySpot | None:
    """Return a start among the most shops and places of a town; `None` where they are not all known.

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
    """Return 0 for a street with a name, 1 for a path with a name, 2 for others: low ones come first."""
    if street is None or not street.name:
        return 2
    return int(street.kind in _PATHS)


def start_near(city: City, position: LatLng, place: str) -> Panorama:
    """Return the panorama nearest to a position, within the first of ever wider radii that holds one.

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
