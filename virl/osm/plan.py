"""Puts a twin's plan together from what an extract holds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np
import shapely
from shapely import Polygon

from virl.geo.flat import line_strings, near_lines
from virl.geo.globe import Floats
from virl.osm.extract import OsmExtract, Tags
from virl.osm.fronts import entrances_of
from virl.osm.gardens import with_gardens
from virl.osm.grounds import crossings, gravels, greens, lands, tracks, waters
from virl.osm.hours import is_seasonal
from virl.osm.houses import PAVED_FROM, Houses, Looks, Outside, houses_of, looks_of, use_of
from virl.osm.parts import ridge_of, roof_height, roof_shape
from virl.osm.places import Pois, place_of, pois_of
from virl.osm.signing import Signing, sign_places, variant
from virl.osm.streets import TwinStreets, off_walls, streets_of
from virl.osm.things import barriers_of, furniture_of
from virl.osm.unmapped import Spots, cars_of, trees_of
from virl.platform.city.places import Place
from virl.towns.life.parks import NO_FRONTAGE
from virl.towns.plan.town_plan import Building, CityPlan, Crossing, Furniture, Point, Shop, Street, StreetPlan

SEED = 0
"""Seed of the random numbers that place trees and parked cars."""
# All chosen.
INSET_M, SMOOTHED_M, EVERY_M = 0.35, 0.5, 8.0
"""Metres: from posts to the overhang's edge, smoothing of that edge, and largest gap between posts."""
HIGHEST_M = 16.0
"""Largest height in metres of the foot of an overhang with posts: a higher one hangs between towers."""
LEAST_RISE_M = 0.1
"""Least height in metres of a roof that is not drawn flat."""
LEAST_OPEN_M2 = 8.0
"""Least open ground in square metres below an overhang that stands on posts."""
OFF_HOUSE_M, OFF_STREET_M = 0.5, 0.5
"""Least distance in metres from a post to a house, and to a street."""
MOST = 60
"""Largest number of posts below one overhang."""


@dataclass(frozen=True, slots=True)
class Twin:
    """The plan of a real town, and the data that it was made from."""

    plan: CityPlan
    """Plan of the town, from which it is drawn and walked."""
    extract: OsmExtract
    """OpenStreetMap objects that the plan was made from."""
    houses: Houses
    """Houses of the town."""
    streets: TwinStreets
    """Streets and panoramas of the town."""
    pois: Pois
    """Named places, in the order of `plan.shops`."""
    looks_unread: Mapping[str, int]
    """Number of houses for each tag of a colour or material that cannot be read."""


def build_twin(extract: OsmExtract) -> Twin:
    """Return the twin of the town in an extract: its streets, houses, furniture, places and signs.

    Raises:
        BadInput: no street can be walked.
    """
    houses = houses_of(extract)
    looks = looks_of(houses.all_tags, houses.all_ids)
    streets = streets_of(extract, houses)
    barriers = barriers_of(extract, houses, streets.streets)
    lines = [shapely.LineString(one.line) for one in barriers]
    streets = off_walls(streets, np.concatenate([houses.obstacles, lines]))
    pois = pois_of(extract)
    signing = sign_places(extract, houses, streets, pois)
    zebras = crossings(extract, streets.streets)
    mapped = furniture_of(extract, houses, streets.panoramas, streets.streets)
    spots = Spots(
        houses, streets.streets, streets.panoramas,
        [sign for each in signing.signs.values() for sign in each], mapped,
    )  # fmt: skip
    layout = StreetPlan(
        frame=extract.frame,
        streets=streets.streets,
        junctions=streets.junctions,
        panoramas=streets.panoramas,
        blocks=(),
        parks=greens(extract),
        buildings=buildings_of(houses, looks, streets.streets),
        frontages=signing.frontages,
        furniture=(*mapped, *_fill_streets(extract, houses, streets, signing, spots, mapped, zebras)),
        paved_from=PAVED_FROM,
        waters=waters(extract, houses),
        gravels=gravels(extract),
        lands=lands(extract),
        tracks=tracks(extract, houses),
        barriers=barriers,
        crossings=zebras,
    )
    shops = tuple(
        Shop(
            _place(extract, pois, number), signing.frontage.get(number, NO_FRONTAGE),
            signing.signs.get(number, ()), {}, variant(osm_id),
        )
        for number, osm_id in enumerate(pois.ids)
    )  # fmt: skip
    plan = with_gardens(CityPlan(0, layout, shops), extract, spots, SEED)
    return Twin(plan, extract, houses, streets, pois, looks.unread)


def in_season(twin: Twin, day: date | None = None) -> Twin:
    """Return a twin with seasonal opening hours as in the week of a day, by default today."""
    shops = tuple(
        replace(shop, place=_place(twin.extract, twin.pois, number, day))
        if is_seasonal(twin.pois.tags[number].get("opening_hours", ""))
        else shop
        for number, shop in enumerate(twin.plan.shops)
    )
    return replace(twin, plan=replace(twin.plan, shops=shops))


