"""The street that each stretch of a way network belongs to."""

import numpy as np
import shapely

from virl.geo import Ints
from virl.platform.providers.osm.extract import OsmExtract, Shapes, Tags
from virl.platform.providers.osm.ways import ROADS

BESIDE_M = 15.0  # a pavement this near to a named road is that road's; chosen
_NAMES = ("name", "is_sidepath:of:name", "street:name", "ref")
_BESIDE = frozenset({"sidewalk", "sidepath"})


def street_names(extract: OsmExtract, way: Ints, lines: Shapes) -> tuple[tuple[str, ...], Ints]:
    """The names of streets, the empty one first, and the number of each stretch's name among them.

    A pavement mapped without a name has that of the nearest road within 15 m.

    Args:
        extract: what is mapped.
        way: the line of the extract that each stretch is a part of, shape (n,).
        lines: the stretches in metres, shape (n,).
    """
    names = {"": 0}
    of_way = np.array([names.setdefault(_name(tags), len(names)) for tags in extract.lines.tags], np.int64)
    own = of_way[way] if len(way) else np.empty(0, np.int64)
    roads = np.flatnonzero([tags.get("highway") in ROADS for tags in extract.lines.tags])
    roads = roads[of_way[roads] > 0]
    nameless = np.flatnonzero(
        [not own[number] and _is_beside(extract.lines.tags[line]) for number, line in enumerate(way)]
    )
    if len(roads) and len(nameless):
        middles = shapely.line_interpolate_point(lines[nameless], 0.5, normalized=True)
        tree = shapely.STRtree(extract.lines.shapes[roads])
        pavement, road = tree.query_nearest(middles, max_distance=BESIDE_M, all_matches=False)
        own[nameless[pavement]] = of_way[roads[road]]
    return tuple(names), own


def _name(tags: Tags) -> str:
    if "highway" not in tags:
        return ""
    return next((name for key in _NAMES if (name := tags.get(key, "").strip())), "")


def _is_beside(tags: Tags) -> bool:
    kinds = (tags.get(key) for key in ("footway", "path", "cycleway"))
    return tags.get("is_sidepath") == "yes" or not _BESIDE.isdisjoint(kinds)
