"""Do the indices of a town hold a million pieces of street, and what does it take?

    python -m benchmarks.perf.segments [--pieces 1000000] [--seed 0] [--json]

The plan is a grid of streets of 100 m, each of 10 straight pieces, with a panorama wherever two pieces meet.
It is indexed as every rendered town is: the table of pieces, the ground around points drawn at random, the
graph of panoramas, the nearest panorama, and routes. What the indices answer is compared with a search of
all pieces and all panoramas; the command fails if one differs. Peaks are those of the whole process.
"""

import argparse
import resource
import sys
import time
from collections.abc import Callable
from math import hypot
from typing import TypeVar

import numpy as np

from virl.geo.globe import Floats, Ints, LatLng, LocalFrame
from virl.platform.city.graph import GraphMaps
from virl.towns.plan.town_plan import CityPlan, Panoramas, Street, StreetPlan
from virl.towns.render.ground import Grounds, grid_of
from virl.towns.render.kernel import kernel
from virl.towns.render.rasters import Indices, RasterGrid, cell_at, segment_at
from virl.towns.streetview import OfflineStreetView, panorama_graph, renderer_on_demand

from .figures import Figures, command, figures

T = TypeVar("T")

BLOCK_M, PIECES = 100.0, 10
SPOTS, NEAREST, ROUTES = 5, 1000, 5
"""Numbers of random points asked of the ground, of the nearest panoramas, and of routes."""


def main() -> int:
    """Measure and print the indices' seconds; return 1 if any of their answers is wrong, else 0."""
    parser = command(__doc__)
    parser.add_argument("--pieces", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with figures(options) as found:
        return _measure(found, options)


def grid_town(pieces: int) -> StreetPlan:
    """Return a square grid of streets with at least `pieces` straight pieces."""
    side = int(np.ceil(np.sqrt(pieces / PIECES / 2))) + 1
    corner = -(side - 1) * BLOCK_M / 2
    steps = np.linspace(0.0, BLOCK_M, PIECES + 1)
    numbers = np.arange(side * side).reshape(side, side)
    junctions = (
        np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2).astype(np.float64)
        * BLOCK_M
        + corner
    )
    ends = np.concatenate(
        [
            np.stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()], axis=1),
            np.stack([numbers[:-1].ravel(), numbers[1:].ravel()], axis=1),
        ]
    )
    streets = tuple(
        Street(k, "", junctions[a] + (junctions[b] - junctions[a]) * steps[:, None] / BLOCK_M, a, b, 6.0, 2.0)
        for k, (a, b) in enumerate(ends.tolist())
    )
    frame = LocalFrame(LatLng(0.0, 0.0))
    return StreetPlan(frame, streets, junctions, _grid_panoramas(streets, junctions), crossings=())


def _grid_panoramas(streets: tuple[Street, ...], junctions: Floats) -> Panoramas:
    """Return the panoramas of a grid of streets, at junctions and between, linked along streets."""
    inner = np.concatenate([street.line[1:-1] for street in streets])
    owner = np.repeat(np.arange(len(streets)), PIECES - 1)
    first = len(junctions) + np.arange(len(streets))[:, None] * (PIECES - 1)
    starts = np.array([street.start for street in streets])[:, None]
    ends = np.array([street.end for street in streets])[:, None]
    chain = np.concatenate([starts, first + np.arange(PIECES - 1), ends], axis=1)
    ahead = np.stack([chain[:, :-1].ravel(), chain[:, 1:].ravel()], axis=1)
    links: Ints = np.concatenate([ahead, ahead[:, ::-1]])
    links = links[np.lexsort((links[:, 1], links[:, 0]))]
    at_junctions = np.zeros(len(junctions), int)
    for street in streets:
        at_junctions[street.start] = at_junctions[street.end] = street.id
    xy = np.concatenate([junctions, inner])
    return Panoramas(xy, np.concatenate([at_junctions, owner]), links[:, 0], links[:, 1])


