"""The division of a large plan's ground into squares, and the things of a plan near one."""

from collections.abc import Sequence
from math import floor
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from virl.geo.globe import Floats, Ints
from virl.towns.plan.town_plan import StreetPlan

RIM_M = 80.0
"""Width in metres of the ground drawn around the outermost streets."""
WHOLE_M = 3000.0
"""Largest width and length in metres of a plan drawn as one square; chosen: its ground takes 130 MB."""
SQUARE_M = 500.0
"""Side in metres of a square of a larger plan."""

Thing = TypeVar("Thing")


class Square(NamedTuple):
    """(column, row) of a square of a plan; a small plan is one square."""

    across: int
    up: int


class Squares:
    """The division of a plan's ground into squares.

    Args:
        plan: of the streets.
    """

    def __init__(self, plan: StreetPlan) -> None:
        """Measure the plan; one of at most `WHOLE_M` metres a side stays one square."""
        everything = np.concatenate([street.line for street in plan.streets])
        self.low, self.high = everything.min(axis=0) - RIM_M, everything.max(axis=0) + RIM_M
        """South-west and north-east corner of the plan, metres."""
        self.is_one = bool(np.all(self.high - self.low <= WHOLE_M))
        """True for a small plan, which is one square."""

    def at(self, x: float, y: float) -> Square:
        """Return the square that holds a point in metres; it may lie outside the plan."""
        if self.is_one:
            return Square(0, 0)
        return Square(*(floor((at - low) / SQUARE_M) for at, low in zip((x, y), self.low, strict=True)))

    def box_around(self, square: Square, reach: float) -> tuple[Floats, Floats]:
        """Return the corners of a square of a large plan, moved outwards by `reach` metres."""
        corner = self.low + np.array(square) * SQUARE_M
        return corner - reach, corner + SQUARE_M + reach


class Index(Generic[Thing]):
    """Things of a plan that are found by where they lie.

    Args:
        things: any that have an extent.
        bounds: west, south, east and north of each in metres, (n, 4).
    """

    def __init__(self, things: Sequence[Thing], bounds: Floats) -> None:
        """Keep the things and their bounds."""
        self._things, self._bounds = things, np.reshape(bounds, (-1, 4))

    def find_numbers(self, low: Floats, high: Floats) -> Ints:
        """Return the indices of the things whose bounds touch the box from `low` to `high`, metres."""
        return np.flatnonzero(np.all((self._bounds[:, :2] <= high) & (self._bounds[:, 2:] >= low), axis=1))

    def find(self, low: Floats, high: Floats) -> list[Thing]:
        """Return the things whose bounds touch the box from `low` to `high`, metres."""
        return pick(self._things, self.find_numbers(low, high))


def bounds_of(lines: Sequence[ArrayLike]) -> Floats:
    """Return (west, south, east, north) of each line in metres, as `Index` takes them."""
    points = [np.asarray(line, float) for line in lines]
    if not points:
        return np.empty((0, 4))
    every, starts = np.concatenate(points), np.cumsum([0, *map(len, points[:-1])])
    return np.hstack([np.minimum.reduceat(every, starts), np.maximum.reduceat(every, starts)])


def pick(things: Sequence[Thing], which: Ints) -> list[Thing]:
    """Return the things of a sequence at some indices."""
    return [things[i] for i in which.tolist()]
