"""Which place has which sign: on a front, on a board in the open, on a directory, or none."""

from dataclasses import dataclass, replace
from math import dist
from random import Random

import numpy as np
import shapely

from virl.geo import Ints
from virl.platform.providers.offline.life.naming import Lettering
from virl.platform.providers.offline.life.signs import hang_signs
from virl.platform.providers.offline.plan import Frontage, Sign
from virl.platform.providers.offline.render.fonts import can_letter
from virl.platform.providers.osm.boards import BoardGround
from virl.platform.providers.osm.directories import Listed, assign_directories, directory_signs
from virl.platform.providers.osm.entrances import Entrances, entrances_of
from virl.platform.providers.osm.extract import OsmExtract
from virl.platform.providers.osm.facades import FacadeCells, facade_cells
from virl.platform.providers.osm.fronts import (
    FROM_POINT_M,
    Claim,
    FreeCells,
    Front,
    assign_fronts,
    grow,
    own_houses,
)
from virl.platform.providers.osm.houses import Houses
from virl.platform.providers.osm.pois import Pois
from virl.platform.providers.osm.streets import TwinStreets

FIRST_FLOOR_M = 4.55  # bottom of a sign on the floor above, over the string course
CORNICE_M = 0.35  # below the top of a house, where its cornice would hide a sign
SHOPFRONT_M = 3.9  # a lower house has a sign without a shop front; one is 4.05 m tall
WIDE_M = 4.0  # a narrower front has no blade; chosen


@dataclass(frozen=True, slots=True)
class Signing:
    """The signs of places by their number, and the fronts."""

    frontages: tuple[Frontage, ...]
    frontage: dict[int, int]
    """Which of them a place has; a place that is missing has none."""
    signs: dict[int, tuple[Sign, ...]]
    """A place that is missing has none."""


def sign_places(extract: OsmExtract, houses: Houses, streets: TwinStreets, pois: Pois) -> Signing:
    """Give places their fronts and signs.

    A place in the open has a board on posts, or the front of a house at most 15 m away. What is inside, and
    what finds no front on its house, stands on a directory.
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
    fronts = _fronts(pois, wanting, house, streets, cells, cells_left, houses, entrances)
    lacking = np.array([front is None for front in fronts.values()], bool)
    listed = np.concatenate([wanting[lacking], fronted[inside]])
    signs |= _directories(
        pois, listed, np.concatenate([house[lacking], near[inside]]), entrances, cells, houses, cells_left
    )
    frontages: list[Frontage] = []
    frontage: dict[int, int] = {}
    for number, front in fronts.items():
        if front is not None:
            grown = grow(front, cells, cells_left)
            frontage[number] = len(frontages)
            frontages.append(_frontage(len(frontages), grown, cells, houses, streets))
            height = float(houses.heights[cells.house[grown.first]])
            signs[number] = _signs(pois, number, frontages[-1], grown.floor, height)
    return Signing(tuple(frontages), frontage, signs)


def _fronts(
    pois: Pois, wanting: Ints, house: Ints, streets: TwinStreets, cells: FacadeCells, free: FreeCells,
    houses: Houses, entrances: Entrances,
) -> dict[int, Front | None]:  # fmt: skip
    names = [streets.streets[int(number)].name for number in streets.panoramas.street[cells.panorama]]
    claims = [_claim(pois, number, entrances) for number in wanting.tolist()]
    fronts = assign_fronts(claims, house, cells, free, np.array(names, str), houses.heights)
    return dict(zip(wanting.tolist(), fronts, strict=True))


def _claim(pois: Pois, number: int, entrances: Entrances) -> Claim:
    shape, street = pois.shapes[number], pois.tags[number].get("addr:street", "")
    if not shapely.area(shape):
        return Claim(shape, street)
    return Claim(shape, street, entrances.of_area(shape, shapely.point_on_surface(shape)))


def _boards(pois: Pois, free: Ints, ground: BoardGround) -> dict[int, tuple[Sign, ...]]:
    signs: dict[int, tuple[Sign, ...]] = {}
    for number in free.tolist():
        name, place_id = pois.name(number), pois.ids[number]
        if can_letter(name):
            board = ground.stand(place_id, name, pois.shapes[number], variant(place_id))
            if board:
                signs[number] = (board,)
    return signs


def _directories(
    pois: Pois, listed: Ints, house: Ints, entrances: Entrances, cells: FacadeCells, houses: Houses,
    free: FreeCells,
) -> dict[int, tuple[Sign, ...]]:  # fmt: skip
    written = np.array([can_letter(pois.name(number)) for number in listed.tolist()], bool)
    listed, house = listed[written], house[written]
    numbers = listed.tolist()
    places = Listed(
        [pois.ids[number] for number in numbers], [pois.name(number) for number in numbers],
        pois.shapes[listed], house,
    )  # fmt: skip
    signs: dict[int, tuple[Sign, ...]] = {}
    for board in assign_directories(places, entrances, cells, houses, free):
        height = float(houses.heights[cells.house[board.front.first]])
        lines = directory_signs(board, places, cells, height)
        signs |= {numbers[place]: (line,) for place, line in lines.items()}
    return signs


def _frontage(
    number: int, front: Front, cells: FacadeCells, houses: Houses, streets: TwinStreets
) -> Frontage:
    left, right = cells.left[front.first], cells.right[front.last]
    street = int(streets.panoramas.street[cells.panorama[front.first]])
    house = int(cells.house[front.first])
    has_shopfront = front.floor == 0 and houses.heights[house] >= SHOPFRONT_M
    ends = tuple(left.tolist()), tuple(right.tolist())
    return Frontage(number, house if has_shopfront else None, street, *ends, 0, 1.0)


def _signs(pois: Pois, number: int, frontage: Frontage, floor: int, height: float) -> tuple[Sign, ...]:
    """The fascia of a place, and a blade where there is room for one on a house of this height in metres."""
    name = pois.name(number)
    if not can_letter(name):
        return ()
    rng = Random(pois.ids[number])
    lettering = Lettering(name, "", name.split()[0][:12])
    fascia, *blades = hang_signs(pois.ids[number], lettering, frontage.left, frontage.right, rng)
    if floor:
        return (_moved(fascia, FIRST_FLOOR_M - fascia.bottom),)
    fascia = _moved(fascia, min(0.0, height - CORNICE_M - fascia.top))
    wide = dist(frontage.left, frontage.right) > WIDE_M
    return (fascia, *(blade for blade in blades if wide and blade.top <= height - CORNICE_M))


def _moved(sign: Sign, up: float) -> Sign:
    return replace(sign, bottom=round(sign.bottom + up, 2), top=round(sign.top + up, 2))


def variant(osm_id: str) -> int:
    """Picks how a thing of OpenStreetMap looks."""
    return Random(osm_id).randrange(1 << 16)
