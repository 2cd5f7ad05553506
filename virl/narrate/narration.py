"""Narrations: an exact description of a walk leg by leg, and an instruction and a drawing by a model.

The model gets the walk's history: an entry for each stop where something was seen, ways met, or the way bent.
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
from virl.plain_text import capitalize

_FARTHEST_M = 100_000.0  # most metres of a drawn coordinate; chosen: no walk goes farther
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
_SAME_PLACE_M = 0.5  # chosen: Touchdown has panoramas on top of each other, with no heading between them
_SEEN_CHARACTERS, _SEEN_THINGS = 120, 6  # characters of one thing seen, and things of one entry; chosen


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
    """True if the stop at the end of the line is at a crossing."""
    seen: tuple[str, ...]
    """Things seen at the stop, at most six, each in a few words."""
    thought: str
    """Decision made at the stop, with its reason; may be empty."""


# Chosen: bends below are the road's own, and a whole turn at a crossing is far above.
_TURN_DEG, _SHARP_DEG, _AROUND_DEG = 35.0, 120.0, 160.0
_ONE_CROSSING_M = 15.0  # chosen: panoramas at one crossing lie closer, two crossings farther apart


@dataclass(frozen=True, slots=True)
class WalkLeg:
    """A part of a walk between two turns."""

    first: int
    """Index of the leg's first stop."""
    last: int
    """Index of the leg's last stop, which is the first of the next leg."""
    turn: float
    """Degrees turned clockwise at the leg's beginning; at the start from the initial heading."""
    heading: float
    """Heading from the leg's beginning to its end, degrees clockwise from north."""
    metres: float
    """Metres along the leg as it was walked."""
    crossings: int
    """Number of crossings that are passed inside the leg."""
    to_crossing: bool
    """True if the leg ends at a crossing."""
    street: str | None = None
    """Name of the leg's street; `None` if unknown."""


TRIES = 3  # as often as a typed reply is asked for: the first time and two retries

NO_MODEL = (
    "These are the exact descriptions only. To let a model describe the walk too, choose one with --mind."
)


@dataclass(frozen=True, slots=True)
class Narration:
    """A walk with its exact description, and a model's instruction and drawing."""

    walk: Walk
    mind: str
    """Name of the mind that was asked, or `rules`."""
    legs: tuple[WalkLeg, ...]
    exact: tuple[str, ...]
    """Exact description of the walk, in sentences."""
    entries: tuple[HistoryEntry, ...]
    """History of the walk, as the model was given it."""
    instruction: str | None = None
    """The model's instruction; `None` if there is none."""
    drawing: FittedDrawing | None = None
    """The model's drawing; `None` if there is none."""
    notes: tuple[str, ...] = ()
    """Sentences on what is missing, and why."""
    asked: tuple[Exchange, ...] = ()
    """Questions to the model and its replies."""


def narrate(walk: Walk, mind: Mind, street_of: StreetOf = no_streets) -> Narration:
    """Return a walk's exact description, with a model's instruction and drawing unless the mind is `rules`.

    The model gets what was done and seen, and for the instruction no reasons (NavGPT, section 4.1), so
    that the instruction is written from the walk and not copied from the intention behind it. The model draws
    by a list of points: nothing that it writes is run. `rules` are not asked.

    Args:
        walk: the walk to describe.
        mind: the mind that writes and draws.
        street_of: returns the name of the street along positions.

    Raises:
        ModelUnavailable: the model cannot be reached.
    """
    walk_legs, entries = legs(walk, street_of), history(walk)
    exact = tuple(describe_walk(walk, walk_legs))
    if mind.name == RULES:
        return Narration(walk, mind.name, walk_legs, exact, entries, notes=(NO_MODEL,))
    notes = []
    instruction = drawing = None
    try:
        instruction = ask_instruction(mind, entries)
    except MindFailed as fault:
        notes.append(f"No instruction by the model: {fault}.")
    try:
        exact_points = walk.points()[[entry.stop for entry in entries]]
        drawing = align_drawing(ask_points(mind, entries), exact_points)
    except MindFailed as fault:
        notes.append(f"No drawing by the model: {fault}.")
    asked = mind.ledger.take_asked()
    return Narration(walk, mind.name, walk_legs, exact, entries, instruction, drawing, tuple(notes), asked)


