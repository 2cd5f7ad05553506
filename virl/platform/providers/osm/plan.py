"""Puts a twin's plan together from what an extract holds."""

from collections.abc import Iterator
from dataclasses import dataclass

import shapely

from virl.platform.places import Place
from virl.platform.providers.offline.life.parks import NO_FRONTAGE
from virl.platform.providers.offline.plan import Building, CityPlan, Shop, StreetPlan
from virl.platform.providers.osm.extract import OsmExtract, Tags
from virl.platform.providers.osm.facts import facts_of
from virl.platform.providers.osm.hours import weekly
from virl.platform.providers.osm.houses import Houses, houses_of
from virl.platform.providers.osm.pois import Pois, pois_of
from virl.platform.providers.osm.signing import Signing, sign_places, variant
from virl.platform.providers.osm.streets import TwinStreets, streets_of
from virl.platform.providers.osm.things import furniture_of

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
    signing = sign_places(extract, houses, streets, pois)
    layout = StreetPlan(
        frame=extract.frame,
        streets=streets.streets,
        junctions=streets.junctions,
        panoramas=streets.panoramas,
        blocks=(),
        parks=tuple(_greens(extract)),
        buildings=tuple(
            Building(number, footprint, float(height), variant(houses.ids[number]))
            for number, (footprint, height) in enumerate(zip(houses.footprints, houses.heights, strict=True))
        ),
        frontages=signing.frontages,
        furniture=furniture_of(extract, houses, streets.panoramas),
        paved_from=PAVED_FROM,
    )
    return Twin(CityPlan(0, layout, tuple(_shops(extract, pois, signing))), extract, houses, streets, pois)


def _shops(extract: OsmExtract, pois: Pois, signing: Signing) -> Iterator[Shop]:
    for number, osm_id in enumerate(pois.ids):
        frontage = signing.frontage.get(number, NO_FRONTAGE)
        signs = signing.signs.get(number, ())
        yield Shop(_place(extract, pois, number), frontage, signs, {}, variant(osm_id))


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
        facts=facts_of(tags),
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
