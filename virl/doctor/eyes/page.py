"""What models did on labelled views: one table, as rows for a terminal and as a page beside the views."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image

from virl.doctor.eyes.labelled import LabelledSet, LabelledView, open_views
from virl.doctor.eyes.measuring import Measured, Score
from virl.extras import Late
from virl.files.writing import replace_file, write_whole
from virl.pages.pictures import embed
from virl.pages.shell import html_page, open_templates
from virl.pages.theme import rgb
from virl.platform.city.streetview import Image
from virl.platform.perception.base import Detection

cv2 = Late("cv2", extra="eyes")

PAGE, DATA, PICTURES = "check.html", "check.json", "checked"
COLUMNS = (
    "model", "role", "images/s", "load s", "memory MB", "GPU MB",
    "at", "precision", "recall", "at", "precision", "recall",
)  # fmt: skip
SHOWN = 4  # pictures of each detector; chosen
THEN = "check again"


def rows(results: Sequence[Measured]) -> list[tuple[str, ...]]:
    """Return a row of the table for each model, under `COLUMNS`; what a model does not have is a dash."""
    return [_model_row(one) for one in results]


def write_check(folder: Path, labelled: LabelledSet, results: Sequence[Measured]) -> Path:
    """Write `check.json` and the page `check.html` beside the views.

    Args:
        folder: of the views.
        labelled: what they truly show.
        results: of each model.

    Returns:
        The path of the page, which loads nothing.

    Raises:
        CannotWrite: the disk refuses.
        BadInput: a picture is missing.
    """
    plain = [{key: value for key, value in asdict(one).items() if key != "found"} for one in results]
    write_whole(folder / DATA, json.dumps(plain, indent=1).encode(), THEN)
    views = [view.pixels for view in open_views(folder, labelled)]
    pictures = {one.name: _pictures(folder, labelled, views, one) for one in results if one.found}
    embedded = embed(folder, [file for files in pictures.values() for file in files])
    context: Mapping[str, Any] = {
        "labelled": labelled,
        "columns": COLUMNS,
        "rows": rows(results),
        "results": results,
        "labels": sorted({label for one in results for label in one.of_label}),
        "pictures": {name: [embedded[file] for file in files] for name, files in pictures.items()},
    }
    templates = open_templates(Path(__file__).parent / "templates")
    page = html_page(templates, "check.html.j2", context)
    write_whole(folder / PAGE, page.encode(), THEN)
    return folder / PAGE


def _model_row(one: Measured) -> tuple[str, ...]:
    """Return the table's row of a model."""
    if one.fault:
        return (one.name, one.role, *("-" * (len(COLUMNS) - 2)))
    gpu = "-" if one.gpu_mb is None else f"{one.gpu_mb:.0f}"
    speed = f"{one.images_per_s:.3g}"
    return (
        one.name, one.role, speed, f"{one.load_s:.1f}", f"{one.memory_mb:.0f}", gpu,
        *_score_cells(one.first), *_score_cells(one.second),
    )  # fmt: skip


def _score_cells(score: Score | None) -> tuple[str, str, str]:
    """Return a score as text: threshold, precision and recall; dashes for None."""
    if score is None:
        return "-", "-", "-"
    at = "-" if score.at is None else f"{score.at:g}"
    return at, _show_share(score.precision), _show_share(score.recall)


def _show_share(share: float | None) -> str:
    """Return a share as a percentage in text; a dash for None."""
    return "-" if share is None else f"{share:.0%}"


def _pictures(folder: Path, labelled: LabelledSet, views: Sequence[Image], one: Measured) -> list[str]:
    """Return the views with most things to find, with the truth and what was found drawn in.

    Relative paths.
    """
    by_things = sorted(
        range(len(views)), key=lambda i: -sum(thing.clear for thing in labelled.views[i].things)
    )
    least = one.first.at if one.first and one.first.at is not None else 0.0
    files = []
    for i in by_things[:SHOWN]:
        file = f"{PICTURES}/{Path(one.name).stem}-{i:03d}.jpg"
        sure = [each for each in one.found[i] if each.score >= least]
        drawn = _draw_finds(views[i], labelled.views[i], sure)
        with replace_file(folder / file, THEN) as stream:
            PIL.Image.fromarray(drawn).save(stream, "JPEG", quality=85)
        files.append(file)
    return files


def _draw_finds(pixels: Image, view: LabelledView, found: Sequence[Detection]) -> Image:
    """Return the picture with boxes: clear things in one colour, what was found in another."""
    drawn = np.ascontiguousarray(pixels)
    for thing in view.things:
        if thing.clear:
            _draw_box(drawn, thing.box, "", rgb("good"))
    for one in found:
        _draw_box(drawn, one.box, f"{one.label} {one.score:.2f}", rgb("bad"))
    return drawn


def _draw_box(drawn: Image, box: Sequence[float], text: str, colour: tuple[int, int, int]) -> None:
    """Draw a box (left, top, right, bottom), pixels, with a text above it."""
    left, top, right, bottom = (round(side) for side in box)
    cv2.rectangle(drawn, (left, top), (right, bottom), colour, 2)
    if text:
        cv2.putText(
            drawn, text, (left, max(top - 5, 12)), cv2.FONT_HERSHEY_SIMPLEX, 0.5, colour, 1, cv2.LINE_AA
        )
