"""Which place has which sign: on a front, on a board in the open, on a directory, or none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import dist, hypot
from random import Random

import numpy as np
import shapely
from scipy.spatial import cKDTree

from virl.geo.flat import line_strings, near_lines
from virl.geo.globe import Floats, Ints
from virl.osm.extract import OsmExtract, Shapes
from virl.osm.fronts import (
    FROM_POINT_M,
    Claim,
    Entrances,
    FacadeCells,
    FreeCells,
    Front,
    assign_fronts,
    cells_by_house,
    entrances_of,
    facade_cells,
    grow,
    own_houses,
)
from virl.osm.houses import Houses
from virl.osm.places import Pois
from virl.osm.streets import TwinStreets
from virl.pages.fonts import can_letter, face_for, font
from virl.towns.life.signs import (
    BOARD_BOTTOM_M,
    BOARD_HEIGHT_M,
    PROUD_M,
    Lettering,
    along_front,
    hang_signs,
    units,
)
from virl.towns.plan.town_plan import Frontage, Panoramas, Sign, Street

FIRST_FLOOR_M = 4.55
"""Height in metres of the lower edge of signs on the first floor."""
CORNICE_M = 0.35
"""Height in metres of the cornice at the top of a house, where it would hide a sign."""
SHOPFRONT_M = 3.9
"""Least height in metres of a house with a shop front: a lower one has a sign alone."""
WIDE_M = 4.0
"""Width in metres above which a front may have a blade, a sign that juts out over the pavement; chosen."""

# Boards in the open.
_READ_FROM_M = 30.0
"""Largest distance in metres to the panorama that a board is turned to; chosen."""
_BESIDE_ROAD_M = 0.5
"""Least metres from a board to a carriageway."""
_PATH_M = 0.75
"""Half the width in metres that every way is taken to have at least."""
_FROM_HOUSE_M = 0.7
"""Least distance in metres from a house to a board and to the line of sight to the board."""
_MOVED_M = (0.0, 2.0, 4.0, 6.0, 8.0, 11.0, 14.0)
"""Distances in metres from a mapped place at which a board is tried; chosen.
First towards the panorama and away from it, then to both sides."""
_AT_EYE_M = 0.1
"""Distance in metres below which the direction from a panorama to a place counts as unknown."""
_POST_M = 0.4
"""Metres at each end of a board that are hidden by its post."""
_BOARD_NARROWEST_M, _BOARD_WIDEST_M = 1.6, 5.0
"""Least and largest width in metres of a board in the open."""
_BOARD_LINE_M = 0.35
"""Largest height in metres of the letters on a board with two lines; chosen."""
_LINE_STEP = 1.18
"""Distance between two lines of text as a multiple of the letters' height, as in `render.storefronts`."""
_LETTERED = 0.86
"""Share of a board's height that its letters fill, [0, 1]."""
_MEASURED_PX = 50
"""Font size in pixels at which the proportions of a line of text are measured."""
_APART_M = 0.3
"""Least gap in metres between two boards."""
_FROM_CAMERA_M = 4.0
"""Least distance in metres from a board to any panorama; chosen: nearer, it fills the view."""

# Directories.
MOST_NAMES = 10
"""Largest number of names on one directory board."""
_DIRECTORY_LINE_M = (0.34, 0.45)
"""Least and largest height in metres of a directory's line; chosen: 0.34 m is 19 pixels at 10 m."""
_LOWEST_M, _HIGHEST_M = 0.7, 4.2
"""Height in metres above the street of a directory's lower edge, and largest height of its upper edge."""
_BELOW_EAVES_M = 0.3
"""Least distance in metres from a directory's upper edge to the top of the house's walls."""
_LETTER_M = 0.20
"""Width of board in metres for each Latin letter; chosen."""
_MARGIN_M = 0.3
"""Width of board in metres beyond the letters, both sides together."""
_DIRECTORY_NARROWEST_M = 1.2
"""Least width in metres of a directory board."""
_BESIDE_M = 0.2
"""Width of wall in metres kept free at each end of a directory."""
_SIDE_DOOR_M = 10.0
"""Metres added to the cost of a directory's spot beside an entrance that is not a main one; chosen."""
_WIDEST_CELLS = 2
"""Largest width of a directory in wall cells."""
_SCHEMES = (0, 3, 10)  # of `render.storefronts.SCHEMES`: the strongest contrasts
"""Indices of the colour schemes that directories may have."""
_FACES = 5
"""Number of font faces among which a sign's `variant` chooses."""


