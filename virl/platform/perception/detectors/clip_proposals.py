"""Another detector's boxes, labelled by a recognizer ("CLIP with proposals", V-IRL, section 5)."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from virl.platform.city.streetview import View
from virl.platform.perception.base import Detection, Detector, Recognizer
from virl.platform.perception.detections import SettingsDetector, without_doubles, words_of
from virl.platform.perception.images import crop, pixels_of
from virl.platform.perception.models import Models
from virl.platform.perception.registry import DetectorSettings, Kind, Needs


class ClipProposalsSettings(DetectorSettings):
    """Settings of the detector; `platform/models/clip-proposals.yaml` gives the reasons for the values."""

    kind: Literal["clip-proposals"]
    proposals: str
    """Name of the detector whose boxes are taken, without their labels."""
    proposal_labels: tuple[str, ...]
    """Labels that the detector of boxes is asked for, whatever labels are wanted; empty for all it knows."""
    min_proposal: float | None = Field(ge=0, le=1)
    """Least score of a box, [0, 1]; `None` takes all that the detector reports."""
    recognizer: str
    """Name of the recognizer that labels the boxes."""
    background: tuple[str, ...]
    """Labels of other objects that a box may show; a box most like one of these is dropped."""
    margin: float = Field(ge=0)
    """Margin added to a box on each side, as a share of its width and height."""
    min_score: float = Field(ge=0, le=1)
    """Least score of a detection by the recognizer, [0, 1]."""
    max_overlap: float | None = Field(ge=0, le=1)
    """Largest intersection over union of two detections of a label; `None` keeps all."""

    def needs(self) -> Needs:
        """Return the requirements: the detector of boxes and the recognizer."""
        return Needs(models=(("detector", self.proposals), ("recognizer", self.recognizer)))


def open_clip_proposals(settings: ClipProposalsSettings, models: Models) -> "ClipProposals":
    """Open the detector with the two models that it uses."""
    return ClipProposals(
        models.detector(settings.proposals), models.recognizer(settings.recognizer), settings
    )


KIND = Kind("detector", ClipProposalsSettings, open_clip_proposals)


class ClipProposals(SettingsDetector[ClipProposalsSettings]):
    """A detector that takes the boxes of another one and labels them by a recognizer."""

    def __init__(self, proposals: Detector, recognizer: Recognizer, settings: ClipProposalsSettings) -> None:
        """Use the boxes of `proposals`, and the recognizer to label them."""
        self._proposals = proposals
        self._recognizer = recognizer
        self._settings = settings

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """Return the objects with one of `labels` in each view, best first.

        Raises:
            BadInput: there are no labels, one is empty, or a picture is none.
            ModelUnavailable: one of the two models cannot be used.
        """
        words = words_of(labels, self._settings.kind)
        pictures = [pixels_of(view) for view in views]
        boxes = [
            (i, box)
            for i, proposed in enumerate(self._proposals.detect(views, self._settings.proposal_labels))
            for box in proposed
            if box.score >= (self._settings.min_proposal or 0.0)
        ]
        found: list[list[Detection]] = [[] for _ in pictures]
        # The boxes of all views go to the recognizer at once, which batches them.
        if boxes:
            crops = [crop(pictures[i], box.box, self._settings.margin) for i, box in boxes]
            background = [word for word in self._settings.background if word.lower() not in words]
            scores = self._recognizer.recognize(crops, [*words, *background])
            asked = list(words.values())
            for (i, box), row in zip(boxes, scores.tolist(), strict=True):
                score = max(row)
                best = row.index(score)
                if best < len(asked) and score >= self._settings.min_score:
                    found[i].append(Detection(asked[best], score, box.box, box.text))
        return [without_doubles(things, self._settings.max_overlap) for things in found]
