"""The baseline: the same day planned by the same mind in one go, without asking the city anything."""

from collections.abc import Mapping

from virl.clock import parse_clock
from virl.geo.globe import LatLng
from virl.mind.base import Mind
from virl.mind.prompt import load_prompt
from virl.platform.city.places import DAY_NAMES
from virl.routines.day.checker import DayEntry, DayTerms
from virl.routines.day.replies import UngroundedDay
from virl.routines.day.settings import Day


def terms_of(day: Day, weekday: int, start: LatLng) -> DayTerms:
    """Return the constraints on a day.

    Args:
        day: settings of the day.
        weekday: 0 is Monday.
        start: where the day begins.
    """
    starts, ends = day.minutes
    return DayTerms(weekday, starts, ends, day.budget_usd, start, day.modes)


def plan_ungrounded(
    mind: Mind, client: Mapping[str, str], day: Day, *, city: str, weekday: int
) -> list[DayEntry]:
    """Plan a day of which nothing was looked up.

    Args:
        mind: who plans.
        client: name, background and intention.
        day: what is planned.
        city: its name, for who knows it.
        weekday: 0 is Monday.

    Raises:
        VirlError: as `Mind.ask`.
    """
    reply = mind.ask(
        load_prompt("day/ungrounded", UngroundedDay),
        client=dict(client),
        state=day.feelings,
        city=city,
        day=DAY_NAMES[weekday],
        starts=day.starts,
        until=day.ends,
        budget_usd=day.budget_usd,
    )
    return [
        DayEntry(
            kind=one.kind,
            starts=parse_clock(one.starts),
            ends=parse_clock(one.ends),
            place=one.place,
            mode=None if one.mode == "any" else one.mode,
            cost_usd=one.cost_usd,
        )
        for one in reply.activities
    ]
