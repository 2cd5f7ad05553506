"""The rules for what an activity does to somebody, how scenic a view is, and a day that nothing grounds."""

from collections.abc import Mapping

from virl.clock import parse_clock, show_clock
from virl.mind.lexicon import Lexicon
from virl.routines.day.pastimes import Feeling, Points, day_book
from virl.routines.day.replies import (
    Change,
    DayDraft,
    DayEstimate,
    SceneryRating,
    SceneryRatings,
    Told,
    UngroundedActivity,
    UngroundedDay,
    ViewRating,
)
from virl.routines.day.rule_questions import (
    Doing,
    DraftQuestion,
    EstimateQuestion,
    Offer,
    SceneryQuestion,
    TellingQuestion,
    UngroundedQuestion,
    ViewShares,
)
from virl.routines.day.rules import draft
from virl.routines.day.wish_rules import listen

GUESSED_WAY = 15  # minutes from anywhere to anywhere, for who does not look: the usual guess of planners
MOST = 14  # activities of an ungrounded day; more than any day from nine to nine holds
# Points of ten for the shares of a picture (chosen): half of it green, or a wide sky over water, is a view.
BASE, GREEN, SKY, WATER = 1.0, 10.0, 5.0, 12.0


def estimate(question: EstimateQuestion, lexicon: Lexicon) -> DayEstimate:  # noqa: ARG001
    """Estimate changes by the table of pastimes, the way there included."""
    activity = question.activity
    parts = _parts(activity)
    changes = {}
    for name in question.state:
        shares = {why: part.get(name, 0.0) for why, part in parts.items()}
        total = round(sum(shares.values()))
        most = max(shares, key=lambda why: abs(shares[why]))
        changes[name] = Change(by=max(min(total, 100), -100), because=most if total else "")
    return DayEstimate(**changes, cost_usd=_cost_usd(activity))


def tell(question: TellingQuestion, lexicon: Lexicon) -> Told:
    """Read a person's words about their state and their day."""
    return listen(question.said, question.state, lexicon)


def rate_scenery(question: SceneryQuestion, lexicon: Lexicon) -> SceneryRatings:  # noqa: ARG001
    """Rate green, sky and water in each picture: a measure of colours, and no taste."""
    rated = [_rate_view(view) for view in question.views]
    return SceneryRatings(
        ratings=tuple(ViewRating(view=number, **one.model_dump()) for number, one in enumerate(rated))
    )


def _rate_view(view: ViewShares) -> SceneryRating:
    """Return the rating of a view, at most 10, by its shares of green, sky and water."""
    points = BASE + GREEN * view.green + SKY * view.sky + WATER * view.water
    shown = ", ".join(
        f"{share:.0%} {name}"
        for name, share in (
            ("green", view.green),
            ("sky", view.sky),
            ("water", view.water),
        )
        if share >= 0.01
    )
    return SceneryRating(
        rating=round(min(points, 10.0), 1), reason=f"The picture shows {shown or 'no green and no sky'}."
    )


def plan_ungrounded(question: UngroundedQuestion, lexicon: Lexicon) -> UngroundedDay:
    """Plan a day as the rules would have it in a town of which nothing is known.

    Places are sorts of place, every way takes a quarter of an hour, hours and prices are what is usual.
    """
    offers = tuple(Offer(sort=sort, count=1) for sort in day_book().pastimes)
    state, budget, now = dict(question.state), question.budget_usd, question.starts
    done: list[Doing] = []
    planned: list[UngroundedActivity] = []
    for _ in range(MOST):
        asked = DraftQuestion(
            client=question.client,
            state=state,
            now=now,
            until=question.until,
            budget_usd=budget,
            done=tuple(done),
            wishes=(),
            offers=offers,
        )
        proposal = draft(asked, lexicon)
        if proposal.kind == "end" or (proposal.place and asked.minutes_left < GUESSED_WAY + 20):
            break
        if proposal.place:
            planned.append(_guess_way(proposal, now))
        doing = _move_doing(proposal, GUESSED_WAY if proposal.place else 0, question.until)
        felt = estimate(EstimateQuestion(client=question.client, state=state, activity=doing), lexicon)
        state = {name: min(max(value + getattr(felt, name).by, 0), 100) for name, value in state.items()}
        cost = min(felt.cost_usd, budget)  # who has little left eats for little
        budget -= cost
        now = doing.ends
        done.append(doing)
        planned.append(_plan_activity(proposal, doing, cost))
    return UngroundedDay(activities=tuple(planned))


