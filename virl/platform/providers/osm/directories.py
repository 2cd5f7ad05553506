"""Directory boards beside the entrances of houses: the names of what is indoors, upstairs or underground."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import shapely

from virl.geo import Floats, Ints
from virl.platform.providers.offline.life.naming import units
from virl.platform.providers.offline.life.signs import PROUD_M, along_front
from virl.platform.providers.offline.plan import Point, Sign
from virl.platform.providers.osm.entrances import Entrances
from virl.platform.providers.osm.extract import Shapes
from virl.platform.providers.osm.facades import FacadeCells
from virl.platform.providers.osm.fronts import FreeCells, Front, cells_by_house, grow
from virl.platform.providers.osm.houses import Houses

MOST_NAMES = 10  # on one board
LINE_M = (0.34, 0.45)  # least and greatest height of a line; chosen: 0.34 m is 19 pixels at 10 m
LOWEST_M, HIGHEST_M = 0.7, 4.2  # of a board, above the street
BELOW_EAVES_M = 0.3
LETTER_M = 0.20  # width of board for each Latin letter; chosen
MARGIN_M = 0.3  # of board beyond the letters, both sides together
NARROWEST_M = 1.2
BESIDE_M = 0.2  # kept free at both ends of a board
SIDE_DOOR_M = 10.0  # what an entrance that is not the main one counts as farther off; chosen
WIDEST_CELLS = 2
SCHEMES = (0, 3, 10)  # of `render.lettering.SCHEMES`: the strongest contrasts
FACES = 5


@dataclass(frozen=True, slots=True)
class Directory:
    """A board and the places whose names stand on it, from the top."""

    front: Front
    listed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """n places that may stand on directories."""

    ids: Sequence[str]
    names: Sequence[str]
    shapes: Shapes
    house: Ints
    """The house each is in; -1 for none."""


def assign_directories(
    places: Listed, entrances: Entrances, cells: FacadeCells, houses: Houses, free: FreeCells
) -> Iterator[Directory]:
    """The boards of all houses; a house without a free cell on its ground floor has none, or too few.

    `free` learns of the cells that boards have.
    """
    of_house = cells_by_house(cells)
    for house in sorted(set(places.house.tolist()) & of_house.keys()):
        mine = sorted(
            np.flatnonzero(places.house == house).tolist(), key=lambda n: places.names[n].casefold()
        )
        lines = most_lines(float(houses.heights[house]))
        if not lines:
            continue
        boards = -(-len(mine) // lines)
        cost = _cost(of_house[house], places.shapes[mine], entrances, house, cells)
        for part in np.array_split(mine, boards):
            open_ = [cell for cell in of_house[house].tolist() if free.has(cell, 0)]
            if not open_:
                break
            cell = min(open_, key=lambda cell: (cost[cell], cell))
            free.take(cell, 0)
            longest = max(board_width(places.names[number]) for number in part)
            wide = np.linalg.norm(cells.right[cell] - cells.left[cell]) < longest + 2 * BESIDE_M
            front = Front(cell, cell, 0)
            if wide:
                front = grow(front, cells, free, WIDEST_CELLS)
            yield Directory(front, tuple(part.tolist()))


def most_lines(height: float) -> int:
    """How many names a board on a house of this height in metres has at most."""
    return min(MOST_NAMES, int(_room(height) / LINE_M[0]))


def board_width(name: str) -> float:
    """Metres of board that a name wants."""
    return max(units(name) * LETTER_M + MARGIN_M, NARROWEST_M)


def directory_signs(
    board: Directory, places: Listed, cells: FacadeCells, height: float
) -> Mapping[int, Sign]:
    """The line of each listed place.

    Args:
        board: to letter.
        places: of which the board lists some.
        cells: of all façades.
        height: of the house, metres.
    """
    left, right = cells.left[board.front.first], cells.right[board.front.last]
    length = float(np.linalg.norm(right - left))
    width = min(max(board_width(places.names[number]) for number in board.listed), length - 2 * BESIDE_M)
    start = (length - width) / 2
    ends: tuple[Point, Point] = (
        along_front(left, right, start, PROUD_M),
        along_front(left, right, start + width, PROUD_M),
    )
    step = min(LINE_M[1], _room(height) / len(board.listed))
    top = min(LOWEST_M + _room(height), max(2.6, LOWEST_M + step * len(board.listed)))
    rng = Random(places.ids[board.listed[0]])
    variant = rng.choice(SCHEMES) * FACES + rng.randrange(FACES)
    return {
        number: Sign(
            f"{places.ids[number]}-directory", places.ids[number], places.names[number], "", "directory",
            *ends, round(top - (row + 1) * step, 3), round(top - row * step, 3), variant,
        )
        for row, number in enumerate(board.listed)
    }  # fmt: skip


def _room(height: float) -> float:
    """Metres from the lowest to the highest line on a house."""
    return max(0.0, min(HIGHEST_M, height - BELOW_EAVES_M) - LOWEST_M)


def _cost(
    mine: Ints, shapes: Shapes, entrances: Entrances, house: int, cells: FacadeCells
) -> Mapping[int, float]:
    """Metres from each cell to the entrance, or to the places if none is mapped, and to who reads it."""
    doors = np.flatnonzero(entrances.house == house)
    middle = cells.middle[mine]
    if len(doors):
        away = _distances(middle, entrances.xy[doors]) + SIDE_DOOR_M * (1 - entrances.main[doors])
    else:
        away = _distances(middle, shapely.get_coordinates(shapely.point_on_surface(shapes)).mean(0)[None])
    return dict(zip(mine.tolist(), (away.min(axis=1) + cells.distance[mine]).tolist(), strict=True))


def _distances(some: Floats, others: Floats) -> Floats:
    found: Floats = np.linalg.norm(some[:, None] - others[None], axis=2)
    return found
