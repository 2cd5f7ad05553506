"""What episodes are made from: a city as a graph of whole degrees, its ways by name, and what is seen."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
import shapely
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from virl.errors import BadInput
from virl.geo.flat import line_strings
from virl.geo.globe import Flags, Floats, Ints, signed_turn
from virl.platform.city.graph import NavigationGraph, build_graph
from virl.platform.providers.planned import ExportSource
from virl.towns.life.parks import NO_FRONTAGE
from virl.towns.plan.town_plan import CityPlan, Shop
from virl.towns.streetview import panorama_graph

SIGHT_M = 32.0
"""Most metres from which a landmark is seen and named. Chosen: across the widest crossing."""
GRAZING = 0.26  # cosine of the flattest angle, 75 degrees, at which a front is read; chosen
BEFORE_FRONT_M = 0.5  # the point of a front that has to be seen lies this far before its wall
DECIMALS = 7  # of a degree: about a centimetre
EDGE_M = 60.0
"""Metres from a town's edge within which a dead end counts as cut off by the edge. Chosen."""
LONGEST_NAME = 40
"""Most characters of the name of a place that an instruction may name. Chosen."""
MIN_NODES = 60
"""Least number of panoramas of an exported town; fewer give no walk of a sensible length. Chosen."""


@dataclass(frozen=True, slots=True)
class TownLandmark:
    """A place with a sign that an instruction may name, at the middle of its front."""

    name: str
    type: str
    """Google's place type, such as `"bakery"`."""
    x: float
    """Metres east of the city's origin to the middle of the landmark's front."""
    y: float
    """Metres north of the city's origin to the middle of the landmark's front."""


@dataclass(frozen=True, slots=True)
class Town:
    """A city, or its middle, as a graph of panoramas with the landmarks seen from each."""

    graph: NavigationGraph
    """Graph with headings in whole degrees, distinct at each node, and positions as rounded in the files."""
    xy: Floats
    """Metres (east, north) of each node from the city's origin, shape (nodes, 2)."""
    lit: Flags
    """True for each crossing with traffic lights, shape (nodes,)."""
    whole: Flags
    """True for each node with all its links in the city, none cut off by an edge, shape (nodes,).

    Edges are that of `radius`, and of the part that was read of a town."""
    driven: Flags
    """True for each node where all traffic runs in the direction of its yaw, shape (nodes,)."""
    unseen: Flags
    """True for each node of the eastern half, which the `unseen` splits are drawn from, shape (nodes,)."""
    landmarks: tuple[TownLandmark, ...]
    sees: tuple[tuple[TownLandmark, ...], ...]
    """Landmarks in sight of each node, the nearest first."""
    headings: tuple[Mapping[int, float], ...]
    """Headings of each node's links, in whole degrees, by the node they lead to."""
    streets: tuple[Mapping[int, str], ...]
    """Street names of each node's links by the node they lead to; only named streets of real towns."""

    def is_crossing(self, node: int) -> bool:
        """Return whether three or more links meet at a node."""
        return len(self.headings[node]) > 2


def survey(source: ExportSource, radius: float | None = None) -> Town:
    """Return a city, or its part within `radius` metres of the centre, ready for drawing episodes.

    Raises:
        BadInput: too little of it lies within the radius.
    """
    plan = source.plan
    full = panorama_graph(plan.layout)
    kept = _connected_nodes(full, plan.layout.panoramas.xy, radius)
    graph = _whole_degree_graph(full, kept)
    xy = plan.layout.panoramas.xy[kept]
    street = plan.layout.panoramas.street[kept]
    shops = _landmark_shops(plan)
    ends = {front.id: (front.left, front.right) for front in plan.layout.frontages}
    fronts = np.array([ends[shop.frontage] for shop in shops]).reshape(-1, 2, 2)  # (shop, end, x or y)
    landmarks = tuple(
        TownLandmark(shop.place.name, shop.place.types[0], float(x), float(y))
        for shop, (x, y) in zip(shops, fronts.mean(axis=1), strict=True)
    )
    return Town(
        graph=graph,
        xy=xy,
        lit=_crossings_with_lights(plan, xy, graph.degree > 2),
        whole=(graph.degree == full.degree[kept]) & ~_cut_off(source, graph, xy),
        driven=np.ones(len(xy), bool) if source.driven is None else np.array(source.driven, bool)[street],
        unseen=xy[:, 0] >= np.median(xy[:, 0]),
        landmarks=landmarks,
        sees=_sight(plan, xy, fronts, landmarks),
        headings=tuple(
            dict(zip(graph.target[links].tolist(), graph.heading[links].tolist(), strict=True))
            for links in map(graph.links, range(len(graph)))
        ),
        streets=_streets(plan, graph, xy) if source.is_real else ({},) * len(graph),
    )


