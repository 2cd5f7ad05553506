"""What others published, to stand beside one's own. None of it was run here."""

from benchmarks.tables import Row

# V-IRL (arXiv 2402.03310), Table 6: trash bins on one route a city, real street view, a real detector.
_VIRL_TABLE_6 = {
    "V-IRL, Hong Kong": {"with": (0.63, 0.83), "without": (0.10, 0.33)},
    "V-IRL, New York": {"with": (0.71, 1.00), "without": (0.30, 0.60)},
}


def published_rows() -> list[Row]:
    """Accuracy and recall with and without active detection."""
    return [
        Row(city, {"accuracy": accuracy, "recall": recall}, f"{how} active detection, published")
        for city, both in _VIRL_TABLE_6.items()
        for how, (accuracy, recall) in both.items()
    ]
