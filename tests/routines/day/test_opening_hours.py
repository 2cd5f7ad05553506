import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_day_town import hours, place

from virl.routines.day.coordinate import fit_visit, opening_stretches

MUSEUM = place("Museum", "museum", open_at=hours("10:00", "18:00", [1, 2]))
BAR = place("Bar", "bar", open_at=hours("17:00", "26:00", [4]))
TWICE = place("Twice", "cafe", open_at=hours("08:00", "11:00") + hours("14:00", "18:00"))


def test_a_night_that_began_the_day_before_counts_for_both_days():
    assert opening_stretches(BAR, 4) == [(1020, 1560)]
    assert opening_stretches(BAR, 5) == [(-420, 120)]
    assert opening_stretches(BAR, 3) == []


def test_unknown_hours_are_not_closed_and_said_to_be_unknown():
    park, cafe = place("Park", "park", open_at=()), place("Cafe", "cafe", open_at=())
    assert opening_stretches(park, 0) == opening_stretches(cafe, 0) == [(0, 1440)]
    assert (park.is_unsure, cafe.is_unsure, MUSEUM.is_unsure) == (False, True, False)
    assert opening_stretches(place("Old Park", "park", open_at=(), closed=True), 0) == []


@pytest.mark.parametrize(
    ("place", "starts", "ends", "fitted"),
    [
        (MUSEUM, 600, 690, (600, 690)),
        (MUSEUM, 570, 660, (600, 690)),  # waits for the door to open
        (MUSEUM, 550, 640, None),  # too long a wait
        (MUSEUM, 1040, 1130, (1040, 1080)),  # cut short
        (MUSEUM, 1060, 1150, None),  # too short
        (MUSEUM, 1060, 1080, (1060, 1080)),  # was to be as short
        (TWICE, 650, 680, None),
        (TWICE, 810, 870, (840, 900)),
        (BAR, 1200, 1300, None),
    ],
)
def test_a_visit_is_put_off_or_cut_short_until_it_fits(place, starts, ends, fitted):
    assert fit_visit(place, 2, starts, ends, wait=45, shortest=30, until=1260) == fitted


def test_the_day_ends_before_the_place_closes():
    assert fit_visit(MUSEUM, 2, 900, 990, wait=0, shortest=30, until=960) == (900, 960)


@given(
    opens=st.integers(0, 1439),
    length=st.integers(1, 1440),
    day=st.integers(0, 6),
    starts=st.integers(0, 1380),
    minutes=st.integers(1, 300),
)
def test_what_fits_is_open_every_minute(opens, length, day, starts, minutes):
    listed = place("Any", "cafe", open_at=hours(f"0:{opens}", f"0:{opens + length}", [2]))
    fitted = fit_visit(listed, day, starts, min(starts + minutes, 1440), wait=45, shortest=30, until=1440)
    if fitted:
        begin, end = fitted
        assert starts <= begin < end <= 1440
        assert all(listed.open_at(day, minute) for minute in (begin, (begin + end) // 2, end - 1))
