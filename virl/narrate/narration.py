"""A narration: a walk's legs told exactly, and beside them an instruction and a drawing that a model makes.

The model is told the walk's history: one entry wherever something was seen, ways met, or the way bent.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np
from pydantic import FiniteFloat, TypeAdapter, ValidationError

from virl.errors import BadInput, MindFailed
from virl.geo.globe import Floats, compass_word, signed_turn
from virl.journal.journal import RULES
from virl.mind.base import Mind
from virl.mind.prompt import load_prompt
from virl.mind.replies import Text
from virl.money.book import Exchange
from virl.narrate.walk import StreetOf, Walk, no_streets

_FARTHEST_M = 100_000.0  # chosen: no walk goes farther
_POINT_M2 = 1e-12  # a drawing with less spread is a point, which has no direction; chosen
_POINTS = TypeAdapter(tuple[tuple[FiniteFloat, FiniteFloat], ...])
_FENCED = re.compile(r"```\w*\s*(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FittedDrawing:
    """A model's drawing of a walk, moved and turned to fit the exact one best."""

    points: Floats
    """Points of the drawing in metres east and north of the start, shape (points, 2)."""
    mean_error_m: float
    """Mean distance in metres of the drawing's points from the exact ones."""
    scale: float
    """Factor by which the drawing would have to be enlarged to fit best."""


_BEND_DEG = 10.0  # chosen: smaller bends are not worth an entry
_SAME_PLACE_M = 0.5  # chosen: Touchdown has panoramas on top of each other, and no way between them to tell
_SEEN_WORDS, _SEEN_THINGS = 120, 6  # chosen: characters of one thing, and things of one entry, that are told


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """An entry of the walk's history: a turn, then a straight line to a stop."""

    number: int
    stop: int
    """Index of the stop at the end of the line."""
    turn: float
    """Degrees clockwise from the line before, or from the heading at the start."""
    metres: float
    """Length of the line in metres."""
    crossing: bool
    seen: tuple[str, ...]
    thought: str


# Chosen: bends below are the road's own, and a whole turn at a crossing is far above.
_TURN_DEG, _SHARP_DEG, _AROUND_DEG = 35.0, 120.0, 160.0
_ONE_CROSSING_M = 15.0  # chosen: panoramas of one crossing lie closer, two crossings farther apart


@dataclass(frozen=True, slots=True)
class WalkLeg:
    """A part of a walk between two turns."""

    first: int
    """Index of the leg's first stop."""
    last: int
    turn: float
    """Degrees turned clockwise at the leg's beginning; at the start from the initial heading."""
    heading: float
    """Heading from the leg's beginning to its end, degrees clockwise from north."""
    metres: float
    """Metres along the leg as it was walked."""
    crossings: int
    """Number of crossings that are passed inside the leg."""
    to_crossing: bool
    street: str | None = None


TRIES = 3  # as often as a typed reply is asked for: the first time and two retries

NO_MODEL = (
    "These are the exact descriptions only. To let a model describe the walk too, choose one with --mind."
)


@dataclass(frozen=True, slots=True)
class Narration:
    """A walk with its exact description, and a model's instruction and drawing."""

    walk: Walk
    mind: str
    legs: tuple[WalkLeg, ...]
    exact: tuple[str, ...]
    """Exact description of the walk, in sentences."""
    entries: tuple[HistoryEntry, ...]
    """History of the walk, as the model was given it."""
    instruction: str | None = None
    """Model's instruction; `None` if none was asked for, or it gave none."""
    drawing: FittedDrawing | None = None
    """Model's drawing; `None` if none was asked for, or it gave none."""
    notes: tuple[str, ...] = ()
    """Sentences on what is missing, and why."""
    asked: tuple[Exchange, ...] = ()


def narrate(walk: Walk, mind: Mind, street_of: StreetOf = no_streets) -> Narration:
    """Return a walk's exact description, with a model's instruction and drawing unless the mind is `rules`.

    The model is told what was done and seen, and for the instruction not why (NavGPT, section 4.1), so
    that the instruction is written from the walk and not copied from the wish behind it. The model draws by
    a list of points: nothing that it writes is run. `rules` are not asked.

    Args:
        walk: what to tell.
        mind: who writes and draws.
        street_of: names streets.

    Raises:
        ModelUnavailable: the model cannot be reached.
    """
    parts, entries = legs(walk, street_of), history(walk)
    exact = tuple(tell(walk, parts))
    if mind.name == RULES:
        return Narration(walk, mind.name, parts, exact, entries, notes=(NO_MODEL,))
    notes = []
    instruction = drawing = None
    try:
        instruction = ask_instruction(mind, entries)
    except MindFailed as fault:
        notes.append(f"No instruction by the model: {fault}.")
    try:
        exact_points = walk.points()[[entry.stop for entry in entries]]
        drawing = lay_over(ask_points(mind, entries), exact_points)
    except MindFailed as fault:
        notes.append(f"No drawing by the model: {fault}.")
    asked = mind.ledger.take_asked()
    return Narration(walk, mind.name, parts, exact, entries, instruction, drawing, tuple(notes), asked)