def buildings_of(houses: Houses, looks: Looks, streets: Sequence[Street]) -> tuple[Building, ...]:
    """Return the pieces of houses on the ground, in order, then the overhangs, as buildings of the plan.

    Args:
        houses: of the town.
        looks: materials and colours of these pieces, in the same order.
        streets: of the town, on which no posts stand.
    """
    above = houses.above
    standing = np.zeros(len(houses.ids))
    posts = [*[()] * len(houses.ids), *supports(houses, streets)]
    return tuple(
        _building(number, *piece)
        for number, piece in enumerate(
            zip(
                houses.all_ids, houses.all_tags, np.concatenate([houses.footprints, above.footprints]),
                np.concatenate([standing, above.bases]).tolist(),
                np.concatenate([houses.heights, above.heights]).tolist(),
                np.concatenate([houses.parts, np.ones(len(above.ids), bool)]).tolist(),
                looks.of_house, posts, strict=True,
            )
        )
    )  # fmt: skip


def _fill_streets(
    extract: OsmExtract, houses: Houses, streets: TwinStreets, signing: Signing, spots: Spots,
    mapped: Sequence[Furniture], zebras: Sequence[Crossing],
) -> Iterator[Furniture]:  # fmt: skip
    """Yield a twin's random trees and parked cars, clear of mapped furniture, zebras and views of signs."""
    entrances = entrances_of(extract, houses).xy
    middles = [np.mean([front.left, front.right], axis=0) for front in signing.frontages]
    fronts = np.array(middles).reshape(-1, 2)
    stops = np.array([(one.x, one.y) for one in mapped if one.kind == "bus stop"]).reshape(-1, 2)
    tags = [extract.lines.tags[way] for way in streets.way.tolist()]
    yield from trees_of(extract, spots, SEED)
    yield from cars_of(streets.streets, tags, zebras, np.concatenate([entrances, fronts]), stops, spots, SEED)


def _building(
    number: int, osm_id: str, tags: Tags, footprint: shapely.Polygon, base: float, height: float,
    is_part: bool, look: Outside, posts: tuple[Point, ...],
) -> Building:  # fmt: skip
    """Return a piece of a house as the plan's building with index `number`; `base` and `height` in metres."""
    shape = roof_shape(tags, footprint, height, is_part=is_part)
    rise = roof_height(tags, shape, footprint)
    if (ridge := ridge_of(tags)) is not None:
        rise = min(rise, max(ridge - height, 0.0))
    if rise < LEAST_RISE_M:
        shape, rise = shape and "flat", 0.0
    return Building(
        number, footprint, round(height, 2), variant(osm_id), round(base, 2), shape, round(rise, 2),
        look.material, look.paint, look.roof_paint, posts, use_of(tags),
    )  # fmt: skip


def _place(extract: OsmExtract, pois: Pois, number: int, day: date | None = None) -> Place:
    """Return the place with index `number`, with its opening hours in the week of a day, by default today."""
    middle = shapely.point_on_surface(pois.shapes[number])
    position = extract.frame.position(middle.x, middle.y)
    return place_of(pois.ids[number], pois.tags[number], pois.types[number], position, day)


def supports(houses: Houses, streets: Sequence[Street]) -> list[tuple[Point, ...]]:
    """Return the (east, north) metres of the posts below each overhang; none below rooms over passages."""
    above = houses.above
    ground, all_above = shapely.STRtree(houses.footprints), shapely.STRtree(above.footprints)
    ways = shapely.STRtree(line_strings(street.line for street in streets))
    half = np.array([street.road / 2 or street.pavement for street in streets])
    found: list[tuple[Point, ...]] = []
    for number, footprint in enumerate(above.footprints.tolist()):
        if above.passages[number] or above.bases[number] > HIGHEST_M:
            found.append(())
            continue
        lower = [one for one in all_above.query(footprint) if above.bases[one] < above.bases[number]]
        taken = shapely.union_all([*houses.footprints[ground.query(footprint)], *above.footprints[lower]])
        if shapely.difference(footprint, taken).area < LEAST_OPEN_M2:
            found.append(())
            continue
        xy = _along_edge(footprint)
        # Not `>`: the distance to nothing is nan.
        free = ~np.asarray(shapely.distance(shapely.points(xy), taken) <= OFF_HOUSE_M)
        free &= ~near_lines(xy, ways, half, OFF_STREET_M)
        found.append(tuple((float(x), float(y)) for x, y in xy[free][:MOST]))
    return found


def _along_edge(footprint: Polygon) -> Floats:
    """Return points in metres along the edge of a footprint, `INSET_M` inside, shape (n, 2)."""
    inner = shapely.simplify(shapely.buffer(footprint, -INSET_M, join_style="mitre"), SMOOTHED_M)
    rings = [
        part.exterior for part in shapely.get_parts(inner) if isinstance(part, Polygon) and not part.is_empty
    ]
    if not rings:
        return np.empty((0, 2))
    xy = np.concatenate([shapely.get_coordinates(shapely.segmentize(ring, EVERY_M))[:-1] for ring in rings])
    return np.asarray(np.round(xy, 2))
