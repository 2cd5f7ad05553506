"""Sidewalks and crossings are walked where the streets lead far around."""

from collections import Counter
from pathlib import Path

import pytest
from written_extract import Writer, rebuilt


@pytest.mark.parametrize(("across", "walked"), [(150, True), (70, True), (40, False), (10, False)])
def test_a_crossing_is_walked_if_the_way_around_it_is_long(tmp_path: Path, across: int, walked: bool) -> None:
    town = Writer(tmp_path / "bend.osm")
    town.way((0, 0), (across, 0), (200, 0), highway="residential", name="Lower")
    town.way((0, 40), (across, 40), (200, 40), highway="residential", name="Upper")
    town.way((0, 0), (0, 40), highway="residential", name="End")
    town.way((across, 0), (across, 40), highway="footway", footway="crossing")
    named = Counter(street.name for street in rebuilt(town).streets.streets)
    assert named[""] == walked