def ask_instruction(mind: Mind, entries: Sequence[HistoryEntry]) -> str:
    """Return a mind's instruction that leads along the walk of these history entries.

    Raises:
        MindFailed: the reply is empty, or there is none.
        ModelUnavailable: the model cannot be reached.
    """
    shown = [{key: value for key, value in asdict(entry).items() if key != "thought"} for entry in entries]
    reply = mind.ask(load_prompt("narrate/instruction", Text), entries=shown).text.strip()
    if not reply:
        raise MindFailed(f"{mind.name} wrote no instruction")
    return reply


def ask_points(mind: Mind, entries: Sequence[HistoryEntry]) -> Floats:
    """Return the points that a mind draws for the entries, metres (right, ahead) of the start, (entries, 2).

    Raises:
        MindFailed: no reply in three was a list of that many points.
        ModelUnavailable: the model cannot be reached.
    """
    prompt, fault = load_prompt("narrate/drawing", Text), ""
    for _ in range(TRIES):
        # The model is told what was wrong with its last reply.
        reply = mind.ask(prompt, entries=[asdict(entry) for entry in entries], fault=fault)
        try:
            return read_points(reply.text, len(entries))
        except BadInput as wrong:
            fault = str(wrong)
    raise MindFailed(f"{mind.name} sent no usable points in {TRIES} tries ({fault})")


def legs(walk: Walk, street_of: StreetOf = no_streets) -> tuple[WalkLeg, ...]:
    """Return the legs of a walk between its turns; empty if it never moved.

    A stop is a turn where the way a step behind it and the way a step ahead of it differ by 35 degrees or
    more, a step being the median distance of stops; of turns closer together than one and a half steps, the
    largest counts. So a turn spread over the panoramas of one crossing is told once.
    """
    points = walk.points()
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    if along[-1] == 0:
        return ()
    lengths = np.diff(along)
    step = float(np.median(lengths[lengths > 0]))
    bounds = [0, *_turn_stops(points, along, step), len(points) - 1]
    crossing = _crossing_numbers(walk, along)
    found: list[WalkLeg] = []
    facing = walk.heading
    for first, last in pairwise(bounds):
        departure = _heading(
            points[first], _point_along(points, along, min(along[first] + step, along[last]))
        )
        passed = set(crossing[first : last + 1]) - {0, crossing[first], crossing[last]}
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


def describe_walk(walk: Walk, walk_legs: Sequence[WalkLeg]) -> list[str]:
    """Return sentences on a walk: its start, one for each leg, and its end."""
    sentences = [f"Start facing {compass_word(walk.heading)}."]
    street = None
    for leg in walk_legs:
        sentences.append(_describe_leg(leg, street))
        street = leg.street or street
    sentences.append(f"Stop. {walk.outcome}".strip())
    return sentences


def _describe_leg(leg: WalkLeg, before: str | None) -> str:
    """Return a sentence on a leg; `before` is the last street named before it, `None` for none."""
    turn = turn_words(leg.turn)
    onto = ""
    if leg.street:
        onto = f" {'along' if not turn or leg.street == before else 'onto'} {leg.street}"
    digits = 0 if leg.metres >= 10 else 1
    way = f"{leg.metres:.{digits}f} m {compass_word(leg.heading)}"
    words = f"{turn}{onto} and walk {way}" if turn else f"walk {way}{onto}"
    if leg.crossings:
        words += f", past {leg.crossings} crossing{'s' if leg.crossings > 1 else ''}"
    words += ", to a crossing" if leg.to_crossing else ""
    return f"{capitalize(words)}."


def turn_words(angle: float) -> str:
    """Return a turn, degrees clockwise, in words such as "turn left"; empty if it is below 35 degrees."""
    if abs(angle) < _TURN_DEG:
        return ""
    if abs(angle) >= _AROUND_DEG:
        return "turn around"
    return f"turn {'sharply ' if abs(angle) > _SHARP_DEG else ''}{'left' if angle < 0 else 'right'}"


def _turn_stops(points: Floats, along: Floats, step: float) -> list[int]:
    """Return the indices of the stops where the walk turns, by headings over `step` metres on each side."""
    angles = {
        index: abs(
            signed_turn(
                _heading(_point_along(points, along, along[index] - step), points[index]),
                _heading(points[index], _point_along(points, along, along[index] + step)),
            )
        )
        for index in range(1, len(points) - 1)
    }
    stops: list[int] = []
    for index in sorted(angles, key=lambda one: -angles[one]):
        if angles[index] < _TURN_DEG:
            break
        if all(abs(along[index] - along[other]) > 1.5 * step for other in stops):
            stops.append(index)
    return sorted(stops)


