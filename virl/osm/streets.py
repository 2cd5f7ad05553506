"""Streets of a twin: where panoramas stand, and how wide carriageways and pavements are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import shapely
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from virl.errors import BadInput
from virl.geo.flat import near_shapes
from virl.geo.globe import Flags, Floats, Ints
from virl.osm.extract import OsmExtract, Shapes, Tags
from virl.osm.houses import PAVED_FROM, Houses, built_share, passage_width
from virl.osm.tags import metres, number
from virl.osm.ways import (
    ROADS,
    WayFilter,
    WayNetwork,
    cycle_lanes,
    has_panoramas,
    is_bridge,
    is_hidden,
    is_passage,
    is_pavement_unknown,
    is_walkable,
    largest_part,
    select_stretches,
    way_network,
)
from virl.towns.plan.furnish import EYE_M
from virl.towns.plan.town_plan import Panoramas, Street

NOTHING_TO_WALK = "no street to walk lies in this part of the extract: give another part, or a larger one"
"""Error text for a part of an extract without streets on which panoramas can stand."""
TOGETHER_M = 5.0
"""Length in metres of a stretch below which its two junctions are merged into one; chosen."""
CONNECTION_M = 300.0
"""Largest length in metres of the sidewalks and crossings that join two parts of the network; chosen."""
SHORTCUT_M = 150.0
"""Largest length in metres of the sidewalks and crossings that are walked as a shortcut; chosen."""
INSIDE_M = 3.0
"""Metres of a stretch that may lie inside houses; with more the stretch is left out; chosen."""
CLEAR_M = 0.7
"""Distance in metres to a house within which a panorama is dropped, as one in the house; chosen."""
ASIDE_M = 2.4
"""Farthest in metres that a panorama is moved off walls; chosen: below half of `TOGETHER_M`, so none meet."""
_RADII_M, _ANGLES = np.arange(0.0, ASIDE_M + 0.1, 0.2), np.radians(np.arange(0.0, 360.0, 22.5))
"""Lengths in metres and directions of the moves of a panorama that are tried; chosen."""
_MOVES = np.stack([np.outer(_RADII_M, part(_ANGLES)).ravel() for part in (np.cos, np.sin)], axis=1)
"""Moves of a panorama that are tried, metres east and north, the shortest first, shape (n, 2)."""
PROBE_M, PROBE_REACH_M = 6.0, 25.0
"""Distance in metres between measurements of the clearance to houses, and the largest clearance measured."""
LANE_M = 3.0
"""Width of one lane of a carriageway in metres."""
ROAD_SHARE = 0.62
"""Largest share of the clearance between houses, [0, 1], that a carriageway takes; chosen."""
LEAST_ROAD_M = 2.5
"""Width in metres of a carriageway below which a road is paved from wall to wall, without kerbs; chosen."""
WIDEST_PAVEMENT_M = 9.0
"""Largest width of a pavement in metres."""
OPEN_M = 17.0
"""Mean distance in metres to houses above which a street counts as running through open land; chosen."""
OPEN_PAVEMENT_M, VERGE_M = 2.2, 0.5
"""Largest width in metres of a pavement in open land, and of the verge where there is no pavement; chosen."""
RURAL_M = 20.0
"""Mean distance in metres to houses above which an unlit street without known pavements has none; chosen."""
PASSAGE_KERB_M = 0.2
"""Width in metres of the strip between carriageway and wall in a passage through a house; chosen."""
SEALED = frozenset({"asphalt", "paved", "concrete", "tarmac", "chipseal"})
"""Values of the tag `surface` for ways without joints."""
NO_SIDEWALK = frozenset({"no", "none", "separate"})
"""Values of the tag `sidewalk` for a street without a pavement of its own."""
LOOSE = frozenset(
    {
        "compacted", "dirt", "earth", "fine_gravel", "grass", "gravel", "ground", "mud", "pebblestone",
        "rock", "sand", "unpaved", "wood", "woodchips", "track", "path", "bridleway",
    }
)  # fmt: skip
"""Values of the tags `surface` and `highway` for ways that are gravel or bare ground."""

WIDTH_M = {
    "trunk": 12.0, "primary": 11.0, "secondary": 9.0, "tertiary": 8.0, "unclassified": 6.0,
    "residential": 6.0, "living_street": 5.0, "road": 6.0, "service": 3.6, "trunk_link": 6.0,
    "primary_link": 6.0, "secondary_link": 5.0, "tertiary_link": 5.0,
}  # fmt: skip
"""Width of a carriageway in metres by class of road, where not tagged; chosen."""
PATH_M = 2.5
"""Width in metres of a way without a carriageway, all of which is paved."""

_SHORTER_BY_M = 60.0
"""Metres by which the way around must exceed twice the length of a shortcut that is taken; chosen."""


@dataclass(frozen=True, slots=True)
class TwinStreets:
    """The streets and panoramas of a twin, and the metres of ways that were left out."""

    streets: tuple[Street, ...]
    """All n streets: stretches of way between junctions."""
    junctions: Floats
    """Metres east and north of each junction, shape (k, 2)."""
    panoramas: Panoramas
    """Positions of the panoramas, the street of each and the links between them."""
    way: Ints
    """Index of the extract's line that each street belongs to, shape (n,)."""
    mapped_m: float
    """Metres of mapped ways on which panoramas may stand."""
    dropped_m: Mapping[str, float]
    """Metres of ways that were left out, by reason in words."""
    drawn_m: Mapping[str, float]
    """Metres of bridges and of passages through houses, which are drawn unlike reality, by kind in words."""


