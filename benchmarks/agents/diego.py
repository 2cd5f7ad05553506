"""Diego's score: what in a planned day cannot be, with the ungrounded baseline beside it.

A day without activities has no violations either, so how full it is, its meals and money stand beside them.
"""

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

from virl.bench.benchmark import Metric, Tally
from virl.bench.episode import Data, Record
from virl.clock import show_clock
from virl.errors import MindFailed
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.places import DAYS
from virl.platform.city.streetview import relocate
from virl.routines.day.checker import (
    CityFacts,
    DayEntry,
    DayTerms,
    check,
    entries_of,
    plan_ungrounded,
)
from virl.routines.day.settings import FEELINGS, Day
from virl.routines.day.town import MEAL_USD

from .scoring import AgentCase, ScoredAgent, Tallies, means

USERS = 30
LEAST_FULL = 0.8
"""Least share of the day that activities and ways between them should fill."""
MEAL_HOURS = ((6 * 60 + 30, 10 * 60 + 30), (11 * 60, 15 * 60), (17 * 60 + 30, 21 * 60 + 30))
"""Usual hours of breakfast, lunch and dinner, each (first, last) in minutes of the day. Chosen."""

DUE = ((12 * 60, 14 * 60 + 30), (18 * 60, 20 * 60 + 30))
"""Hours, (first, last) in minutes of the day, that a day must hold for lunch, dinner to be due. Chosen."""
CHEAPEST_USD = MEAL_USD[1]
NO_PLAN = "no plan"
"""Kind of the one violation that a day without a plan counts as."""

BACKGROUNDS = (
    "A student of history on a slow weekend, short of money, who reads everything that has a date in it.",
    "A nurse after ten night shifts. Her feet hurt, and she would like a massage and some quiet.",
    "A retired gardener who wants to sit under trees and look at flowers. He does not like museums.",
    "A photographer on her first visit, keen on sights, views and old buildings.",
    "A father on his own for a day, who wants to see a film, have a beer and not hear his name called.",
    "A violinist between two concerts, tense, vegetarian, fond of coffee houses and bookshops.",
    "A programmer who has not left his desk for a month and wants to work out, run, and eat a lot.",
    "A painter who lives on little and looks at pictures all day if one lets her.",
    "A tailor with an eye for fashion, who can spend what he likes and wants to see the shops.",
    "A teacher on sick leave who has been sad for weeks and wants to be among people, but not in crowds.",
)
"""Backgrounds of the clients; none is a client of the agent's own file."""
INTENTIONS = (
    "A good day out, with time to breathe.",
    "To see what the town is known for.",
    "To come back calmer.",
    "To eat well and walk a little.",
    "Something to remember, nothing expensive.",
)


def cases(city: City, seed: int) -> list[str]:  # noqa: ARG001 - as `ScoredAgent.cases`
    """Return the names of the cases, one for each user: `user-00` and so on."""
    return [f"user-{number:02d}" for number in range(USERS)]


def user(city: City, case: str, seed: int) -> dict[str, Any]:
    """Return the changes that make Diego's character serve a user: client, day, weekday and start.

    Args:
        city: where the user is.
        case: number of the user, as text.
        seed: same seed, same user.
    """
    chance = Random(f"{city.name} {seed} {case}")
    starts = chance.choice((8, 9, 9, 10, 11, 13)) * 60
    ends = min(starts + chance.choice((4, 6, 8, 10, 12)) * 60, 22 * 60)
    somewhere = chance.choice(sorted(city.places.nearby(city.center, 1500.0), key=lambda place: place.id))
    return {
        "client": {
            "name": chance.choice(("Ana", "Bo", "Chidi", "Dora", "Emre", "Fatou", "Gus", "Hana")),
            "background": chance.choice(BACKGROUNDS),
            "intention": chance.choice(INTENTIONS),
        },
        "day": {
            "state": {name: chance.randrange(0, 101, 5) for name in FEELINGS},
            "budget_usd": float(chance.choice((15, 30, 60, 120, 250))),
            "starts": show_clock(starts),
            "ends": show_clock(ends),
        },
        "clock": f"{chance.choice(DAYS)} 08:00",
        "start": {"lat": float(somewhere.position.lat), "lng": float(somewhere.position.lng)},
    }


def run(case: AgentCase) -> dict[str, Any]:
    """Let Diego plan the user's day, plan it without the city too, and return the faults of both as data."""
    planned: Any = case.run("diego", user(case.city, case.id, case.seed)).answer["activities"]
    fallbacks = sum(bool(one["fallback"]) for one in planned)
    return _judge_day(case, entries_of(planned)) | {"fallbacks": fallbacks}


