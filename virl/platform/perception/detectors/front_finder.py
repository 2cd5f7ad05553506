"""Finding the boards on shop fronts, also those that are too small to read."""

from collections.abc import Sequence
from typing import ClassVar, Literal, Protocol, runtime_checkable

from pydantic import Field

from virl.errors import BadInput
from virl.platform.city.streetview import Box, Image, View
from virl.platform.perception.base import Detection, Detector
from virl.platform.perception.detections import SettingsDetector
from virl.platform.perception.models import Models
from virl.platform.perception.registry import DetectorSettings, Kind, Needs
from virl.platform.perception.signs import SIGN


class FrontFinderSettings(DetectorSettings):
    """Settings of the detector; `platform/models/front-finder.yaml` gives the reasons for the values."""

    sees_pixels_alone: ClassVar[bool] = True

    kind: Literal["front-finder"]
    reader: str
    """Name of a reader in `platform/models` that finds lines of text in cities that virl does not draw."""
    detector: str
    """Name of the detector that finds signs in cities that virl draws."""
    line_share: float = Field(gt=0, le=1)
    """Height of a line of text as a share of its board's height, (0, 1]."""

    def needs(self) -> Needs:
        """Return the requirements: the reader and the detector."""
        return Needs(models=(("reader", self.reader),), drawn=(("detector", self.detector),))


@runtime_checkable
class LineFinder(Protocol):
    """A reader that also finds lines of text without reading them."""

    def find(self, images: Sequence[Image]) -> list[list[Box]]:
        """Return the boxes of the lines of text in each picture, however small the letters are.

        Raises:
            ModelUnavailable: the model or its weights are missing.
        """
        ...


def open_front_finder(settings: FrontFinderSettings, models: Models) -> "FrontFinder":
    """Return the detector: by another detector in cities that virl draws, by lines of text elsewhere.

    Raises:
        BadInput: the reader finds no lines without reading them.
    """
    if models.options.is_rendered:
        return FrontFinder(settings, models.detector(settings.detector))
    reader = models.reader(settings.reader)
    if not isinstance(reader, LineFinder):
        raise BadInput(f"reader {settings.reader!r} cannot find lines: use another one, such as rapidocr")
    return FrontFinder(settings, BoardsByText(reader, settings))


KIND = Kind("detector", FrontFinderSettings, open_front_finder)


class FrontFinder(SettingsDetector[FrontFinderSettings]):
    """A detector of signboards, labelled `sign`, and of what else its inner detector `boards` finds."""

    def __init__(self, settings: FrontFinderSettings, boards: Detector) -> None:
        """Use `boards`, a detector of signs and perhaps of more, with least scores from the settings."""
        self._settings = settings
        self._boards = boards

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """Return the objects with one of `labels` in each view; the signs if `labels` is empty."""
        found_in_each = self._boards.detect(views, labels or [SIGN])
        return [
            [one for one in found if one.score >= self.look_scores.of(one.label).first]
            for found in found_in_each
        ]


class BoardsByText(SettingsDetector[FrontFinderSettings]):
    """A detector of signboards by the lines of text that a reader finds on them, in any pictures."""

    def __init__(self, reader: LineFinder, settings: FrontFinderSettings) -> None:
        """Use a reader that finds lines of text however small, with the settings of the model file."""
        self._reader = reader
        self._settings = settings

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """Return a sign for each line of text in each view, if signs are asked for; nothing else is found."""
        if labels and SIGN not in labels:
            return [[] for _ in views]
        lines = self._reader.find([view.pixels for view in views])
        return [[Detection(SIGN, 1.0, self._board(box)) for box in boxes] for boxes in lines]

    def _board(self, line: Box) -> Box:
        """Return the box of the board around a line of text, whose height is `line_share` of the board's."""
        left, top, right, bottom = line
        margin = (bottom - top) * (1 / self._settings.line_share - 1) / 2
        return left, top - margin, right, bottom + margin