def whole_degrees(headings: Sequence[float]) -> list[int]:
    """Return headings rounded to distinct whole degrees, [0, 359], as near to the exact ones as can be.

    Formats with whole degrees name a link by its heading, so that no two of one node may share one. Links
    that would are nudged apart by least squares, which keeps their order.

    Raises:
        BadInput: there are more than 360.
    """
    if len(headings) > 360:
        raise BadInput(f"{len(headings)} links leave one panorama: the format holds at most 360")
    off = np.asarray(signed_turn(np.array(headings)[:, None], np.arange(360.0)))
    degrees: list[int] = linear_sum_assignment(off**2)[1].tolist()
    return degrees


def _connected_nodes(graph: NavigationGraph, xy: Floats, radius: float | None) -> Ints:
    """Return the indices of all nodes, or for a `radius`, metres, of the largest connected part within it."""
    if radius is None:
        return np.arange(len(graph))
    inside = np.hypot(xy[:, 0], xy[:, 1]) <= radius
    source = np.repeat(np.arange(len(graph)), graph.degree)
    linked = inside[source] & inside[graph.target]
    ends = (source[linked], graph.target[linked])
    matrix = csr_array((np.ones(len(ends[0])), ends), shape=(len(graph), len(graph)))
    part = connected_components(matrix, directed=False)[1]
    kept = np.flatnonzero(part == np.bincount(part[inside]).argmax()) if inside.any() else np.empty(0, int)
    if len(kept) < MIN_NODES:
        raise BadInput(
            f"only {len(kept)} panoramas lie within {radius:g} m of the centre: give a larger --radius"
        )
    return kept


def _whole_degree_graph(full: NavigationGraph, kept: Ints) -> NavigationGraph:
    """Return the part of a graph on the nodes `kept`, with headings in whole degrees."""
    number = np.full(len(full), -1)
    number[kept] = np.arange(len(kept))
    source = number[np.repeat(np.arange(len(full)), full.degree)]
    target = number[full.target]
    # The formats name a link by its two ends: no loops, and of parallel links the first alone.
    between = (source >= 0) & (target >= 0) & (source != target)
    pairs, first = np.unique(np.stack([source, target], axis=1)[between], axis=0, return_index=True)
    exact = full.heading[between][first]
    ends = np.flatnonzero(np.diff(pairs[:, 0], prepend=-1, append=-1))
    headings = [
        degree for start, end in pairwise(ends) for degree in whole_degrees(exact[start:end].tolist())
    ]
    return build_graph(
        [full.ids[node] for node in kept],
        np.round(full.lat[kept], DECIMALS),
        np.round(full.lng[kept], DECIMALS),
        pairs[:, 0],
        pairs[:, 1],
        headings,
        yaw=np.round(full.yaw[kept]) % 360.0,
    )


def _cut_off(source: ExportSource, graph: NavigationGraph, xy: Floats) -> Flags:
    """Return a mask of the dead ends within `EDGE_M` of the edge of the town's extract, shape (nodes,)."""
    if source.outline is None:
        return np.zeros(len(graph), bool)
    edge = source.outline.exterior
    return np.asarray((graph.degree == 1) & (shapely.distance(edge, shapely.points(xy)) < EDGE_M))


def _streets(plan: CityPlan, graph: NavigationGraph, xy: Floats) -> tuple[Mapping[int, str], ...]:
    """Return the street names of each node's links, by the node they lead to; unnamed ones are left out.

    A link runs along the street that is nearest to its middle.
    """
    source = np.repeat(np.arange(len(graph)), graph.degree)
    middles = shapely.points((xy[source] + xy[graph.target]) / 2)
    lines = shapely.STRtree(line_strings(street.line for street in plan.layout.streets))
    found: tuple[dict[int, str], ...] = tuple({} for _ in range(len(graph)))
    for node, target, street in zip(source, graph.target, np.atleast_1d(lines.nearest(middles)), strict=True):
        if name := plan.layout.streets[street].name:
            found[int(node)][int(target)] = name
    return found


def _landmark_shops(plan: CityPlan) -> list[Shop]:
    """Return the open shops with a sign on their front and a short name that no other shop has."""
    names = Counter(shop.place.name.casefold() for shop in plan.shops)
    signed = (
        shop for shop in plan.shops if shop.place.is_open and shop.frontage != NO_FRONTAGE and shop.signs
    )
    return [
        shop
        for shop in signed
        if names[shop.place.name.casefold()] == 1
        and shop.place.name.isprintable()
        and len(shop.place.name) <= LONGEST_NAME
    ]


def _crossings_with_lights(plan: CityPlan, xy: Floats, crossing: Flags) -> Flags:
    """Return a mask of the crossings that are the nearest one to a traffic light, shape (nodes,)."""
    lights = [(thing.x, thing.y) for thing in plan.layout.furniture if thing.kind == "traffic light"]
    lit = np.zeros(len(xy), dtype=bool)
    nodes = np.flatnonzero(crossing)
    away, nearest = cKDTree(xy[nodes]).query(np.array(lights).reshape(-1, 2))
    lit[nodes[nearest[away <= SIGHT_M]]] = True
    return lit