def _measure(found: Figures, options: argparse.Namespace) -> int:
    """Record the seconds of making a town's indices; return 1 if any answer is wrong, else 0."""
    rng = np.random.default_rng(options.seed)
    plan = _time_making(found, "plan", lambda: grid_town(options.pieces))
    xy = plan.panoramas.xy
    found["pieces"], found["panoramas"] = len(plan.streets) * PIECES, len(xy)
    found.show(f"{found['pieces']:,} pieces of street, {len(xy):,} panoramas")
    grounds = _time_making(found, "table of pieces", lambda: Grounds(plan))
    spots = rng.uniform(xy.min(axis=0), xy.max(axis=0), (SPOTS, 2))
    wrong = _time_making(
        found, f"ground around {SPOTS} points", lambda: sum(_is_wrong(plan, grounds, *at) for at in spots)
    )
    graph = _time_making(found, "graph of panoramas", lambda: panorama_graph(plan))
    view = OfflineStreetView(plan, renderer_on_demand(CityPlan(0, plan, ())))
    asked = rng.uniform(xy.min(axis=0), xy.max(axis=0), (NEAREST, 2))
    wrong += _time_making(
        found, f"nearest panorama of {NEAREST} points", lambda: _count_misplaced(plan, view, asked)
    )
    maps = GraphMaps(graph)
    ways = rng.choice(len(plan.junctions), (ROUTES, 2))
    wrong += _time_making(found, f"{ROUTES} routes across the town", lambda: _too_long(plan, maps, ways))
    found["wrong"] = wrong
    found["mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found.show(f"memory of the process at its peak: {found['mib']:,.0f} MiB; wrong answers: {wrong}")
    return 1 if wrong else 0


def _time_making(found: Figures, what: str, make: Callable[[], T]) -> T:
    """Return the result of `make()`, after recording its seconds of processor time as `what`."""
    start = time.process_time()
    made = make()
    found[what] = time.process_time() - start
    found.show(f"{what:32} {found[what]:8.2f} s of a core")
    return made


@kernel
def _nearest_segment(grid: RasterGrid, nearest: Indices, x: float, y: float) -> int:
    """Return the index of the segment that the grid names nearest to a point in metres."""
    return segment_at(nearest, cell_at(grid, x, y))


def _is_wrong(plan: StreetPlan, grounds: Grounds, x: float, y: float) -> bool:
    """Return whether the piece that the ground names at a point is clearly not the nearest of all."""
    ground = grounds.ground_around(x, y)
    told = ground.segments[_nearest_segment(grid_of(ground), ground.nearest, x, y)]
    lines = np.concatenate([street.line[:-1] for street in plan.streets])
    ends = np.concatenate([street.line[1:] for street in plan.streets])
    best = float(_distances_to(lines, ends, x, y).min())
    own = float(_distances_to(told[None, :2], told[None, :2] + told[None, 2:4] * told[4], x, y)[0])
    return best < 6.0 and own > best + 1.5  # within reach of a street; a cell is 0.75 m wide


def _distances_to(start: Floats, end: Floats, x: float, y: float) -> Floats:
    """Return the metres from a point (x, y) to each segment from `start` to `end`, shape (n,)."""
    way = end - start
    share = np.clip(
        ((x - start[:, 0]) * way[:, 0] + (y - start[:, 1]) * way[:, 1]) / np.sum(way**2, axis=1), 0, 1
    )
    spot = start + share[:, None] * way
    return np.asarray(np.hypot(spot[:, 0] - x, spot[:, 1] - y))


def _count_misplaced(plan: StreetPlan, view: OfflineStreetView, points: Floats) -> int:
    """Return the number of points whose named panorama is farther away than the nearest."""
    wrong = 0
    for x, y in points.tolist():
        at = plan.frame.position(x, y)
        here = view.nearest(at, 200.0)
        if here is None:
            wrong += 1
            continue
        told = plan.frame.point(here.position)
        best = float(np.hypot(plan.panoramas.xy[:, 0] - x, plan.panoramas.xy[:, 1] - y).min())
        wrong += hypot(told[0] - x, told[1] - y) > best + 0.05
    return wrong


def _too_long(plan: StreetPlan, maps: GraphMaps, ways: Ints) -> int:
    """Return the number of routes between junctions that differ from the grid's distance by over 0.5 %."""
    wrong = 0
    for start, end in plan.junctions[ways]:
        route = maps.route([plan.frame.position(*start), plan.frame.position(*end)])
        wrong += abs(route.distance - float(np.abs(end - start).sum())) > 0.005 * route.distance + 1.0
    return wrong


if __name__ == "__main__":
    sys.exit(main())
