"""The end of a trip: what Peng's result says, claims and shows."""

from collections.abc import Sequence
from typing import Literal

from virl.agent.agent import Agent
from virl.clock import show_clock
from virl.geo.globe import LatLng, distance
from virl.mind.lexicon import words_of
from virl.pages.exhibits import Bar, BarsExhibit, Exhibit, MapExhibit, MapLine, MapPoint, TableExhibit
from virl.pages.numbers import count_noun, show_length
from virl.platform.city.claims import ArrivalClaim
from virl.platform.city.outcome import Outcome, OutcomeKind
from virl.platform.navigators.point import DestinationOutcome
from virl.routines.errands.finding import Task
from virl.routines.errands.trip import Trip, goals_of

BY = {"walking": "on foot", "cycling": "by bicycle", "driving": "by car"}


def conclude(agent: Agent, task: Task, trip: Trip, outcomes: Sequence[DestinationOutcome]) -> None:
    """End the run with the trip and the outcomes of its stops.

    Args:
        agent: agent who runs the errands.
        task: the errands' stops.
        trip: the planned trip through them.
        outcomes: the stops' outcomes in the trip's order; empty if nothing was walked.
    """
    ended = agent.run.steps[-1].outcome if agent.run.steps else None
    delay = _delay_text(task, trip, agent.character.day_and_minute[1])
    is_done = not task.left_out and not delay and all(outcome.reached for outcome in outcomes)
    at_limit = ended is not None and ended.kind == "limit"
    lacking = [
        f"No {words_of(stop.lacking)} found: took {stop.title}." for stop in task.stops if stop.lacking
    ]
    done: OutcomeKind = "substituted" if lacking else "finished"
    # Where the walk was given up before its end, no claim is made of the stops that were still to come.
    given_up = ended is not None and ended.kind in ("limit", "blocked")
    walked = [LatLng(one.pose.lat, one.pose.lng) for one in agent.run.steps]
    agent.run.end(
        Outcome(
            done if is_done else "limit" if at_limit else "missed",
            " ".join(filter(None, [*lacking, _reason(task, trip, outcomes), delay])),
        ),
        answer=_answer(task, trip, outcomes) | {"succeeded": is_done and not lacking},
        exhibits=_exhibits(agent, task, trip),
        claims=[
            ArrivalClaim(
                goal.title,
                min(walked, key=lambda stood: distance(stood, goal.position)),
                outcome.reached,
                goal.position,
            )
            for goal, outcome in zip(goals_of(task, trip), outcomes, strict=False)
            if outcome.reached or not given_up
        ],
    )


def _answer(task: Task, trip: Trip, outcomes: Sequence[DestinationOutcome]) -> dict[str, object]:
    """Return the trip as data for the run's answer: order, end, times, metres, number of stops reached."""
    return {
        "order": [task.stops[number].title for number in trip.order],
        "numbers": [number + 1 for number in trip.order],
        "end": task.end.title if task.end else None,
        "mode": task.errands.travel,
        "minutes": round(trip.seconds / 60, 2),
        "metres": round(trip.metres, 1),
        "minutes_given": None if trip.seconds_given is None else round(trip.seconds_given / 60, 2),
        "metres_given": None if trip.metres_given is None else round(trip.metres_given, 1),
        "shortest": trip.is_shortest,
        "reached": sum(outcome.reached for outcome in outcomes),
    }


