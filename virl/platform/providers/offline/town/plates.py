"""Plates with names of streets and house numbers, hung over the streets where they leave a junction."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import shapely

from virl.geo import Floats
from virl.platform.providers.offline.plan import Point, Sign, Street, StreetPlan

FROM_JUNCTION_M = 14.0
"""From the middle of the junction, so that a camera there sees the plate in the middle of a view. Chosen."""
LARGEST_SHARE = 0.4  # of a short street that lies between a junction and the plate; chosen
BOTTOM_M, HEIGHT_M = 4.2, 0.45  # lorries pass below
LETTER_M, MARGIN_M = 0.1, 0.3  # width for each letter, and beyond the letters; chosen
LEAST_WAYS = 3  # that meet where plates hang
TANGENT_M = 1.0


class Hook(NamedTuple):
    """Where signs hang over a street that leaves a junction."""

    street: Street
    number: int
    """0 at the start of the street, 1 at its end."""
    length: float
    """Of the street, metres."""

    @property
    def junction(self) -> int:
        """The junction that the street leaves here."""
        return self.street.end if self.number else self.street.start

    @property
    def far(self) -> int:
        """The junction at the other end."""
        return self.street.start if self.number else self.street.end

    @property
    def line(self) -> Floats:
        """The centre line, away from the junction, shape (n, 2)."""
        return self.street.line[::-1] if self.number else self.street.line

    def ends(self, width: float) -> tuple[Point, Point]:
        """The ends of a sign of some metres, left and right as read from the junction."""
        way = shapely.LineString(self.line)
        along = min(FROM_JUNCTION_M, LARGEST_SHARE * self.length)
        points = [
            way.interpolate(metres) for metres in (max(along - TANGENT_M, 0.0), along, along + TANGENT_M)
        ]
        before, middle, after = (np.array((point.x, point.y)) for point in points)
        ahead = (after - before) / np.linalg.norm(after - before)
        right = np.array((ahead[1], -ahead[0])) * width / 2
        return _rounded(middle - right), _rounded(middle + right)


def hooks(layout: StreetPlan) -> Iterator[Hook]:
    """Where signs hang: over each street that leaves a junction of three or more."""
    ways = np.bincount([end for street in layout.streets for end in (street.start, street.end)])
    for street in layout.streets:
        length = shapely.LineString(street.line).length
        for number in (0, 1):
            hook = Hook(street, number, length)
            if ways[hook.junction] >= LEAST_WAYS:
                yield hook


def hang_plates(layout: StreetPlan) -> tuple[Sign, ...]:
    """A plate for each street that leaves a junction, read from the middle of the junction.

    Its second line has the lowest and the highest house number as far as the next junction.

    Args:
        layout: streets and the frontages along them.
    """
    numbers: dict[int, list[int]] = {}
    for front in layout.frontages:
        numbers.setdefault(front.street, []).append(front.number)
    return tuple(_plate(hook, numbers.get(hook.street.id, [])) for hook in hooks(layout))


def _plate(hook: Hook, numbers: list[int]) -> Sign:
    left, right = hook.ends(LETTER_M * len(hook.street.name) + MARGIN_M)
    return Sign(
        id=f"street-{hook.street.id}-{hook.number}-plate",
        place_id="",
        text=hook.street.name,
        tagline=f"{min(numbers)}-{max(numbers)}" if numbers else "",
        kind="plate",
        left=left,
        right=right,
        bottom=BOTTOM_M,
        top=BOTTOM_M + HEIGHT_M,
        variant=0,
    )


def _rounded(point: Floats) -> Point:
    x, y = np.round(point, 3).tolist()
    return x, y
