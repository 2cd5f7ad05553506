"""The checker, each kind of violation worked by hand."""

from dataclasses import dataclass, field

import pytest

from virl.clock import show_clock
from virl.geo.globe import LatLng, destination
from virl.platform.city.places import OpeningHours, Place
from virl.routines.day.checker import KINDS, DayEntry, DayTerms, Site, check, entries_of, unsure_places
from virl.routines.day.settings import Day

HOME = LatLng(10.0, 20.0)
MUSEUM = Place(
    "m", "Museum", ("museum",), LatLng(10.01, 20.0), price_level=1, hours=(OpeningHours(2, 600, 1080),)
)
PARK = Place("p", "Park", ("park",), LatLng(10.0, 20.01))
DINER = Place(
    "d", "Diner", ("restaurant",), LatLng(10.02, 20.0), price_level=2, hours=(OpeningHours(2, 660, 1560),)
)
GONE = Place("g", "Gone", ("cafe",), LatLng(10.03, 20.0), is_open=False, hours=MUSEUM.hours)
UNLISTED = Place("u", "Unlisted", ("cafe",), LatLng(10.04, 20.0))


def terms_of(weekday, starts, ends, budget_usd, start, **more):
    day = Day(starts=show_clock(starts), ends=show_clock(ends), budget_usd=budget_usd, **more)
    return DayTerms(day, weekday, start)


WEDNESDAY = terms_of(2, 540, 1260, 100.0, HOME)


@dataclass
class Table:
    """Ten minutes on foot from anywhere to anywhere, four by taxi; one place is on an island."""

    places: dict = field(
        default_factory=lambda: {one.id: one for one in (MUSEUM, PARK, DINER, GONE, UNLISTED)}
    )
    island: str = ""

    def site(self, entry, near):
        place = self.places.get(entry.place_id)
        return Site(place.position, place) if place else None

    def seconds(self, here, there, mode, weekday, minute):
        if self.island and self.places[self.island].position in (here, there):
            return float("inf")
        times = {"walking": 600.0, "cycling": 400.0, "transit": float("inf"), "driving": 240.0}
        return times[mode]


def visit(place_id, starts, ends, cost=0.0, kind="normal", at=None):
    return DayEntry(kind, starts, ends, place_id, place_id, None, cost, at)


def way(starts, ends, mode="walking", cost=0.0):
    return DayEntry("transport", starts, ends, "m", "m", mode, cost)


def kinds(*entries, terms=WEDNESDAY, facts=None):
    return [violation.kind for violation in check(entries, terms, facts or Table())]


GOOD = (way(590, 600), visit("m", 600, 660), way(660, 670), visit("d", 670, 730, 25.0, "eat"))


def test_a_day_that_can_be_has_no_violation():
    assert kinds(*GOOD) == []
    assert kinds() == []


def test_a_way_that_is_too_short_is_impossible():
    assert kinds(way(591, 600), visit("m", 600, 660)) == ["travel"]
    assert kinds(visit("m", 600, 660), visit("d", 664, 700)) == []  # four minutes by taxi
    assert kinds(visit("m", 600, 660), visit("d", 663, 700)) == ["travel"]
    assert kinds(visit("m", 600, 660), way(660, 664, "driving", 10), visit("d", 664, 700)) == []
    assert kinds(visit("m", 600, 660), way(660, 664, "walking"), visit("d", 664, 700)) == ["travel"]


def test_time_that_no_way_was_planned_in_does_not_count_for_the_way():
    assert kinds(way(550, 555), visit("m", 600, 660)) == ["travel"]


def test_the_first_way_begins_when_the_day_does():
    assert kinds(visit("p", 543, 600)) == ["travel"]
    assert kinds(visit("p", 544, 600)) == []


def test_no_way_leads_to_an_island():
    assert kinds(visit("m", 900, 960), facts=Table(island="m")) == ["travel"]


def test_who_stays_needs_no_way():
    assert kinds(DayEntry("normal", 540, 600), DayEntry("normal", 600, 630)) == []


def test_a_modes_of_travel_that_the_client_has_not_does_not_count():
    on_foot = terms_of(2, 540, 1260, 100.0, HOME, modes=("walking",))
    assert kinds(visit("p", 544, 600), terms=on_foot) == ["travel"]


