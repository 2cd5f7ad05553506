"""What Peng's result says and shows."""

from collections.abc import Sequence

from virl.agent.agent import Agent
from virl.clock import show_clock
from virl.geo.globe import LatLng
from virl.pages.exhibits import Bar, BarsExhibit, Exhibit, MapExhibit, MapLine, MapPoint, TableExhibit
from virl.platform.navigators.point import DestinationOutcome
from virl.routines.errands.finding import Task
from virl.routines.errands.trip import Trip, goals_of

BY = {"walking": "on foot", "cycling": "by bicycle", "driving": "by car"}


def answer(task: Task, trip: Trip, outcomes: Sequence[DestinationOutcome]) -> dict[str, object]:
    """Return the trip as data for the run's answer; `outcomes` is empty if nothing was walked.

    Args:
        task: with its stops.
        trip: in the order found.
        outcomes: of each stop.
    """
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


def reason(task: Task, trip: Trip, outcomes: Sequence[DestinationOutcome]) -> str:
    """Return a short text on the trip's end; `outcomes` is empty if nothing was walked.

    Args:
        task: with its stops.
        trip: in the order found.
        outcomes: of each stop.
    """
    count = len(task.stops)
    errands = "1 errand" if count == 1 else f"{count} errands"
    text = (
        f"{errands} in {_show_minutes(trip.seconds)}, {_show_metres(trip.metres)} {BY[task.errands.travel]}"
        + _describe_saving(trip)
    )
    if not trip.is_shortest:
        text += f" No order can be more than {1 - trip.bound / trip.seconds:.1%} shorter."
    missed = [outcome for outcome in outcomes if not outcome.reached]
    if missed:
        text += f" {len(missed)} of {len(outcomes)} not reached: {missed[0].reason}."
    if task.left_out:
        text += f" Left out: {', '.join(task.left_out)}."
    return text


def delay_text(task: Task, trip: Trip, minute: int) -> str:
    """Return a sentence on how late a trip ends after its deadline; empty if it is in time.

    Args:
        task: what was asked for.
        trip: as it is planned; time spent at the stops is not counted.
        minute: of the day at which it begins.
    """
    until, ends = task.demands.until, minute + trip.seconds / 60
    if until is None or ends <= until:
        return ""
    return f"Too late: it ends at {show_clock(round(ends))}, and had to by {show_clock(until)}."


def exhibits(agent: Agent, task: Task, trip: Trip) -> tuple[Exhibit, ...]:
    """Return the report's exhibits: map, minutes saved, and legs.

    Args:
        agent: whose run it is.
        task: with its stops.
        trip: in the order found.
    """
    _, minute = agent.character.day_and_minute
    return (_trip_map(task, trip), _saving_bars(trip), _legs_table(task, trip, minute))


def _describe_saving(trip: Trip) -> str:
    """Return the end of a sentence: minutes and metres saved against the order given."""
    if trip.seconds_given is None or trip.metres_given is None:
        return "; no route leads through the order given."
    seconds, metres = trip.seconds_given - trip.seconds, trip.metres_given - trip.metres
    if list(trip.order) == sorted(trip.order):
        return ": the order given is the shortest." if trip.is_shortest else ", in the order given."
    return f": {_show_minutes(seconds)} and {_show_metres(metres)} less than in the order given."


def _trip_map(task: Task, trip: Trip) -> MapExhibit:
    """Return the map of a trip: its start, goals and way."""
    goals = goals_of(task, trip)
    points = [_point(task.start.position, task.start.title, "", "", "start")]
    for number, goal in enumerate(goals, start=1):
        if goal is task.end:
            if goal is not task.start:
                points.append(_point(goal.position, goal.title, "the end", "E", "pick"))
        else:
            points.append(_point(goal.position, goal.title, goal.what, str(number), "stop"))
    way = tuple((lat, lng) for leg in trip.legs for lat, lng in leg.path)
    return MapExhibit(title="Map", points=tuple(points), lines=(MapLine(points=way),))


def _point(where: LatLng, label: str, text: str, mark: str, style: str) -> MapPoint:
    """Return a point of the map with its label, text and style."""
    data = {"lat": where.lat, "lng": where.lng, "label": label, "text": text, "mark": mark, "style": style}
    return MapPoint.model_validate(data)


def _saving_bars(trip: Trip) -> BarsExhibit:
    """Return bars of the minutes in the best order and in the order given."""
    bars = [
        Bar(label=f"best order, {_show_metres(trip.metres)}", value=round(trip.seconds / 60, 1), picked=True)
    ]
    if trip.seconds_given is not None and trip.metres_given is not None:
        label = f"order given, {_show_metres(trip.metres_given)}"
        bars.append(Bar(label=label, value=round(trip.seconds_given / 60, 1)))
    return BarsExhibit(title="Savings", unit="min", bars=tuple(bars))


def _legs_table(task: Task, trip: Trip, minute: int) -> TableExhibit:
    """Return the table of legs; the trip begins at `minute`, minutes after midnight."""
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
    """Return a duration given in seconds as text in minutes, with one decimal below 10 min."""
    return f"{seconds / 60:.0f} min" if seconds >= 600 else f"{seconds / 60:.1f} min"


def _show_metres(metres: float) -> str:
    """Return a length given in metres as text, in km from 1000 m."""
    return f"{metres:.0f} m" if abs(metres) < 1000 else f"{metres / 1000:.2f} km"
