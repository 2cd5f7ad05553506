"""The rules that answer the prompts of narrations: they use turns and metres, and understand no words."""

import json
from math import cos, radians, sin

from pydantic import BaseModel

from virl.mind.lexicon import Lexicon
from virl.mind.replies import Text

LEAST_TURN = 35.0  # degrees; chosen: smaller ones are bends of the road


class WalkEntry(BaseModel):
    """An entry of the history: a turn in degrees clockwise, then metres straight ahead."""

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
    """Return an instruction with a sentence for each entry's turn and metres, and "Stop." at the end."""
    del lexicon
    sentences = []
    for entry in question.entries[1:]:
        way = f"{entry.metres:.0f} m{' to a crossing' if entry.crossing else ''}"
        side = "left" if entry.turn < 0 else "right"
        action = "Go" if abs(entry.turn) < LEAST_TURN else f"Turn {side} and go"
        sentences.append(f"{action} on for {way}.")
    return Text(text=" ".join([*sentences, "Stop."]))


def draw(question: DrawingQuestion, lexicon: Lexicon) -> Text:
    """Return the points (right, ahead) in metres to which turns and lengths lead, as JSON in a text."""
    del lexicon
    x = y = heading = 0.0
    points = []
    for entry in question.entries:
        heading += radians(entry.turn)
        x, y = x + entry.metres * sin(heading), y + entry.metres * cos(heading)
        points.append([round(x, 1), round(y, 1)])
    return Text(text=json.dumps(points))
