"""Google's encoded polylines: positions as text, to 1e-5 of a degree, about a metre, or finer."""

from collections.abc import Iterator, Sequence

from virl.geo.globe import LatLng

MOST_LETTERS = 1_000_000
"""Largest length of a polyline in characters; chosen: over 100,000 positions, which no route has."""

DIGITS = 5
"""Default number of decimal places of degrees in a polyline: 5 at Google; Valhalla has 6."""
_MOST_BITS = 30
"""Largest number of bits of a number in a polyline: 360 degrees with sign take 27."""


def decode_polyline(text: str, digits: int = DIGITS) -> tuple[LatLng, ...]:
    """Return the positions of an encoded polyline, whose degrees have `digits` decimal places.

    Raises:
        ValueError: the text is no polyline, is longer than `MOST_LETTERS`, or leaves the Earth.
    """
    if len(text) > MOST_LETTERS:
        raise ValueError(f"the polyline has more than {MOST_LETTERS:,} letters")
    per_degree = 10**digits
    numbers = list(_numbers(text))
    if len(numbers) % 2:
        raise ValueError("the polyline ends within a position")
    lat = lng = 0
    positions: list[LatLng] = []
    for north, east in zip(numbers[::2], numbers[1::2], strict=True):
        lat, lng = lat + north, lng + east
        if abs(lat) > 90 * per_degree or abs(lng) > 180 * per_degree:
            raise ValueError(f"the polyline leaves the Earth at its position {len(positions) + 1}")
        positions.append(LatLng(lat / per_degree, lng / per_degree))
    return tuple(positions)


def read_polyline(field: object, digits: int = DIGITS) -> tuple[LatLng, ...]:
    """Return the positions of an encoded polyline, a field of a reply; raise `ValueError` if it is no text.

    Raises:
        ValueError: the value is no text, or as `decode_polyline`.
    """
    if not isinstance(field, str):
        raise ValueError("not a polyline")  # noqa: TRY004 - pydantic turns it into a fault of the field
    return decode_polyline(field, digits)


def encode_polyline(positions: Sequence[LatLng], digits: int = DIGITS) -> str:
    """Return positions as an encoded polyline, with `digits` decimal places of degrees."""
    text, before, per_degree = "", (0, 0), 10**digits
    for position in positions:
        here = (round(position.lat * per_degree), round(position.lng * per_degree))
        text += "".join(_encode_number(now - then) for now, then in zip(here, before, strict=True))
        before = here
    return text


def _numbers(text: str) -> Iterator[int]:
    """Yield the signed numbers of a polyline's text, whose characters hold five bits each, lowest first.

    Bit 5 of a character says that another follows; bit 0 of a number is the sign.
    """
    value = shift = 0
    for letter in text:
        chunk = ord(letter) - 63
        if not 0 <= chunk < 64:
            raise ValueError(f"{letter!r} is no letter of a polyline")
        value |= (chunk & 31) << shift
        shift += 5
        if shift > _MOST_BITS:
            raise ValueError("a number of the polyline is too large")
        if chunk < 32:
            yield ~(value >> 1) if value & 1 else value >> 1
            value = shift = 0
    if shift:
        raise ValueError("the polyline ends within a number")


def _encode_number(number: int) -> str:
    """Return the characters that encode a signed number of a polyline, five bits each, lowest first."""
    value = ~(number << 1) if number < 0 else number << 1
    letters = ""
    while value >= 32:
        letters += chr((value & 31 | 32) + 63)
        value >>= 5
    return letters + chr(value + 63)
