"""Maps of a report: streets, points coloured by their score, ways walked. Metres, x east and y south."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from virl.bench.benchmark import Shown, ShownPoint
from virl.bench.plan import CityPlan
from virl.drawing.paper import Extent, Paper, lay_out, on_paper, svg_points
from virl.geo import LatLng, LocalFrame

# The looks of the maps, all chosen.
EXTENT = Extent(margin_m=40.0, smallest_m=160.0, beyond=0.0, scale=1 / 4)
DOT_SIZE = 1 / 90  # radius over the map's width
BAD, MIDDLING, GOOD = (194, 80, 12), (185, 179, 166), (36, 96, 181)  # told apart by the colour-blind too


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

    paper: Paper
    paths: tuple[str, ...]
    """SVG points of each."""
    dots: tuple[Dot, ...]
    """The worse ones last, so that they lie on top."""

    @property
    def radius(self) -> float:
        """Of a dot, metres."""
        return self.paper.width * DOT_SIZE


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
    paper = lay_out(
        frame, [on_paper(frame, *position) for position in positions], city.streets, extent=EXTENT
    )
    return CityMap(
        paper,
        tuple(svg_points(map(paper.place, one.path)) for one, _ in shown if one.path),
        tuple(
            Dot(*paper.place(point.position), color_of(point.score), point.label, page)
            for point, page in _together(shown)
        ),
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
