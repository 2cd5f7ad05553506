"""Finding places by the words on their signs."""

from collections.abc import Sequence
from math import ceil, floor, radians, tan
from typing import Literal

import numpy as np
from pydantic import Field
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from virl.platform.perception.base import Detection, Reader, TextLine
from virl.platform.perception.lexicon import Lexicon
from virl.platform.perception.models import Models, ModelSettings, Needs
from virl.platform.streetview import Box, Camera, View

SIGN = "sign"
"""The label of a sign whose words tell of no type. What is read without a letter is no sign: rows of windows
are often read as zeros."""

LINE_GAP = 0.8  # chosen: lines of one sign stand no further apart than this share of the lower line's height
WORD_GAP = 0.5  # chosen: as LINE_GAP, between parts of a line; two shops leave a wider gap
TAGLINE = 4.5  # chosen: a name is at most this many times as high as the line that goes with it
SAME_LINE = 1.8  # chosen: parts of one line differ in height by less than this


class SignDetectorSettings(ModelSettings):
    """Settings of the detector; `platform/models/sign-detector.yaml` gives the reasons for the values."""

    kind: Literal["sign-detector"]
    reader: str
    """Name of a reader in `platform/models`."""
    lexicon: str
    """Name of a lexicon in `platform/models`."""
    min_score: float = Field(ge=0, le=1)
    """Least score of a detection."""
    rival_share: float = Field(ge=0, le=1)
    """Least score of a type that was asked for, over that of the sign's best type."""
    lowest_pitch: float = Field(ge=-90, le=90)
    """Degrees above the horizon under which nothing is read."""
    highest_pitch: float = Field(ge=-90, le=90)
    """Degrees above the horizon over which nothing is read."""

    def needs(self) -> Needs:
        """Its reader and its lexicon."""
        return Needs(models=(("reader", self.reader), ("lexicon", self.lexicon)))


def open_sign_detector(settings: SignDetectorSettings, models: Models) -> "SignDetector":
    """The detector with its reader and its lexicon."""
    return SignDetector(models.reader(settings.reader), models.lexicon(settings.lexicon), settings)


class SignDetector:
    """Reads views, groups the lines into signs, and tells their place types by a lexicon."""

    def __init__(self, reader: Reader, lexicon: Lexicon, settings: SignDetectorSettings) -> None:
        self._reader = reader
        self._lexicon = lexicon
        self._settings = settings

    def detect(self, views: Sequence[View], labels: Sequence[str] = ()) -> list[list[Detection]]:
        """Signs of places in each view, best first; those that tell of no type last.

        Args:
            views: what to look at.
            labels: place types, with spaces or underscores, and `"sign"` for signs that tell of no type;
                empty asks for all of them. Other labels are never found.

        Raises:
            ModelUnavailable: the reader's model is missing.
        """
        rows = [_rows(view.camera, self._settings) for view in views]
        seen = [(view.pixels[top:bottom], top) for view, (top, bottom) in zip(views, rows, strict=True)]
        read = iter(self._reader.read([strip for strip, _ in seen if len(strip)]))
        return [
            self._judge([_lowered(line, top) for line in next(read)], labels) if len(strip) else []
            for strip, top in seen
        ]

    def _judge(self, lines: list[TextLine], labels: Sequence[str]) -> list[Detection]:
        asked = {_plain(label): label for label in labels}
        found = [self._name(sign, asked) for sign in group_lines(lines)]
        return sorted(
            (detection for detection in found if detection),
            key=lambda detection: (_plain(detection.label) == SIGN, -detection.score),
        )

    def _name(self, lines: list[TextLine], asked: dict[str, str]) -> Detection | None:
        """The detection that a sign amounts to, if any of those asked for."""
        text = " / ".join(line.text for line in lines)
        clarity = float(
            np.average([line.score for line in lines], weights=[len(line.text) for line in lines])
        )
        types = self._lexicon.classify(text.replace(" / ", " "))
        enough = max(types.values(), default=0.0) * self._settings.rival_share
        for place_type, score in types.items():
            if score * clarity < self._settings.min_score or score < enough:
                break
            if not asked or _plain(place_type) in asked:
                label = asked.get(_plain(place_type), place_type)
                return Detection(label, score * clarity, _around(lines), text)
        clear = any(score * clarity >= self._settings.min_score for score in types.values())
        if not clear and (not asked or SIGN in asked) and any(letter.isalpha() for letter in text):
            return Detection(SIGN, clarity, _around(lines), text)
        return None


def group_lines(lines: Sequence[TextLine]) -> list[list[TextLine]]:
    """Lines that stand on one sign, put together; each sign's lines run from top to bottom."""
    if not lines:
        return []
    together = csr_array([[_on_one_sign(a, b) for b in lines] for a in lines])
    count, sign_of = connected_components(together, directed=False)
    signs = [[line for line, sign in zip(lines, sign_of, strict=True) if sign == i] for i in range(count)]
    return [sorted(sign, key=_reading_order) for sign in signs]


def _on_one_sign(a: TextLine, b: TextLine) -> bool:
    low, high = sorted((_height(a), _height(b)))
    across = max(a.box[0], b.box[0]) - min(a.box[2], b.box[2])
    down = max(a.box[1], b.box[1]) - min(a.box[3], b.box[3])
    narrower = min(a.box[2] - a.box[0], b.box[2] - b.box[0])
    stacked = -across >= narrower / 2 and down <= LINE_GAP * low and high <= TAGLINE * low
    in_line = -down >= low / 2 and across <= WORD_GAP * low and high <= SAME_LINE * low
    return stacked or in_line


def _reading_order(line: TextLine) -> tuple[float, float]:
    return (line.box[1] + line.box[3]) / 2, line.box[0]


def _height(line: TextLine) -> float:
    return max(line.box[3] - line.box[1], 1.0)


def _around(lines: Sequence[TextLine]) -> Box:
    corners = np.array([line.box for line in lines])
    left, top = corners[:, :2].min(axis=0).tolist()
    right, bottom = corners[:, 2:].max(axis=0).tolist()
    return left, top, right, bottom


def _lowered(line: TextLine, rows: int) -> TextLine:
    left, top, right, bottom = line.box
    return TextLine(line.text, line.score, (left, top + rows, right, bottom + rows))


def _rows(camera: Camera, settings: SignDetectorSettings) -> tuple[int, int]:
    """First and last row that lie between the lowest and the highest pitch, at the middle column."""

    def row(pitch: float) -> float:
        up = pitch - camera.pitch
        if abs(up) >= 90:
            return 0.0 if up > 0 else camera.height
        return min(max(camera.height / 2 - camera.focal * tan(radians(up)), 0.0), camera.height)

    return floor(row(settings.highest_pitch)), ceil(row(settings.lowest_pitch))


def _plain(label: str) -> str:
    return label.strip().lower().replace(" ", "_")
