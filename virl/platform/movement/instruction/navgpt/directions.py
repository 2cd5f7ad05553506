"""Eight fixed directions around a viewpoint, and angles as a walker says them: left or right of the front."""

from virl.geo import normalize_heading, signed_turn

DIRECTIONS = ("Front", "Front Right", "Right", "Rear Right", "Rear", "Rear Left", "Left", "Front Left")
"""Names of the eight sectors, clockwise from the one that the walker faces (NavGPT, section 3.4)."""

SECTOR_DEG = 360.0 / len(DIRECTIONS)


def sector(heading: float) -> int:
    """The sector that holds a heading, 0 to 7.

    Sector `k` reaches from `45 k - 22.5` degrees up to, but not including, `45 k + 22.5`: those are the views
    that NavGPT describes, whichever way the walker faces.

    Args:
        heading: degrees clockwise from north; any number, also negative or above 360.
    """
    return int(normalize_heading(heading + SECTOR_DEG / 2) // SECTOR_DEG)


def sector_edges(index: int) -> tuple[float, float]:
    """Headings of the left and the right edge of a sector, degrees in [0, 360)."""
    middle = index * SECTOR_DEG
    return normalize_heading(middle - SECTOR_DEG / 2), normalize_heading(middle + SECTOR_DEG / 2)


def side(heading: float, target: float) -> str:
    """Where `target` lies for one who faces `heading`, such as `"right 61.44"` or `"left 2.00"`.

    Degrees, at most 180; straight ahead is `"right 0.00"`, straight behind `"right 180.00"`.
    """
    angle = round(signed_turn(heading, target), 2)
    return f"left {-angle:.2f}" if -180 < angle < 0 else f"right {abs(angle):.2f}"
