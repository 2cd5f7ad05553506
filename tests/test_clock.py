import pytest
from hypothesis import given
from hypothesis import strategies as st

from virl.clock import parse_clock, show_clock, whole_minutes


@pytest.mark.parametrize(
    ("text", "minute"),
    [
        ("00:00", 0),
        ("9:30", 570),
        ("09.30", 570),
        ("21h05", 1265),
        (" 24:00 ", 1440),
        ("12:15 am", 15),
        ("12:15 pm", 735),
        ("9 p.m.", 1260),
        ("9pm", 1260),
    ],
)
def test_times_are_read_as_people_write_them(text, minute):
    assert parse_clock(text) == minute


@pytest.mark.parametrize(
    "text", ["", "noon", "25:00", "24:01", "9:60", "9", "13:00 pm", "0:30 am", "+ 5", "9:3"]
)
def test_what_is_no_time_is_refused(text):
    with pytest.raises(ValueError, match="is not a time of a day"):
        parse_clock(text)


@given(st.integers(0, 1440))
def test_a_time_that_is_shown_is_read_back(minute):
    assert parse_clock(show_clock(minute)) == minute


def test_past_midnight_belongs_to_the_next_days_clock():
    assert show_clock(1441) == "00:01"


@pytest.mark.parametrize(("seconds", "minutes"), [(0, 0), (0.1, 1), (60, 1), (60.1, 2)])
def test_minutes_are_rounded_up(seconds, minutes):
    assert whole_minutes(seconds) == minutes
