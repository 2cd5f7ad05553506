"""The rules for narrations: they read numbers, and understand no words."""

import json
from math import cos, radians, sin

from pydantic import BaseModel

from virl.mind.lexicon import Lexicon
from virl.mind.replies import Text

LEAST_TURN = 35.0  # degrees; chosen: smaller ones are bends of the road


class WalkEntry(BaseModel):
    """An entry of the history: (turn in degrees clockwise, then metres straight ahead)."""

    turn: float
    metres: float
    crossing: bool
    seen: tuple[str, ...] = ()


class InstructionQuestion(BaseModel):
    """The inputs of the prompt `narrate/instruction`."""

    entries: tuple[WalkEntry, ...]


class DrawingQuestion(BaseModel):
    """The inputs of the prompt `narrate/drawing`."""

    entries: tuple[WalkEntry, ...]
    fault: str


def instruct(question: InstructionQuestion, lexicon: Lexicon) -> Text:
    """Return an instruction with the turns and distances, one sentence per entry."""
    del lexicon
    sentences = [
        f"{_turn_words(entry.turn)} {entry.metres:.0f} m{' to a crossing' if entry.crossing else ''}."
        for entry in question.entries[1:]
    ]
    return Text(text=" ".join([*sentences, "Stop."]))


def draw(question: DrawingQuestion, lexicon: Lexicon) -> Text:
    """Return the points to which the turns and distances lead, as a text of JSON."""
    del lexicon
    x = y = heading = 0.0
    points = []
    for entry in question.entries:
        heading += radians(entry.turn)
        x, y = x + entry.metres * sin(heading), y + entry.metres * cos(heading)
        points.append([round(x, 1), round(y, 1)])
    return Text(text=json.dumps(points))


def _turn_words(turn: float) -> str:
    """Return a turn, degrees clockwise, as the beginning of a sentence."""
    if abs(turn) < LEAST_TURN:
        return "Go on for"
    return f"Turn {'left' if turn < 0 else 'right'} and go on for"