def streets_of(extract: OsmExtract, houses: Houses) -> TwinStreets:
    """Return the streets of an extract that can be walked, their widths, and panoramas along them.

    Raises:
        BadInput: there is none to walk.
    """
    dropped: dict[str, float] = {}
    whole = way_network(extract, lambda tags: is_walkable(tags) and not is_hidden(tags))
    # For the count of what is left out alone.
    hidden = way_network(extract, lambda tags: is_walkable(tags) and is_hidden(tags))
    dropped["in a tunnel, indoors or underground"] = float(hidden.length.sum())
    tree = shapely.STRtree(houses.footprints)
    core = np.array([has_panoramas(extract.lines.tags[way]) for way in whole.way], bool)
    mapped = float(whole.length[core].sum())
    blocked = _blocked_stretches(whole, houses, tree)
    dropped["through a house"] = float(whole.length[blocked & core].sum())
    free = select_stretches(whole, np.flatnonzero(~blocked))
    if not core[~blocked].any():
        raise BadInput(NOTHING_TO_WALK)
    # Connections first: what is a shortcut depends on what is walked anyway.
    walked = _with_connections(free, core[~blocked], CONNECTION_M)
    joined = select_stretches(free, np.flatnonzero(_with_shortcuts(free, walked, SHORTCUT_M)))
    largest = largest_part(joined)
    dropped["cut off from the rest"] = float(joined.length.sum() - largest.length.sum())
    network = _merge_junctions(largest)
    streets = _widen_streets(extract, network, houses, tree)
    panoramas = Panoramas.of_streets(streets, network.junctions)
    panoramas = _without_those_in_houses(panoramas, houses.obstacles)
    if not len(panoramas.xy):
        raise BadInput(NOTHING_TO_WALK)
    filters: dict[str, WayFilter] = {"bridges": is_bridge, "passages through houses": is_passage}
    tags = [extract.lines.tags[way] for way in network.way]
    drawn = {
        kind: float(network.length[np.array([is_kept(one) for one in tags], bool)].sum())
        for kind, is_kept in filters.items()
    }
    return TwinStreets(streets, network.junctions, panoramas, network.way, mapped, dropped, drawn)


def off_walls(streets: TwinStreets, walls: Shapes) -> TwinStreets:
    """Move panoramas `EYE_M` metres off walls; where a lane is too narrow for that, to its middle.

    Args:
        streets: with their panoramas.
        walls: houses, rooms over passages and barriers, shapes in metres.
    """
    tree, panoramas = shapely.STRtree(walls), streets.panoramas
    near = np.flatnonzero(near_shapes(panoramas.xy, tree, EYE_M))
    if not len(near):
        return streets
    spots = np.round(panoramas.xy[near, None] + _MOVES, 3)
    ends = np.stack(np.broadcast_arrays(panoramas.xy[near, None], spots), axis=2)
    moves = np.asarray(shapely.linestrings(ends.reshape(-1, 2, 2)))
    away = tree.query_nearest(shapely.points(spots).ravel(), all_matches=False, return_distance=True)[1]
    room = np.minimum(away, EYE_M)
    # Beyond a wall is another yard.
    room[tree.query(moves, predicate="intersects")[0]] = 0.0
    # The shortest move to enough room, or else to the most.
    best = room.reshape(len(near), -1).argmax(axis=1)
    xy = panoramas.xy.copy()
    xy[near] = spots[np.arange(len(near)), best]
    return replace(streets, panoramas=replace(panoramas, xy=xy))


