"""Opening hours as OpenStreetMap writes them, as a week."""

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from opening_hours import OpeningHours as OsmHours
from opening_hours import State, validate

from virl.platform.city.places import OpeningHours

_DAY = timedelta(days=1)
"""Length of a day, a `timedelta`."""
_WEEKDAYS = "Mo|Tu|We|Th|Fr|Sa|Su"
"""Pattern of a weekday in opening hours."""
_SAID_STATE = re.compile(r'\b(open|off|closed)\s*"[^"]*"')
"""Pattern of a state, such as `open`, that is followed by a comment in opening hours."""
_COMMENT = re.compile(r'"[^"]*"')
"""Pattern of a comment in opening hours."""
_HOLIDAY_WEEKDAYS = re.compile(rf"\b([PS]H)\s+(?:{_WEEKDAYS})[^\s\"]*")
"""Pattern of weekdays after holidays, as in `SH Mo-Fr`, dropped as the library would add these days."""
_BETWEEN_RULES = re.compile(r"(; |, | \|\| )")  # within a rule the library writes its lists without spaces
"""Pattern of what separates two rules of opening hours."""
_NOT_WEEKLY = re.compile(r'"|\[|\bunknown\b|\bweek ?\d|(^|\s)((PH,)*SH(,[PS]H)*)(?=\s|$)')
"""Pattern of opening hours that do not hold each week: with a comment, numbered weeks or school holidays."""
_PUBLIC_HOLIDAYS = re.compile(r"(^|\s)PH(?=\s|$)")
"""Pattern of a rule of opening hours for public holidays."""
_CLOSED = " closed"
"""The ending of a rule of opening hours that says that the place is closed."""
_SEASON = re.compile(r"\b(\d{4}|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|easter)")
"""Pattern of a year, month or Easter in opening hours."""


@dataclass(frozen=True, slots=True)
class WeeklyHours:
    """The opening hours of a place that hold each week, and the rules that do not."""

    stretches: tuple[OpeningHours, ...] = ()
    """Opening hours by weekday, sorted; empty where none hold each week."""
    is_closed: bool = False
    """True where the rules say that the place does not open at all."""
    left_out: tuple[str, ...] = ()
    """Rules that do not hold each week, such as `We[1] 10:00-12:00`."""


def weekly_hours(text: str, day: date | None = None) -> WeeklyHours | None:
    """Return the hours of a tag `opening_hours` in the week from `day` on, or today; `None` if unreadable.

    Rules with a comment alone, for numbered weeks, for the first or last such day of a month, or for school
    holidays are left out. Rules for public holidays are set aside; times by the sun are those of the equinox.
    """
    text = _HOLIDAY_WEEKDAYS.sub(r"\1", _SAID_STATE.sub(r"\1", text.strip("; ")))
    if not validate(text):
        return None
    # A comment may hold the letters that part rules.
    plain = _COMMENT.sub(lambda comment: re.sub("[;,|]", " ", comment[0]), str(OsmHours(text)))
    rules = _BETWEEN_RULES.split(plain)
    kept: list[str] = []
    left_out: list[str] = []
    for between, rule in zip(["", *rules[1::2]], rules[::2], strict=True):
        if _NOT_WEEKLY.search(rule):
            left_out.append(rule.replace('24/7 "', '"'))
        elif not _PUBLIC_HOLIDAYS.search(rule):
            kept += [between, rule] if kept else [rule]
    if not kept:
        return WeeklyHours(left_out=tuple(left_out))
    first = day or date.today()  # noqa: DTZ011 - the day of who asks
    stretches = _stretches("".join(kept), first)
    is_closed = not stretches and not left_out
    if is_closed and all(rule.endswith(_CLOSED) for rule in kept[::2]):
        # Outside of the days that they name, rules such as `Jul off` say nothing.
        is_closed = bool(_stretches("".join(kept).replace(_CLOSED, ""), first))
    return WeeklyHours(stretches, is_closed, tuple(left_out))


def is_seasonal(text: str) -> bool:
    """Return whether a text of opening hours names months, years or Easter, and so depends on the season."""
    return bool(_SEASON.search(text))


def _stretches(text: str, day: date) -> tuple[OpeningHours, ...]:
    """Return the sorted opening hours by weekday that a text gives for the seven days from `day` on."""
    hours = OsmHours(text)
    if str(hours.normalize()) == "24/7":
        return tuple(OpeningHours(weekday, 0, 1440) for weekday in range(7))
    midnight = datetime.combine(day, time.min)
    found = set()
    # From the day before: what began then would be cut to begin at midnight.
    for first, end, state, _ in hours.intervals(midnight - _DAY, midnight + 8 * _DAY):
        start = first
        while state == State.OPEN and end is not None and start < end:
            stop = min(end, start + _DAY)  # a stretch of more than a day is one of each day
            days, opens = divmod(int((start - midnight).total_seconds()) // 60, 1440)
            closes = opens + int((stop - start).total_seconds()) // 60
            if 0 <= days < 7 and closes > opens:
                found.add(((day.weekday() + days) % 7, opens, closes))
            start = stop
    return tuple(OpeningHours(*stretch) for stretch in sorted(found))