class BoardGround:
    """The ground where boards can stand: off roads and houses, in sight of a panorama."""

    def __init__(self, houses: Houses, streets: Sequence[Street], panoramas: Panoramas) -> None:
        """Build search trees of a town's houses, streets and panoramas, with no board placed yet."""
        self._houses = shapely.STRtree(houses.footprints)
        self._lines = shapely.STRtree(line_strings(street.line for street in streets))
        self._half = np.array([max(street.road / 2, _PATH_M) for street in streets])
        self._panoramas = panoramas.xy
        self._near = cKDTree(panoramas.xy)
        self._eyes = shapely.STRtree(np.asarray(shapely.points(panoramas.xy)))
        self._taken: list[tuple[float, float, float]] = []

    def stand(self, place_id: str, name: str, shape: shapely.Geometry, variant: int) -> Sign | None:
        """Return a board near a place, turned to the nearest panorama; `None` where none fits or is near.

        Args:
            place_id: of the place.
            name: text on the board.
            shape: point or area of the place, metres.
            variant: number that chooses font and colours.
        """
        size = board_size(name, variant)
        middle = self._place_spot(shape)
        metres, panorama = self._near.query(middle, distance_upper_bound=_READ_FROM_M)
        if not np.isfinite(metres):
            return None
        eye = self._panoramas[panorama]
        toward = (eye - middle) / metres if metres > _AT_EYE_M else np.array((0.0, 1.0))
        for way in (toward, np.array((-toward[1], toward[0]))):
            # The nearest free spot to where the place is mapped.
            for away in sorted({step for moved in _MOVED_M for step in (moved, -moved)}, key=abs):
                spot = middle + away * way
                if self._is_free(spot, eye, size[0]):
                    self._taken.append((float(spot[0]), float(spot[1]), size[0]))
                    return _board(place_id, name, size, spot, eye, variant)
        return None

    def _place_spot(self, shape: shapely.Geometry) -> Floats:
        """Return a place's (east, north) in metres; for a far area, its point nearest to a panorama."""
        middle = shapely.point_on_surface(shape)
        xy = np.array((middle.x, middle.y))
        if self._near.query(xy)[0] <= _READ_FROM_M or not shapely.area(shape):
            return xy
        # The middle of a park may be far from every street: people pass its edge.
        eye = shapely.points(self._panoramas[self._eyes.nearest(shape)])
        gate = shapely.get_coordinates(shapely.shortest_line(shape, eye))[0]
        return np.asarray(gate, float)

    def _is_free(self, spot: Floats, eye: Floats, width: float) -> bool:
        """Return whether a board `width` m wide fits at `spot`, seen from `eye`; both (east, north) in m."""
        if self._near.query(spot)[0] < _FROM_CAMERA_M:
            return False
        apart = [hypot(spot[0] - x, spot[1] - y) - (width + other) / 2 for x, y, other in self._taken]
        if min(apart, default=_APART_M) < _APART_M:
            return False
        sight = shapely.LineString([spot, eye])
        if len(self._houses.query(sight, predicate="dwithin", distance=_FROM_HOUSE_M)):
            return False
        return not near_lines(spot[None], self._lines, self._half, _BESIDE_ROAD_M).any()


@dataclass(frozen=True, slots=True)
class Signing:
    """The shop fronts of a town, and the signs of each place."""

    frontages: tuple[Frontage, ...]
    """All shop fronts of the town."""
    frontage: dict[int, int]
    """Index in `frontages` by the place's index; a place without a front is missing."""
    signs: dict[int, tuple[Sign, ...]]
    """Signs by the place's index; a place without any is missing."""


