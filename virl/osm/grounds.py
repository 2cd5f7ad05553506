"""The ground of a twin: its sea, grass, water, gravel, railways and zebras."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

import numpy as np
import shapely
from shapely import Geometry, LineString, Polygon

from virl.geo.flat import left_normals, line_strings
from virl.geo.globe import Flags, Floats
from virl.osm.extract import OsmExtract, Shapes, Tags
from virl.osm.houses import Houses
from virl.osm.tags import metres
from virl.osm.ways import ROADS, is_bridge, is_hidden
from virl.towns.plan.town_plan import Crossing, Land, LandKind, Street, Track

AFLOAT = frozenset({"boathouse", "houseboat", "pier", "stilt_house", "lighthouse"})
"""Values of the tags `building` and `man_made` for houses that may stand in water."""
# All chosen.
STEP_M, PROBE_M = 20.0, 0.5
"""Metres: length of the pieces that a coast is cut into, and distance beside them that is looked at."""
MIXED = 0.05
"""Ratio above which an area is in doubt: lesser to greater of its metres of coast that say sea and land."""
LONG_JOIN_M = 400.0
"""Length in metres of a guessed piece of coast above which the sea beside it is in doubt."""
SHORE_M = 10.0
"""Distance in metres from the edge of a sea within which houses and roads count as on its shore."""
MOST_BUILT = 0.2
"""Largest share of all houses, and of all metres of road, [0, 1], that may lie in a sea."""
HOUSES_PER_M2 = 1e-4
"""Largest number of houses a square metre in a sea: one a hectare."""
STRAY, STRAY_ROADS_M = 0.01, 100.0
"""Largest share, [0, 1], of houses and of road metres in a doubtful sea; metres of road allowed in any."""
STRAIGHT_M = 50.0
"""Length in metres of the last stretch of a coast that tells the direction of its end."""
STRAIGHT_COST, HOUSE_COST_M, CROSSING_COST_M = 0.5, 50.0, 1e6
"""Costs of a guessed coast: factor on its metres if straight; metres added per house; if it crosses coast."""
BEARINGS = 16
"""Number of evenly spaced directions in which a loose end of a coast is joined to the outline."""
OWN_GAP = 0.25
"""Largest gap between the ends of one coast that is closed, as a share of the coast's length."""
BEYOND_M = 5.0
"""Metres that a line is drawn beyond the outline, so that the two surely cross."""


@dataclass(frozen=True, slots=True)
class Sea:
    """The areas of sea in a part of an extract, and areas that are in doubt."""

    areas: tuple[Polygon, ...]
    """Outlines of the sea within the part, metres."""
    faults: tuple[str, ...]
    """One line of text for each area drawn as land although a coastline says sea."""


def afloat(extract: OsmExtract, houses: Houses) -> Flags:
    """Return True for each house that may stand in water, by its tags or a pier below it, shape (n,)."""
    piers = [shape for tags, shape in extract.areas.tagged_shapes() if tags.get("man_made") == "pier"]
    tagged = [
        tags.get("floating") == "yes" or not AFLOAT.isdisjoint({tags.get("building"), tags.get("man_made")})
        for tags in houses.tags
    ]
    return np.asarray(
        np.array(tagged, bool) | shapely.intersects(houses.footprints, shapely.union_all(piers))
    )


def sea_of(extract: OsmExtract, houses: Houses) -> Sea:
    """Return the areas of sea in an extract, by its coastlines and the houses and roads that stand there."""
    coasts = [shape for tags, shape in extract.lines.tagged_shapes() if tags.get("natural") == "coastline"]
    if not coasts:
        return Sea((), ())
    outline, built = extract.outline, _Built(extract, houses)
    # Directed: water lies to the right of a coastline, so none may be turned around.
    merged = shapely.line_merge(shapely.union_all(coasts), directed=True)
    lines = [part for part in shapely.get_parts(merged) if isinstance(part, LineString)]
    joins = _join_loose_ends(lines, outline, built.houses)
    inside = shapely.intersection(shapely.union_all(lines), shapely.buffer(outline, BEYOND_M))
    edges = shapely.union_all([inside, *joins, outline.exterior])
    faces = shapely.get_parts(shapely.polygonize(shapely.get_parts(edges)))
    # Joins go beyond the outline, and may close faces out there.
    faces = faces[shapely.within(shapely.point_on_surface(faces), outline)]
    coast = lines if inside.is_empty else shapely.get_parts(inside).tolist()
    runs = [shapely.get_coordinates(shapely.segmentize(line, STEP_M)) for line in coast]
    pieces = np.concatenate([np.stack([run[:-1], run[1:]], axis=1) for run in runs])
    guesses = shapely.union_all([join for join in joins if join.length > LONG_JOIN_M])
    areas, faults = [], []
    for face, (wet, dry) in zip(faces, _votes(pieces, faces).tolist(), strict=True):
        is_mixed = min(wet, dry) > MIXED * max(wet, dry)
        is_wet = wet > dry or (wet == dry == 0 and _is_right_of(shapely.point_on_surface(face), pieces))
        if not (is_wet or is_mixed):
            continue
        is_guess = shapely.equals(Polygon(face.exterior), outline) or face.exterior.dwithin(guesses, 0.1)
        is_sure = wet > 0 and not is_mixed and not is_guess
        reason = built.land_reason(face, is_sure) if is_wet else "coastlines of both directions bound them"
        if reason:
            middle = extract.frame.position(*shapely.get_coordinates(shapely.point_on_surface(face))[0])
            faults.append(f"{face.area / 1e4:,.1f} ha around {middle} are drawn as land: {reason}")
        else:
            areas.append(face)
    return Sea(tuple(areas), tuple(faults))


