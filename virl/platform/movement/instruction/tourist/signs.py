"""Spotting landmarks by reading: what stands on signs, held against the names looked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, utils

from virl.geo import normalize_heading
from virl.platform.movement.instruction.tourist.spotting import LandmarkSighting, surest
from virl.platform.names import numbers_differ, spelt
from virl.platform.perception.base import Reader
from virl.platform.perception.signs import group_lines
from virl.platform.streetview import Box, Camera, Pose, StreetView, View

MIN_RESEMBLANCE = 80.0
"""Of 100: lets one letter in five be misread, as when places are matched to detections. Chosen."""

MIN_SHARE = 0.7
"""A sign that shows less of a name than this share of its letters, cut off or hidden, counts for less.
Chosen: the first word of a name of two is not enough."""

FOV_DEG, PITCH_DEG, WIDTH, HEIGHT = 90.0, 12.0, 640, 256
"""Of the four views that are read. Chosen: together they cover the whole circle, from 10 degrees below the
horizon to 34 above it, which is where signs hang; each costs 0.4 times as much as a square view. Where in a
view a sign is goes through the exact pinhole, so four views tell eight directions as well as eight do."""


@dataclass(frozen=True, slots=True)
class Sign:
    """Words read on one sign."""

    text: str
    heading: float
    """Of its middle: degrees clockwise from north."""
    score: float
    """Confidence of the reading, [0, 1]."""
    camera: Camera
    """Through which it was read."""
    box: Box


class SignReader:
    """Reads the signs around a panorama, each view once as long as it is asked for the same."""

    def __init__(self, streetview: StreetView, reader: Reader) -> None:
        self._streetview = streetview
        self._reader = reader
        self._read: dict[tuple[str, float], tuple[Sign, ...]] = {}

    def signs(self, pano_id: str, heading: float) -> tuple[Sign, ...]:
        """The signs in the quarter of the circle around a heading.

        Raises:
            NoImagery: there is no view there.
            ModelUnavailable: the reader is missing.
        """
        key = (pano_id, round(normalize_heading(heading), 3))
        if key not in self._read:
            view = self._streetview.view(pano_id, sign_camera(heading))
            self._read[key] = self._signs_of(view)
        return self._read[key]

    def _signs_of(self, view: View) -> tuple[Sign, ...]:
        (lines,) = self._reader.read([view.pixels])
        found = []
        for sign in group_lines(lines):
            corners = [line.box for line in sign]
            left, top = (min(box[i] for box in corners) for i in (0, 1))
            right, bottom = (max(box[i] for box in corners) for i in (2, 3))
            heading, _ = view.camera.direction((left + right) / 2, (top + bottom) / 2)
            text = " ".join(line.text for line in sign)
            score = min(line.score for line in sign)
            found.append(Sign(text, heading, score, view.camera, (left, top, right, bottom)))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class OcrSpotter:
    """Spots landmarks whose names stand on signs; looks left and right, all around where it is thorough."""

    signs: SignReader

    @property
    def name(self) -> str:
        """`"ocr"`."""
        return "ocr"

    def spot(self, pose: Pose, names: Sequence[str], *, thorough: bool) -> list[LandmarkSighting]:
        """As `LandmarkSpotter.spot`."""
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


def sign_camera(heading: float) -> Camera:
    """The camera through which signs are read in the quarter of the circle around a heading."""
    return Camera(heading, PITCH_DEG, FOV_DEG, WIDTH, HEIGHT)


def name_likeness(text: str, name: str) -> float:
    """How surely a sign shows a name, [0, 100]: the name within the words read, or most of the name cut off.

    Args:
        text: the words read on one sign; what stands there beside the name does no harm.
        name: looked for; one that differs in a number is not meant.
    """
    if numbers_differ(text, name):
        return 0.0
    return max(
        _likeness(utils.default_process(text), utils.default_process(name)),
        _likeness(spelt(text), spelt(name)),
    )


def _likeness(read: str, known: str) -> float:
    if not read or not known:
        return 0.0
    if len(known) < 4:  # chosen: fewer letters are found by chance in many a word
        return 100.0 if known in read.split() else 0.0
    share = min(1.0, len(read) / len(known) / MIN_SHARE)
    return share * fuzz.partial_ratio(read, known)
