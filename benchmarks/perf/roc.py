"""Receiver operating characteristics: how scores of pairs tell the same from others, in figures and drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET  # nosec B405

import numpy as np

from virl.geo import Floats

FALSE_RATE = 0.05  # chosen: of pairs of different things that may pass the threshold
SIDE, EDGE = 360, 60  # pixels of the drawing: the unit square, and what is around it
COLOURS = ("#1d4ed8", "#c2410c", "#15803d", "#7e22ce")


@dataclass(frozen=True, slots=True)
class Scores:
    """Matches of pairs."""

    same: Floats
    """Of the pairs that show one thing."""
    other: Floats
    """Of those that show two."""

    @property
    def area(self) -> float:
        """Under the ROC: how often a pair of the same has more matches than one of others; ties are half."""
        same, other = self.same[:, None], self.other[None]
        return float(np.mean((same > other) + 0.5 * (same == other)))

    def rates(self, threshold: float) -> tuple[float, float]:
        """Shares of the same and of the others that have at least so many matches."""
        return float(np.mean(self.same >= threshold)), float(np.mean(self.other >= threshold))

    @property
    def threshold(self) -> int:
        """The lowest that lets no more than `FALSE_RATE` of the others pass."""
        return next(n for n in range(1, int(self.other.max()) + 2) if self.rates(n)[1] <= FALSE_RATE)

    @property
    def youden(self) -> int:
        """The threshold with the largest difference between the two rates."""
        return max(
            range(1, int(self.same.max()) + 2), key=lambda n: self.rates(n)[0] - self.rates(n)[1], default=1
        )

    def curve(self) -> Floats:
        """False and true positive rates at every threshold, from (0, 0) to (1, 1), shape (n, 2)."""
        thresholds = np.unique(np.concatenate([self.same, self.other, [0.0, np.inf]]))[::-1]
        return np.array([self.rates(float(n))[::-1] for n in thresholds])


@dataclass(frozen=True, slots=True)
class Curve:
    """A line of the drawing."""

    name: str
    scores: Scores
    threshold: float
    """The point that is marked."""


def draw_roc(curves: Sequence[Curve], file: Path) -> None:
    """Write the curves as SVG, each with its area and its threshold marked.

    Args:
        curves: at most four have colours of their own.
        file: where to; its folder is made.
    """
    bottom = 2 * EDGE + SIDE + 22 * len(curves)
    svg = ET.Element(
        "svg",
        {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {SIDE + 2 * EDGE} {bottom}", "width": "480"},
    )
    ET.SubElement(svg, "rect", width="100%", height="100%", fill="#fff")
    _axes(svg)
    for number, curve in enumerate(curves):
        _draw(svg, curve, COLOURS[number % len(COLOURS)], EDGE + SIDE + 62 + 22 * number)
    file.parent.mkdir(parents=True, exist_ok=True)
    ET.ElementTree(svg).write(file, encoding="utf-8")


def _axes(svg: ET.Element) -> None:
    for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        (x, low), (_, high) = _paper(share, 0.0), _paper(share, 1.0)
        (left, y), (right, _) = _paper(0.0, share), _paper(1.0, share)
        _line(svg, (x, low, x, high), "#ddd")
        _line(svg, (left, y, right, y), "#ddd")
        _text(svg, f"{share:g}", x, low + 18, "middle")
        _text(svg, f"{share:g}", left - 8, y + 4, "end")
    _line(svg, (*_paper(0.0, 0.0), *_paper(1.0, 1.0)), "#999", dashes="4 4")
    middle = EDGE + SIDE / 2
    _text(svg, "false positive rate: pairs of two things that match", middle, EDGE + SIDE + 38, "middle")
    upright = {"transform": f"rotate(-90 16 {middle:g})"}
    _text(svg, "true positive rate: pairs of one thing that match", 16, middle, "middle", **upright)


def _draw(svg: ET.Element, curve: Curve, colour: str, row: float) -> None:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (_paper(*rates) for rates in curve.scores.curve()))
    ET.SubElement(svg, "polyline", {"points": points, "fill": "none", "stroke": colour, "stroke-width": "2"})
    true, false = curve.scores.rates(curve.threshold)
    x, y = _paper(false, true)
    mark = {"fill": colour, "stroke": "#fff", "stroke-width": "1.5"}
    ET.SubElement(svg, "circle", {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "5"} | mark)
    _line(svg, (16, row - 4, 40, row - 4), colour, width=2)
    says = f"{curve.name}: area {curve.scores.area:.3f}; at {curve.threshold:g} matches"
    _text(svg, f"{says} true {true:.1%}, false {false:.1%}", 48, row, "start")


def _paper(false: float, true: float) -> tuple[float, float]:
    return EDGE + SIDE * false, EDGE + SIDE * (1 - true)


def _line(
    svg: ET.Element, ends: tuple[float, float, float, float], colour: str, width: float = 1, dashes: str = ""
) -> None:
    where = {key: f"{value:.1f}" for key, value in zip(("x1", "y1", "x2", "y2"), ends, strict=True)}
    dashed = {"stroke-dasharray": dashes} if dashes else {}
    ET.SubElement(svg, "line", where | dashed | {"stroke": colour, "stroke-width": f"{width:g}"})


def _text(svg: ET.Element, says: str, x: float, y: float, anchor: str, **more: str) -> None:
    look = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor, "font-size": "12"}
    ET.SubElement(svg, "text", look | {"font-family": "sans-serif", "fill": "#333"} | more).text = says