def _point_along(points: Floats, along: Floats, metres: float) -> Floats:
    """Return the point (east, north) `metres` along a path of points, each with its metres in `along`."""
    return np.array([np.interp(metres, along, points[:, axis]) for axis in (0, 1)])


def _heading(source: Floats, target: Floats) -> float:
    """Return the heading from a point (east, north) to another, degrees clockwise from north."""
    east, north = target - source
    return float(np.degrees(np.arctan2(east, north)) % 360)


def _crossing_numbers(walk: Walk, along: Floats) -> list[int]:
    """Return the number of each stop's crossing, from 1, or 0 at no crossing, by the metres `along` to it."""
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
    """Return the history of a walk; entry 0 is its start and has no length.

    Turning and going on as the entries say leads exactly through the stops that they name.
    """
    points = walk.points()
    entries = [_entry(walk, 0, 0, 0.0, 0.0)]
    facing, before = walk.heading, 0
    for stop in _history_stops(walk, points):
        east, north = points[stop] - points[before]
        metres = float(np.hypot(east, north))
        heading = float(np.degrees(np.arctan2(east, north))) if metres else facing
        entries.append(_entry(walk, len(entries), stop, signed_turn(facing, heading), metres))
        facing, before = heading, stop
    return tuple(entries)


def _entry(walk: Walk, number: int, stop: int, turn: float, metres: float) -> HistoryEntry:
    """Return history entry `number` for the stop with index `stop`; its texts on things seen are cut."""
    where = walk.stops[stop]
    seen = tuple(thing[:_SEEN_CHARACTERS] for thing in where.seen[:_SEEN_THINGS])
    return HistoryEntry(number, stop, turn, metres, where.crossing, seen, where.thought)


def _history_stops(walk: Walk, points: Floats) -> list[int]:
    """Return the indices of the stops that get an entry: bends, crossings, sights and the last one."""
    last = len(points) - 1
    stops: list[int] = []
    line: float | None = None
    for index in range(1, last + 1):
        east, north = points[index] - points[index - 1]
        if np.hypot(east, north) >= _SAME_PLACE_M:
            heading = float(np.degrees(np.arctan2(east, north)))
            if line is not None and abs(signed_turn(line, heading)) > _BEND_DEG:
                stops.append(index - 1)
                line = heading
            line = heading if line is None else line
        stop = walk.stops[index]
        # Behind a stop with an entry a new line begins, from which bends are measured.
        if index == last or stop.seen or stop.crossing:
            stops.append(index)
            line = None
    return stops


def read_points(text: str, count: int) -> Floats:
    """Return the `count` points in a reply, a JSON list of `[x, y]` pairs, as an array of shape (count, 2).

    Raises:
        BadInput: there is no such list, or it has another length; the message is for the model.
    """
    fenced = _FENCED.search(text)
    body = fenced[1] if fenced else text
    try:
        points = _POINTS.validate_json(body[body.find("[") : body.rfind("]") + 1])
    except ValidationError:
        raise BadInput("send a JSON list of [x, y] pairs of numbers and nothing else") from None
    if len(points) != count:
        raise BadInput(f"there are {len(points)} points where the history has {count} entries")
    if any(abs(number) > _FARTHEST_M for point in points for number in point):
        raise BadInput("a point lies farther off than any walk goes")
    return np.array(points, float)


def align_drawing(drawn: Floats, exact: Floats) -> FittedDrawing:
    """Return a drawing moved and turned to fit the exact one best, by least squares.

    It is neither scaled nor mirrored: a drawing that takes left for right, or metres for feet, stays wrong.
    Points are in metres (east, north), both arrays of one shape (points, 2).
    """
    source, target = (points @ np.array([1, 1j]) for points in (drawn, exact))
    source, middle = source - source.mean(), target.mean()
    # As complex numbers the best rotation is the angle of this product (Kabsch's method in a plane).
    turn = np.vdot(source, target - middle)
    spread = float(np.vdot(source, source).real)
    laid = source * (turn / abs(turn) if abs(turn) > _POINT_M2 else 1.0) + middle
    return FittedDrawing(
        np.stack([laid.real, laid.imag], axis=1),
        float(np.abs(laid - target).mean()),
        float(abs(turn) / spread) if spread > _POINT_M2 else 1.0,
    )
