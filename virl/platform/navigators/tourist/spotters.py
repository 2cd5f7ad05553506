"""Spotters of landmarks as V-IRL has them: by multiple choice, by a chat model, in eight views."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, Prompts, render
from virl.mind.replies import Text
from virl.platform.city.streetview import Pose, StreetView
from virl.platform.navigators.tourist.rules import LandmarksRead
from virl.platform.navigators.tourist.signs import name_likeness
from virl.platform.navigators.tourist.spotting import LandmarkSighting, eight_views, surest
from virl.platform.perception.base import Describer, Reader, Recognizer
from virl.platform.perception.signs import group_lines

NONE = "None of the above"
"""Option of a multiple-choice question for none of the landmarks."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_OPTIONS = len(LETTERS) - 1
"""Largest number of landmarks offered, one letter each beside `NONE`."""
NAMED = 90.0
"""Least likeness, 0 to 100, at which a reply counts as a landmark's name, not its letter. Chosen."""
SHARE = 0.9
"""Least length of a reply that names a landmark, as a share of the name: `A bakery` is too short. Chosen."""
READ_SCORE = 0.75
"""Least confidence, [0, 1], of a line of text that is used (V-IRL's published code, for PP-OCR)."""
_LETTER = re.compile(
    r"""^\s*(?:[("'*]+\s*)?+(?:(?:the\s+)?(?:answer|option|choice)\s*(?:is|:)?\s*)?[("'*]*
    ([A-Za-z])(?![A-Za-z0-9'])""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ChoiceSpotter:
    """A spotter that asks a model which landmark, if any, each of eight views shows (V-IRL's LLaVA test)."""

    streetview: StreetView
    describer: Describer
    name: str
    """Name of the spotter in tables, such as `"choice:llava-1.5-13b"`."""
    prompts: Prompts = OUR_PROMPTS

    def spot(self, pose: Pose, names: Sequence[str], *, thorough: bool) -> list[LandmarkSighting]:
        """Return the landmarks seen, the surest first, of the first 25 names; always in all directions."""
        del thorough
        if not names:
            return []
        options = [*names[:MOST_OPTIONS], NONE]
        question = render(self.prompts.load("movement/tourist-landmark-choice", Text), {"options": options})
        views = eight_views(self.streetview, pose)
        return surest(
            [
                LandmarkSighting(chosen, view.camera.heading, 1.0, view.camera, text=reply)
                for view, reply in zip(views, self.describer.describe(views, question), strict=True)
                if (chosen := chosen_option(reply, options)) and chosen != NONE
            ]
        )


@dataclass(frozen=True, slots=True)
class ReadingMindSpotter:
    """A spotter that reads each of eight views, and asks a mind which landmarks the words tell of.

    V-IRL's PP-OCR with GPT-3.5. Views without words are not asked about.
    """

    streetview: StreetView
    reader: Reader
    mind: Mind
    prompts: Prompts = OUR_PROMPTS

    name: ClassVar[str] = "ocr+mind"
    """Name of the spotter in tables."""

    def spot(self, pose: Pose, names: Sequence[str], *, thorough: bool) -> list[LandmarkSighting]:
        """Return the landmarks seen, the surest first; always looks in all directions."""
        del thorough
        if not names:
            return []
        prompt = self.prompts.load("movement/tourist-landmark-text", LandmarksRead)
        views = eight_views(self.streetview, pose)
        seen = []
        for view, lines in zip(views, self.reader.read([view.pixels for view in views]), strict=True):
            sure = [line for line in lines if line.score >= READ_SCORE]
            words = [" ".join(line.text for line in sign) for sign in group_lines(sure)]
            found = self.mind.ask(prompt, words=words, names=list(names)).names if words else ()
            seen += [
                LandmarkSighting(name, view.camera.heading, 1.0, view.camera, text="; ".join(words))
                for name in found
            ]
        return surest(seen)


def chosen_option(reply: str, options: Sequence[str]) -> str | None:
    """Return the option, of at most 26, that a reply chooses by letter or else by name; `None` if unclear."""
    if letter := _LETTER.match(reply):
        number = LETTERS.index(letter[1].upper())
        # a word of one letter is no choice: "A bakery", "I see"
        if number < len(options) and re.match(r"\s*(?:[).:,\]\"'*]|$)", reply[letter.end() :]):
            return options[number]
    named = [
        option
        for option in options
        if len(reply) >= len(option) * SHARE and name_likeness(reply, option) >= NAMED
    ]
    return named[0] if len(named) == 1 else None


CLIP_THRESHOLD = 0.995
"""Least probability, [0, 1], by CLIP or EVA for a landmark to count as seen (V-IRL's published code)."""
DISTRACTORS = ("others", "a street without shops", "%#", "~~")
"""Captions that compete with a landmark's: three of V-IRL, and ours on a street without shops."""
SAID = 90.0
"""Least likeness, 0 to 100, at which a description counts as mentioning a name. Chosen."""
_SENTENCE = re.compile(r"[.;!\n]+")
_DENIES = re.compile(r"\b(?:no|not|none|neither|cannot|can't|isn't|aren't|without|unable)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RecognizerSpotter:
    """A spotter of the one landmark that best fits one of eight views, if well enough (V-IRL's CLIP test)."""

    streetview: StreetView
    recognizer: Recognizer
    threshold: float = CLIP_THRESHOLD
    """Least probability of the landmark against the distractors, [0, 1]."""

    @property
    def name(self) -> str:
        """Name of the recognizer, also in tables."""
        return self.recognizer.name

    def spot(self, pose: Pose, names: Sequence[str], *, thorough: bool) -> list[LandmarkSighting]:
        """Return the landmark that best fits a view, if one fits; always looks in all directions."""
        del thorough
        if not names:
            return []
        views = eight_views(self.streetview, pose)
        pictures = [view.pixels for view in views]
        found = []
        for name in names:
            fits = self.recognizer.recognize(pictures, [name, *DISTRACTORS])
            shares = fits[:, 0] / fits.sum(axis=1).clip(min=1e-9)
            best = int(shares.argmax())
            if shares[best] >= self.threshold:
                camera = views[best].camera
                found.append(LandmarkSighting(name, camera.heading, float(shares[best]), camera))
        return surest(found)[:1]


@dataclass(frozen=True, slots=True)
class DescriberSpotter:
    """A spotter that asks a describer, such as a chat model, which landmarks each of eight views shows."""

    streetview: StreetView
    describer: Describer
    name: str
    """Name of the describer, also in tables."""

    def spot(self, pose: Pose, names: Sequence[str], *, thorough: bool) -> list[LandmarkSighting]:
        """Return the landmarks seen, the surest first; always looks in all directions."""
        del thorough
        if not names:
            return []
        views = eight_views(self.streetview, pose)
        question = f"Which of these names can be read on a sign? {'; '.join(names)}"
        told = self.describer.describe(views, question)
        return surest(
            [
                LandmarkSighting(name, view.camera.heading, likeness / 100.0, view.camera, text=description)
                for view, description in zip(views, told, strict=True)
                for name in names
                if (likeness := _rate_mention(description, name)) >= SAID
            ]
        )


def _rate_mention(description: str, name: str) -> float:
    """Return how well a description mentions a name, 0 to 100; a sentence with a denial does not count."""
    affirmed = [part for part in _SENTENCE.split(description) if not _DENIES.search(part)]
    return max((name_likeness(part, name) for part in affirmed), default=0.0)
