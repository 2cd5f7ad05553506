"""Finding places by the words on their signs."""

from collections.abc import Sequence
from math import ceil, floor, radians, tan
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from virl.platform.city.streetview import Camera, View
from virl.platform.perception.base import Detection, Reader, TextLine, plain_label
from virl.platform.perception.detections import SettingsDetector
from virl.platform.perception.images import as_view, pixels_of
from virl.platform.perception.lexicons.sign_lexicon import Lexicon, LexiconSettings
from virl.platform.perception.models import Models, read_model
from virl.platform.perception.registry import DetectorSettings, Kind, Needs
from virl.platform.perception.signs import SIGN, box_around, group_lines


class SignDetectorSettings(DetectorSettings):
    """Settings of the detector; `platform/models/sign-detector.yaml` gives the reasons for the values."""

    sees_pixels_alone: ClassVar[bool] = True

    kind: Literal["sign-detector"]
    reader: str
    """Name of the reader in `platform/models` that reads the signs."""
    lexicon: str
    """Name of the lexicon in `platform/models` that tells place types by their words."""
    min_score: float = Field(ge=0, le=1)
    """Least score of a detection, [0, 1]."""
    rival_share: float = Field(ge=0, le=1)
    """Least score of a place type asked for, as a share of that of the sign's best type."""
    lowest_pitch: float = Field(ge=-90, le=90)
    """Lowest pitch in degrees above the horizon at which signs are read."""
    highest_pitch: float = Field(ge=-90, le=90)
    """Highest pitch in degrees above the horizon at which signs are read."""

    def needs(self) -> Needs:
        """Return the requirements: the reader and the lexicon."""
        return Needs(models=(("reader", self.reader), ("lexicon", self.lexicon)))

    def unknown(self, labels: Sequence[str]) -> list[str]:
        """Return those of some labels that are no place type of the lexicon."""
        lexicon = read_model("lexicon", self.lexicon)
        known = lexicon.words if isinstance(lexicon, LexiconSettings) else labels
        return [one for one in labels if plain_label(one) not in {SIGN, *map(plain_label, known)}]


def open_sign_detector(settings: SignDetectorSettings, models: Models) -> "SignDetector":
    """Open the detector with its reader and its lexicon."""
    return SignDetector(models.reader(settings.reader), models.lexicon(settings.lexicon), settings)


KIND = Kind("detector", SignDetectorSettings, open_sign_detector)


class SignDetector(SettingsDetector[SignDetectorSettings]):
    """A detector that reads views, groups the lines into signs, and tells their place types by a lexicon."""

    def __init__(self, reader: Reader, lexicon: Lexicon, settings: SignDetectorSettings) -> None:
        """Use a reader for the lines of text, and a lexicon for the place types of their words."""
        self._reader = reader
        self._lexicon = lexicon
        self._settings = settings

    def detect(self, views: Sequence[View], labels: Sequence[str] = ()) -> list[list[Detection]]:
        """Return the signs in each view that tell of one of `labels`, best first; signs of no type come last.

        Labels are place types, with spaces or underscores, and `"sign"` for signs that tell of no type. None
        asks for all of them. Other labels are never found.

        Raises:
            ModelUnavailable: the reader's model is missing.
        """
        views = [as_view(view) for view in views]
        rows = [_rows(view.camera, self._settings) for view in views]
        seen = [(pixels_of(view)[top:bottom], top) for view, (top, bottom) in zip(views, rows, strict=True)]
        read = iter(self._reader.read([strip for strip, _ in seen if len(strip)]))
        return [
            self._judge([_lower_line(line, top) for line in next(read)], labels) if len(strip) else []
            for strip, top in seen
        ]

    def _judge(self, lines: list[TextLine], labels: Sequence[str]) -> list[Detection]:
        """Return the detections of the signs that lines of text form, best first, those of no type last."""
        asked = {plain_label(label): label for label in labels}
        found = [self._classify_sign(sign, asked) for sign in group_lines(lines)]
        return sorted(
            (detection for detection in found if detection),
            key=lambda detection: (plain_label(detection.label) == SIGN, -detection.score),
        )

    def _classify_sign(self, lines: list[TextLine], asked: dict[str, str]) -> Detection | None:
        """Return a sign by its best type in `asked`, {words: label}, or any if empty; `None` for none."""
        text = " / ".join(line.text for line in lines)
        clarity = float(
            np.average([line.score for line in lines], weights=[len(line.text) for line in lines])
        )
        types = self._lexicon.classify(text.replace(" / ", " "))
        enough = max(types.values(), default=0.0) * self._settings.rival_share
        for place_type, score in types.items():
            if score * clarity < self._settings.min_score or score < enough:
                break
            if not asked or plain_label(place_type) in asked:
                label = asked.get(plain_label(place_type), place_type)
                return Detection(label, score * clarity, box_around(lines), text)
        clear = any(score * clarity >= self._settings.min_score for score in types.values())
        if not clear and (not asked or SIGN in asked) and any(letter.isalpha() for letter in text):
            return Detection(SIGN, clarity, box_around(lines), text)
        return None


def _lower_line(line: TextLine, rows: int) -> TextLine:
    """Return a line of text with its box moved down by `rows` pixels."""
    left, top, right, bottom = line.box
    return TextLine(line.text, line.score, (left, top + rows, right, bottom + rows))


def _rows(camera: Camera, settings: SignDetectorSettings) -> tuple[int, int]:
    """Return (first row, row behind the last) of a view between the highest and the lowest pitch."""

    def row(pitch: float) -> float:
        """Return the row of the view, in pixels, at a pitch in degrees, cut to the view."""
        up = pitch - camera.pitch
        if abs(up) >= 90:
            return 0.0 if up > 0 else camera.height
        return min(max(camera.height / 2 - camera.focal * tan(radians(up)), 0.0), camera.height)

    return floor(row(settings.highest_pitch)), ceil(row(settings.lowest_pitch))