def _blocked_stretches(network: WayNetwork, houses: Houses, tree: shapely.STRtree) -> Flags:
    """Return True for each stretch with over `INSIDE_M` metres in houses, (n,); `tree` has the footprints."""
    stretch, house = tree.query(network.shapes, predicate="intersects").reshape(2, -1)
    # Touching a house is no obstacle: the metres inside count.
    inside = shapely.length(shapely.intersection(network.shapes[stretch], houses.footprints[house]))
    return np.asarray(np.bincount(stretch, weights=inside, minlength=len(network.lines)) > INSIDE_M)


def _merge_junctions(network: WayNetwork) -> WayNetwork:
    """Return the network with junctions under `TOGETHER_M` metres apart merged and short loops dropped."""
    count = len(network.junctions)
    short = (network.length < TOGETHER_M) & (network.start != network.end)
    links = coo_array(
        (np.ones(short.sum()), (network.start[short], network.end[short])), shape=(count, count)
    )
    groups, group = connected_components(links, directed=False)
    members = np.bincount(group, minlength=groups)
    sums = [np.bincount(group, weights=axis, minlength=groups) for axis in network.junctions.T]
    middles = np.round(np.stack(sums, axis=1) / members[:, None], 3)
    start, end = group[network.start], group[network.end]
    # A stretch within one merged junction leads nowhere, but for a loop that is long enough to walk.
    kept = np.flatnonzero((start != end) | (network.length > 4 * TOGETHER_M))
    lines = []
    for stretch in kept:
        line = network.lines[stretch].copy()
        line[0], line[-1] = middles[start[stretch]], middles[end[stretch]]
        lines.append(line[np.concatenate([[True], np.any(np.diff(line, axis=0) != 0, axis=1)])])
    merged = WayNetwork(middles, tuple(lines), start[kept], end[kept], network.way[kept])
    return select_stretches(merged, np.arange(len(lines)))


def _without_those_in_houses(panoramas: Panoramas, built: Shapes) -> Panoramas:
    """Return the panoramas over `CLEAR_M` metres from all shapes in `built`; gaps between them are linked."""
    inside = near_shapes(panoramas.xy, shapely.STRtree(built), CLEAR_M)
    around: dict[int, set[int]] = {}
    for a, b in zip(panoramas.source.tolist(), panoramas.target.tolist(), strict=True):
        around.setdefault(a, set()).add(b)
    for lost in np.flatnonzero(inside).tolist():
        ends = around.pop(lost, set())
        for end in ends:
            around[end].discard(lost)
            # Its neighbours are linked with one another, so that a walk still gets past.
            around[end] |= ends - {end}
    kept = np.flatnonzero(~inside)
    new = (np.cumsum(~inside) - 1).tolist()
    pairs = {(min(new[a], new[b]), max(new[a], new[b])) for a, ends in around.items() for b in ends}
    return Panoramas.of_pairs(panoramas.xy[kept], panoramas.street[kept], pairs)


def _widen_streets(
    extract: OsmExtract, network: WayNetwork, houses: Houses, tree: shapely.STRtree
) -> tuple[Street, ...]:
    """Return the streets of a network, as wide as tags say and houses allow; `tree` has the footprints."""
    near, far, usual = _clearance(network, houses, tree)
    streets = []
    for number_, line in enumerate(network.lines):
        tags = extract.lines.tags[network.way[number_]]
        # Tags yield to the houses: better a narrow carriageway than one through walls.
        road = min(_usual_width(tags), 2 * ROAD_SHARE * near[number_])
        is_road = tags["highway"] in ROADS
        if not is_road or road < LEAST_ROAD_M:
            road = 0.0
        widest = WIDEST_PAVEMENT_M if _is_busy(tags) else 2.0
        if not road and tags["highway"] != "pedestrian":
            widest = _usual_width(tags) / 2
        if usual[number_] > OPEN_M and road:
            widest = min(widest, VERGE_M if tags.get("sidewalk", "both") in NO_SIDEWALK else OPEN_PAVEMENT_M)
        pavement = min(max(far[number_] - road / 2, 0.4), widest)
        if is_road and is_passage(tags):
            # As wide from end to end, whatever stands near its way before and behind the house.
            road = min(_usual_width(tags), passage_width(tags) - 2 * PASSAGE_KERB_M)
            pavement = PASSAGE_KERB_M
        is_rural = usual[number_] > RURAL_M and tags.get("lit") != "yes"
        middle = shapely.line_interpolate_point(shapely.LineString(line), 0.5, normalized=True)
        is_rural = is_rural and built_share(tree, shapely.get_coordinates(middle)[0]) < PAVED_FROM
        paving = _paving(tags, is_rural=is_rural)
        streets.append(
            Street(
                number_, tags.get("name", ""), line, int(network.start[number_]), int(network.end[number_]),
                round(road, 2), round(pavement, 2), paving == "gravel", paving == "asphalt" and not road,
                not (road and is_rural and is_pavement_unknown(tags)), cycle_lanes(tags),
            )
        )  # fmt: skip
    return tuple(streets)


