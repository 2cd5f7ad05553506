"""Google's encoded polyline format: a path as printable text, to five decimals of a degree."""

from collections.abc import Iterable

from virl.geo import LatLng

PRECISION = 1e5


def encode_polyline(path: Iterable[LatLng]) -> str:
    """The text of a path."""
    text, last = [], (0, 0)
    for position in path:
        now = round(position.lat * PRECISION), round(position.lng * PRECISION)
        text += [_encode(now[0] - last[0]), _encode(now[1] - last[1])]
        last = now
    return "".join(text)


def _encode(value: int) -> str:
    """Five bits a character, lowest first, the sign in the lowest bit, 0x20 set where more follow."""
    rest = ~(value << 1) if value < 0 else value << 1
    letters = []
    while rest >= 0x20:
        letters.append(chr((0x20 | (rest & 0x1F)) + 63))
        rest >>= 5
    return "".join([*letters, chr(rest + 63)])
