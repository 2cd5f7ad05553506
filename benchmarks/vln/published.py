"""The rows of V-IRL's tables 5 (18 routes) and 7 (all): real streets, GPT-4 decides, hints are given."""

from virl.bench.benchmark import Published

_PARTS = ("success", "start_reaction_paper", "intersection_arrival_paper", "intersection_reaction_paper",
          "stop_arrival_paper")  # fmt: skip


def _row(name: str, source: str, *shares: float) -> Published:
    """Return a published row, its shares in the order of `_PARTS`."""
    return Published(name, dict(zip(_PARTS, shares, strict=True)), source)


PUBLISHED = (
    _row("Oracle", "V-IRL, table 5", 1.0, 1.0, 1.0, 1.0, 1.0),
    _row("CLIP B/32", "V-IRL, table 5", 0.22, 1.0, 0.86, 0.84, 0.83),
    _row("CLIP L/14@336", "V-IRL, table 5", 0.44, 0.83, 0.73, 0.94, 0.67),
    _row("EVA-02-CLIP bigE/14+", "V-IRL, table 5", 0.39, 0.89, 0.77, 0.94, 0.72),
    _row("EVA-02-CLIP L/14@336", "V-IRL, table 5", 0.22, 1.0, 0.82, 0.83, 0.78),
    _row("LLaVA-1.5-13B", "V-IRL, table 5", 0.11, 0.61, 0.55, 1.0, 0.56),
    _row("PP-OCR and GPT-3.5", "V-IRL, table 5", 0.28, 0.89, 0.73, 0.94, 0.72),
    _row("Oracle, full set", "V-IRL, table 7", 0.88, 1.0, 0.95, 0.99, 0.96),
    _row("CLIP L/14@336, full set", "V-IRL, table 7", 0.22, 0.84, 0.66, 0.90, 0.61),
)