def _parts(activity: Doing) -> dict[str, Mapping[str, float]]:
    """Return the causes of changed feelings, each with its changes."""
    book = day_book()
    hours, way = activity.minutes / 60, activity.travel_minutes / 60
    parts: dict[str, Mapping[str, float]] = {"the hours that pass": _points_in(book.hourly, hours + way)}
    if activity.kind == "transport":
        parts[activity.mode] = _points_in(_travel_rates(activity.mode), hours)
        return parts
    if activity.travel_minutes:
        parts[f"{activity.travel_minutes} minutes of {activity.mode}"] = _points_in(
            _travel_rates(activity.mode), way
        )
    if activity.kind == "eat":
        parts["a meal"] = _points_in(book.meal, 1.0)
    elif not activity.place:
        parts["rest"] = _points_in(book.rest, hours)
    else:
        pastime = book.pastimes.get("park" if activity.kind == "scenic" else activity.sort)
        parts[activity.what or "the visit"] = _points_in(
            pastime.feelings if pastime else book.somewhere, hours
        )
        if activity.sort in book.snacks:
            parts["something small"] = _points_in(book.snack, 1.0)
    return parts


def _travel_rates(mode: str) -> Points:
    """Return the points an hour that a mode of travel changes each feeling by; empty if unknown."""
    return next((rates for name, rates in day_book().travel.items() if name == mode), {})


def _points_in(rates: Mapping[Feeling, float], hours: float) -> dict[str, float]:
    """Return the points by which rates an hour change each feeling in so many hours."""
    return {name: rate * hours for name, rate in rates.items()}


def _cost_usd(activity: Doing) -> float:
    """Return the cost of an activity in dollars: if known, else as the book of the day has it."""
    if activity.known_usd is not None:
        return activity.known_usd
    if activity.kind == "eat":
        return day_book().meal_usd
    pastime = day_book().pastimes.get(activity.sort)
    return pastime.usd if pastime and activity.kind == "normal" and activity.place else 0.0


def _guess_way(proposal: DayDraft, now: str) -> UngroundedActivity:
    """Return the guessed way to a proposal's place, which begins at `now`, HH:MM."""
    return UngroundedActivity(
        kind="transport",
        starts=now,
        ends=show_clock(parse_clock(now) + GUESSED_WAY),
        place=proposal.place,
        what="Go there",
        mode="walking",
        cost_usd=0.0,
    )


def _move_doing(proposal: DayDraft, minutes: int, until: str) -> Doing:
    """Return a proposal begun so many minutes later, and ended by `until`, HH:MM, at the latest."""
    starts = parse_clock(proposal.starts) + minutes
    ends = min(parse_clock(proposal.ends) + minutes, parse_clock(until))
    return Doing(
        kind=proposal.kind,
        starts=show_clock(starts),
        ends=show_clock(ends),
        what=proposal.what,
        place=proposal.place,
        sort=proposal.place,
        mode="walking",
        travel_minutes=minutes,
    )


def _plan_activity(proposal: DayDraft, doing: Doing, cost: float) -> UngroundedActivity:
    """Return a proposal as an activity, with the times of `doing` and a cost in dollars."""
    return UngroundedActivity(
        kind="eat" if proposal.kind == "eat" else "normal",
        starts=doing.starts,
        ends=doing.ends,
        place=proposal.place,
        what=proposal.what,
        mode="any",
        cost_usd=cost,
    )
