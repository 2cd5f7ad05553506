"""A narration: what is exact, told from the walk alone, and beside it what a model makes of its history."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from virl.errors import BadInput, MindFailed
from virl.geo import Floats
from virl.journal.journal import RULES
from virl.mind.base import Mind
from virl.mind.prompt import load_prompt
from virl.mind.replies import Text
from virl.money.spending import Exchange
from virl.narrate.drawing import FittedDrawing, lay_over, read_points
from virl.narrate.history import HistoryEntry, history
from virl.narrate.legs import WalkLeg, legs, tell
from virl.narrate.streets import StreetOf, no_streets
from virl.narrate.walk import Walk

TRIES = 3  # as often as a typed reply is asked for: the first time and two retries

NO_MODEL = (
    "These are the exact descriptions only. To let a model describe the walk too, choose one with --mind."
)


@dataclass(frozen=True, slots=True)
class Narration:
    """What is told of a walk."""

    walk: Walk
    mind: str
    legs: tuple[WalkLeg, ...]
    exact: tuple[str, ...]
    """The walk in sentences, exactly."""
    entries: tuple[HistoryEntry, ...]
    """The history as the model was told it."""
    instruction: str | None = None
    """The model's instruction; `None` where none was asked or it gave none."""
    drawing: FittedDrawing | None = None
    """The model's drawing; `None` as for `instruction`."""
    notes: tuple[str, ...] = ()
    """What is missing, and why."""
    asked: tuple[Exchange, ...] = ()


def narrate(walk: Walk, mind: Mind, street_of: StreetOf = no_streets) -> Narration:
    """Tell a walk.

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
    """An instruction that leads along the walk.

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
    """Where the walker stood at the end of each entry, as the mind draws it, shape (entries, 2).

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