def _reason(task: Task, trip: Trip, outcomes: Sequence[DestinationOutcome]) -> str:
    """Return sentences on the trip: its time, what it saves, stops not reached, errands left out."""
    if trip.seconds_given is None or trip.metres_given is None:
        saving = "; no route leads through the order given."
    elif list(trip.order) == sorted(trip.order):
        saving = ": the order given is the shortest." if trip.is_shortest else ", in the order given."
    else:
        seconds, metres = trip.seconds_given - trip.seconds, trip.metres_given - trip.metres
        saving = f": {_show_minutes(seconds)} and {show_length(metres)} less than in the order given."
    by = BY[task.errands.travel]
    errands = count_noun(len(task.stops), "errand")
    text = f"{errands} in {_show_minutes(trip.seconds)}, {show_length(trip.metres)} {by}{saving}"
    if not trip.is_shortest:
        text += f" No order can be more than {1 - trip.bound / trip.seconds:.1%} shorter."
    missed = [outcome for outcome in outcomes if not outcome.reached]
    if missed:
        text += f" {len(missed)} of {len(outcomes)} not reached: {missed[0].reason}."
    if task.left_out:
        text += f" Left out: {', '.join(task.left_out)}."
    return text


def _delay_text(task: Task, trip: Trip, minute: int) -> str:
    """Return a sentence on when a trip begun at `minute` of the day ends; empty if before its deadline."""
    # Time spent at the stops is not counted: nobody knows it.
    until, ends = task.demands.until, minute + trip.seconds / 60
    if until is None or ends <= until:
        return ""
    return f"Too late: it ends at {show_clock(round(ends))}, and had to by {show_clock(until)}."


def _exhibits(agent: Agent, task: Task, trip: Trip) -> tuple[Exhibit, ...]:
    """Return the report's exhibits: map of the trip, bars of the minutes saved, table of the legs."""
    goals = goals_of(task, trip)
    here = task.start.position
    points = [MapPoint(lat=here.lat, lng=here.lng, label=task.start.title, style="start")]
    for number, goal in enumerate(goals, start=1):
        if goal is task.end:
            if goal is not task.start:
                points.append(_point(goal.position, goal.title, "the end", "E", "pick"))
        else:
            points.append(_point(goal.position, goal.title, goal.what, str(number), "stop"))
    way = tuple((lat, lng) for leg in trip.legs for lat, lng in leg.path)
    bars = [
        Bar(label=f"best order, {show_length(trip.metres)}", value=round(trip.seconds / 60, 1), picked=True)
    ]
    if trip.seconds_given is not None and trip.metres_given is not None:
        label = f"order given, {show_length(trip.metres_given)}"
        bars.append(Bar(label=label, value=round(trip.seconds_given / 60, 1)))
    return (
        MapExhibit(title="Map", points=tuple(points), lines=(MapLine(points=way),)),
        BarsExhibit(title="Savings", unit="min", bars=tuple(bars)),
        _legs_table(task, trip, agent.character.day_and_minute[1]),
    )


def _point(where: LatLng, label: str, text: str, mark: str, style: Literal["pick", "stop"]) -> MapPoint:
    """Return a point of the map with its label, text, mark and style."""
    return MapPoint(lat=where.lat, lng=where.lng, label=label, text=text, mark=mark, style=style)


def _legs_table(task: Task, trip: Trip, minute: int) -> TableExhibit:
    """Return the table of legs with times of arrival; the trip begins `minute` minutes after midnight."""
    rows = []
    elapsed = 0.0
    for number, (goal, leg) in enumerate(zip(goals_of(task, trip), trip.legs, strict=True), start=1):
        elapsed += leg.seconds
        arrives = show_clock(round(minute + elapsed / 60))
        minutes, metres = round(leg.seconds / 60, 1), round(leg.metres)
        rows.append((number, goal.title, goal.what, arrives, minutes, metres))
    by = BY[task.errands.travel].capitalize()
    note = f"{by}, from {task.start.title}; time spent at the stops is not counted."
    columns = ("stop", "where", "errand", "arrives", "minutes", "metres")
    return TableExhibit(title="Legs", columns=columns, rows=tuple(rows), note=note)


def _show_minutes(seconds: float) -> str:
    """Return a duration given in seconds as text in minutes, such as "4.5 min" or "12 min"."""
    return f"{seconds / 60:.0f} min" if seconds >= 600 else f"{seconds / 60:.1f} min"