def _sight(
    plan: CityPlan, xy: Floats, fronts: Floats, landmarks: Sequence[TownLandmark]
) -> tuple[tuple[TownLandmark, ...], ...]:
    """Return the landmarks seen from each node, nearest first: near, not at a flat angle, nothing between."""
    run = fronts[:, 1] - fronts[:, 0]
    out = np.stack([run[:, 1], -run[:, 0]], axis=1) / np.linalg.norm(run, axis=1)[:, None]
    # Before the front, else the ray to it would meet the wall that the sign hangs on.
    points = fronts.mean(axis=1) + BEFORE_FRONT_M * out
    pairs = cKDTree(points).query_ball_point(xy, SIGHT_M)
    node = np.repeat(np.arange(len(xy)), [len(found) for found in pairs])
    mark = np.array([index for found in pairs for index in found], dtype=np.int64)
    away = xy[node] - points[mark]
    metres = np.linalg.norm(away, axis=1)
    seen = np.sum(away * out[mark], axis=1) >= GRAZING * metres
    rays = shapely.linestrings(np.stack([xy[node], points[mark]], axis=1))
    walls = shapely.STRtree([building.footprint for building in plan.layout.buildings])
    seen[np.unique(walls.query(rays, predicate="intersects")[0])] = False
    sees: list[list[tuple[float, int]]] = [[] for _ in xy]
    for index in np.flatnonzero(seen):
        sees[int(node[index])].append((float(metres[index]), int(mark[index])))
    return tuple(tuple(landmarks[which] for _, which in sorted(found)) for found in sees)


Way = Literal["straight", "left", "right", "slight left", "slight right", "sharp left", "sharp right"]
"""A word for a way out of a crossing, such as "left"."""
WAYS: tuple[Way, ...] = get_args(Way)

# All chosen: degrees from straight ahead. A way that fits none of the words is given no name, and no
# instruction leads into it.
STRAIGHT_DEG = 40.0  # no way is straight that turns by more
CLEAR_DEG = 20.0  # of two such ways one is straight only if the other turns by this much more
ASIDE_DEG = 12.0  # a way that turns by less lies to no side
SLIGHT_DEG, SHARP_DEG, BACK_DEG = 50.0, 130.0, 160.0  # bounds of "slight", "left" or "right", and "sharp"
PAIR_SLIGHT_DEG, PAIR_SHARP_DEG, PAIR_APART_DEG = 65.0, 105.0, 35.0  # where two ways leave to one side


def ways_out(town: Town, before: int, node: int) -> dict[int, Way | None]:
    """Return a word for each way out of `node` for a walker from `before`; `None` for an unclear way.

    Args:
        town: where it is.
        before: the node come from.
        node: the node stood at.
    """
    arrival = town.headings[before][node]
    turns = {
        target: signed_turn(arrival, heading)
        for target, heading in town.headings[node].items()
        if target != before
    }
    words: dict[int, Way | None] = dict.fromkeys(turns)
    ahead = _straight(turns)
    if ahead is not None:
        words[ahead] = "straight"
    for side, sign in (("left", -1), ("right", 1)):
        mine = sorted(
            (abs(turn), target)
            for target, turn in turns.items()
            if target != ahead and (sign * turn >= ASIDE_DEG or abs(turn) > 180.0 - ASIDE_DEG)
        )
        for (_, target), word in zip(mine, _degrees_of_turn([turn for turn, _ in mine]), strict=True):
            name = f"{word} {side}".strip()
            words[target] = next((way for way in WAYS if way == name), None)
    return words


def ends_here(words: dict[int, Way | None]) -> bool:
    """Return whether a street ends in a T: its ways out go left and right only."""
    return sorted(word or "" for word in words.values()) == ["left", "right"]


def _straight(turns: dict[int, float]) -> int | None:
    """Return the node to which the way goes straight on, from turns in degrees; `None` if none does."""
    ranked = sorted((abs(turn), target) for target, turn in turns.items())
    if not ranked or ranked[0][0] > STRAIGHT_DEG:
        return None
    # At a fork neither way is straight on, as a walker could take either for it.
    if len(ranked) > 1 and ranked[1][0] < ranked[0][0] + CLEAR_DEG:
        return None
    return ranked[0][1]


def _degrees_of_turn(turns: list[float]) -> list[str]:
    """Return "slight", "", "sharp" or "no word" for each turn to one side, degrees, the smallest first."""
    if len(turns) == 1:
        (turn,) = turns
        bounds = ((SLIGHT_DEG, "slight"), (SHARP_DEG, ""), (BACK_DEG, "sharp"))
        return [next((word for bound, word in bounds if turn < bound), "no word")]
    if len(turns) == 2 and turns[1] - turns[0] >= PAIR_APART_DEG:
        return [
            "slight" if turns[0] < PAIR_SLIGHT_DEG else "no word",
            "sharp" if PAIR_SHARP_DEG < turns[1] < BACK_DEG else "no word",
        ]
    return ["no word"] * len(turns)
