"""Rows of the AgentNav paper (arXiv 2512.15933): real cities, 44 to 80 decisions on average."""

from virl.bench.benchmark import Published

_SOURCE = "AgentNav, arXiv 2512.15933"
_CITIES = ("New York", "Tokyo", "Vienna", "Sao Paulo")


def _published_rows(model: str, *shares: float) -> list[Published]:
    """Return the published rows of a model, one for each of `_CITIES`."""
    return [
        Published(f"{model}, {city}", {"success": share}, _SOURCE)
        for city, share in zip(_CITIES, shares, strict=True)
    ]


PUBLISHED = (
    *_published_rows("GPT-5, plain", 0.54, 0.10, 0.11, 0.07),
    *_published_rows("GPT-5, AgentNav", 0.94, 0.30, 0.56, 0.29),
    *_published_rows("GPT-4.1, plain", 0.15, 0.05, 0.02, 0.05),
    *_published_rows("GPT-4.1, AgentNav", 0.92, 0.17, 0.32, 0.22),
    *_published_rows("Gemini 2.5 Flash, plain", 0.12, 0.08, 0.01, 0.05),
    *_published_rows("Gemini 2.5 Flash, AgentNav", 0.73, 0.17, 0.17, 0.12),
)