@pytest.mark.parametrize(
    ("starts", "ends", "closed"),
    [(600, 1080, False), (599, 700, True), (1000, 1081, True), (1100, 1150, True)],
)
def test_a_place_must_be_open_all_through_the_visit(starts, ends, closed):
    assert kinds(visit("m", starts, ends)) == ["closed"] * closed


def test_another_day_has_other_hours():
    tuesday = terms_of(1, 540, 1260, 100.0, HOME)
    assert kinds(visit("m", 600, 660), terms=tuesday) == ["closed"]
    thursday_night = terms_of(3, 0, 300, 100.0, HOME)  # open since Wednesday, until two in the morning
    assert kinds(visit("d", 30, 120), terms=thursday_night) == []
    assert kinds(visit("d", 30, 121), terms=thursday_night) == ["closed"]


def test_unknown_hours_are_no_violation_and_are_named():
    assert kinds(visit("p", 600, 660), visit("u", 700, 760)) == []
    entries = [visit("p", 600, 660), visit("u", 700, 760), visit("m", 800, 860), visit("u", 900, 960)]
    assert unsure_places(entries, WEDNESDAY, Table()) == ["Unlisted"]


def test_a_place_that_closed_for_good_is_closed():
    assert kinds(visit("g", 600, 660)) == ["closed"]


def test_money_is_what_is_said_or_known_whichever_is_more():
    poor = terms_of(2, 540, 1260, 30.0, HOME)
    assert kinds(visit("m", 600, 660), visit("d", 700, 760, kind="eat"), terms=poor) == ["budget"]  # 7 + 25
    assert kinds(visit("m", 600, 660, 30.0), terms=poor) == []
    assert kinds(visit("m", 600, 660, 30.01), terms=poor) == ["budget"]
    assert kinds(way(544, 554, "driving"), visit("m", 600, 660, 12.0), terms=poor) == [
        "budget"
    ]  # 4 + 15 + 12


def test_what_is_outside_the_day_is_an_overrun():
    assert kinds(visit("p", 1200, 1261)) == ["time"]
    assert kinds(DayEntry("normal", 500, 560)) == ["time"]
    assert kinds(DayEntry("normal", 700, 690)) == ["time"]


def test_what_begins_before_the_last_thing_ends_overlaps():
    assert kinds(DayEntry("normal", 600, 660), DayEntry("normal", 659, 700)) == ["overlap"]
    assert kinds(DayEntry("normal", 600, 660), DayEntry("normal", 660, 700)) == []


def test_a_place_that_is_not_there_is_unknown():
    assert kinds(visit("nowhere", 600, 660), visit("p", 700, 760)) == ["unknown place"]


def test_a_visit_may_be_at_the_edge_of_its_place_and_no_farther():
    edge, far = (destination(PARK.position, 90, metres) for metres in (100, 200))
    here = terms_of(2, 540, 1260, 100.0, edge)
    assert kinds(visit("p", 540, 600, at=edge), terms=here) == []
    assert kinds(visit("p", 540, 600, at=far), terms=terms_of(2, 540, 1260, 100.0, far)) == ["travel"]


def test_one_day_can_be_wrong_in_every_way():
    entries = (visit("m", 530, 700, 99.0), visit("nowhere", 690, 720), visit("d", 723, 760, 25.0, "eat"))
    found = kinds(*entries)
    assert sorted(found) == sorted(["time", "travel", "closed", "overlap", "unknown place", "budget"])
    assert set(found) == set(KINDS)


def test_a_days_lines_are_read_from_its_answer():
    line = {"kind": "eat", "starts": "09:00", "ends": "24:00", "place": "Diner", "place_id": "d"}
    line |= {"lat": 1.0, "lng": 2.0, "mode": None, "cost_usd": 3}
    assert entries_of([line]) == [DayEntry("eat", 540, 1440, "Diner", "d", None, 3.0, LatLng(1.0, 2.0))]
    assert entries_of([{"kind": "normal", "starts": "9:00", "ends": "10:00"}]) == [
        DayEntry("normal", 540, 600)
    ]