class _Built:
    """The houses and roads of an extract that cannot lie in water."""

    def __init__(self, extract: OsmExtract, houses: Houses) -> None:
        """Collect the houses that are not afloat, and the roads that are no bridges or tunnels."""
        self.houses: Shapes = houses.footprints[~afloat(extract, houses)]
        roads = [
            shape
            for tags, shape in extract.lines.tagged_shapes()
            if tags.get("highway") in ROADS and not is_bridge(tags) and not is_hidden(tags)
        ]
        self._roads = np.asarray(shapely.intersection(np.array(roads, object), extract.outline), object)

    def land_reason(self, area: Polygon, is_sure: bool) -> str:
        """Return why an area is no sea: its houses and roads; empty if few. `is_sure` allows more of them."""
        inner = shapely.buffer(area, -SHORE_M)
        count = int(shapely.intersects(self.houses, inner).sum())
        metres = float(shapely.length(shapely.intersection(self._roads, inner)).sum())
        every, all_m = len(self.houses), float(shapely.length(self._roads).sum())
        if is_sure:
            most = max(1.0, min(MOST_BUILT * every, HOUSES_PER_M2 * area.area))
            most_m = max(STRAY_ROADS_M, MOST_BUILT * all_m)
        else:
            most, most_m = max(1.0, STRAY * every), max(STRAY_ROADS_M, STRAY * all_m)
        if count <= most and metres <= most_m:
            return ""
        return f"{count:,} of {every:,} houses and {metres:,.0f} of {all_m:,.0f} m of roads stand there"


def _votes(pieces: Floats, faces: Shapes) -> Floats:
    """Return the metres of coast that have each area of `faces` on their right, and left, shape (faces, 2).

    `pieces` are short straight pieces of coast as both ends of each, (east, north) metres, shape (n, 2, 2).
    """
    ways = pieces[:, 1] - pieces[:, 0]
    length = np.hypot(*ways.T)
    right = -left_normals(ways)
    votes, tree = np.zeros((len(faces), 2)), shapely.STRtree(faces)
    for column, off in enumerate((PROBE_M, -PROBE_M)):
        piece, face = tree.query(shapely.points(pieces.mean(axis=1) + off * right), predicate="within")
        np.add.at(votes[:, column], face, length[piece])
    return votes


def _is_right_of(point: shapely.Point, pieces: Floats) -> bool:
    """Return whether a point lies right of the nearest piece of coast; `pieces` has both ends, (n, 2, 2)."""
    away = shapely.distance(shapely.linestrings(pieces), point)
    near = pieces[away < away.min() + 1e-6]  # of two that meet at a corner, the one it is farther beside
    ways, offs = near[:, 1] - near[:, 0], shapely.get_coordinates(point) - near[:, 0]
    beside = (ways[:, 0] * offs[:, 1] - ways[:, 1] * offs[:, 0]) / np.maximum(np.hypot(*ways.T), 1e-9)
    return bool(beside[np.abs(beside).argmax()] < 0)


class _Join(NamedTuple):
    """A guessed line from a loose end of a coast to another end or to the outline."""

    way: LineString
    """The guessed line, metres."""
    rate: float
    """Cost of the guess for each metre of the line."""
    ends: tuple[tuple[int, int], ...]
    """Loose ends that it joins, as (index of the coast, 0 for its first point or -1 for its last)."""


