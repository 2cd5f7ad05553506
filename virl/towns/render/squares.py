"""The squares in which a large plan is drawn; a small plan is one."""

from collections.abc import Sequence
from math import floor
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from virl.geo.globe import Floats, Ints
from virl.towns.plan.town_plan import StreetPlan

RIM_M = 80.0
"""Metres of ground around the streets."""
WHOLE_M = 3000.0
"""Largest width and length in metres of a plan drawn as a whole; chosen: its ground takes 130 MB."""
SQUARE_M = 500.0
"""Metres of a side of a square of a larger plan."""

Thing = TypeVar("Thing")


class Square(NamedTuple):
    """A square of a plan, by its column and row; of a small plan the one that is all of it."""

    across: int
    up: int


class Squares:
    """The squares of a plan.

    Args:
        plan: of the streets.
    """

    def __init__(self, plan: StreetPlan) -> None:
        everything = np.concatenate([street.line for street in plan.streets])
        self.low, self.high = everything.min(axis=0) - RIM_M, everything.max(axis=0) + RIM_M
        """South-west and north-east corner of the plan, metres."""
        self.is_one = bool(np.all(self.high - self.low <= WHOLE_M))
        """True for a small plan, which is one square."""

    def at(self, x: float, y: float) -> Square:
        """Return the square of a point, metres; it may lie outside the plan."""
        if self.is_one:
            return Square(0, 0)
        return Square(*(floor((at - low) / SQUARE_M) for at, low in zip((x, y), self.low, strict=True)))

    def box_around(self, square: Square, reach: float) -> tuple[Floats, Floats]:
        """Return the corners of a square of a large plan, moved outwards by `reach` metres."""
        corner = self.low + np.array(square) * SQUARE_M
        return corner - reach, corner + SQUARE_M + reach


def find_touching(bounds: Floats, low: Floats, high: Floats) -> Ints:
    """Return the indices of the boxes that touch another one, metres.

    Args:
        bounds: west, south, east and north of each, (n, 4).
        low: south-west corner of the other.
        high: its north-east corner.
    """
    return np.flatnonzero(np.all((bounds[:, :2] <= high) & (bounds[:, 2:] >= low), axis=1))


def bounds_of(lines: Sequence[ArrayLike]) -> Floats:
    """Return the bounds of lines, as `find_touching` takes them."""
    points = [np.asarray(line, float) for line in lines]
    return np.array([(*line.min(axis=0), *line.max(axis=0)) for line in points], float).reshape(-1, 4)


def pick(things: Sequence[Thing], which: Ints) -> list[Thing]:
    """Return the things with some indices."""
    return [things[i] for i in which.tolist()]
