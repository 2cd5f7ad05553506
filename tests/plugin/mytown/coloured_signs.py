"""A detector of red signs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field
from scipy import ndimage

from virl.platform.city.streetview import View
from virl.platform.perception.base import Detection, LookScores
from virl.platform.perception.models import Models
from virl.platform.perception.registry import DetectorSettings, Kind


class ColouredSignsSettings(DetectorSettings):
    """What a model file of this kind holds."""

    kind: Literal["coloured-signs"]
    label: str
    """What a sign is called."""
    redness: int = Field(ge=1, le=255)
    """Levels, of 255, that red is above green and blue."""
    min_pixels: int = Field(ge=1)
    """Smaller patches are no signs."""


class ColouredSigns:
    """Finds patches of red."""

    def __init__(self, settings: ColouredSignsSettings) -> None:
        self._settings = settings

    @property
    def look_scores(self) -> LookScores:
        """The thresholds of the model's file."""
        return self._settings.look_scores

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """The signs in each view, the largest first; none if they are not among `labels`."""
        if labels and self._settings.label not in labels:
            return [[] for _ in views]
        return [self._signs(view) for view in views]

    def _signs(self, view: View) -> list[Detection]:
        levels = view.pixels.astype(int)
        red = levels[..., 0] - levels[..., 1:].max(axis=-1) >= self._settings.redness
        patches, _ = ndimage.label(red)
        found = []
        for number, (rows, columns) in enumerate(ndimage.find_objects(patches), start=1):
            pixels = int((patches[rows, columns] == number).sum())
            if pixels >= self._settings.min_pixels:
                box = (float(columns.start), float(rows.start), float(columns.stop), float(rows.stop))
                found.append(Detection(self._settings.label, pixels / red.size, box))
        return sorted(found, key=lambda sign: -sign.score)


def open_coloured_signs(settings: ColouredSignsSettings, models: Models) -> ColouredSigns:
    """The detector of a model file; `models` opens other models that it uses."""
    return ColouredSigns(settings)


KIND = Kind("detector", ColouredSignsSettings, open_coloured_signs, models=Path(__file__).parent / "models")
