"""How long a place stays open, seen from any minute of the week."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_quarter import place

from virl.platform.city.places import OpeningHours
from virl.routines.recommend.weigh import DAY_MIN, WEEK_MIN, closes_at, hours_in_words

STRETCH = st.builds(
    lambda day, opens, length: OpeningHours(day, opens, opens + length),
    st.integers(0, 6),
    st.integers(0, 1439),
    st.integers(1, 1440),
)


@settings(max_examples=60)
@given(st.lists(STRETCH, max_size=5), st.integers(0, WEEK_MIN - 1))
def test_the_closing_time_agrees_with_being_open_minute_by_minute(
    stretches: list[OpeningHours], minute: int
) -> None:
    somewhere = place("a", 0, hours=tuple(stretches))

    def is_open(when: int) -> bool:
        return somewhere.open_at(when // DAY_MIN % 7, when % DAY_MIN)

    end = closes_at(somewhere, minute)
    assert (end is not None) == is_open(minute)
    if end is not None:
        assert is_open(end - 1)
        assert is_open((minute + end - 1) // 2)
        assert end == minute + WEEK_MIN or not is_open(end)


@pytest.mark.parametrize(
    ("hours", "now", "words"),
    [
        ([(0, 600, 1320)], 700, "until 22:00"),
        ([(4, 960, 1560)], 4 * DAY_MIN + 1200, "until Saturday at 02:00"),
        ([(4, 960, 1560)], 5 * DAY_MIN + 60, "until 02:00"),
        ([(6, 960, 1560)], 6 * DAY_MIN + 1200, "until Monday at 02:00"),
        ([(day, 0, 1440) for day in range(7)], 3000, "round the clock"),
        ([(2, 480, 1440)], 2 * DAY_MIN + 600, "until 24:00"),
    ],
)
def test_in_words(hours: list[tuple[int, int, int]], now: int, words: str) -> None:
    somewhere = replace(place("a", 0), hours=tuple(OpeningHours(*one) for one in hours))
    end = closes_at(somewhere, now)
    assert end is not None
    assert hours_in_words(end, now) == words
