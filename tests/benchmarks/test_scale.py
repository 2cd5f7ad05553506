"""The plan of many districts: its page says what its script computes, and the arithmetic holds."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.perf.scale import NUMBERS, stages, tables

PAGE = Path(__file__).parent.parent.parent / "docs/how-to/large-runs.md"


def test_the_page_holds_the_tables_as_they_are_computed() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for table in tables()[1:]:  # the first is left to the command
        assert table in text


def test_every_number_says_where_it_comes_from() -> None:
    assert all(one.source for one in NUMBERS.values())


def test_localization_is_worked_out_by_hand() -> None:
    # 100,000 positions, a panorama each, half of them near a place: 50,000 panoramas of 13 views
    changed = {"grid": 100_000.0, "panoramas": 1.0, "near": 0.5, "detect": 10.0, "busy": 1.0, "google": 0.8}
    numbers = {name: replace(one, value=changed.get(name, one.value)) for name, one in NUMBERS.items()}
    (found,) = (one for one in stages(numbers) if one.name == "localization")
    assert found.requests == {"pictures": 650_000}
    assert found.usd == pytest.approx(650_000 * 0.007)
    assert found.gpu_hours == pytest.approx(650_000 * 10 / 10 / 3600)
    assert found.waiting_hours == pytest.approx(650_000 * 0.1 / 3600)
