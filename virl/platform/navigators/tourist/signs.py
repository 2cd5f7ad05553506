"""Spotting landmarks by reading: what stands on signs, held against the names looked for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

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
"""Least likeness of words to a name, 0 to 100. Chosen: one letter in five may be misread."""

MIN_SHARE = 0.7
"""Least share of a name's letters on a sign; one that shows less, cut off or hidden, counts for less.
Chosen: the first word of a name of two is not enough."""

QUARTER_DEG = 90.0
"""Width in degrees of the part of the circle that is read at once.
The place of a sign in a view goes through the exact pinhole, so quarters tell eight directions as well as
eight views do."""

PITCHES = (-10.0, 34.0)
"""Pitches in degrees above the horizon of the lowest and the highest signs. Chosen."""

LETTER_M, READ_M = 0.2, 12.0
"""Height in metres of letters that are read, and distance in metres from which they are.
Chosen: the least that shops use for a name, and from the middle of a street to its other side."""

EDGE_PX = 2.0
"""Distance in pixels from a view's edge at which a sign may be cut off. Chosen."""


@dataclass(frozen=True, slots=True)
class Sign:
    """The words read on one sign, and where it was seen."""

    text: str
    heading: float
    """Direction of the sign's middle, degrees clockwise from north."""
    score: float
    """Confidence of the reading, [0, 1]."""
    camera: Camera
    """Camera through which the sign was read."""
    box: Box


class SignReader:
    """A reader of the signs around a panorama, which keeps the last view's signs.

    Args:
        streetview: where the views come from.
        reader: reads them.
        cheap: width and height of a view that costs less than others (`Capabilities.cheap_view`): one such
            view for each quarter of the circle is read then; letters have to be larger or nearer.
    """

    def __init__(self, streetview: StreetView, reader: Reader, cheap: tuple[int, int] | None = None) -> None:
        self._streetview = streetview
        self._reader = reader
        self._cheap = cheap
        self._read: dict[tuple[str, float], tuple[Sign, ...]] = {}

    def signs(self, pano_id: str, heading: float) -> tuple[Sign, ...]:
        """Return the signs in the quarter of the circle around a heading.

        Raises:
            NoImagery: there is no view there.
            ModelUnavailable: the reader is missing.
        """
        key = (pano_id, round(normalize_heading(heading), 3))
        if key not in self._read:
            views = [self._streetview.view(pano_id, camera) for camera in self._cameras(heading)]
            read = read_views(self._reader, views)
            self._read[key] = _merge_readings(
                sign for view, lines in zip(views, read, strict=True) for sign in signs_of(view.camera, lines)
            )
        return self._read[key]

    def _cameras(self, heading: float) -> list[Camera]:
        """Return the cameras that cover the quarter of a circle around a heading; one if views are cheap."""
        if self._cheap:
            return [Camera(heading, sum(PITCHES) / 2, QUARTER_DEG, *self._cheap)]
        return sign_cameras(heading)


def _same_box(box: Box) -> Box:
    """Return a box unchanged, for a reader that saw the view itself."""
    return box


def signs_of(
    camera: Camera, lines: Sequence[TextLine], placed: Callable[[Box], Box] = _same_box
) -> Iterator[Sign]:
    """Yield a sign for each line of text that a reader found in a view.

    Args:
        camera: of the view.
        lines: of the view, or of a picture made of it.
        placed: where a box of that picture is in the view.
    """
    for sign in group_lines(lines):
        box = placed(box_around(sign))
        heading, _ = camera.direction((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
        text = " ".join(line.text for line in sign)
        score = min(line.score for line in sign)
        yield Sign(text, heading, score, camera, box)


def _merge_readings(signs: Iterable[Sign]) -> tuple[Sign, ...]:
    """Return each sign once: a reading that no edge cuts, else the longest."""
    kept: list[Sign] = []
    for sign in sorted(signs, key=lambda sign: (_is_cut(sign), -len(sign.text), -sign.score)):
        if not any(_is_same(sign, other) for other in kept):
            kept.append(sign)
    return tuple(sorted(kept, key=lambda sign: sign.box))


def _is_cut(sign: Sign) -> bool:
    """Return whether the left or right edge of the view may cut off a sign."""
    return sign.box[0] <= EDGE_PX or sign.box[2] >= sign.camera.width - EDGE_PX


def _is_same(sign: Sign, other: Sign) -> bool:
    """Return whether two readings are of one board: their boxes share half of the smaller one."""
    there = carry_box(sign.box, sign.camera, other.camera)
    # Two boxes of one view are two boards: the lines of one were joined already.
    if sign.camera == other.camera or there is None:
        return False
    return share_in_common(there, other.box) >= SAME


@dataclass(frozen=True, slots=True)
class OcrSpotter:
    """A spotter of names on signs by OCR; looks left and right, and all around where thorough."""

    signs: SignReader

    @property
    def name(self) -> str:
        """Name of the spotter in tables: `"ocr"`."""
        return "ocr"

    def spot(self, pose: Pose, names: Sequence[str], *, thorough: bool) -> list[LandmarkSighting]:
        """Return the landmarks seen from a pose, each at most once, the surest first."""
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
    """Return how surely a text shows a name, 0 to 100: among its words, or with a part cut off.

    Args:
        text: the words read on one sign; what stands there beside the name does no harm.
        name: looked for; one that differs in a number is not meant.
    """
    if numbers_differ(text, name):
        return 0.0
    return max(
        _part_likeness(utils.default_process(text), utils.default_process(name)),
        _part_likeness(spelt(text), spelt(name)),
    )


def _part_likeness(read: str, known: str) -> float:
    """Return how well a name is read, 0 to 100; less if under `MIN_SHARE` of its letters is read."""
    if not read or not known:
        return 0.0
    if len(known) < 4:  # chosen: fewer letters are found by chance in many a word
        return 100.0 if known in read.split() else 0.0
    share = min(1.0, len(read) / len(known) / MIN_SHARE)
    return share * fuzz.partial_ratio(read, known)