def sign_places(extract: OsmExtract, houses: Houses, streets: TwinStreets, pois: Pois) -> Signing:
    """Return the shop fronts and signs of all places that can have one.

    A place in the open has a board on posts, or the front of a house at most 15 m away. What is inside, and
    what finds no front on its house, stands on a directory.

    Args:
        extract: with the mapped entrances.
        houses: of the town.
        streets: with their panoramas.
        pois: the places.
    """
    cells = facade_cells(houses, streets.panoramas)
    entrances = entrances_of(extract, houses)
    fronted = np.array([number for number in range(len(pois.ids)) if pois.has_front(number)], np.int64)
    inside = np.array([pois.is_inside(number) for number in fronted.tolist()], bool)
    own = own_houses(pois.shapes[fronted], houses)
    near = own_houses(pois.shapes[fronted], houses, FROM_POINT_M)
    free = fronted[~inside & (own < 0)]
    signs = _boards(pois, free, BoardGround(houses, streets.streets, streets.panoramas))
    unsigned = np.array([number not in signs for number in fronted.tolist()], bool)
    wanting = fronted[~inside & unsigned]
    house = near[~inside & unsigned]
    cells_left = FreeCells(cells)
    names = [streets.streets[int(number)].name for number in streets.panoramas.street[cells.panorama]]
    claims = [_claim(pois, number, entrances) for number in wanting.tolist()]
    assigned = assign_fronts(claims, house, cells, cells_left, np.array(names, str), houses.heights)
    fronts = dict(zip(wanting.tolist(), assigned, strict=True))
    lacking = np.array([front is None for front in fronts.values()], bool)
    listed = np.concatenate([wanting[lacking], fronted[inside]])
    # After the fronts: a list of names takes what the shops leave free.
    signs |= _directories(
        pois, listed, np.concatenate([house[lacking], near[inside]]), entrances, cells, houses, cells_left
    )
    frontages: list[Frontage] = []
    frontage: dict[int, int] = {}
    for number, front in fronts.items():
        if front is not None:
            # Last of all, so that no shop widens over a cell that another place or a directory needs.
            grown = grow(front, cells, cells_left)
            frontage[number] = len(frontages)
            frontages.append(_frontage(len(frontages), grown, cells, houses, streets))
            height = float(houses.heights[cells.house[grown.first]])
            signs[number] = _signs(pois, number, frontages[-1], grown.floor, height)
    return Signing(tuple(frontages), frontage, signs)


def _claim(pois: Pois, number: int, entrances: Entrances) -> Claim:
    """Return the wish for a front of the place with index `number`: its shape, street and entrance."""
    shape, street = pois.shapes[number], pois.tags[number].get("addr:street", "")
    if not shapely.area(shape):
        return Claim(shape, street)
    return Claim(shape, street, entrances.of_area(shape, shapely.point_on_surface(shape)))


def _boards(pois: Pois, open_places: Ints, ground: BoardGround) -> dict[int, tuple[Sign, ...]]:
    """Return, by place index, the board of each place in `open_places` (indices) that has room for one."""
    boards = {
        number: ground.stand(place_id, pois.name(number), pois.shapes[number], variant(place_id))
        for number, place_id in ((number, pois.ids[number]) for number in open_places.tolist())
        if can_letter(pois.name(number))
    }
    return {number: (board,) for number, board in boards.items() if board}


