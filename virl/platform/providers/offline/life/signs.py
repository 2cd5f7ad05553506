"""Where a place's signs hang and how large they are."""

from math import hypot
from random import Random

from virl.platform.providers.offline.life.naming import Lettering, units
from virl.platform.providers.offline.plan import Point, Sign

LETTER_M = 0.30  # width of board for each Latin letter, so that a name can be read across a street; chosen
MARGIN_M = 0.4  # of board beyond the letters, both sides together; chosen
TAGLINE_LETTER_M = 0.16
FASCIA_BOTTOM_M, FASCIA_HEIGHT_M = (2.9, 3.1), (0.75, 0.95)
PROUD_M = 0.12  # a fascia's front before the facade
BLADES = 0.75  # share of shops that have one; chosen
BLADE_WIDTH_M, BLADE_HEIGHT_M = (0.9, 2.0), (0.7, 1.0)
BLADE_LETTER_M = 0.24  # read from up the street, so nearly as large as on a fascia; chosen
BLADE_BOTTOM_M = 3.6
BOARD_BOTTOM_M, BOARD_HEIGHT_M = 1.2, 0.7
POSTS_M = 0.6  # of a board that its two posts may hide
END_M = 0.3  # kept free at both ends of a frontage


def room_for_name(width: float) -> int:
    """Return the most `units` of text that a frontage of `width` metres bears."""
    return int((width - 2 * END_M - MARGIN_M) / LETTER_M)


def hang_signs(
    place_id: str, lettering: Lettering, left: Point, right: Point, rng: Random
) -> tuple[Sign, ...]:
    """Return a fascia over the front from `left` to `right`, and for some shops a blade at its right end.

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
    """Return the metres of board that the texts want."""
    text = max(units(lettering.name) * LETTER_M, units(lettering.tagline) * TAGLINE_LETTER_M)
    return text + MARGIN_M


class _Front:
    """A line with a street before it."""

    def __init__(self, left: Point, right: Point) -> None:
        self._left = left
        run_x, run_y = right[0] - left[0], right[1] - left[1]
        self.length = hypot(run_x, run_y)
        self._along = run_x / self.length, run_y / self.length

    def at(self, along: float, out: float) -> Point:
        """Return the point so many metres from the left end along the front, and so many before it."""
        (x, y), (dx, dy) = self._left, self._along
        return round(x + along * dx + out * dy, 3), round(y + along * dy - out * dx, 3)


def along_front(left: Point, right: Point, along: float, out: float) -> Point:
    """Return the point so many metres from the left end along a front, and so many before it.

    Args:
        left: end of the front, seen from the street, metres.
        right: other end.
        along: metres.
        out: metres.
    """
    return _Front(left, right).at(along, out)