def ask_instruction(mind: Mind, entries: Sequence[HistoryEntry]) -> str:
    """Return an instruction that leads along the walk.

    Raises:
        MindFailed: the reply is empty, or there is none.
        ModelUnavailable: the model cannot be reached.
    """
    told = [{key: value for key, value in asdict(entry).items() if key != "thought"} for entry in entries]
    reply = mind.ask(load_prompt("narrate/instruction", Text), entries=told).text.strip()
    if not reply:
        raise MindFailed(f"{mind.name} wrote no instruction")
    return reply


def ask_points(mind: Mind, entries: Sequence[HistoryEntry]) -> Floats:
    """Return the points that a mind draws for entries, metres right and ahead of the start, (entries, 2).

    Raises:
        MindFailed: no reply in three was a list of that many points.
        ModelUnavailable: the model cannot be reached.
    """
    prompt, fault = load_prompt("narrate/drawing", Text), ""
    for _ in range(TRIES):
        reply = mind.ask(prompt, entries=[asdict(entry) for entry in entries], fault=fault)
        try:
            return read_points(reply.text, len(entries))
        except BadInput as wrong:
            fault = str(wrong)
    raise MindFailed(f"{mind.name} sent no usable points in {TRIES} tries ({fault})")


def legs(walk: Walk, street_of: StreetOf = no_streets) -> tuple[WalkLeg, ...]:
    """Return the legs of a walk; empty if it never moved.

    A stop is a turn where the way a step behind it and the way a step ahead of it differ by 35 degrees or
    more, a step being the median distance of stops; of turns closer together than one and a half steps, the
    largest counts. So a turn spread over the panoramas of one crossing is told once.

    Args:
        walk: what to tell.
        street_of: names streets.
    """
    points = walk.points()
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    if along[-1] == 0:
        return ()
    bounds = [0, *_turn_stops(points, along), len(points) - 1]
    crossing = _crossing_numbers(walk, along)
    found: list[WalkLeg] = []
    facing = walk.heading
    for first, last in pairwise(bounds):
        step = _step_length(along)
        departure = _heading(
            points[first], _point_along(points, along, min(along[first] + step, along[last]))
        )
        passed = {number for number in crossing[first : last + 1] if number} - {
            crossing[first],
            crossing[last],
        }
        found.append(
            WalkLeg(
                first,
                last,
                signed_turn(facing, departure),
                _heading(points[first], points[last]),
                sum(stop.walked for stop in walk.stops[first + 1 : last + 1]),
                len(passed),
                bool(crossing[last]),
                street_of([stop.position for stop in walk.stops[first : last + 1]]),
            )
        )
        facing = _heading(_point_along(points, along, max(along[last] - step, along[first])), points[last])
    return tuple(found)


def tell(walk: Walk, parts: Sequence[WalkLeg]) -> list[str]:
    """Return sentences on a walk: its start, one for each leg, and its end."""
    told = [f"Start facing {compass_word(walk.heading)}."]
    street = None
    for leg in parts:
        told.append(_sentence(leg, street))
        street = leg.street or street
    told.append(f"Stop. {walk.outcome}".strip())
    return told


def _sentence(leg: WalkLeg, before: str | None) -> str:
    """Return a sentence on a leg; `before` is the street of the leg before, if known."""
    turn = turn_words(leg.turn)
    onto = ""
    if leg.street:
        onto = f" {'along' if not turn or leg.street == before else 'onto'} {leg.street}"
    way = f"{_metres(leg.metres)} {compass_word(leg.heading)}"
    words = f"{turn}{onto} and walk {way}" if turn else f"walk {way}{onto}"
    if leg.crossings:
        words += f", past {leg.crossings} crossing{'s' if leg.crossings > 1 else ''}"
    words += ", to a crossing" if leg.to_crossing else ""
    return f"{words[0].upper()}{words[1:]}."


def turn_words(angle: float) -> str:
    """Return a turn, degrees clockwise, in words, such as `"turn left"`; empty if it is too small."""
    if abs(angle) < _TURN_DEG:
        return ""
    if abs(angle) >= _AROUND_DEG:
        return "turn around"
    return f"turn {'sharply ' if abs(angle) > _SHARP_DEG else ''}{'left' if angle < 0 else 'right'}"


def _metres(metres: float) -> str:
    """Return metres in words, with one decimal below 10."""
    return f"{metres:.0f} m" if metres >= 10 else f"{metres:.1f} m"


def _turn_stops(points: Floats, along: Floats) -> list[int]:
    """Return the indices of the stops where the walk turns."""
    step = _step_length(along)
    angles = {
        index: abs(
            signed_turn(
                _heading(_point_along(points, along, along[index] - step), points[index]),
                _heading(points[index], _point_along(points, along, along[index] + step)),
            )
        )
        for index in range(1, len(points) - 1)
    }
    kept: list[int] = []
    for index in sorted(angles, key=lambda one: -angles[one]):
        if angles[index] < _TURN_DEG:
            break
        if all(abs(along[index] - along[other]) > 1.5 * step for other in kept):
            kept.append(index)
    return sorted(kept)


