"""Hedges, walls and fences that are mapped as lines, with gaps where gates and ways are."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import shapely
from shapely import Geometry, LineString

from virl.platform.providers.offline.plan import Barrier, BarrierKind, Panoramas, Street
from virl.platform.providers.osm.extract import OsmExtract, Tags
from virl.platform.providers.osm.houses import Houses
from virl.platform.providers.osm.measures import metres
from virl.platform.providers.osm.signing import variant
from virl.platform.providers.osm.ways import is_hidden

KINDS: Mapping[str, tuple[BarrierKind, float]] = {
    "hedge": ("hedge", 1.4), "wall": ("wall", 1.3), "retaining_wall": ("wall", 0.7),
    "city_wall": ("wall", 4.0), "fence": ("fence", 1.2), "railing": ("fence", 1.0),
    "guard_rail": ("fence", 0.7),
}  # fmt: skip
"""What is drawn for each value of `barrier`, and how many metres high where no height is tagged; chosen."""
HEIGHTS_M = 0.3, 8.0  # a tagged height outside is a mistake; chosen
GATES = frozenset(
    {
        *("gate", "lift_gate", "swing_gate", "sliding_gate", "kissing_gate", "entrance", "cattle_grid"),
        *("cycle_barrier", "turnstile", "stile", "bollard", "block", "bump_gate", "hampshire_gate"),
    }
)
"""Values of `barrier` of points at which a line is open."""
# All chosen.
GATE_M = 3.0  # width of an opening, where not tagged
WIDEST_GATE_M = 20.0
BESIDE_ROAD_M = 0.3  # from a carriageway
WAY_M, PATH_M = 1.5, 1.0  # half of the opening for a way that has no panoramas, and for a path
BEFORE_PANORAMA_M = 1.5
BEFORE_FACADE_M = 0.3  # what stands nearer to a house is part of its wall
SHORTEST_M, SMOOTHED_M = 0.6, 0.05


def barriers_of(
    extract: OsmExtract, houses: Houses, streets: Sequence[Street], panoramas: Panoramas
) -> tuple[Barrier, ...]:
    """What stands along mapped lines, outside houses and off all ways."""
    lines = [
        (name, tags, line)
        for name, tags, line in zip(extract.lines.ids, extract.lines.tags, extract.lines.shapes, strict=True)
        if tags.get("barrier") in KINDS and not is_hidden(tags)
    ]
    if not lines:
        return ()
    rooms = shapely.buffer(np.asarray(shapely.points(panoramas.xy)), BEFORE_PANORAMA_M, quad_segs=2)
    openings = np.array([*_openings(extract, streets), *rooms], object)
    ways, walls = shapely.STRtree(openings), shapely.STRtree(houses.footprints)
    found = []
    for name, tags, line in lines:
        taken = [
            *openings[ways.query(line, predicate="intersects")],
            *shapely.buffer(
                houses.footprints[walls.query(line, "dwithin", BEFORE_FACADE_M)], BEFORE_FACADE_M
            ),
        ]
        free = shapely.intersection(shapely.difference(line, shapely.union_all(taken)), extract.outline)
        found += [_barrier(name, tags, part) for part in _stretches(free)]
    return tuple(found)


def _barrier(name: str, tags: Tags, line: LineString) -> Barrier:
    kind, height = KINDS[tags["barrier"]]
    tagged = metres(tags.get("height"))
    if tagged is not None and HEIGHTS_M[0] <= tagged <= HEIGHTS_M[1]:
        height = tagged
    return Barrier(kind, np.round(shapely.get_coordinates(line), 3), round(height, 2), variant(name))


def _stretches(line: Geometry) -> Iterator[LineString]:
    for part in shapely.get_parts(shapely.line_merge(line)):
        smooth = shapely.simplify(part, SMOOTHED_M)
        if isinstance(smooth, LineString) and smooth.length >= SHORTEST_M:
            yield smooth


def _openings(extract: OsmExtract, streets: Sequence[Street]) -> Iterator[Geometry]:
    """The ground of gates and of all ways that lead through a line."""
    for tags, point in zip(extract.points.tags, extract.points.shapes, strict=True):
        if tags.get("barrier") in GATES:
            width = min(metres(tags.get("maxwidth:physical") or tags.get("width")) or GATE_M, WIDEST_GATE_M)
            yield shapely.buffer(point, width / 2)
    for street in streets:
        half = street.road / 2 + BESIDE_ROAD_M if street.road else PATH_M
        yield shapely.buffer(LineString(street.line), half, quad_segs=2)
    for tags, line in zip(extract.lines.tags, extract.lines.shapes, strict=True):
        if "highway" in tags and not is_hidden(tags):
            yield shapely.buffer(line, WAY_M, quad_segs=2)
