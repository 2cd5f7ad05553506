"""Points to order for `benchmarks.perf.tour`: random, on streets, or from a file."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import shapely

from virl.errors import BadInput
from virl.geo import Floats, LatLng, LocalFrame
from virl.platform.providers.cities import open_city
from virl.region import position_fault

SPACING_M = 10.0  # from point to point along a street


@dataclass(frozen=True, slots=True)
class PointSet:
    """Points to visit.

    Args:
        name: such as `"random 200"`.
        points: metres, shape (n, 2); the tour starts at the first.
    """

    name: str
    points: Floats

    @property
    def key(self) -> str:
        """Tells the set by its points, to the centimetre, and not by its name."""
        rounded = np.rint(self.points * 100).astype("<i8")
        return f"{self.name} {hashlib.sha256(rounded.tobytes()).hexdigest()[:12]}"


def set_of_file(file: Path) -> PointSet:
    """The points of a file, in its order.

    Raises:
        BadInput: names file and line.
    """
    lat, lng = np.array(read_points(file)).T
    frame = LocalFrame(LatLng(float(np.median(lat)), float(np.median(lng))))
    return PointSet(file.name, np.stack(frame.to_metres(lat, lng), axis=1))


def read_points(file: Path) -> list[LatLng]:
    """The positions of a file with a `lat, lng` pair a line; empty lines are left out.

    Raises:
        BadInput: names file and line.
    """
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        raise BadInput(f"{file}: cannot be read ({fault})") from fault
    positions = [
        _position(line, f"{file}, line {number}")
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    if not positions:
        raise BadInput(f"{file}: contains no points: write one `lat, lng` pair per line")
    return positions


def made_sets(sizes: Sequence[int], seed: int = 0) -> Iterable[PointSet]:
    """Random and street-like sets of each size."""
    for size in sizes:
        rng = np.random.default_rng([seed, size])
        yield PointSet(f"random {size}", 20 * np.sqrt(size) * rng.random((size, 2)))
        yield PointSet(f"grid {size}", _on_blocks(size, rng))
        yield PointSet(f"virlton {size}", _in_virlton(size, rng))


def _position(line: str, where: str) -> LatLng:
    try:
        lat, lng = map(float, line.split(","))
    except ValueError:
        raise BadInput(f"{where}: {line.strip()[:40]!r} is not a `lat, lng` pair") from None
    fault = position_fault(LatLng(lat, lng))
    if fault:
        raise BadInput(f"{where}: {fault}")
    return LatLng(lat, lng)


def _on_blocks(size: int, rng: np.random.Generator) -> Floats:
    """Points along the streets of blocks of 80 by 270 metres; those nearest to the middle."""
    reach = 270.0 * np.ceil(10 + np.sqrt(size) / 8)
    along = np.arange(-reach, reach + 1, SPACING_M)
    streets = [np.stack(np.meshgrid(along, np.arange(-reach, reach + 1, 80.0)), axis=-1)]
    streets += [np.stack(np.meshgrid(np.arange(-reach, reach + 1, 270.0), along), axis=-1)]
    points = np.unique(np.concatenate([street.reshape(-1, 2) for street in streets]), axis=0)
    return _middle(points, size) + rng.uniform(-2, 2, (size, 2))


def _in_virlton(size: int, rng: np.random.Generator) -> Floats:
    streets = _virlton_streets()
    spacing = min(SPACING_M, 0.99 * sum(street.length for street in streets) / size)
    points = [
        shapely.get_coordinates(shapely.line_interpolate_point(street, np.arange(0, street.length, spacing)))
        for street in streets
    ]
    return _middle(np.concatenate(points), size) + rng.uniform(-1, 1, (size, 2))


@cache
def _virlton_streets() -> list[shapely.LineString]:
    """The streets of Virlton in metres around its middle."""
    city = open_city("virlton")
    if city.street_map is None:
        raise BadInput("virlton has no street map")
    frame = LocalFrame(city.center)
    return [shapely.LineString([frame.point(end) for end in line]) for line in city.street_map.lines()]


def _middle(points: Floats, size: int) -> Floats:
    """The points nearest to the origin, the nearest first."""
    return points[np.argsort(np.hypot(*points.T), kind="stable")[:size]]
