"""Results that others published, to stand beside one's own. None of them was run here."""

from collections.abc import Iterator

from virl.bench.benchmark import Published

# Development set of the unseen scenario: SPD in edges, KPA in percent, TC in percent (VELMA, Table 2).
_VELMA_TABLE_2: dict[str, dict[str, tuple[float, float | None, float]]] = {
    "touchdown": {
        "ORAR-ResNet": (20.0, None, 15.4),
        "ORAR-ResNet, VELMA's moves": (16.5, 64.0, 22.6),
        "ORAR-OpenCLIP, VELMA's moves": (17.5, 63.7, 21.5),
        "VELMA-Mixtral, 2 examples": (28.4, 47.2, 6.5),
        "VELMA-GPT-3, 2 examples": (22.2, 49.1, 6.8),
        "VELMA-GPT-4, 2 examples": (21.8, 56.1, 10.0),
        "VELMA-FT (LLaMA-7B)": (18.3, 62.0, 23.4),
        "VELMA-RBL (LLaMA-7B)": (15.5, 63.6, 26.0),
    },
    "map2seq": {
        "ORAR-ResNet": (11.9, None, 27.6),
        "ORAR-ResNet, VELMA's moves": (10.3, 74.4, 29.9),
        "ORAR-OpenCLIP, VELMA's moves": (10.0, 75.3, 32.8),
        "VELMA-Mixtral, 2 examples": (21.1, 56.8, 8.0),
        "VELMA-GPT-3, 2 examples": (19.1, 58.1, 9.2),
        "VELMA-GPT-4, 2 examples": (12.8, 70.1, 23.1),
        "VELMA-FT (LLaMA-7B)": (8.7, 78.7, 41.3),
        "VELMA-RBL (LLaMA-7B)": (8.3, 79.5, 45.3),
    },
}

# Test set of the seen scenario: another split, so not to be compared directly (FLAME, arXiv 2408.11051).
_FLAME_TC = {"touchdown": 40.2, "map2seq": 52.4}


def _published_rows(dataset: str) -> Iterator[Published]:
    """Yield the published rows of a data set."""
    city = f"{dataset} unseen dev"
    for name, (spd, kpa, tc) in _VELMA_TABLE_2[dataset].items():
        values = {"spd": spd, "tc": tc / 100} | ({} if kpa is None else {"kpa_published": kpa / 100})
        yield Published(name, values, "VELMA, table 2", city)
    yield Published(
        "FLAME", {"tc": _FLAME_TC[dataset] / 100}, "arXiv 2408.11051, seen test set", city, is_other=True
    )


PUBLISHED = tuple(row for dataset in _VELMA_TABLE_2 for row in _published_rows(dataset))
"""Published rows; each belongs beside runs on the public data of its `city`."""
