"""Plus codes: positions as short texts (Open Location Code, https://github.com/google/open-location-code)."""

from virl.geo import LatLng

LETTERS = "23456789CFGHJMPQRVWX"
PAIRS, AFTER = 5, 8  # pairs of letters, and letters before the plus sign
_PARTS = 8000  # of a degree: the side of a code of ten letters


def plus_code(position: LatLng) -> str:
    """The code of ten letters, such as `8G6M7726+W9`: about 14 m wide."""
    up = min(int((position.lat + 90) * _PARTS), 180 * _PARTS - 1)
    across = int((position.lng + 180) % 360 * _PARTS)
    pairs = []
    for _ in range(PAIRS):
        pairs.append(LETTERS[up % 20] + LETTERS[across % 20])
        up, across = up // 20, across // 20
    code = "".join(reversed(pairs))
    return f"{code[:AFTER]}+{code[AFTER:]}"


def compound_code(position: LatLng, town: str) -> str:
    """The code as it is said within a town, such as `7726+W9 Helsinki`."""
    return f"{plus_code(position)[4:]} {town}"
