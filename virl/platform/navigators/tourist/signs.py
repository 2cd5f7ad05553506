"""Spotting landmarks by reading: the words on signs, compared with the names looked for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from rapidfuzz import fuzz, utils

from virl.geo.globe import normalize_heading
from virl.platform.city.names import numbers_differ, spelt
from virl.platform.city.streetview import Box, Camera, Pose, StreetView
from virl.platform.navigators.tourist.spotting import LandmarkSighting, surest
from virl.platform.perception.active import SAME
from virl.platform.perception.base import Reader, TextLine
from virl.platform.perception.cameras import carry_box, reading_cameras, share_in_common
from virl.platform.perception.kept_finds import read_views
from virl.platform.perception.signs import box_around, group_lines

MIN_RESEMBLANCE = 80.0
"""Least likeness, 0 to 100, at which words count as a name. Chosen: one letter in five may be misread."""
MIN_SHARE = 0.7
"""Share of a name's letters below which a text, as of a sign cut off, scores in proportion to its length.
Chosen: the first word of a name of two is not enough."""
QUARTER_DEG = 90.0
"""Width in degrees of the part of the circle that is read at once.
The place of a sign in a view goes through the exact pinhole, so quarters tell eight directions as well as
eight views do."""
PITCHES = (-10.0, 34.0)
"""Pitches in degrees above the horizon of the lowest and the highest signs. Chosen."""
LETTER_M, READ_M = 0.2, 12.0
"""(height in metres of the smallest letters read, distance in metres from which such letters are read).
Chosen: the least that shops use for a name, and from the middle of a street to its other side."""
EDGE_PX = 2.0
"""Distance in pixels from a view's edge at which a sign may be cut off. Chosen."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A sign that was read in a view."""

    text: str
    heading: float
    """Direction of the sign's middle, degrees clockwise from north."""
    score: float
    """Confidence of the reading, [0, 1]."""
    camera: Camera
    """Camera through which the sign was read."""
    box: Box


@dataclass(eq=False)
class SignReader:
    """A reader of the signs around panoramas, which reads each quarter of the circle once."""

    streetview: StreetView
    reader: Reader
    cheap: tuple[int, int] | None = None
    """(width, height) in pixels of a view that costs less (`Capabilities.cheap_view`); `None` for any view.
    One such view is read for each quarter of the circle, and letters have to be larger or nearer."""
    _read: dict[tuple[str, float], tuple[Sign, ...]] = field(default_factory=dict)

    def signs(self, pano_id: str, heading: float) -> tuple[Sign, ...]:
        """Return the signs in the quarter of the circle around a heading at a panorama, each once.

        Raises:
            NoImagery: there is no view of the panorama.
            ModelUnavailable: the reader is missing.
        """
        key = (pano_id, round(normalize_heading(heading), 3))
        if key not in self._read:
            cameras = sign_cameras(heading)
            if self.cheap:
                cameras = [Camera(heading, sum(PITCHES) / 2, QUARTER_DEG, *self.cheap)]
            views = [self.streetview.view(pano_id, camera) for camera in cameras]
            read = read_views(self.reader, views)
            self._read[key] = _merge_readings(
                sign for view, lines in zip(views, read, strict=True) for sign in signs_of(view.camera, lines)
            )
        return self._read[key]


def signs_of(
    camera: Camera, lines: Sequence[TextLine], to_view: Callable[[Box], Box] | None = None
) -> Iterator[Sign]:
    """Yield the signs that lines of text in a view make; lines of one sign are joined.

    Args:
        camera: camera of the view.
        lines: lines read in the view, or in a picture made from it.
        to_view: returns where a box in that picture is in the view; `None` if the view itself was read.
    """
    for sign in group_lines(lines):
        box = box_around(sign)
        if to_view:
            box = to_view(box)
        heading, _ = camera.direction((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
        text = " ".join(line.text for line in sign)
        score = min(line.score for line in sign)
        yield Sign(text, heading, score, camera, box)


def _merge_readings(signs: Iterable[Sign]) -> tuple[Sign, ...]:
    """Return one reading of each sign: one that no edge cuts off, else the longest."""
    kept: list[Sign] = []

    def is_cut(sign: Sign) -> bool:
        """Return whether the left or right edge of the view may cut off a sign."""
        return sign.box[0] <= EDGE_PX or sign.box[2] >= sign.camera.width - EDGE_PX

    for sign in sorted(signs, key=lambda sign: (is_cut(sign), -len(sign.text), -sign.score)):
        if not any(_is_same(sign, other) for other in kept):
            kept.append(sign)
    return tuple(sorted(kept, key=lambda sign: sign.box))


def _is_same(sign: Sign, other: Sign) -> bool:
    """Return whether readings in two views are of one sign: they have half the smaller box in common."""
    there = carry_box(sign.box, sign.camera, other.camera)
    # Two boxes of one view are two boards: the lines of one were joined already.
    if sign.camera == other.camera or there is None:
        return False
    return share_in_common(there, other.box) >= SAME


@dataclass(frozen=True, slots=True)
class OcrSpotter:
    """A spotter of names on signs by OCR; looks left and right, and all around where thorough."""

    signs: SignReader

    name: ClassVar[str] = "ocr"
    """Name of the spotter in tables."""

    def spot(self, pose: Pose, names: Sequence[str], *, thorough: bool) -> list[LandmarkSighting]:
        """Return the landmarks seen left and right of a pose, all around if `thorough`, the surest first."""
        if not names:
            return []
        turns = (0.0, 90.0, 180.0, -90.0) if thorough else (90.0, -90.0)
        return surest(
            [
                LandmarkSighting(
                    name, sign.heading, sign.score * likeness / 100.0, sign.camera, sign.box, sign.text
                )
                for turn in turns
                for sign in self.signs.signs(pose.pano_id, pose.heading + turn)
                for name in names
                if (likeness := name_likeness(sign.text, name)) >= MIN_RESEMBLANCE
            ]
        )


def sign_cameras(heading: float) -> list[Camera]:
    """Return the cameras through which signs are read in the quarter of the circle around a heading."""
    return reading_cameras(heading, QUARTER_DEG, PITCHES, LETTER_M, READ_M)


def name_likeness(text: str, name: str) -> float:
    """Return how well a text read on one sign shows a name, 0 to 100, whole or with a part cut off.

    Words beside the name do no harm; a name with another number than the text's scores 0.
    """
    if numbers_differ(text, name):
        return 0.0
    return max(
        _part_likeness(utils.default_process(text), utils.default_process(name)),
        _part_likeness(spelt(text), spelt(name)),
    )


def _part_likeness(read: str, known: str) -> float:
    """Return how well a normalised text shows a name, 0 to 100; less below `MIN_SHARE` of its length."""
    if not read or not known:
        return 0.0
    if len(known) < 4:  # chosen: fewer letters are found by chance in many a word
        return 100.0 if known in read.split() else 0.0
    share = min(1.0, len(read) / len(known) / MIN_SHARE)
    return share * fuzz.partial_ratio(read, known)
