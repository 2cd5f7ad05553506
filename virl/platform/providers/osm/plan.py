"""Puts a twin's plan together from what an extract holds."""

from dataclasses import dataclass
from math import dist
from random import Random

import numpy as np
import shapely

from virl.platform.places import Place
from virl.platform.providers.offline.life.naming import Lettering
from virl.platform.providers.offline.life.parks import NO_FRONTAGE
from virl.platform.providers.offline.life.signs import hang_signs
from virl.platform.providers.offline.plan import Building, CityPlan, Frontage, Shop, Sign, StreetPlan
from virl.platform.providers.offline.render.fonts import can_letter
from virl.platform.providers.osm.boards import BoardGround
from virl.platform.providers.osm.extract import OsmExtract, Tags
from virl.platform.providers.osm.facades import FacadeCells, facade_cells
from virl.platform.providers.osm.fronts import Claim, Front, assign_fronts, own_houses
from virl.platform.providers.osm.hours import weekly
from virl.platform.providers.osm.houses import Houses, houses_of
from virl.platform.providers.osm.pois import Pois, pois_of
from virl.platform.providers.osm.streets import TwinStreets, streets_of
from virl.platform.providers.osm.things import furniture_of

FIRST_FLOOR_M = 4.55  # bottom of a sign on the floor above, over the string course
PAVED_FROM = 0.2  # chosen by eye: the middle of Helsinki is paved, the villages of Liechtenstein are not
GREEN = frozenset(
    {
        *("park", "garden", "grass", "forest", "wood", "scrub", "meadow", "cemetery", "village_green"),
        *("recreation_ground", "grassland", "heath", "golf_course", "pitch", "playground"),
    }
)
"""Values of `leisure`, `landuse` and `natural` that are drawn as grass."""


@dataclass(frozen=True, slots=True)
class Twin:
    """A twin's plan, and what it was made from."""

    plan: CityPlan
    extract: OsmExtract
    houses: Houses
    streets: TwinStreets
    pois: Pois


def build_twin(extract: OsmExtract) -> Twin:
    """Rebuild the town of an extract."""
    houses = houses_of(extract)
    streets = streets_of(extract, houses)
    pois = pois_of(extract)
    cells = facade_cells(houses, streets.panoramas)
    frontages, shops = _settle(extract, houses, streets, cells, pois)
    layout = StreetPlan(
        frame=extract.frame,
        streets=streets.streets,
        junctions=streets.junctions,
        panoramas=streets.panoramas,
        blocks=(),
        parks=tuple(_greens(extract)),
        buildings=tuple(
            Building(number, footprint, float(height), _variant(houses.ids[number]))
            for number, (footprint, height) in enumerate(zip(houses.footprints, houses.heights, strict=True))
        ),
        frontages=tuple(frontages),
        furniture=furniture_of(extract, houses, streets.panoramas),
        paved_from=PAVED_FROM,
    )
    return Twin(CityPlan(0, layout, tuple(shops)), extract, houses, streets, pois)


def _variant(osm_id: str) -> int:
    return Random(osm_id).randrange(1 << 16)


def _settle(
    extract: OsmExtract, houses: Houses, streets: TwinStreets, cells: FacadeCells, pois: Pois
) -> tuple[list[Frontage], list[Shop]]:
    names = [streets.streets[int(number)].name for number in streets.panoramas.street[cells.panorama]]
    wanting = [number for number in range(len(pois.ids)) if pois.wants_front(number)]
    claims = [Claim(pois.shapes[number], pois.tags[number].get("addr:street", "")) for number in wanting]
    house = own_houses(pois.shapes[wanting], houses)
    given = assign_fronts(claims, house, cells, np.array(names, str), houses.heights)
    fronts = dict(zip(wanting, given, strict=True))
    unhoused = {number for number, own in zip(wanting, house.tolist(), strict=True) if own < 0}
    ground = BoardGround(houses, streets.streets, streets.panoramas)
    frontages: list[Frontage] = []
    shops = []
    for number in range(len(pois.ids)):
        front = fronts.get(number)
        signs: tuple[Sign, ...] = ()
        frontage = NO_FRONTAGE
        if front is not None:
            frontage = len(frontages)
            frontages.append(_frontage(frontage, front, cells, streets))
            signs = _signs(pois, number, frontages[-1], front)
        elif number in unhoused:
            signs = _board(pois, number, ground)
        shops.append(Shop(_place(extract, pois, number), frontage, signs, {}, _variant(pois.ids[number])))
    return frontages, shops


def _board(pois: Pois, number: int, ground: BoardGround) -> tuple[Sign, ...]:
    name, place_id = pois.name(number), pois.ids[number]
    if not can_letter(name):
        return ()
    board = ground.stand(place_id, Lettering(name, "", ""), pois.shapes[number], _variant(place_id))
    return (board,) if board else ()


def _frontage(number: int, front: Front, cells: FacadeCells, streets: TwinStreets) -> Frontage:
    left, right = cells.left[front.first], cells.right[front.last]
    street = int(streets.panoramas.street[cells.panorama[front.first]])
    house = int(cells.house[front.first]) if front.floor == 0 else None
    return Frontage(number, house, street, tuple(left.tolist()), tuple(right.tolist()), 0, 1.0)


def _signs(pois: Pois, number: int, frontage: Frontage, front: Front) -> tuple[Sign, ...]:
    name = pois.name(number)
    if not can_letter(name):
        return ()
    rng = Random(pois.ids[number])
    signs = hang_signs(
        pois.ids[number], Lettering(name, "", name.split()[0][:12]), frontage.left, frontage.right, rng
    )
    if front.floor == 0:
        return signs if dist(frontage.left, frontage.right) > 4 else signs[:1]
    fascia = signs[0]
    lifted = FIRST_FLOOR_M - fascia.bottom
    return (
        Sign(fascia.id, fascia.place_id, fascia.text, "", "fascia", fascia.left, fascia.right,
             FIRST_FLOOR_M, round(fascia.top + lifted, 2), fascia.variant),
    )  # fmt: skip


def _place(extract: OsmExtract, pois: Pois, number: int) -> Place:
    tags = pois.tags[number]
    middle = shapely.point_on_surface(pois.shapes[number])
    return Place(
        id=pois.ids[number],
        name=pois.name(number),
        types=pois.types[number],
        position=extract.frame.position(middle.x, middle.y),
        address=address(tags),
        hours=weekly(tags["opening_hours"]) or () if "opening_hours" in tags else (),
    )


def address(tags: Tags) -> str:
    """Street, house number and town, as far as they are mapped; a number without a street is no address."""
    street = tags.get("addr:street") or tags.get("addr:place") or ""
    house = f"{street} {tags.get('addr:housenumber', '')}".strip() if street else ""
    return ", ".join(part for part in (house, tags.get("addr:city")) if part)


def _greens(extract: OsmExtract) -> list[shapely.Polygon]:
    found = []
    for tags, shape in zip(extract.areas.tags, extract.areas.shapes, strict=True):
        if GREEN & {tags.get("leisure"), tags.get("landuse"), tags.get("natural")}:
            found += [part for part in shapely.get_parts(shape) if part.area > 20]
    return found