def unanswered(case: AgentCase) -> dict[str, Any]:
    """Return the data of a user for whom nothing was planned, which counts as one violation."""
    return _judge_day(case, None) | {"fallbacks": 0}


def _judge_day(case: AgentCase, entries: Sequence[DayEntry] | None) -> dict[str, Any]:
    """Return the violations in a day, `None` for no plan, and in one planned without the city."""
    city, changes = case.city, user(case.city, case.id, case.seed)
    day = Day.model_validate(changes["day"])
    weekday = DAYS.index(changes["clock"].split()[0])
    try:
        baseline = plan_ungrounded(case.mind, changes["client"], day, city=city.title, weekday=weekday)
    except MindFailed:
        baseline = None
    facts, start = CityFacts(city), LatLng(**changes["start"])
    terms = DayTerms(day, weekday, relocate(city.streetview, start, "the start").position)
    found, of_baseline = (
        {NO_PLAN: 1} if plan is None else dict(Counter(one.kind for one in check(plan, terms, facts)))
        for plan in (entries, baseline)
    )
    return {
        "violations": found,
        "baseline_violations": of_baseline,
        "baseline_activities": len(_visits(baseline or ())),
        **_fullness(entries or (), day),
    }


_BASELINE = "the same, of a day planned without the city"
_FULLNESS = (
    Metric("activities", "activities", percent=False, about="visits in a day"),
    Metric("baseline_activities", "activities, ungrounded", percent=False, aside=True, about=_BASELINE),
    Metric("filled", "day filled", about="share of the day that is planned"),
    Metric("meals_on_time", "meals at usual hours", about="planned meals that are at usual hours"),
    Metric("meals_had_when_due", "meals had of those due", about="meals planned, of those in the day"),
    Metric("budget_used", "budget used", about="share of the money that is spent"),
)
METRICS = (
    Metric("violations", "violations", percent=False, about="rules broken in a day"),
    Metric("baseline_violations", "violations, ungrounded", percent=False, about=_BASELINE),
    *_FULLNESS,
)
"""Violations and activities in a day, of Diego's plan and of one made without the city; shares of the day."""


def tallies(records: Sequence[Record]) -> Tallies:
    """Return a tally for each user and metric."""
    return {
        key: [Tally(one.case, float(sum(one.data[key].values()))) for one in records]
        for key in ("violations", "baseline_violations")
    } | dict(means(records, _FULLNESS))


def notes(records: Sequence[Record]) -> list[str]:
    """Return notes on the days and the targets, and on the kinds of violations in ungrounded days."""
    kinds = sum((Counter(one.data["baseline_violations"]) for one in records), Counter[str]())
    shown = ", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items())) or "none"
    return [
        f"diego: days: {len(records)}; target: no violations, at least {LEAST_FULL:.0%} of the day filled",
        f"diego: violations in ungrounded days: {shown}",
    ]


def outcome(data: Data) -> tuple[str, float | None]:
    """Return (numbers of activities and violations in words, 1 if there is no violation, else 0)."""
    count = sum(data["violations"].values())
    said = ", ".join(f"{kind} {number}" for kind, number in sorted(data["violations"].items()))
    return f"{data['activities']} activities, violations: {said or 'none'}", float(count == 0)


def _visits(entries: Sequence[DayEntry]) -> list[DayEntry]:
    """Return the entries of a day that are not transport."""
    return [entry for entry in entries if entry.kind != "transport"]


def _fullness(entries: Sequence[DayEntry], day: Day) -> dict[str, Any]:
    """Return what a day holds: number of activities, and shares of time, meals and money."""
    starts, ends = day.minutes
    meals = [entry for entry in entries if entry.kind == "eat"]
    on_time = [any(first <= meal.starts <= last for first, last in MEAL_HOURS) for meal in meals]
    payable = int(day.budget_usd // CHEAPEST_USD)
    # No meal is due that the budget cannot pay.
    usual = zip(DUE, MEAL_HOURS[1:], strict=True)
    due = [hours for held, hours in usual if starts <= held[0] and held[1] <= ends][:payable]
    had = [any(first <= meal.starts <= last for meal in meals) for first, last in due]
    return {
        "activities": len(_visits(entries)),
        "filled": sum(entry.ends - entry.starts for entry in entries) / (ends - starts),
        "meals_on_time": sum(on_time) / len(on_time) if on_time else None,
        "meals_had_when_due": sum(had) / len(had) if had else None,
        "budget_used": sum(entry.cost_usd for entry in entries) / day.budget_usd,
    }


DIEGO = ScoredAgent(("diego",), cases, run, unanswered, METRICS, outcome, notes, tallies)
