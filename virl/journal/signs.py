"""The signs that a run's views show, as crops with what was read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from virl.journal.film import is_named, looks_of, named_by
from virl.journal.records import DetectionRecord, NoteRecord, Result, StepRecord
from virl.journal.story import Chapter, anchor_of, is_whole, moment_of, steps_in
from virl.pages.pictures import embed_crop

SIGN = "sign"
"""Label of the detections that are signs."""
MOST_SIGNS = 12
"""Most signs that a page shows. Chosen: two rows."""


@dataclass(frozen=True, slots=True)
class SignCrop:
    """A sign as a crop of the view that shows it largest."""

    text: str
    picture: str
    """Data URI of the crop."""
    of: str
    """Fragment of the address of the log's entry where it was read."""
    where: str
    """Step or note at which it was read, such as "Step 3"."""
    is_named: bool
    """True if the result names it."""


def sign_crops(folder: Path, told: Sequence[Chapter], result: Result | None) -> list[SignCrop]:
    """Return the signs in a story's views, each text once, those that the result of the run names first.

    Args:
        folder: of the run.
        told: the chapters of its story.
        result: of the run; `None` for one that has not ended.
    """
    said = named_by(result)
    largest: dict[str, tuple[DetectionRecord, str, StepRecord | NoteRecord, str]] = {}
    step = "Step 0" if any(map(steps_in, told)) else ""
    for one in told:
        step = f"Step {steps_in(one)[-1].step}" if steps_in(one) else step
        if not isinstance(one, StepRecord | NoteRecord):
            continue
        is_at_step = isinstance(one, StepRecord) or one.topic == "tool"
        where = (is_at_step and step) or moment_of(one)
        for view in looks_of(one):
            for found in view.detections:
                known = largest.get(found.text.casefold())
                is_larger = known is None or _width(found) > _width(known[0])
                if found.label == SIGN and found.text and is_larger and is_whole(found, view):
                    largest[found.text.casefold()] = found, view.file, one, where
    order = sorted(largest, key=lambda text: not is_named(text, said))[:MOST_SIGNS]
    crops = []
    for text in order:
        found, file, one, where = largest[text]
        if picture := embed_crop(folder, file, found.box):
            crops.append(SignCrop(found.text, picture, anchor_of(one), where, is_named(text, said)))
    return crops


def _width(found: DetectionRecord) -> float:
    """Return the width in pixels of what was found."""
    return found.box[2] - found.box[0]
