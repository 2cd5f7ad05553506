"""Drawings of a walk from above: the exact one, and a model's laid over it."""

import re
from dataclasses import dataclass

import numpy as np
from pydantic import FiniteFloat, TypeAdapter, ValidationError

from virl.errors import BadInput
from virl.geo import Floats

FARTHEST_M = 100_000.0  # chosen: no walk goes farther
POINT_M2 = 1e-12  # a drawing with less spread is a point, which has no direction; chosen

_POINTS = TypeAdapter(tuple[tuple[FiniteFloat, FiniteFloat], ...])
_FENCED = re.compile(r"```\w*\s*(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FittedDrawing:
    """A model's drawing, moved and turned onto the exact one."""

    points: Floats
    """Metres east and north of the start, shape (points, 2)."""
    mean_error_m: float
    """Mean distance of its points from the exact ones."""
    scale: float
    """The factor that would fit it best: above 1 where it was drawn too small."""


def read_points(text: str, count: int) -> Floats:
    """The points of a reply: a JSON list of `[x, y]` pairs, in a code fence or among words.

    Args:
        text: the reply. It is only ever read as numbers, never run.
        count: how many points there must be.

    Returns:
        Shape (count, 2).

    Raises:
        BadInput: there is no such list, or it has another length; says which, for the model.
    """
    fenced = _FENCED.search(text)
    said = fenced[1] if fenced else text
    try:
        points = _POINTS.validate_json(said[said.find("[") : said.rfind("]") + 1])
    except ValidationError:
        raise BadInput("send a JSON list of [x, y] pairs of numbers and nothing else") from None
    if len(points) != count:
        raise BadInput(f"there are {len(points)} points where the history has {count} entries")
    if any(abs(number) > FARTHEST_M for point in points for number in point):
        raise BadInput("a point lies farther off than any walk goes")
    return np.array(points, float)


def lay_over(drawn: Floats, exact: Floats) -> FittedDrawing:
    """Move and turn a drawing so that it fits the exact one best, in least squares.

    It is neither scaled nor mirrored: a drawing that takes left for right, or metres for feet, stays wrong.

    Args:
        drawn: shape (points, 2), in metres.
        exact: the same points in metres east and north, same shape.
    """
    source, target = (points @ np.array([1, 1j]) for points in (drawn, exact))
    source, middle = source - source.mean(), target.mean()
    turn = np.vdot(source, target - middle)
    spread = float(np.vdot(source, source).real)
    laid = source * (turn / abs(turn) if abs(turn) > POINT_M2 else 1.0) + middle
    return FittedDrawing(
        np.stack([laid.real, laid.imag], axis=1),
        float(np.abs(laid - target).mean()),
        float(abs(turn) / spread) if spread > POINT_M2 else 1.0,
    )
