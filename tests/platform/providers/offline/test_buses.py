"""The invented buses of made towns: a timetable that holds."""

import random

import pytest

from virl.geo.globe import distance
from virl.platform.city.city import City
from virl.platform.city.maps import Journey, TransitMaps
from virl.platform.providers import open_city
from virl.platform.providers.offline.city import kept_plan
from virl.towns.buses import EVERY, FIRST, LAST, bus_lines

NINE = 9 * 60 + 3


@pytest.fixture(scope="module", params=["virlton", "virlbury"])
def town(request: pytest.FixtureRequest) -> City:
    return open_city(str(request.param))


@pytest.fixture(scope="module")
def journeys(town: City) -> list[tuple[Journey, float]]:
    """Journeys between random panoramas, and how long the walk takes."""
    assert town.street_map
    ids, dice = town.street_map.panorama_ids(), random.Random(3)
    found = []
    for _ in range(18):
        here, there = (town.streetview.panorama(dice.choice(ids)).position for _ in range(2))
        assert isinstance(town.maps, TransitMaps)
        found.append((town.maps.journey(here, there, 2, NINE), town.maps.route([here, there]).duration))
    return found


@pytest.mark.slow
def test_a_journey_is_never_slower_than_walking_and_sometimes_quicker(
    journeys: list[tuple[Journey, float]],
) -> None:
    assert all(journey.duration <= walk + 0.01 for journey, walk in journeys)
    quicker = [journey for journey, walk in journeys if journey.duration < walk - 60]
    assert quicker
    assert all(journey.rides for journey in quicker)


@pytest.mark.slow
def test_legs_follow_one_another_in_space_and_time(journeys: list[tuple[Journey, float]]) -> None:
    for journey, _ in journeys:
        clock = float(NINE)
        for before, leg in zip((None, *journey.legs), journey.legs, strict=False):
            if before:
                assert distance(before.path[-1], leg.path[0]) < 1
            if leg.line:
                assert leg.departs is not None
                assert leg.arrives is not None
                assert clock <= leg.departs <= leg.arrives
                clock = leg.arrives
            else:
                clock += leg.duration / 60
        assert clock == pytest.approx(NINE + journey.duration / 60, abs=0.01)


@pytest.mark.slow
def test_lines_run_both_ways_and_stop_where_streets_cross(town: City) -> None:
    lines = bus_lines(kept_plan(1 if town.name == "virlton" else 2, town.title).layout)
    assert len({line.name for line in lines}) == 6
    for line, back in zip(lines[::2], lines[1::2], strict=True):
        assert line.name == back.name
        assert {line.stops[0].name, line.headsign} == {back.headsign, back.stops[0].name}
        assert [stop.after for stop in line.stops] == sorted({stop.after for stop in line.stops})
        assert all(" at " in stop.name or " end" in stop.name for stop in line.stops)
        first = line.departure(0, 0)
        assert first == FIRST
        assert line.departure(0, first + 0.5) == first + EVERY
        assert line.departure(0, LAST + EVERY) is None


def test_at_night_one_walks(town: City) -> None:
    assert town.street_map
    assert isinstance(town.maps, TransitMaps)
    ids = town.street_map.panorama_ids()
    here, there = (town.streetview.panorama(ids[at]).position for at in (0, len(ids) // 2))
    journey = town.maps.journey(here, there, 2, 23 * 60 + 55)
    assert journey.rides == ()
    assert journey.duration == pytest.approx(town.maps.route([here, there]).duration)