def _paving(tags: Tags, *, is_rural: bool) -> Literal["stone", "gravel", "asphalt"]:
    """Return what a path, or the pavement of a road, is made of: as tagged, or usual for its class."""
    highway, surface = tags["highway"], tags.get("surface", "")
    if surface in LOOSE or (not surface and highway in LOOSE):
        return "gravel"
    if surface in SEALED or (not surface and highway in ROADS | {"cycleway"}):
        return "asphalt"
    return "gravel" if is_rural and not surface and highway == "footway" else "stone"


def _is_busy(tags: Tags) -> bool:
    """Return whether a way is a pedestrian street or a road other than a service road."""
    return tags.get("highway") in ROADS - {"service"} or tags.get("highway") == "pedestrian"


def _usual_width(tags: Tags) -> float:
    """Return the width of a carriageway, or of a path, in metres: tagged, by its lanes or by its class."""
    width = metres(tags.get("width"))
    if width is None and (lanes := number(tags.get("lanes"))):
        width = lanes * LANE_M + 0.5
    if width is None or not 1.0 <= width <= 40.0:
        width = WIDTH_M.get(tags.get("highway", ""), PATH_M)
    return width


def _clearance(network: WayNetwork, houses: Houses, tree: shapely.STRtree) -> tuple[Floats, Floats, Floats]:
    """Return (least, most, mean) metres to houses beside each stretch, arrays (n,); `tree` has footprints."""
    lines = network.shapes
    length = shapely.length(lines)
    count = np.maximum(1, np.round(length / PROBE_M)).astype(int)
    owner = np.repeat(np.arange(len(lines)), count)
    # The place of each probe among those of its own stretch.
    rank = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    along = (rank + 0.5) * (length / count)[owner]
    here = shapely.get_coordinates(shapely.line_interpolate_point(lines[owner], along))
    ahead = shapely.get_coordinates(
        shapely.line_interpolate_point(lines[owner], np.minimum(along + 0.5, length[owner]))
    )
    back = shapely.get_coordinates(shapely.line_interpolate_point(lines[owner], np.maximum(along - 0.5, 0.0)))
    # The direction of the street over a metre around the probe; at bends it is a mean.
    way = (ahead - back) / np.maximum(np.linalg.norm(ahead - back, axis=1, keepdims=True), 1e-9)
    sides = []
    for sign in (1.0, -1.0):
        tip = here + sign * PROBE_REACH_M * np.stack([-way[:, 1], way[:, 0]], axis=1)
        rays = np.asarray(shapely.linestrings(np.stack([here, tip], axis=1)))
        ray, house = tree.query(rays, predicate="intersects").reshape(2, -1)
        hit = shapely.distance(
            shapely.points(here[ray]), shapely.intersection(rays[ray], houses.footprints[house])
        )
        free = np.full(len(rays), PROBE_REACH_M)
        np.minimum.at(free, ray, hit)
        sides.append(free)
    narrow, wide = np.minimum(*sides), np.maximum(*sides)
    least, most = np.full(len(lines), PROBE_REACH_M), np.zeros(len(lines))
    np.minimum.at(least, owner, narrow)
    np.maximum.at(most, owner, wide)
    mean = np.bincount(owner, weights=(narrow + wide) / 2) / count
    # A wall that touches the middle of a street shall not leave a street without width.
    return np.maximum(least, 0.8), most, mean


