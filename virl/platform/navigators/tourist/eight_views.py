"""Spotting landmarks in V-IRL's eight views: by a recognizer (CLIP and its kin), or by a describer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from virl.platform.city.streetview import Pose, StreetView
from virl.platform.navigators.tourist.signs import name_likeness
from virl.platform.navigators.tourist.spotting import LandmarkSighting, eight_cameras, surest
from virl.platform.perception.base import Describer, Recognizer

CLIP_THRESHOLD = 0.995
"""V-IRL's for CLIP and EVA (its published code)."""

DISTRACTORS = ("others", "a street without shops", "%#", "~~")
"""Alternatives to a landmark in a view: V-IRL's are odd symbols and the first; the second is ours."""

SAID = 90.0
"""Least likeness of a name to a description that tells of it, [0, 100]. Chosen."""

_SENTENCE = re.compile(r"[.;!\n]+")
_DENIES = re.compile(r"\b(?:no|not|none|neither|cannot|can't|isn't|aren't|without|unable)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RecognizerSpotter:
    """A spotter of the one landmark that fits one of eight views best, if well enough (V-IRL)."""

    streetview: StreetView
    recognizer: Recognizer
    threshold: float = CLIP_THRESHOLD
    """Least probability against the distractors, [0, 1]."""

    @property
    def name(self) -> str:
        """The name of the recognizer."""
        return self.recognizer.name

    def spot(self, pose: Pose, names: Sequence[str], *, thorough: bool) -> list[LandmarkSighting]:
        """Return the landmark that fits a view best, if one fits; always looks in all directions."""
        del thorough
        if not names:
            return []
        cameras = eight_cameras(pose.heading)
        pictures = [self.streetview.view(pose.pano_id, camera).pixels for camera in cameras]
        found = []
        for name in names:
            fits = self.recognizer.recognize(pictures, [name, *DISTRACTORS])
            shares = fits[:, 0] / fits.sum(axis=1).clip(min=1e-9)
            best = int(shares.argmax())
            if shares[best] >= self.threshold:
                found.append(
                    LandmarkSighting(name, cameras[best].heading, float(shares[best]), cameras[best])
                )
        return surest(found)[:1]


@dataclass(frozen=True, slots=True)
class DescriberSpotter:
    """A spotter that asks a describer, such as a chat model, which landmarks each of eight views shows."""

    streetview: StreetView
    describer: Describer
    name: str
    """The name of the describer."""

    def spot(self, pose: Pose, names: Sequence[str], *, thorough: bool) -> list[LandmarkSighting]:
        """Return the landmarks seen, the surest first; always looks in all directions."""
        del thorough
        if not names:
            return []
        views = [self.streetview.view(pose.pano_id, camera) for camera in eight_cameras(pose.heading)]
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
    """Return how surely a description tells of a name, [0, 100]; what a sentence denies is not told."""
    affirmed = [part for part in _SENTENCE.split(description) if not _DENIES.search(part)]
    return max((name_likeness(part, name) for part in affirmed), default=0.0)
