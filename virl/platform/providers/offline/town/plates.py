"""Plates with names of streets and house numbers, hung over the streets where they leave a junction."""

import numpy as np
import shapely

from virl.platform.providers.offline.plan import Floats, Point, Sign, Street, StreetPlan

FROM_JUNCTION_M = 14.0
"""From the middle of the junction, so that a camera there sees the plate in the middle of a view. Chosen."""
LARGEST_SHARE = 0.4  # of a short street that lies between a junction and the plate; chosen
BOTTOM_M, HEIGHT_M = 4.2, 0.45  # lorries pass below
LETTER_M, MARGIN_M = 0.1, 0.3  # width for each letter, and beyond the letters; chosen
LEAST_WAYS = 3  # that meet where plates hang
TANGENT_M = 1.0


def hang_plates(layout: StreetPlan) -> tuple[Sign, ...]:
    """A plate for each street that leaves a junction, read from the middle of the junction.

    Its second line has the lowest and the highest house number as far as the next junction.

    Args:
        layout: streets and the frontages along them.
    """
    ways = np.bincount([end for street in layout.streets for end in (street.start, street.end)])
    numbers: dict[int, list[int]] = {}
    for front in layout.frontages:
        numbers.setdefault(front.street, []).append(front.number)
    return tuple(
        _plate(street, number, line, numbers.get(street.id, []))
        for street in layout.streets
        for number, (end, line) in enumerate(((street.start, street.line), (street.end, street.line[::-1])))
        if ways[end] >= LEAST_WAYS
    )


def _plate(street: Street, number: int, line: Floats, numbers: list[int]) -> Sign:
    way = shapely.LineString(line)
    along = min(FROM_JUNCTION_M, LARGEST_SHARE * way.length)
    points = [way.interpolate(metres) for metres in (max(along - TANGENT_M, 0.0), along, along + TANGENT_M)]
    before, middle, after = (np.array((point.x, point.y)) for point in points)
    ahead = (after - before) / np.linalg.norm(after - before)
    right = np.array((ahead[1], -ahead[0]))
    span = f"{min(numbers)}-{max(numbers)}" if numbers else ""
    half = (LETTER_M * len(street.name) + MARGIN_M) / 2
    return Sign(
        id=f"street-{street.id}-{number}-plate",
        place_id="",
        text=street.name,
        tagline=span,
        kind="plate",
        left=_rounded(middle - right * half),
        right=_rounded(middle + right * half),
        bottom=BOTTOM_M,
        top=BOTTOM_M + HEIGHT_M,
        variant=0,
    )


def _rounded(point: Floats) -> Point:
    x, y = np.round(point, 3).tolist()
    return x, y
