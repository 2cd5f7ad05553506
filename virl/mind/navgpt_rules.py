"""The rules for NavGPT's prompts and for narrations: they read numbers and ids, and understand no words."""

import json
import re
from collections.abc import Iterator
from math import cos, radians, sin

from pydantic import BaseModel

from virl.mind.lexicon import Lexicon
from virl.mind.replies import Text

SUMMARY_WORDS = 30  # chosen: a sentence
LEAST_TURN = 35.0  # degrees; chosen: smaller ones are bends of the road

_WAYS = re.compile(r"^[A-Z][A-Za-z ]+ navigable viewpoints: (\{.*\})$", re.MULTILINE)
_WHERE = re.compile(r"(?P<side>left|right) (?P<angle>[\d.]+)")
_GONE_TO = re.compile(r"Action Input: \"?([^\"\s]+)")
_AT = re.compile(r"^Not moved yet\. At viewpoint (\S+),", re.MULTILINE)


class TakenStep(BaseModel):
    """A thought with its action, and what came of it."""

    reply: str
    observation: str


class WalkEntry(BaseModel):
    """A turn in degrees, clockwise, then a straight line in metres."""

    turn: float
    metres: float
    crossing: bool
    seen: tuple[str, ...] = ()


class InstructionQuestion(BaseModel):
    """Inputs of `narrate-instruction`."""

    entries: tuple[WalkEntry, ...]


class DrawingQuestion(BaseModel):
    """Inputs of `narrate-drawing`."""

    entries: tuple[WalkEntry, ...]
    fault: str


class StepQuestion(BaseModel):
    """Inputs of `navgpt-step`."""

    instruction: str
    opening: str
    steps: tuple[TakenStep, ...]
    left_out: int


class SummaryQuestion(BaseModel):
    """Inputs of `navgpt-summary`."""

    description: str


def choose_viewpoint(question: StepQuestion, lexicon: Lexicon) -> Text:
    """Go on as straight as it goes to where one has not been; finish where no such way is left."""
    del lexicon
    been = {*_AT.findall(question.opening)}
    been |= {name for step in question.steps for name in _GONE_TO.findall(step.reply)}
    told = [question.opening, *(step.observation for step in question.steps)]
    ways = next((ways for text in reversed(told) if (ways := dict(_ways(text)))), {})
    fresh = {name: angle for name, angle in ways.items() if name not in been}
    if not fresh:
        return Text(text="No way leads on to where I have not been.\nFinal Answer: Finished!")
    name = min(fresh, key=lambda one: fresh[one])
    thought = f"The rules read no instruction; the straightest new way turns by {fresh[name]:.0f} degrees."
    return Text(text=f'{thought}\nAction: action_maker\nAction Input: "{name}"')


def summarize_viewpoint(question: SummaryQuestion, lexicon: Lexicon) -> Text:
    """The lines without repeats, up to 30 words."""
    del lexicon
    words = "; ".join(dict.fromkeys(question.description.split("\n"))).split()
    return Text(text=" ".join(words[:SUMMARY_WORDS]))


def _ways(text: str) -> Iterator[tuple[str, float]]:
    for block in _WAYS.findall(text):
        for name, where in json.loads(block).items():
            if found := _WHERE.match(where):
                yield name, float(found["angle"])


def instruct(question: InstructionQuestion, lexicon: Lexicon) -> Text:
    """The turns and distances, a sentence an entry."""
    del lexicon
    sentences = [
        f"{_turn_words(entry.turn)} {entry.metres:.0f} m{' to a crossing' if entry.crossing else ''}."
        for entry in question.entries[1:]
    ]
    return Text(text=" ".join([*sentences, "Stop."]))


def draw(question: DrawingQuestion, lexicon: Lexicon) -> Text:
    """The points that the turns and distances lead to."""
    del lexicon
    x = y = heading = 0.0
    points = []
    for entry in question.entries:
        heading += radians(entry.turn)
        x, y = x + entry.metres * sin(heading), y + entry.metres * cos(heading)
        points.append([round(x, 1), round(y, 1)])
    return Text(text=json.dumps(points))


def _turn_words(turn: float) -> str:
    if abs(turn) < LEAST_TURN:
        return "Go on for"
    return f"Turn {'left' if turn < 0 else 'right'} and go on for"
