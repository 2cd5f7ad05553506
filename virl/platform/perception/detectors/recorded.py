"""Boxes from a file, as another detector or a person has drawn them: no model, no noise, no weights.

It repeats on any machine what a detector has found elsewhere, and runs agents on annotated panoramas.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator

from virl.errors import BadInput, ModelUnavailable
from virl.files.json_reading import JsonRecord
from virl.files.writing import JsonLines
from virl.platform.city.streetview import Box, Camera, View
from virl.platform.perception.base import Detection, plain_label
from virl.platform.perception.cameras import carry_box
from virl.platform.perception.detections import SettingsDetector, without_doubles
from virl.platform.perception.images import as_view, clip_box
from virl.platform.perception.registry import DetectorSettings, Kind, Needs
from virl.platform.perception.weights import load_once, models_home


class RecordedSettings(DetectorSettings):
    """Settings of the detector of recorded boxes."""

    kind: Literal["recorded"]
    boxes: str = Field(min_length=1)
    """Path of the file with the boxes; also looked for in `models` of the user's data folder."""
    min_score: float = Field(ge=0, le=1)
    """Least score of a box, [0, 1]."""
    min_seen: float = Field(gt=0, le=1)
    """Least share of a recorded box, [0, 1], that a view must show."""
    max_overlap: float | None = Field(ge=0, le=1)
    """Largest intersection over union, [0, 1], of two boxes of one label; `None` keeps all.
    Of two that share more, the better stays."""

    def needs(self) -> Needs:
        """Return the requirements: the file of boxes."""
        return Needs(files=(self.file,))

    @property
    def file(self) -> Path:
        """Path of the file with the boxes, which may be missing."""
        named, kept = Path(self.boxes).expanduser(), models_home() / self.boxes
        return kept if kept.is_file() and not named.is_file() else named


class _RecordedCamera(JsonRecord):
    """The direction, field of view and size of a recorded view's camera."""

    heading: float
    """Heading in degrees clockwise from north."""
    pitch: float = Field(0.0, ge=-90, le=90)
    """Pitch in degrees above the horizon."""
    fov: float = Field(90.0, ge=10, le=120)
    """Horizontal field of view in degrees."""
    width: int = Field(640, ge=16, le=2048)
    """Width of the view in pixels."""
    height: int = Field(640, ge=16, le=2048)
    """Height of the view in pixels."""

    @property
    def camera(self) -> Camera:
        """Camera of the view, its values checked."""
        return Camera(self.heading, self.pitch, self.fov, self.width, self.height)


class _RecordedBox(JsonRecord):
    """A recorded box with its label and score."""

    label: Annotated[str, Field(min_length=1)]
    """Label of the object in the box."""
    score: float = Field(1.0, ge=0, le=1)
    """Confidence of the detection, [0, 1]."""
    box: Box
    """Left, top, right, bottom in pixels of the view."""

    @field_validator("box")
    @classmethod
    def _has_area(cls, box: Box) -> Box:
        """Check that a box is left, top, right, bottom and has an area."""
        if not (box[0] < box[2] and box[1] < box[3]):
            raise ValueError("must be left, top, right, bottom with left < right and top < bottom")
        return box


class _RecordedView(JsonRecord):
    """A line of the file: the boxes found in one view of a panorama."""

    pano_id: Annotated[str, Field(min_length=1)]
    """Id of the panorama."""
    camera: _RecordedCamera
    """Camera of the view."""
    boxes: tuple[_RecordedBox, ...] = ()
    """Boxes found in the view; empty for none."""


class RecordedDetector(SettingsDetector[RecordedSettings]):
    """A detector that carries the recorded boxes of a panorama into each view, from a file."""

    def __init__(self, settings: RecordedSettings) -> None:
        """Use the file that the settings name, read when a box is first looked for."""
        self._settings = settings
        self._recorded = load_once(lambda: _read(settings.file))

    def detect(self, views: Sequence[View], labels: Sequence[str]) -> list[list[Detection]]:
        """Return the recorded boxes with one of `labels` in each view, best first.

        Labels are those of the file; case does not count, and underscores are spaces. None asks for all.

        Raises:
            ModelUnavailable: the file is missing, or has no line for a panorama.
            BadInput: a line of the file is damaged.
        """
        # Reversed, so that of labels with the same words the first one counts.
        asked = {plain_label(label): label for label in reversed(labels)}
        return [self._look(as_view(view), asked) for view in views]

    def _look(self, view: View, asked: Mapping[str, str]) -> list[Detection]:
        """Return the recorded boxes in a view with a label in `asked`, {words: label}; all if it is empty."""
        lines = self._recorded().get(view.pano_id)
        if lines is None:
            raise ModelUnavailable(
                f"{self._settings.file} has no line for panorama {view.pano_id!r}: record its boxes "
                "(an empty list where there are none), or use another detector"
            )
        found = [
            Detection(asked.get(plain_label(one.label), one.label), one.score, box)
            for line in lines
            for one in line.boxes
            if (not asked or plain_label(one.label) in asked)
            and one.score >= self._settings.min_score
            and (box := self._visible_part(one.box, line.camera.camera, view.camera))
        ]
        return without_doubles(found, self._settings.max_overlap)

    def _visible_part(self, recorded: Box, source: Camera, target: Camera) -> Box | None:
        """Return the part of a box of camera `source` in the view of `target`; `None` if under `min_seen`."""
        whole = recorded if source == target else carry_box(recorded, source, target)
        part = clip_box(whole, target.width, target.height) if whole else None
        if whole is None or part is None:
            return None
        share = (part[2] - part[0]) * (part[3] - part[1]) / ((whole[2] - whole[0]) * (whole[3] - whole[1]))
        return part if share >= self._settings.min_seen else None


def write_boxes(file: Path, found: Iterable[tuple[View, Sequence[Detection]]]) -> None:
    """Write (view, its detections) pairs to a new JSON lines file for the `recorded` detector.

    Raises:
        CannotWrite: the disk refuses.
    """
    file.unlink(missing_ok=True)
    lines = JsonLines(file, "record again", sync=False)
    for view, detections in found:
        line = _RecordedView(
            pano_id=view.pano_id,
            camera=_RecordedCamera(**asdict(view.camera)),
            boxes=tuple(_RecordedBox(label=one.label, score=one.score, box=one.box) for one in detections),
        )
        lines.append(line.model_dump_json())


def _read(file: Path) -> Mapping[str, Sequence[_RecordedView]]:
    """Return the recorded views in a file of boxes, by panorama id."""
    if not file.is_file():
        raise ModelUnavailable(
            f"the recorded detector has no file {file}: write one (docs/reference/models.md), or use "
            "another detector"
        )
    lines = JsonLines(file, "record again")
    by_panorama: dict[str, list[_RecordedView]] = {}
    for line in lines.read(_RecordedView.model_validate_json):
        by_panorama.setdefault(line.pano_id, []).append(line)
    if lines.torn.strip():
        raise BadInput(f"{file}, line {lines.count + 1}: is cut off: end it with a line break, or remove it")
    return by_panorama


KIND = Kind("detector", RecordedSettings, lambda settings, _: RecordedDetector(settings))
