from dataclasses import replace

import made_day_town as town
import pytest

from virl.errors import NotFound
from virl.geo.globe import distance
from virl.platform.city.maps import SPEED_M_S, Journey, JourneyLeg
from virl.routines.day.checker import CityFacts, DayEntry
from virl.routines.day.settings import Day
from virl.routines.day.town import Town

LONG_WALK = town.FRAME.position(2500, 0)  # 31 minutes on foot, 10 by bicycle, 6 by taxi
NEAR = town.FRAME.position(800, 0)  # 10 minutes on foot


def small_town(*places, **day):
    return Town(town.day_town(*places), Day(**day), 2)


def way(there, *, asked="any", weak=False, budget=100.0, **day):
    found = small_town(**day).way(town.CENTER, there, asked=asked, weak=weak, budget_usd=budget, minute=540)
    return (found.mode, found.minutes, found.usd) if found else None


def test_the_way_is_walked_where_that_is_comfortable():
    assert way(NEAR) == ("walking", 10, 0.0)


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        ({}, "cycling"),
        ({"weak": True}, "driving"),
        ({"weak": True, "budget": 20.0}, "driving"),  # too dear to be easy, but the quickest
        ({"budget": 20.0, "modes": ("walking", "driving")}, "driving"),
        ({"budget": 1.0}, "walking"),
        ({"asked": "walking"}, "walking"),
        ({"asked": "driving"}, "driving"),
        ({"modes": ("walking",)}, "walking"),
    ],
)
def test_a_long_way_is_taken_as_the_client_can(given, mode):
    assert way(LONG_WALK, **given)[0] == mode


def test_a_longer_walk_is_borne_before_a_dear_taxi_is_taken():
    walk = town.FRAME.position(2000, 0)  # 25 minutes on foot
    assert way(walk, modes=("walking", "driving"), budget=20.0)[0] == "walking"
    assert way(walk, modes=("walking", "driving"), budget=100.0)[0] == "driving"
    assert way(walk, modes=("walking", "driving"), budget=20.0, weak=True)[0] == "driving"


def test_a_mode_that_cannot_be_is_not_taken_because_it_was_asked_for():
    assert way(LONG_WALK, asked="driving", budget=5.0)[0] == "cycling"


def test_there_is_no_way_of_more_than_an_hour():
    assert way(town.FRAME.position(6000, 0), modes=("walking",)) is None


def test_offers_leave_out_what_was_visited_what_is_far_and_what_is_gone():
    gone = town.place("Gone", "museum", 10, closed=True)
    far = town.place("Far", "museum", 1600)
    offers = small_town(*town.USUAL, gone, far).offers(town.CENTER, {"id-Noodle House"})
    counts = {offer["sort"]: (offer["count"], offer["names"]) for offer in offers}
    assert counts["museum"] == (1, ["Old Museum"])
    assert counts["restaurant"] == (1, ["Fish Kitchen"])


@pytest.mark.parametrize("name", ["Old Museum", "old  museum", "OLD MUSEUM", "The Old Museum"])
def test_a_place_is_found_by_its_name(name):
    assert small_town(*town.USUAL).find_named(name, town.CENTER).id == "id-Old Museum"


@pytest.mark.parametrize("name", ["New Museum of Art", "!!!", "x"])
def test_another_name_is_no_place(name):
    assert small_town(*town.USUAL).find_named(name, town.CENTER) is None


def test_a_name_may_be_shortened_but_not_numbered_otherwise():
    listed = [town.place(name, "bakery", 50) for name in ("Platform 13", "Corner Bakery", "1st Bakery")]
    asked = {
        "The Corner Bakery & Caf\u00e9": "Corner Bakery",
        "First Bakery": "1st Bakery",
        "Platform 3": None,
    }
    facts = CityFacts(town.day_town(*listed))
    for name, found in asked.items():
        place = small_town(*listed).find_named(name, town.CENTER)
        assert (place.name if place else None) == found
        site = facts.site(DayEntry("normal", 0, 1, name), town.CENTER)
        assert (site.place.name if site else None) == found


def test_the_checker_takes_a_sort_of_place_for_the_nearest_that_is_not_gone():
    gone = town.place("Gone", "museum", 10, closed=True)
    near = town.place("Near", "museum", 50)
    facts = CityFacts(town.day_town(*town.USUAL, gone, near))
    assert facts.site(DayEntry("normal", 0, 1, "Museum"), town.CENTER).place.name == "Near"
    assert facts.site(DayEntry("normal", 0, 1, "old museum"), town.CENTER).place.name == "Old Museum"
    assert facts.site(DayEntry("normal", 0, 1, "zoo"), town.CENTER) is None
    assert facts.site(DayEntry("normal", 0, 1, "x", "no such id"), town.CENTER) is None


class _Forgetful(town.DayPlaces):
    """A directory that lists a place and no longer knows its id."""

    def details(self, place_id):
        if place_id == "id-Stale":
            raise NotFound(f"no place {place_id!r}")
        return super().details(place_id)


def test_the_checker_passes_by_a_place_that_the_directory_no_longer_knows():
    listed = (town.place("Stale", "museum", 10), town.place("Near", "museum", 50))
    facts = CityFacts(replace(town.day_town(), places=_Forgetful(listed)))
    assert facts.site(DayEntry("normal", 0, 1, "museum"), town.CENTER).place.name == "Near"
    assert facts.site(DayEntry("normal", 0, 1, "Stale"), town.CENTER) is None


class _WithBuses(town.DayMaps):
    """A bus that takes a sixth of the walk, from a stop two minutes away to one a minute away."""

    def journey(self, here, there, weekday, minute):
        ride = distance(here, there) / SPEED_M_S["walking"] / 6
        walks = [JourneyLeg((here,), 160.0, 120.0), JourneyLeg((there,), 80.0, 60.0)]
        bus = JourneyLeg((here, there), 1.0, ride, "bus 7", "A", "B", minute + 2, minute + 9)
        return Journey((walks[0], bus, walks[1]), ride + 180.0)


def with_buses(**day):
    return Town(replace(town.day_town(), maps=_WithBuses()), Day(**day), 2)


def test_the_weak_take_a_bus_where_the_maps_know_one():
    found = with_buses().way(town.CENTER, LONG_WALK, asked="any", weak=True, budget_usd=100.0, minute=540)
    assert (found.mode, found.leaves, found.usd) == ("transit", 540, 3.0)
    assert found.words == "walk 2 min; bus 7 from A to B, 09:02-09:09; walk 1 min"
    assert way(LONG_WALK, weak=True)[0] == "driving", "without a timetable there is none"


def test_a_bus_is_taken_when_it_is_asked_for_and_no_taxi_when_it_is_left_out():
    options = {"weak": False, "budget_usd": 100.0, "minute": 540}
    assert with_buses().way(town.CENTER, NEAR, asked="transit", **options).mode == "transit"
    assert with_buses().way(town.CENTER, NEAR, asked="any", **options).mode == "walking"
    left_out = with_buses(modes=("walking", "driving"))
    assert left_out.way(town.CENTER, LONG_WALK, asked="transit", **options).mode == "driving"
