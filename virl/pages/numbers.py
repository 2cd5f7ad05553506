"""Numbers as text for pages, and the ticks of scales."""

from collections.abc import Iterable, Sequence
from math import floor, log10

from virl.pages.exhibits import Cell

TICK_DIGITS = 2
"""Most digits after the decimal point of a tick, such as 0.25; chosen: more would not be read."""
TICKS = 5
"""Most ticks on a scale; chosen."""


def digits_for(values: Iterable[float | None]) -> int:
    """Return digits after the point: 0 if all are whole or one is >= 100, 2 if all are below 1, else 1."""
    numbers = [value for value in values if value is not None]
    largest = max(map(abs, numbers), default=0.0)
    if largest >= 100 or all(value == round(value) for value in numbers):
        return 0
    return 1 if largest >= 1 else 2  # in one digit 0.04 would be nothing


def tick_digits(marks: Iterable[float]) -> int:
    """Return the digits after the point that ticks need, at most 2."""
    return max(len(f"{mark:.{TICK_DIGITS}f}".rstrip("0").partition(".")[2]) for mark in marks)


def column_digits(cells: Iterable[Cell]) -> int | None:
    """Return the digits after the point, 0 to 2, for a column of numbers; `None` for any other column."""
    filled = [cell for cell in cells if cell is not None]
    numbers = [cell for cell in filled if not isinstance(cell, str)]
    return digits_for(numbers) if filled and numbers == filled else None


def write_number(value: float, digits: int) -> str:
    """Return a number with `digits` after the point, and commas between its thousands."""
    return f"{value:,.{digits}f}".replace("-", "\N{MINUS SIGN}")


def short_number(value: float) -> str:
    """Return a number with at most one digit after the point, such as "1,234", "32.6" or "5"."""
    return write_number(value, 1).removesuffix(".0")


def show_share(share: float | None) -> str:
    """Return a share as text in whole percent, such as "12 %"; a dash without one."""
    return "-" if share is None else f"{write_number(100 * share, 0)} %"


def show_length(metres: float) -> str:
    """Return a length as text, such as "80 m" or "32.6 km"."""
    return f"{short_number(metres / 1000)} km" if metres >= 1000 else f"{write_number(metres, 0)} m"


def show_area(square_metres: float) -> str:
    """Return an area as text, such as "18.4 ha" or "1.5 km²"."""
    if square_metres < 1e6:
        return f"{short_number(square_metres / 1e4)} ha"
    return f"{short_number(square_metres / 1e6)} km²"


def ticks(low: float, high: float) -> Sequence[float]:
    """Return at most five evenly spread round numbers within [low, high]; `low` is below `high`."""
    rough = (high - low) / (TICKS - 1)
    power = 10.0 ** floor(log10(rough))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= rough * (1 - 1e-9))
    first = int(-(-low // step))
    count = floor(high / step + 1e-9) - first + 1
    return [(first + number) * step for number in range(count)]


def count_noun(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, such as "1 run" or "2 runs".

    Args:
        count: the number.
        noun: the noun in the singular.
        plural: the noun in the plural; empty adds an "s", or "es" as in "benches".
    """
    ending = "es" if noun.endswith(("ch", "s", "sh", "x")) else "s"
    return f"{count} {noun if count == 1 else plural or noun + ending}"


def show_duration(seconds: float) -> str:
    """Return seconds, rounded, as a text such as "8 s", "2 min 18 s" or "1 h 20 min"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes} min" if minutes else f"{hours:,} h"
    if minutes:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{rest} s"


def dollars(usd: float) -> str:
    """Return US dollars as text, such as "$0.1200" or "$3.50"; 0 is "free"."""
    if not usd:
        return "free"
    if usd >= 1:
        return f"${usd:,.2f}"
    return f"${usd:.4f}" if usd >= 0.0001 else "under $0.0001"


def price(usd: float) -> str:
    """Return the price of a thing in US dollars as text, with cents only if it has some: "$5", "$4.50"."""
    return f"${usd:,.2f}".removesuffix(".00")


def megabytes(size: int) -> str:
    """Return a number of bytes as text in megabytes, or below one in kilobytes, of 1000 bytes."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
