"""Boards on posts: signs of places that are in no house, such as kiosks in the open and filling stations."""

from collections.abc import Sequence
from math import hypot

import numpy as np
import shapely
from scipy.spatial import cKDTree

from virl.geo import Floats
from virl.platform.providers.offline.life.signs import BOARD_BOTTOM_M, BOARD_HEIGHT_M
from virl.platform.providers.offline.plan import Panoramas, Sign, Street
from virl.platform.providers.offline.render.fonts import face_for, font
from virl.platform.providers.osm.houses import Houses

READ_FROM_M = 30.0  # farthest panorama that a board is turned to; chosen
BESIDE_ROAD_M = 0.5  # a board's least distance from a carriageway
PATH_M = 0.75  # least half width of any way
FROM_HOUSE_M = 0.7
MOVED_M = (0.0, 2.0, 4.0, 6.0, 8.0, 11.0, 14.0)
"""How far from where the place is mapped a board is tried, first towards the panorama and away from it, then
to both sides; chosen."""
AT_EYE_M = 0.1  # a place so near to a panorama lies in no direction from it
POST_M = 0.4  # of a board at each end, where its post stands
NARROWEST_M, WIDEST_M = 1.6, 5.0
LINE_M = 0.35  # greatest height of the letters of one of two lines; chosen
LINE_STEP = 1.18  # from line to line, in heights of letters, as `render.lettering` sets them
LETTERED = 0.86  # share of a board's height that its letters fill
MEASURED_PX = 50
APART_M = 0.3  # between two boards
FROM_CAMERA_M = 4.0  # from every panorama; chosen: nearer, a board fills the view


class BoardGround:
    """Where boards may stand: on no carriageway, in no house, and in sight of a panorama.

    Args:
        houses: of the town.
        streets: of the town.
        panoramas: from which boards are read.
    """

    def __init__(self, houses: Houses, streets: Sequence[Street], panoramas: Panoramas) -> None:
        self._houses = shapely.STRtree(houses.footprints)
        self._lines = shapely.STRtree([shapely.LineString(street.line) for street in streets])
        self._half = np.array([max(street.road / 2, PATH_M) for street in streets])
        self._panoramas = panoramas.xy
        self._near = cKDTree(panoramas.xy)
        self._eyes = shapely.STRtree(np.asarray(shapely.points(panoramas.xy)))
        self._taken: list[tuple[float, float, float]] = []

    def stand(self, place_id: str, name: str, shape: shapely.Geometry, variant: int) -> Sign | None:
        """A board near a place, turned to the nearest panorama; `None` where there is no room."""
        size = board_size(name, variant)
        middle = self._mapped(shape)
        metres, panorama = self._near.query(middle, distance_upper_bound=READ_FROM_M)
        if not np.isfinite(metres):
            return None
        eye = self._panoramas[panorama]
        toward = (eye - middle) / metres if metres > AT_EYE_M else np.array((0.0, 1.0))
        for way in (toward, np.array((-toward[1], toward[0]))):
            for away in sorted({step for moved in MOVED_M for step in (moved, -moved)}, key=abs):
                spot = middle + away * way
                if self._is_free(spot, eye, size[0]):
                    self._taken.append((float(spot[0]), float(spot[1]), size[0]))
                    return _board(place_id, name, size, spot, eye, variant)
        return None

    def _mapped(self, shape: shapely.Geometry) -> Floats:
        """Where a place is mapped; of an area without a panorama at its middle, the spot nearest to one."""
        middle = shapely.point_on_surface(shape)
        xy = np.array((middle.x, middle.y))
        if self._near.query(xy)[0] <= READ_FROM_M or not shapely.area(shape):
            return xy
        eye = shapely.points(self._panoramas[self._eyes.nearest(shape)])
        gate = shapely.get_coordinates(shapely.shortest_line(shape, eye))[0]
        return np.asarray(gate, float)

    def _is_free(self, spot: Floats, eye: Floats, width: float) -> bool:
        point = shapely.Point(spot)
        if self._near.query(spot)[0] < FROM_CAMERA_M:
            return False
        apart = [hypot(spot[0] - x, spot[1] - y) - (width + other) / 2 for x, y, other in self._taken]
        if min(apart, default=APART_M) < APART_M:
            return False
        sight = shapely.LineString([spot, eye])
        if len(self._houses.query(sight, predicate="dwithin", distance=FROM_HOUSE_M)):
            return False
        around = self._lines.query(point, predicate="dwithin", distance=float(self._half.max(initial=0)) + 1)
        lines = self._lines.geometries[around]
        return bool((shapely.distance(point, lines) > self._half[around] + BESIDE_ROAD_M).all())


def _board(
    place_id: str, name: str, size: tuple[float, float], spot: Floats, eye: Floats, variant: int
) -> Sign:
    """A board of a width and height with its middle on a spot, its front towards an eye."""
    toward = (eye - spot) / np.linalg.norm(eye - spot)
    along = np.array((-toward[1], toward[0])) * size[0] / 2
    left, right = spot - along, spot + along
    ends = (
        (round(float(left[0]), 3), round(float(left[1]), 3)),
        (round(float(right[0]), 3), round(float(right[1]), 3)),
    )
    top = round(BOARD_BOTTOM_M + size[1], 2)
    return Sign(f"{place_id}-board", place_id, name, "", "board", *ends, BOARD_BOTTOM_M, top, variant)


def board_size(name: str, variant: int) -> tuple[float, float]:
    """Width and height in metres of a board on which the letters keep clear of the posts.

    A name that is too long for one line of the widest board has room for two, if it has more words than one.
    """
    face, words = face_for(name, variant), name.split()
    room, ratio = WIDEST_M - 2 * POST_M, _ratio(name, face)
    if ratio * LETTERED * BOARD_HEIGHT_M <= room:
        return max(NARROWEST_M, ratio * LETTERED * BOARD_HEIGHT_M + 2 * POST_M), BOARD_HEIGHT_M
    if len(words) == 1:
        return WIDEST_M, room / ratio / LETTERED
    ratio = min(
        max(_ratio(" ".join(words[:cut]), face), _ratio(" ".join(words[cut:]), face))
        for cut in range(1, len(words))
    )
    letters = min(LINE_M, room / ratio)
    return max(NARROWEST_M, ratio * letters + 2 * POST_M), 2 * LINE_STEP * letters / LETTERED


def _ratio(text: str, face: str) -> float:
    """Width of a line over its height."""
    left, top, right, bottom = font(face, MEASURED_PX).getbbox(text)
    return float(right - left) / max(bottom - top, 1)