def _step_length(along: Floats) -> float:
    """Return the median length of a step in metres."""
    steps = np.diff(along)
    return float(np.median(steps[steps > 0]))


def _point_along(points: Floats, along: Floats, metres: float) -> Floats:
    """Return the point (east, north) at so many metres along a path."""
    return np.array([np.interp(metres, along, points[:, axis]) for axis in (0, 1)])


def _heading(source: Floats, target: Floats) -> float:
    """Return the heading from a point to another, degrees clockwise from north."""
    east, north = target - source
    return float(np.degrees(np.arctan2(east, north)) % 360)


def _crossing_numbers(walk: Walk, along: Floats) -> list[int]:
    """Return the number of the crossing at each stop, from 1; 0 for a stop that is at none."""
    numbers: list[int] = []
    count, last = 0, -np.inf
    for stop, metres in zip(walk.stops, along, strict=True):
        if not stop.crossing:
            numbers.append(0)
            continue
        if not (numbers and numbers[-1] and metres - last <= _ONE_CROSSING_M):
            count += 1
        numbers.append(count)
        last = metres
    return numbers


def history(walk: Walk) -> tuple[HistoryEntry, ...]:
    """Return the history's entries of a walk; entry 0 is its start and has no length.

    Turning and going on as the entries say leads exactly through the stops that they name.
    """
    points = walk.points()
    entries = [_entry(walk, 0, 0, 0.0, 0.0)]
    facing, before = walk.heading, 0
    for stop in _told_stops(walk, points):
        east, north = points[stop] - points[before]
        metres = float(np.hypot(east, north))
        heading = float(np.degrees(np.arctan2(east, north))) if metres else facing
        entries.append(_entry(walk, len(entries), stop, signed_turn(facing, heading), metres))
        facing, before = heading, stop
    return tuple(entries)


def _entry(walk: Walk, number: int, stop: int, turn: float, metres: float) -> HistoryEntry:
    """Return the history's entry of a stop, with shortened texts on what was seen and thought there."""
    where = walk.stops[stop]
    seen = tuple(thing[:_SEEN_WORDS] for thing in where.seen[:_SEEN_THINGS])
    return HistoryEntry(number, stop, turn, metres, where.crossing, seen, where.thought)


def _told_stops(walk: Walk, points: Floats) -> list[int]:
    """Return the indices of the stops that get an entry in the history."""
    last = len(points) - 1
    told: list[int] = []
    line: float | None = None
    for index in range(1, last + 1):
        east, north = points[index] - points[index - 1]
        if np.hypot(east, north) >= _SAME_PLACE_M:
            heading = float(np.degrees(np.arctan2(east, north)))
            if line is not None and abs(signed_turn(line, heading)) > _BEND_DEG:
                told.append(index - 1)
                line = heading
            line = heading if line is None else line
        stop = walk.stops[index]
        if index == last or stop.seen or stop.crossing:
            told.append(index)
            line = None
    return told


def read_points(text: str, count: int) -> Floats:
    """Return the points in a reply, a JSON list of `[x, y]` pairs, as an array of shape (count, 2).

    Args:
        text: the reply. It is only ever read as numbers, never run.
        count: how many points there must be.

    Returns:
        Shape (count, 2).

    Raises:
        BadInput: there is no such list, or it has another length; says which, for the model.
    """
    fenced = _FENCED.search(text)
    said = fenced[1] if fenced else text
    try:
        points = _POINTS.validate_json(said[said.find("[") : said.rfind("]") + 1])
    except ValidationError:
        raise BadInput("send a JSON list of [x, y] pairs of numbers and nothing else") from None
    if len(points) != count:
        raise BadInput(f"there are {len(points)} points where the history has {count} entries")
    if any(abs(number) > _FARTHEST_M for point in points for number in point):
        raise BadInput("a point lies farther off than any walk goes")
    return np.array(points, float)


def lay_over(drawn: Floats, exact: Floats) -> FittedDrawing:
    """Return a drawing moved and turned to fit the exact one best, by least squares.

    It is neither scaled nor mirrored: a drawing that takes left for right, or metres for feet, stays wrong.

    Args:
        drawn: shape (points, 2), in metres.
        exact: the same points in metres east and north, same shape.
    """
    source, target = (points @ np.array([1, 1j]) for points in (drawn, exact))
    source, middle = source - source.mean(), target.mean()
    turn = np.vdot(source, target - middle)
    spread = float(np.vdot(source, source).real)
    laid = source * (turn / abs(turn) if abs(turn) > _POINT_M2 else 1.0) + middle
    return FittedDrawing(
        np.stack([laid.real, laid.imag], axis=1),
        float(np.abs(laid - target).mean()),
        float(abs(turn) / spread) if spread > _POINT_M2 else 1.0,
    )
