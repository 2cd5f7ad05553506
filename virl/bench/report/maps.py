"""Maps of a report: streets, points coloured by their score, ways walked. Metres, x east and y south."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import shapely

from virl.bench.benchmark import Shown, ShownPoint
from virl.bench.plan import CityPlan
from virl.geo import LatLng, LocalFrame

# The looks of the maps, all chosen.
MARGIN_M = 40.0
SMALLEST_M = 160.0
ASPECT = 4 / 3
DOT_SIZE = 1 / 90  # radius over the map's width
BAD, MIDDLING, GOOD = (194, 80, 12), (185, 179, 166), (36, 96, 181)  # told apart by the colour-blind too

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Dot:
    """A point on a map."""

    x: float
    y: float
    color: str
    label: str
    page: str
    """Of the episode it comes from, relative to the report; empty if there is none."""


@dataclass(frozen=True, slots=True)
class CityMap:
    """All that a map draws."""

    left: float
    top: float
    width: float
    height: float
    streets: tuple[str, ...]
    """SVG points of each."""
    paths: tuple[str, ...]
    dots: tuple[Dot, ...]
    """The worse ones last, so that they lie on top."""
    scale_m: int
    """A round length for the scale bar."""

    @property
    def radius(self) -> float:
        """Of a dot, metres."""
        return self.width * DOT_SIZE


def city_map(city: CityPlan, shown: Sequence[tuple[Shown, str]]) -> CityMap | None:
    """The map of some episodes of a city; `None` if they have nothing on it.

    Args:
        city: its streets.
        shown: episodes, each with its page.
    """
    positions = [point.position for one, _ in shown for point in one.points]
    positions += [position for one, _ in shown for position in one.path]
    if not positions:
        return None
    frame = LocalFrame(LatLng(*np.mean(positions, axis=0).tolist()))
    low, high = _bounds([_paper(frame, position) for position in positions])
    width = max(high[0] - low[0] + 2 * MARGIN_M, (high[1] - low[1] + 2 * MARGIN_M) * ASPECT, SMALLEST_M)
    height = width / ASPECT
    left, top = (low[0] + high[0] - width) / 2, (low[1] + high[1] - height) / 2
    return CityMap(
        left,
        top,
        width,
        height,
        _streets(frame, city, shapely.box(left, top, left + width, top + height)),
        tuple(_svg([_paper(frame, position) for position in one.path]) for one, _ in shown if one.path),
        tuple(
            Dot(*_paper(frame, point.position), color_of(point.score), point.label, page)
            for point, page in _together(shown)
        ),
        _round_length(width / 4),
    )


def _together(shown: Sequence[tuple[Shown, str]]) -> list[tuple[ShownPoint, str]]:
    """Each point once, with its mean score over episodes and the page of the worst; the worse points last."""
    same: dict[tuple[LatLng, str], list[tuple[float, str]]] = {}
    for one, page in shown:
        for point in one.points:
            same.setdefault((point.position, point.label), []).append((point.score, page))
    points = [
        (ShownPoint(position, fmean(score for score, _ in scored), label), min(scored)[1])
        for (position, label), scored in same.items()
    ]
    return sorted(points, key=lambda dot: -dot[0].score)


def color_of(score: float) -> str:
    """The colour of a score in [0, 1]: orange, grey, blue."""
    share = 2 * min(1.0, max(0.0, score))
    first, second = (BAD, MIDDLING) if share <= 1 else (MIDDLING, GOOD)
    part = share if share <= 1 else share - 1
    return "#" + "".join(f"{round(a + part * (b - a)):02x}" for a, b in zip(first, second, strict=True))


def _streets(frame: LocalFrame, city: CityPlan, window: shapely.Polygon) -> tuple[str, ...]:
    lines = [[_paper(frame, LatLng(*point)) for point in line] for line in city.streets if len(line) > 1]
    return tuple(_svg(line) for line in lines if window.intersects(shapely.LineString(line)))


def _bounds(points: Sequence[Point]) -> tuple[Point, Point]:
    x, y = np.transpose(points)
    return (float(x.min()), float(y.min())), (float(x.max()), float(y.max()))


def _paper(frame: LocalFrame, position: LatLng) -> Point:
    x, y = frame.point(position)
    return x, -y


def _svg(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _round_length(metres: float) -> int:
    """The longest of 1, 2, 5, 10, 20, 50 ... that fits."""
    power = 10 ** int(np.floor(np.log10(metres)))
    return int(max(step * power for step in (1, 2, 5) if step * power <= metres))