def _directories(
    pois: Pois, listed: Ints, house: Ints, entrances: Entrances, cells: FacadeCells, houses: Houses,
    free: FreeCells,
) -> dict[int, tuple[Sign, ...]]:  # fmt: skip
    """Return, by place index, the directory line of each place in `listed` (indices) that gets one.

    `house` has the index of the house that each of them is in, -1 for none; in `free` the cells that
    directories cover are marked as taken.
    """
    written = np.array([can_letter(pois.name(number)) for number in listed.tolist()], bool)
    listed, house = listed[written], house[written]
    of_house = cells_by_house(cells)
    signs: dict[int, tuple[Sign, ...]] = {}
    for number in sorted(set(house.tolist()) & of_house.keys()):
        places = sorted(listed[house == number].tolist(), key=lambda place: pois.name(place).casefold())
        height = float(houses.heights[number])
        lines = most_lines(height)
        if not lines:
            continue
        cost = _cost(of_house[number], pois.shapes[places], entrances, number, cells)
        # Boards of about one length, rather than full ones and a short one.
        for part in np.array_split(places, -(-len(places) // lines)):
            open_ = [cell for cell in of_house[number].tolist() if free.has(cell, 0)]
            if not open_:
                break
            cell = min(open_, key=lambda cell: (cost[cell], cell))
            free.take(cell, 0)
            longest = max(_directory_width(pois.name(place)) for place in part)
            front = Front(cell, cell, 0)
            if np.linalg.norm(cells.right[cell] - cells.left[cell]) < longest + 2 * _BESIDE_M:
                front = grow(front, cells, free, _WIDEST_CELLS)
            signs |= _directory_signs(front, pois, part.tolist(), cells, height)
    return signs


def _frontage(
    number: int, front: Front, cells: FacadeCells, houses: Houses, streets: TwinStreets
) -> Frontage:
    """Return a front, a range of wall cells, as the plan's frontage with the index `number`."""
    left, right = cells.left[front.first], cells.right[front.last]
    street = int(streets.panoramas.street[cells.panorama[front.first]])
    house = int(cells.house[front.first])
    has_shopfront = front.floor == 0 and houses.heights[house] >= SHOPFRONT_M
    ends = tuple(left.tolist()), tuple(right.tolist())
    # House number and busyness count in made towns only.
    return Frontage(number, house if has_shopfront else None, street, *ends, 0, 1.0)


def _signs(pois: Pois, number: int, frontage: Frontage, floor: int, height: float) -> tuple[Sign, ...]:
    """Return place `number`'s signs on a front on floor 0 or 1 of a house `height` metres high.

    None for a name that no font has.
    """
    name = pois.name(number)
    if not can_letter(name):
        return ()
    # By the place's id, so that a sign stays the same when other places are added to the map.
    rng = Random(pois.ids[number])
    lettering = Lettering(name, "", name.split()[0][:12])
    fascia, *blades = hang_signs(pois.ids[number], lettering, frontage.left, frontage.right, rng)
    if floor:
        return (_move_up(fascia, FIRST_FLOOR_M - fascia.bottom),)
    # Only downwards: on a low house the fascia has to stay below the eaves.
    fascia = _move_up(fascia, min(0.0, height - CORNICE_M - fascia.top))
    wide = dist(frontage.left, frontage.right) > WIDE_M
    return (fascia, *(blade for blade in blades if wide and blade.top <= height - CORNICE_M))


def _move_up(sign: Sign, up: float) -> Sign:
    """Return a sign moved up by `up` metres."""
    return replace(sign, bottom=round(sign.bottom + up, 2), top=round(sign.top + up, 2))


def variant(osm_id: str) -> int:
    """Return a number, 0 to 65535, drawn from an object's id: equal ids look equal."""
    return Random(osm_id).randrange(1 << 16)


def _board(
    place_id: str, name: str, size: tuple[float, float], spot: Floats, eye: Floats, variant: int
) -> Sign:
    """Return a board of `size` (width, height) with its middle at `spot`, facing `eye`; all in metres."""
    toward = (eye - spot) / np.linalg.norm(eye - spot)
    along = np.array((-toward[1], toward[0])) * size[0] / 2
    left, right = spot - along, spot + along
    (x1, y1), (x2, y2) = ([round(value, 3) for value in end.tolist()] for end in (left, right))
    top = round(BOARD_BOTTOM_M + size[1], 2)
    return Sign(
        f"{place_id}-board", place_id, name, "", "board", (x1, y1), (x2, y2), BOARD_BOTTOM_M, top, variant
    )


def board_size(name: str, variant: int) -> tuple[float, float]:
    """Return (width, height) in metres of a board for a name, in one or two lines of the `variant`'s font.

    A name that is too long for one line of the widest board has room for two, if it has more words than one.
    """
    face, words = face_for(name, variant), name.split()
    room, ratio = _BOARD_WIDEST_M - 2 * _POST_M, _ratio(name, face)
    if ratio * _LETTERED * BOARD_HEIGHT_M <= room:
        return max(_BOARD_NARROWEST_M, ratio * _LETTERED * BOARD_HEIGHT_M + 2 * _POST_M), BOARD_HEIGHT_M
    if len(words) == 1:
        return _BOARD_WIDEST_M, room / ratio / _LETTERED
    ratio = min(
        max(_ratio(" ".join(words[:cut]), face), _ratio(" ".join(words[cut:]), face))
        for cut in range(1, len(words))
    )
    letters = min(_BOARD_LINE_M, room / ratio)
    return max(_BOARD_NARROWEST_M, ratio * letters + 2 * _POST_M), 2 * _LINE_STEP * letters / _LETTERED


def _ratio(text: str, face: str) -> float:
    """Return the width of a line of text in a font face, divided by its height."""
    left, top, right, bottom = font(face, _MEASURED_PX).getbbox(text)
    return float(right - left) / max(bottom - top, 1)


def most_lines(height: float) -> int:
    """Return the largest number of names on a directory of a house `height` metres high."""
    return min(MOST_NAMES, int(_room_height(height) / _DIRECTORY_LINE_M[0]))


def _directory_width(name: str) -> float:
    """Return the width of board in metres that a name needs on a directory."""
    return max(units(name) * _LETTER_M + _MARGIN_M, _DIRECTORY_NARROWEST_M)


def _directory_signs(
    front: Front, pois: Pois, places: Sequence[int], cells: FacadeCells, height: float
) -> dict[int, tuple[Sign, ...]]:
    """Return, by place index, the line of each of `places` on a directory over a front, from the top down.

    `height` is that of the house in metres.
    """
    left, right = cells.left[front.first], cells.right[front.last]
    length = float(np.linalg.norm(right - left))
    width = min(max(_directory_width(pois.name(place)) for place in places), length - 2 * _BESIDE_M)
    start = (length - width) / 2
    ends = along_front(left, right, start, PROUD_M), along_front(left, right, start + width, PROUD_M)
    step = min(_DIRECTORY_LINE_M[1], _room_height(height) / len(places))
    top = min(_LOWEST_M + _room_height(height), max(2.6, _LOWEST_M + step * len(places)))
    rng = Random(pois.ids[places[0]])
    variant = rng.choice(_SCHEMES) * _FACES + rng.randrange(_FACES)
    signs: dict[int, tuple[Sign, ...]] = {}
    for row, place in enumerate(places):
        bottom, upper = round(top - (row + 1) * step, 3), round(top - row * step, 3)
        place_id, name = pois.ids[place], pois.name(place)
        signs[place] = (
            Sign(f"{place_id}-directory", place_id, name, "", "directory", *ends, bottom, upper, variant),
        )
    return signs


def _room_height(height: float) -> float:
    """Return the metres of wall that lines of a directory may take on a house `height` metres high."""
    return max(0.0, min(_HIGHEST_M, height - _BELOW_EAVES_M) - _LOWEST_M)


def _cost(
    own_cells: Ints, shapes: Shapes, entrances: Entrances, house: int, cells: FacadeCells
) -> Mapping[int, float]:
    """Return by cell of a house a directory's cost: metres to an entrance and a panorama, more at side doors.

    Without a mapped entrance the middle of the places' `shapes` stands for it.
    """
    doors = np.flatnonzero(entrances.house == house)
    if len(doors):
        goals, extra = entrances.xy[doors], _SIDE_DOOR_M * (1 - entrances.main[doors])
    else:
        goals, extra = shapely.get_coordinates(shapely.point_on_surface(shapes)).mean(0)[None], np.zeros(1)
    away = (np.linalg.norm(cells.middle[own_cells][:, None] - goals, axis=2) + extra).min(axis=1)
    return dict(zip(own_cells.tolist(), (away + cells.distance[own_cells]).tolist(), strict=True))
