"""What covers the ground of a twin: grass, water, gravel, railways and zebras."""

from collections.abc import Iterable, Iterator

import numpy as np
import shapely
from shapely import Geometry, LineString, Polygon

from virl.osm.extract import OsmExtract, Tags
from virl.osm.houses import Houses
from virl.osm.measures import metres
from virl.osm.sea import afloat, sea_of
from virl.osm.ways import is_hidden
from virl.towns.plan.town_plan import Crossing, Street, Track

GREEN = frozenset(
    {
        *("park", "garden", "grass", "forest", "wood", "scrub", "meadow", "cemetery", "village_green"),
        *("recreation_ground", "grassland", "heath", "golf_course", "pitch", "playground", "orchard"),
        *("farmland", "flowerbed", "allotments", "greenfield", "fell", "wetland", "dog_park"),
        *("vineyard", "plant_nursery", "tundra", "shrubbery", "common", "greenery"),
    }
)  # fmt: skip
"""Values of `leisure`, `landuse` and `natural` that are drawn as grass."""
GRAVEL = frozenset({"bare_rock", "scree", "shingle", "sand", "beach", "railway", "construction", "quarry"})
"""Values of `landuse` and `natural` that are drawn as gravel."""
WATER = frozenset({"water", "basin", "reservoir", "riverbank", "swimming_pool"})
"""Values of `natural`, `landuse`, `waterway` and `leisure` that are water."""
WATERWAY_M = {"river": 10.0, "canal": 6.0, "stream": 1.8, "drain": 1.2, "ditch": 1.0}
"""Widths in metres of waterways mapped as lines, where not tagged; chosen."""
RAILS = frozenset({"rail", "tram", "light_rail", "narrow_gauge", "subway", "funicular"})
"""Values of `railway` that are tracks."""
IN_STREET = frozenset({"tram"})
"""Values of `railway` whose tracks lie in streets."""
ZEBRAS = frozenset({"uncontrolled", "marked", "zebra", "traffic_signals", "island", "pelican", "toucan"})
"""Values of `crossing` with a zebra; a crossing without a value has one too."""
ON_ROAD_M = 3.0
"""Metres within which a crossing is on a carriageway."""
NARROWEST_M = 2.5
"""Least width in metres of a carriageway with zebras."""
ONE_ZEBRA_M = 4.0
"""Metres within which two zebras of a street are drawn as one."""
SMALLEST_M2, SMALLEST_GREEN_M2 = 4.0, 20.0
BANK_M = 1.0
"""Metres of ground around a house that the map has in water; chosen."""


def greens(extract: OsmExtract) -> tuple[Polygon, ...]:
    """Return the outlines of parks and other green areas, metres."""
    chosen = (
        shape
        for tags, shape in zip(extract.areas.tags, extract.areas.shapes, strict=True)
        if GREEN & {tags.get("leisure"), tags.get("landuse"), tags.get("natural")} and not _is_sunk(tags)
    )
    return tuple(_polygons(chosen, SMALLEST_GREEN_M2))


def gravels(extract: OsmExtract) -> tuple[Polygon, ...]:
    """Return the outlines of sand, rock and building sites, metres."""
    chosen = (
        shape
        for tags, shape in zip(extract.areas.tags, extract.areas.shapes, strict=True)
        if GRAVEL & {tags.get("landuse"), tags.get("natural")} and not _is_sunk(tags)
    )
    return tuple(_polygons(chosen, SMALLEST_GREEN_M2))


def waters(extract: OsmExtract, houses: Houses) -> tuple[Polygon, ...]:
    """Return the outlines of lakes, rivers, pools and the sea, metres, without banks of houses."""
    areas = [
        shape
        for tags, shape in zip(extract.areas.tags, extract.areas.shapes, strict=True)
        if WATER & {tags.get(key) for key in ("natural", "landuse", "waterway", "leisure")}
        and not _is_sunk(tags)
    ]
    for tags, line in zip(extract.lines.tags, extract.lines.shapes, strict=True):
        kind = tags.get("waterway", "")
        if kind in WATERWAY_M and not _is_sunk(tags):
            width = metres(tags.get("width")) or WATERWAY_M[kind]
            areas.append(shapely.buffer(line, min(width, 200.0) / 2, quad_segs=2))
    found = np.array([*_polygons([*areas, *sea_of(extract, houses).areas], SMALLEST_M2)], object)
    ashore = houses.footprints[~afloat(extract, houses)]
    tree = shapely.STRtree(found)
    house, water = tree.query(shapely.point_on_surface(ashore), predicate="within")
    for number in np.unique(water).tolist():
        banks = shapely.buffer(ashore[house[water == number]], BANK_M)
        found[number] = shapely.difference(found[number], shapely.union_all(banks))
    return tuple(_polygons(found, SMALLEST_M2))


def tracks(extract: OsmExtract, houses: Houses) -> tuple[Track, ...]:
    """Return the railways on the ground, outside houses."""
    found = []
    tree = shapely.STRtree(houses.footprints)
    for tags, line in zip(extract.lines.tags, extract.lines.shapes, strict=True):
        if tags.get("railway") not in RAILS or _is_sunk(tags):
            continue
        above = houses.footprints[tree.query(line, predicate="intersects")]
        open_ = shapely.intersection(shapely.difference(line, shapely.union_all(above)), extract.outline)
        is_ballasted = tags["railway"] not in IN_STREET
        found += [
            Track(shapely.get_coordinates(part), is_ballasted)
            for part in shapely.get_parts(open_)
            if isinstance(part, LineString) and part.length > 1.0
        ]
    return tuple(found)


def crossings(extract: OsmExtract, streets: tuple[Street, ...]) -> tuple[Crossing, ...]:
    """Return the zebras of the crossings that are mapped on a carriageway."""
    points = [
        point
        for tags, point in zip(extract.points.tags, extract.points.shapes, strict=True)
        if tags.get("highway") == "crossing"
        and tags.get("crossing", "zebra") in ZEBRAS
        and tags.get("crossing:markings", "yes") != "no"
    ]
    roads = [street for street in streets if street.road >= NARROWEST_M]
    if not points or not roads:
        return ()
    lines = np.array([LineString(street.line) for street in roads], object)
    nearest = shapely.STRtree(lines).query_nearest(points, max_distance=ON_ROAD_M, all_matches=False)
    taken: dict[int, list[float]] = {}
    for point, road in nearest.T.tolist():
        along = float(shapely.line_locate_point(lines[road], points[point]))
        others = taken.setdefault(roads[road].id, [])
        if all(abs(along - other) >= ONE_ZEBRA_M for other in others):
            others.append(round(along, 2))
    return tuple(Crossing(street, along) for street in sorted(taken) for along in sorted(taken[street]))


def _polygons(shapes: Iterable[Geometry], least_m2: float) -> Iterator[Polygon]:
    """Yield the polygons of shapes that are larger than `least_m2` square metres."""
    for shape in shapes:
        for part in shapely.get_parts(shape):
            if isinstance(part, Polygon) and part.area > least_m2:
                yield part


def _is_sunk(tags: Tags) -> bool:
    """Return whether an object lies in a tunnel, indoors or underground."""
    return is_hidden(tags) or tags.get("tunnel") == "culvert" or tags.get("location") == "underground"