def _with_connections(network: WayNetwork, core: Flags, longest: float) -> Flags:
    """Return True for stretches in `core` or on ways of up to `longest` metres that join its parts, (n,)."""
    count = len(network.junctions)
    # The core is as good as free, so that the shortest way uses as little else as possible.
    weight = np.where(core, 1e-6, network.length + 1e-3)
    # of several stretches between two junctions only the shortest counts
    low, high = np.minimum(network.start, network.end), np.maximum(network.start, network.end)
    order = np.lexsort((weight, high, low))
    low, high = low[order], high[order]
    first = np.flatnonzero((np.diff(low, prepend=-1) != 0) | (np.diff(high, prepend=-1) != 0))
    best = order[first]
    pair = {(int(a), int(b)): int(edge) for a, b, edge in zip(low[first], high[first], best, strict=True)}
    links = coo_array((weight[best], (low[first], high[first])), shape=(count, count)).tocsr()

    core_ends = np.concatenate([network.start[core], network.end[core]])
    inner = coo_array((np.ones(core.sum()), (network.start[core], network.end[core])), shape=(count, count))
    _, part = connected_components(inner, directed=False)
    metres = np.bincount(part[network.start[core]], weights=network.length[core], minlength=part.max() + 1)
    largest = metres.argmax()
    origin = int(core_ends[part[core_ends] == largest][0])
    _, before = dijkstra(links, directed=False, indices=origin, return_predecessors=True)

    taken = core.copy()
    # One node of each part is enough: within a part, ways cost next to nothing.
    for node in core_ends[np.unique(part[core_ends], return_index=True)[1]]:
        path = _path_stretches(pair, before, int(node)) if part[node] != largest else []
        bridge = [edge for edge in path if not taken[edge]]
        if network.length[bridge].sum() <= longest:
            taken[bridge] = True
    return taken


def _with_shortcuts(network: WayNetwork, taken: Flags, longest: float) -> Flags:
    """Return True for stretches in `taken` or on useful shortcuts of up to `longest` metres, shape (n,)."""
    walked = taken.copy()
    graph = _graph(network, walked)
    # The shortest first: each one that is taken may make longer ones useless.
    for length, start, end, stretches in sorted(_shortcuts(network, taken, longest)):
        metres = dijkstra(graph, directed=False, indices=start, limit=2 * length + _SHORTER_BY_M)
        if not np.isfinite(metres[end]):
            walked[stretches] = True
            graph = _graph(network, walked)
    return walked


def _shortcuts(
    network: WayNetwork, taken: Flags, longest: float
) -> Iterator[tuple[float, int, int, list[int]]]:
    """Yield (metres, start, end junction, stretches) of paths off `taken` ones that halve the way around.

    The last stretch comes first, and no path is over `longest` metres.
    """
    count = len(network.junctions)
    # Only where walked and other ways meet can a shortcut begin or end.
    others = np.flatnonzero(~taken)
    inner, outer = np.zeros(count, bool), np.zeros(count, bool)
    inner[network.start[taken]] = inner[network.end[taken]] = True
    outer[network.start[others]] = outer[network.end[others]] = True
    contacts = np.flatnonzero(inner & outer)
    graph, beside = _graph(network, taken), _graph(network, ~taken)
    edge = _shortest_edges(network, others)
    for start in contacts.tolist():
        metres, before = dijkstra(
            beside, directed=False, indices=start, limit=longest, return_predecessors=True
        )
        ends = contacts[(contacts > start) & np.isfinite(metres[contacts])]
        if not len(ends):
            continue
        around = dijkstra(graph, directed=False, indices=start, limit=2 * longest + _SHORTER_BY_M)
        for end in ends[around[ends] > 2 * metres[ends] + _SHORTER_BY_M].tolist():
            yield float(metres[end]), start, end, _path_stretches(edge, before, end)


def _path_stretches(stretch_of: Mapping[tuple[int, int], int], before: Ints, end: int) -> list[int]:
    """Return the stretches' indices of a path, from `end` back; `before`: each junction's predecessor.

    `stretch_of` has the stretch between two junctions, the lower first.
    """
    stretches, at = [], end
    while before[at] >= 0:
        last = int(before[at])
        stretches.append(stretch_of[min(at, last), max(at, last)])
        at = last
    return stretches


def _graph(network: WayNetwork, kept: Flags) -> csr_array:
    """Return a sparse matrix (k, k) of the metres between neighbouring junctions over the kept stretches."""
    edge = _shortest_edges(network, np.flatnonzero(kept))
    pairs = np.array(list(edge), np.int64).reshape(-1, 2)
    metres = np.maximum(network.length[list(edge.values())], 1e-3)
    count = len(network.junctions)
    return coo_array((metres, (pairs[:, 0], pairs[:, 1])), shape=(count, count)).tocsr()


def _shortest_edges(network: WayNetwork, stretches: Ints) -> dict[tuple[int, int], int]:
    """Return the index of the shortest of `stretches` by pair of junctions that it joins, the lower first."""
    edges: dict[tuple[int, int], int] = {}
    # The longest first, so that the shortest is what stays of several.
    for stretch in stretches[np.argsort(-network.length[stretches], kind="stable")].tolist():
        one, other = int(network.start[stretch]), int(network.end[stretch])
        if one != other:
            edges[min(one, other), max(one, other)] = stretch
    return edges
