"""Deciding about a place that was seen."""

from types import SimpleNamespace
from typing import Any

import made_day_town as town

from virl.routines.explore.deciding import consider


def test_a_place_whose_id_is_gone_is_passed_by() -> None:
    listed = town.place("Din", "restaurant")
    agent: Any = SimpleNamespace(city=town.day_town())  # which knows the details of no place
    found = consider(agent, listed)
    assert (found.name, found.decision) == ("Din", "continue")
    assert "no longer knows" in found.reason
