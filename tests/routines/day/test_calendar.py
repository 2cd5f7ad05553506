"""The calendar file, read back by the library that others read it with."""

from datetime import UTC, date, datetime

import icalendar
import pytest

from virl.routines.day.activity import Activity, Spot
from virl.routines.day.showing import calendar, date_of, moment

MADE = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
HOSTILE = "Bar\r\nEND:VEVENT\r\nBEGIN:VALARM\x00; rm, -rf \\ \u2028 Ω" + "x" * 200


def activity(name="Museum", starts=600, ends=690, **more):
    spot = Spot(lat=1.5, lng=-2.5, name=name, id="id", sort="museum", address="1 Elm, Town")
    return Activity(
        kind="normal",
        starts=starts,
        ends=ends,
        what="Look",
        reason="Why; not",
        spot=spot,
        state={},
        budget_usd=1,
        **more,
    )


def read(*activities, zone="Europe/London", on=date(2026, 3, 29)):
    text = calendar(activities, title="A day", on=on, zone=zone, made=MADE, run_id="run")
    return text, icalendar.Calendar.from_ical(text)


def test_an_event_has_its_time_on_the_citys_clocks():
    text, file = read(activity(), zone="Asia/Tokyo")
    (event,) = file.events
    assert event.start == moment(date(2026, 3, 29), 600, "Asia/Tokyo")
    assert event.start.astimezone(UTC) == datetime(2026, 3, 29, 1, 0, tzinfo=UTC)
    assert "BEGIN:VTIMEZONE" in text
    assert "TZID=Asia/Tokyo" in text


def test_a_day_on_which_the_clocks_change_keeps_its_clock_times():
    _, file = read(activity(starts=30, ends=50), activity(starts=600, ends=690))  # summer time begins at one
    night, morning = (event.start.astimezone(UTC).hour for event in file.events)
    assert (night, morning) == (0, 9)


def test_a_made_city_has_times_without_a_zone():
    text, file = read(activity(), zone=None)
    assert file.events[0].start == datetime(2026, 3, 29, 10, 0)  # noqa: DTZ001
    assert "VTIMEZONE" not in text


def test_the_day_may_last_until_midnight():
    _, file = read(activity(starts=1400, ends=1440))
    assert file.events[0].end.date() == date(2026, 3, 30)


def test_names_from_the_world_stay_within_their_field():
    text, file = read(activity(HOSTILE))
    (event,) = file.events
    assert len(file.events) == 1
    assert not event.subcomponents
    assert "END:VEVENT" in event["summary"]
    assert "\x00" not in text
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))


def test_the_same_run_gives_the_same_calendar_and_each_event_its_own_id():
    first, file = read(activity(), activity(starts=700, ends=720))
    assert first == read(activity(), activity(starts=700, ends=720))[0]
    assert len({event["uid"] for event in file.events}) == 2


@pytest.mark.parametrize(
    ("weekday", "on"), [(6, date(2026, 11, 22)), (0, date(2026, 11, 23)), (5, date(2026, 11, 28))]
)
def test_the_date_is_the_next_such_weekday_today_included(weekday, on):
    assert date_of(weekday, date(2026, 11, 22)) == on  # a Sunday