def _join_loose_ends(lines: Sequence[LineString], outline: Polygon, houses: Shapes) -> list[LineString]:
    """Return the cheapest lines that join all loose ends of coastlines to each other or to the outline.

    A join is the cheaper, the shorter it is and the fewer houses stand on it; one that crosses a coast is the
    last choice.
    """
    ends = [
        (number, at)
        for number, line in enumerate(lines)
        for at in (0, -1)
        if not line.is_closed and shapely.intersects(outline, shapely.Point(line.coords[at]))
    ]
    options = []
    for (one, at), (other, to) in permutations(ends, 2):
        way = LineString([lines[one].coords[at], lines[other].coords[to]])
        # From an end to a beginning only, so that the water stays on one side.
        if at == -1 and to == 0 and (one != other or way.length < OWN_GAP * lines[one].length):
            options.append(_Join(way, 1.0, ((one, at), (other, to))))
    for number, at in ends:
        options += _joins_to_outline(lines, number, at, outline)
    if not options:
        return []
    ways = np.array([option.way for option in options], object)
    costs = np.array([option.way.length * option.rate for option in options])
    np.add.at(costs, shapely.STRtree(houses).query(ways, predicate="intersects")[0], HOUSE_COST_M)
    costs += CROSSING_COST_M * shapely.crosses(ways, shapely.union_all(lines))
    joins, joined = [], set[tuple[int, int]]()
    for number in np.argsort(costs, kind="stable").tolist():
        option = options[number]
        if joined.isdisjoint(option.ends):
            joined.update(option.ends)
            joins.append(option.way)
    return joins


def _joins_to_outline(lines: Sequence[LineString], number: int, at: int, outline: Polygon) -> Iterator[_Join]:
    """Yield guesses from end `at` (0 or -1) of a line to the outline: straight on, shortest, all bearings."""
    line, outer = lines[number], outline.exterior
    end = np.array(line.coords[at])
    before = shapely.line_interpolate_point(line, STRAIGHT_M if at == 0 else -STRAIGHT_M)
    nearest = shapely.get_coordinates(shapely.shortest_line(shapely.Point(end), outer))[1]
    ahead = [end - shapely.get_coordinates(before)[0], nearest - end]
    angles = np.arange(BEARINGS) * 2 * np.pi / BEARINGS
    for way in [*ahead, *np.column_stack([np.cos(angles), np.sin(angles)])]:
        step = way / max(np.hypot(*way), 1e-9)
        ray = LineString([end, end + step * 2 * outer.length])
        leaves = shapely.distance(shapely.Point(end), shapely.intersection(ray, outer)) + BEYOND_M
        rate = STRAIGHT_COST if way is ahead[0] else 1.0
        yield _Join(LineString([end, end + step * leaves]), rate, ((number, at),))


GREEN = frozenset(
    {
        *("park", "garden", "grass", "forest", "wood", "scrub", "meadow", "cemetery", "village_green"),
        *("recreation_ground", "grassland", "heath", "golf_course", "pitch", "playground", "orchard"),
        *("farmland", "flowerbed", "allotments", "greenfield", "fell", "wetland", "dog_park"),
        *("vineyard", "plant_nursery", "tundra", "shrubbery", "common", "greenery"),
    }
)  # fmt: skip
"""Values of `leisure`, `landuse` and `natural` that are drawn as grass."""
LANDS: dict[LandKind, frozenset[str]] = {
    "meadow": frozenset({"meadow", "grassland", "heath", "wetland", "fell", "tundra", "orchard"}),
    "field": frozenset({"farmland", "allotments", "plant_nursery"}),
    "vineyard": frozenset({"vineyard"}),
    "wood": frozenset({"forest", "wood"}),
    "shrubs": frozenset({"scrub", "shrubbery"}),
    "flowers": frozenset({"flowerbed"}),
}
"""Values in `GREEN` for ground that is no lawn, by its kind."""
GRAVEL = frozenset({"bare_rock", "scree", "shingle", "sand", "beach", "railway", "construction", "quarry"})
"""Values of `landuse` and `natural` that are drawn as gravel."""
WATER = frozenset({"water", "basin", "reservoir", "riverbank", "swimming_pool"})
"""Values of `natural`, `landuse`, `waterway` and `leisure` that are drawn as water."""
WATERWAY_M = {"river": 10.0, "canal": 6.0, "stream": 1.8, "drain": 1.2, "ditch": 1.0}
"""Width in metres of a waterway mapped as a line, by value of `waterway`, where not tagged; chosen."""
RAILS = frozenset({"rail", "tram", "light_rail", "narrow_gauge", "subway", "funicular"})
"""Values of the tag `railway` for tracks."""
IN_STREET = frozenset({"tram"})
"""Values of the tag `railway` for tracks that lie in streets."""
ZEBRAS = frozenset({"uncontrolled", "marked", "zebra", "traffic_signals", "island", "pelican", "toucan"})
"""Values of the tag `crossing` for zebras; a crossing without a value has one too."""
ON_ROAD_M = 3.0
"""Largest distance in metres from a crossing to the middle line of the street that it is on."""
NARROWEST_M = 2.5
"""Least width in metres of a carriageway with zebras."""
ONE_ZEBRA_M = 4.0
"""Distance in metres along a street below which two zebras are drawn as one."""
SMALLEST_M2, SMALLEST_GREEN_M2 = 4.0, 20.0
"""Area in square metres up to which water, and grass or gravel, is not drawn."""
BANK_M = 1.0
"""Metres of ground kept dry around a house that the map has in water; chosen."""


