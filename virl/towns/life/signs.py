"""Where a place's signs hang and how large they are."""

from math import hypot
from random import Random

from virl.towns.life.naming import Lettering, units
from virl.towns.plan.town_plan import Point, Sign

LETTER_M = 0.30
"""Metres of board for each Latin letter, readable across a street; chosen."""
MARGIN_M = 0.4
"""Metres of board beyond the letters, both sides together; chosen."""
TAGLINE_LETTER_M = 0.16
"""Metres of board for each letter of a tagline."""
FASCIA_BOTTOM_M, FASCIA_HEIGHT_M = (2.9, 3.1), (0.75, 0.95)
PROUD_M = 0.12
"""Metres from a facade to the front of a fascia."""
BLADES = 0.75
"""Share of shops with a blade; chosen."""
BLADE_WIDTH_M, BLADE_HEIGHT_M = (0.9, 2.0), (0.7, 1.0)
BLADE_LETTER_M = 0.24
"""Metres of blade for each letter, as it is read from up the street; chosen."""
BLADE_BOTTOM_M = 3.6
"""Height of a blade's lower edge, metres."""
BOARD_BOTTOM_M, BOARD_HEIGHT_M = 1.2, 0.7
POSTS_M = 0.6
"""Metres of a board that its two posts may hide."""
END_M = 0.3
"""Metres kept free at both ends of a frontage."""


def room_for_name(width: float) -> int:
    """Return the longest name, in `units`, that a frontage of `width` metres bears."""
    return int((width - 2 * END_M - MARGIN_M) / LETTER_M)


def hang_signs(
    place_id: str, lettering: Lettering, left: Point, right: Point, rng: Random
) -> tuple[Sign, ...]:
    """Return the signs of a shop: a fascia over its front, and sometimes a blade at the right end.

    Args:
        place_id: of the shop.
        lettering: of its name.
        left: end of its front, seen from the street, metres.
        right: other end.
        rng: source of chance.
    """
    variant = rng.randrange(1 << 16)
    front = _Front(left, right)
    low, high = (0.9, FASCIA_HEIGHT_M[1]) if lettering.tagline else FASCIA_HEIGHT_M
    width = min(board_width(lettering), front.length - 2 * END_M)
    slack = (front.length - width) / 2 - END_M
    start = END_M + slack * rng.choice((1.0, 1.0, 1.0, 0.4))
    bottom = round(rng.uniform(*FASCIA_BOTTOM_M), 2)
    top = round(bottom + rng.uniform(low, high), 2)
    ends = front.at(start, PROUD_M), front.at(start + width, PROUD_M)
    fascia = Sign(
        f"{place_id}-fascia",
        place_id,
        lettering.name,
        lettering.tagline,
        "fascia",
        *ends,
        bottom,
        top,
        variant,
    )
    if rng.random() >= BLADES:
        return (fascia,)
    # read by who walks from left to right, whose near end is at the wall
    reach = units(lettering.blade) * BLADE_LETTER_M + MARGIN_M / 2
    reach = min(max(reach, BLADE_WIDTH_M[0]), BLADE_WIDTH_M[1])
    ends = front.at(front.length - END_M, PROUD_M), front.at(front.length - END_M, PROUD_M + reach)
    bottom = round(max(BLADE_BOTTOM_M, top + 0.1), 2)
    top = round(bottom + rng.uniform(*BLADE_HEIGHT_M), 2)
    blade = Sign(f"{place_id}-blade", place_id, lettering.blade, "", "blade", *ends, bottom, top, variant)
    return fascia, blade


def plant_board(
    sign_id: str, place_id: str, lettering: Lettering, left: Point, right: Point, variant: int
) -> Sign:
    """Return a board on posts in the middle of an edge, facing the street.

    Args:
        sign_id: of the board.
        place_id: of the place.
        lettering: of its name.
        left: end of the edge, seen from the street, metres.
        right: other end.
        variant: of font and colours.
    """
    front = _Front(left, right)
    width = min(board_width(lettering) + POSTS_M, front.length)
    start = (front.length - width) / 2
    ends = front.at(start, 0.0), front.at(start + width, 0.0)
    top = round(BOARD_BOTTOM_M + BOARD_HEIGHT_M + (0.2 if lettering.tagline else 0.0), 2)
    text, tagline = lettering.name, lettering.tagline
    return Sign(sign_id, place_id, text, tagline, "board", *ends, BOARD_BOTTOM_M, top, variant)


def board_width(lettering: Lettering) -> float:
    """Return the metres of board that a lettering needs."""
    text = max(units(lettering.name) * LETTER_M, units(lettering.tagline) * TAGLINE_LETTER_M)
    return text + MARGIN_M


class _Front:
    """The line of a front, with the street before it."""

    def __init__(self, left: Point, right: Point) -> None:
        self._left = left
        run_x, run_y = right[0] - left[0], right[1] - left[1]
        self.length = hypot(run_x, run_y)
        self._along = run_x / self.length, run_y / self.length

    def at(self, along: float, out: float) -> Point:
        """Return the point `along` metres from the left end and `out` metres before the front."""
        (x, y), (dx, dy) = self._left, self._along
        return round(x + along * dx + out * dy, 3), round(y + along * dy - out * dx, 3)


def along_front(left: Point, right: Point, along: float, out: float) -> Point:
    """Return the point `along` metres from the left end and `out` metres before a front.

    Args:
        left: end of the front, seen from the street, metres.
        right: other end.
        along: metres.
        out: metres.
    """
    return _Front(left, right).at(along, out)
