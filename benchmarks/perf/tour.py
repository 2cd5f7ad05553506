"""How short the tours of the region navigator are, and how long they take to find.

    python -m benchmarks.perf.tour [--points FILE] [--sizes 200,500,1000,8000] [--best SECONDS]
        [--seconds SECONDS] [--draw tour.svg] [--out tour.json] [--json]

Open tours from the first point: `ours` as the region navigator makes them, `nearest` always goes to the
nearest point left, and `2-opt` reverses parts of that while it gets shorter. The sets are `random` (a square
with a point for each 20 m by 20 m), `grid` (the streets of blocks of 80 by 270 metres, a point each 10 m,
shaken by 2 m) and `virlton` (its streets, a point each 10 m or closer, the middle of the town first).

`best known` is the shortest tour of this set that any run has found: the length kept in `tour_best.json`, or
one of this run's. `--best` searches so many seconds more for each set, with fast-tsp and, where it is
installed, with elkai (LKH; its licence allows no commercial use, so virl does not depend on it), and keeps
what is shorter.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.table import Table

from virl.errors import VirlError
from virl.geo import Floats, LatLng, LocalFrame
from virl.guard import USER_ERROR
from virl.platform.movement.tour.shortest import Order, nearest_neighbour, path_length, shortest_tour

from .figures import command, figures
from .tour_sets import PointSet, made_sets, set_of_file

SIZES = (200, 500, 1000, 8000)
BEST = Path(__file__).with_name("tour_best.json")
ORIGIN = LatLng(40.78, -73.96)  # of the made sets

Method = Callable[[Floats], Order]


@dataclass(frozen=True, slots=True)
class TourResult:
    """One method on one set."""

    points: str
    method: str
    metres: float
    seconds: float
    best_known: float

    @property
    def gap(self) -> float:
        """How much longer than the best known, as a fraction."""
        return self.metres / self.best_known - 1 if self.best_known else 0.0


def main() -> None:
    """Measure and print."""
    options = _parse()
    try:
        _run(options)
    except VirlError as fault:
        print(f"tour: {fault}", file=sys.stderr)
        sys.exit(USER_ERROR)


def two_opt(points: Floats) -> Order:
    """The nearest neighbour order, parts of it reversed as long as one reversal makes it shorter."""
    order = nearest_neighbour(points)
    path = points[order] @ np.array([1, 1j])
    shorter = True
    while shorter:
        shorter = False
        for first in range(1, len(path) - 1):
            change = _changes(path, first)
            best = int(np.argmin(change))
            if change[best] < -1e-9:
                for row in (order, path):
                    row[first : first + best + 1] = row[first : first + best + 1][::-1].copy()
                shorter = True
    return order


def _changes(path: NDArray[np.complex128], first: int) -> Floats:
    """By how much reversing a path from its point `first` to each later one, itself included, changes it."""
    before, here, ends = path[first - 1], path[first], path[first:]
    joined: Floats = np.abs(ends - before) - np.abs(here - before)
    joined[:-1] += np.abs(ends[1:] - here) - np.abs(np.diff(ends))
    return joined


def ours(points: Floats, seconds: float | None = None) -> Order:
    """The order of the region navigator."""
    lat, lng = LocalFrame(ORIGIN).to_degrees(points[:, 0], points[:, 1])
    positions = list(map(LatLng, lat.tolist(), lng.tolist()))
    return np.array(shortest_tour(positions, seconds), np.int64)


def lkh(points: Floats) -> Order:
    """The order by LKH, through elkai; one node more opens the tour, as in `tour.shortest`."""
    import elkai  # type: ignore[import-not-found]  # noqa: PLC0415 - no dependency

    count = len(points)
    metres = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)) * 100
    matrix = np.full((count + 1, count + 1), metres.max())
    matrix[:count, :count] = metres
    matrix[count, count] = matrix[0, count] = matrix[count, 0] = 0
    tour = np.array(elkai.DistanceMatrix(np.rint(matrix).astype(int).tolist()).solve_tsp(1)[:-1], np.int64)
    path = np.roll(tour, -int(np.argmax(tour == count)))[1:]
    return path if path[0] == 0 else path[::-1]


def draw(points: Floats, order: Order, file: Path) -> None:
    """Write a tour as SVG: a dot for each point, the start in red."""
    low, high = points.min(axis=0) - 20, points.max(axis=0) + 20
    width, height = (high - low).tolist()
    path = [(float(x - low[0]), float(high[1] - y)) for x, y in points[order]]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in path)
    size = max(width, height) / 600
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.2f}"/>' for x, y in path)
    first = f'<circle cx="{path[0][0]:.1f}" cy="{path[0][1]:.1f}" r="{4 * size:.2f}" fill="#c22"/>'
    file.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.1f} {height:.1f}" width="900">'
        f'<rect width="100%" height="100%" fill="#fff"/><polyline points="{line}" fill="none" '
        f'stroke="#26c" stroke-width="{size:.2f}"/>{dots}{first}</svg>\n',
        encoding="utf-8",
    )


def measure(
    points: PointSet, seconds: float | None, best: "BestKnown", more: float = 0.0
) -> list[TourResult]:
    """All methods on one set, and whatever else is asked to find the best known.

    Args:
        points: to visit.
        seconds: of search for ours; the navigator's own by default.
        best: the best lengths known, which learn from this.
        more: seconds of search for the best known alone.
    """
    timed = []
    methods: list[tuple[str, Method]] = [
        ("ours", lambda xy: ours(xy, seconds)),
        ("nearest", nearest_neighbour),
        ("2-opt", two_opt),
    ]
    for name, method in methods:
        began = time.perf_counter()
        order = method(points.points)
        metres = path_length(points.points, order)
        timed.append((name, metres, time.perf_counter() - began))
        best.learn(points, metres, name)
    if more:
        best.learn(points, path_length(points.points, ours(points.points, more)), f"fast-tsp, {more:g} s")
        if find_spec("elkai") and len(points.points) <= 1000:  # minutes above
            best.learn(points, path_length(points.points, lkh(points.points)), "elkai")
    return [TourResult(points.name, name, metres, took, best.of(points)) for name, metres, took in timed]


class BestKnown:
    """The shortest length of each set, kept in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, dict[str, Any]] = json.loads(file.read_text()) if file.exists() else {}

    def of(self, points: PointSet) -> float:
        """Metres."""
        return float(self._known[points.key]["metres"])

    def learn(self, points: PointSet, metres: float, method: str) -> None:
        """Take a length over if it is the shortest."""
        if metres < self._known.get(points.key, {"metres": np.inf})["metres"]:
            self._known[points.key] = {"metres": metres, "by": method}

    def keep(self) -> None:
        """Write the file."""
        self._file.write_text(json.dumps(self._known, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _run(options: argparse.Namespace) -> None:
    sets = [set_of_file(options.points)] if options.points else made_sets(options.sizes)
    best = BestKnown(BEST)
    results: list[TourResult] = []
    for points in sets:
        results += measure(points, options.seconds, best, options.best)
        if options.draw:
            draw(points.points, ours(points.points, options.seconds), _named(options.draw, points.name))
    with figures(options) as found:
        found["tours"] = [asdict(one) | {"gap": one.gap} for one in results]
        found.show(_table(results))
        if options.best:
            best.keep()
        if options.out:
            options.out.write_text(json.dumps(found["tours"], indent=2) + "\n")


def _named(file: Path, name: str) -> Path:
    return file.with_stem(f"{file.stem}-{Path(name).stem.replace(' ', '-')}")


def _table(results: Sequence[TourResult]) -> Table:
    table = Table(title="open tours from the first point", box=SIMPLE_HEAD)
    table.add_column("points")
    table.add_column("method")
    for heading in ("metres", "seconds", "best known", "gap"):
        table.add_column(heading, justify="right")
    for one in results:
        table.add_row(
            one.points,
            one.method,
            f"{one.metres:,.0f}",
            f"{one.seconds:.2f}",
            f"{one.best_known:,.0f}",
            f"{one.gap:.2%}",
        )
    return table


def _sizes(text: str) -> list[int]:
    sizes = [int(size) for size in text.split(",") if size.strip().isdecimal()]
    if len(sizes) != text.count(",") + 1 or min(sizes) < 2:
        raise argparse.ArgumentTypeError(f"{text!r}: give numbers of 2 or more, separated by commas")
    return sizes


def _parse() -> argparse.Namespace:
    parser = command(__doc__)
    parser.add_argument("--points", type=Path, help="file with one `lat, lng` pair per line")
    parser.add_argument(
        "--sizes", type=_sizes, default=list(SIZES), help="sizes of the made sets, separated by commas"
    )
    parser.add_argument("--seconds", type=float, help="seconds of search; by default the navigator's")
    parser.add_argument("--best", type=float, default=0.0, help="seconds of search for the best known tour")
    parser.add_argument("--draw", type=Path, help="folder for an SVG of each set")
    parser.add_argument("--out", type=Path, help="file for all numbers, as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