def greens(extract: OsmExtract) -> tuple[Polygon, ...]:
    """Return the outlines of parks and other green areas, metres."""
    return tuple(_polygons(areas_of(extract, GREEN, "leisure", "landuse", "natural"), SMALLEST_GREEN_M2))


def lands(extract: OsmExtract) -> tuple[Land, ...]:
    """Return the meadows, fields, vineyards and woods among the green areas."""
    return tuple(
        Land(kind, area)
        for kind, values in LANDS.items()
        for area in _polygons(areas_of(extract, values, "landuse", "natural"), SMALLEST_GREEN_M2)
    )


def gravels(extract: OsmExtract) -> tuple[Polygon, ...]:
    """Return the outlines of areas of sand, rock, railway and building sites, metres."""
    return tuple(_polygons(areas_of(extract, GRAVEL, "landuse", "natural"), SMALLEST_GREEN_M2))


def squares(extract: OsmExtract) -> tuple[tuple[str, Polygon], ...]:
    """Return (name, outline in metres) of each square and pedestrian area; without a street's name."""
    streets = {tags.get("name", "") for tags in extract.lines.tags if tags.get("area") != "yes"}
    found = []
    for tags, shape in extract.areas.tagged_shapes():
        name, is_square = tags.get("name", "").strip(), tags.get("place") == "square"
        if (is_square or tags.get("highway") == "pedestrian") and not _is_sunk(tags):
            known = name if is_square or name not in streets else ""
            found += [(known, part) for part in _polygons([shape], SMALLEST_M2)]
    return tuple(found)


def areas_of(extract: OsmExtract, values: frozenset[str], *keys: str) -> list[Geometry]:
    """Return the shapes, metres, of areas not underground whose tag of one of `keys` is one of `values`."""
    return [
        shape
        for tags, shape in extract.areas.tagged_shapes()
        if values & {tags.get(key) for key in keys} and not _is_sunk(tags)
    ]


def waters(extract: OsmExtract, houses: Houses) -> tuple[Polygon, ...]:
    """Return the outlines of lakes, rivers, pools and the sea, metres, without the ground around houses."""
    areas = areas_of(extract, WATER, "natural", "landuse", "waterway", "leisure")
    for tags, line in extract.lines.tagged_shapes():
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
    # Again: banks may leave slivers of water.
    return tuple(_polygons(found, SMALLEST_M2))


def tracks(extract: OsmExtract, houses: Houses) -> tuple[Track, ...]:
    """Return the railway tracks on the ground, cut where they run below houses or leave the outline."""
    found = []
    tree = shapely.STRtree(houses.footprints)
    for tags, line in extract.lines.tagged_shapes():
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
    """Return the zebras of the crossings that are mapped on a street with a carriageway wide enough."""
    points = [
        point
        for tags, point in extract.points.tagged_shapes()
        if tags.get("highway") == "crossing"
        and tags.get("crossing", "zebra") in ZEBRAS
        and tags.get("crossing:markings", "yes") != "no"
    ]
    roads = [street for street in streets if street.road >= NARROWEST_M]
    if not points or not roads:
        return ()
    lines = line_strings(street.line for street in roads)
    nearest = shapely.STRtree(lines).query_nearest(points, max_distance=ON_ROAD_M, all_matches=False)
    taken: dict[int, list[float]] = {}
    for point, road in nearest.T.tolist():
        along = float(shapely.line_locate_point(lines[road], points[point]))
        others = taken.setdefault(roads[road].id, [])
        if all(abs(along - other) >= ONE_ZEBRA_M for other in others):
            others.append(round(along, 2))
    return tuple(Crossing(street, along) for street in sorted(taken) for along in sorted(taken[street]))


def _polygons(shapes: Iterable[Geometry], least_m2: float) -> Iterator[Polygon]:
    """Yield the polygons of some shapes in metres whose area is over `least_m2` square metres."""
    for shape in shapes:
        for part in shapely.get_parts(shape):
            if isinstance(part, Polygon) and part.area > least_m2:
                yield part


def _is_sunk(tags: Tags) -> bool:
    """Return whether an object lies in a tunnel, indoors or underground."""
    return is_hidden(tags) or tags.get("tunnel") == "culvert" or tags.get("location") == "underground"
