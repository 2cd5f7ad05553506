"""V-IRL's table 6 (arXiv 2402.03310): trash bins on one route a city, real street view, a real detector."""

from virl.bench.benchmark import Published

_PARTS = ("virl_accuracy", "virl_recall", "first_accuracy", "first_recall")
"""Keys of accuracy and recall with active detection, then without."""


def _published_row(name: str, *shares: float) -> Published:
    """Return a row of V-IRL's table 6; shares in the order of `_PARTS`."""
    return Published(name, dict(zip(_PARTS, shares, strict=True)), "V-IRL, table 6")


PUBLISHED = (
    _published_row("Hong Kong", 0.63, 0.83, 0.10, 0.33),
    _published_row("New York", 0.71, 1.00, 0.30, 0.60),
)
