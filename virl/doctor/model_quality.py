"""Models measured on labelled views: the finds of each, held against the truth, and a page about all.

Each is measured in a process of its own, so that its memory is its own.
"""

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
import PIL.Image
from numpy.typing import NDArray
from rapidfuzz import fuzz, utils

from virl.doctor.labelled_views import LabelledSet, LabelledThing, LabelledView, open_views, read_labelled
from virl.errors import VirlError
from virl.extras import Late
from virl.files.writing import replace_file, write_whole
from virl.pages.numbers import show_share
from virl.pages.pictures import embed
from virl.pages.shell import html_page, open_templates
from virl.pages.theme import rgb
from virl.platform.city.city import Truth
from virl.platform.city.place_types import types_20
from virl.platform.city.streetview import Image, View
from virl.platform.perception.base import Detection, Role, TextLine, plain_label
from virl.platform.perception.cameras import intersection_over_union
from virl.platform.perception.models import ModelOptions, Models, look_scores, read_model
from virl.platform.perception.signs import SIGN, group_lines

cv2 = Late("cv2", extra="eyes")

FoundT = TypeVar("FoundT")
_SAME = 0.3
"""Least overlap (intersection over union, [0, 1]) at which a box shows a thing. Chosen.

A reader boxes the words, which are about half of the board that the truth boxes."""
_READ = 80.0
"""Least likeness, 0 to 100, at which words read count as a sign's words. Chosen, as for landmarks."""


@dataclass(slots=True)
class Tally:
    """The counts of a model's finds: right ones, all of them, and things that should be found."""

    right: int = 0
    """Number of things that were found, each counted once."""
    found: int = 0
    """Number of the model's finds, right or wrong, without those of things that are hard to see."""
    there: int = 0
    """Number of clear things in the views, which a model should find."""
    of_label: dict[str, tuple[int, int]] = field(default_factory=dict)
    """(number found, number there) of things by label."""

    @property
    def precision(self) -> float | None:
        """Share of finds that are right, [0, 1]; `None` without any find."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """Share of things that were found, [0, 1]; `None` if there was nothing to find."""
        return self.right / self.there if self.there else None


MEASURED: tuple[Role, ...] = ("detector", "recognizer", "reader", "describer")
SAMPLE_S = 0.02  # chosen
MB = 1e6


@dataclass(frozen=True, slots=True)
class Score:
    """The precision and recall of a model at one threshold of its scores, and the counts behind them."""

    at: float | None
    """Threshold of the model's scores, [0, 1]; `None` for models without scores."""
    precision: float | None
    recall: float | None
    right: int
    found: int
    there: int


@dataclass(frozen=True, slots=True)
class ModelMeasurement:
    """The measured speed, memory and quality of one model."""

    name: str
    role: Role
    fault: str = ""
    """Reason why the model could not run, in a line, with no measurements; empty if it ran."""
    device: str = ""
    load_s: float = 0.0
    """Seconds from loading the model until its first view is done."""
    images_per_s: float = 0.0
    """Number of views done a second by the loaded model, all passed at once and batched as its file says."""
    memory_mb: float = 0.0
    """Megabytes by which the process grew at most."""
    gpu_mb: float | None = None
    """Most megabytes of GPU memory that were used; `None` without a GPU."""
    first: Score | None = None
    second: Score | None = None
    of_label: dict[str, tuple[int, int]] = field(default_factory=dict)
    """(number found at the first threshold, number there) of things by label."""
    found: tuple[tuple[Detection, ...], ...] = ()
    """Detections in each view; empty for models that are no detectors."""


def measure(
    names: Sequence[tuple[Role, str]], folder: Path, options: ModelOptions
) -> Iterator[ModelMeasurement]:
    """Yield the measurements of each (role, name), each made in a process of its own.

    Args:
        names: role and name of each.
        folder: of labelled views.
        options: device and downloads.
    """
    for role, name in names:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            asked = (role, name, folder, options.device, options.allow_downloads)
            yield pool.submit(measure_here, *asked).result()


def measure_here(role: Role, name: str, folder: Path, device: Any, allow_downloads: bool) -> ModelMeasurement:
    """Return the measurements of one model in this process; `fault` is set if it cannot run.

    Args:
        role: of the model.
        name: of the model.
        folder: with labelled views.
        device: such as `cpu`; `None` chooses.
        allow_downloads: whether weights may be fetched.
    """
    labelled = read_labelled(folder)
    views = open_views(folder, labelled)
    try:
        options = ModelOptions(device, allow_downloads, _truth(role, name, labelled))
        return _run_model(role, name, labelled, views, Models(options))
    except VirlError as fault:
        return ModelMeasurement(name, role, fault=str(fault))


def _run_model(
    role: Role, name: str, labelled: LabelledSet, views: Sequence[View], models: Models
) -> ModelMeasurement:
    """Return the speed, memory and scores of a model on the labelled views that suit its role."""
    chosen = [i for i, one in enumerate(labelled.views) if one.place_types or role != "recognizer"]
    shown, truths = [views[i] for i in chosen], [labelled.views[i] for i in chosen]
    with _memory() as grown:
        begun = perf_counter()
        run = _runner(role, name, labelled, models)
        run(shown[:1])  # weights load at the first view
        load_s = perf_counter() - begun
        begun = perf_counter()
        results = run(shown)
        took = perf_counter() - begun
    first, second, tally = _scores(role, name, truths, results)
    return ModelMeasurement(
        name,
        role,
        device="cuda" if _gpu_mb() else "cpu",
        load_s=load_s,
        images_per_s=len(shown) / max(took, 1e-9),
        memory_mb=grown[0] / MB,
        gpu_mb=_gpu_mb(),
        first=first,
        second=second,
        of_label=tally.of_label if tally else {},
        found=tuple(map(tuple, results)) if role == "detector" else (),
    )


def _runner(role: Role, name: str, labelled: LabelledSet, models: Models) -> Any:
    """Return a function that runs the model of this role and name on views and returns its results."""
    if role == "detector":
        detector = models.detector(name)
        return lambda views: detector.detect(views, labelled.labels)
    if role == "recognizer":
        recognizer = models.recognizer(name)
        return lambda views: recognizer.recognize([view.pixels for view in views], types_20())
    if role == "reader":
        reader = models.reader(name)
        return lambda views: reader.read([view.pixels for view in views])
    describer = models.describer(name)
    return describer.describe


def _scores(
    role: Role, name: str, truths: Any, results: Any
) -> tuple[Score | None, Score | None, Tally | None]:
    """Return (score at the first threshold, at the second, counts); `None` for those a role lacks."""
    if role == "detector":
        at = look_scores(name)
        first = score_detections(truths, results, lambda label: at.of(label).first)
        second = score_detections(truths, results, lambda label: at.of(label).second)
        return _to_score(first, at.first), _to_score(second, at.second), first
    if role not in {"recognizer", "reader"}:
        return None, None, None
    is_reader = role == "reader"
    tally = score_lines(truths, results) if is_reader else score_ranks(truths, results, types_20())
    return _to_score(tally, None), None, tally


def _to_score(tally: Tally, at: float | None) -> Score:
    """Return counts as a score; `at` is the threshold, `None` for a model without scores."""
    return Score(at, tally.precision, tally.recall, tally.right, tally.found, tally.there)


def _truth(role: Role, name: str, labelled: LabelledSet) -> Truth | None:
    """Return the labelled town's ground truth if the model is, or uses, a simulated one; else `None`."""
    from virl.platform.providers import open_city  # noqa: PLC0415 - brings in the renderer

    settings = read_model(role, name)
    kinds = {settings.kind, *(read_model(*other).kind for other in settings.needs().models)}
    return open_city(labelled.city).truth if "simulated" in kinds else None


def _gpu_mb() -> float | None:
    """Return the most GPU memory that torch has used, megabytes; `None` if it has used none."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return None
    return float(torch.cuda.max_memory_allocated()) / MB or None


@contextmanager
def _memory() -> Iterator[list[float]]:
    """Yield a one-item list, set to the most bytes by which the process has grown in the block."""
    before, grown, ended = _resident(), [0.0], threading.Event()

    def sample() -> None:
        """Measure the growth of the process every `SAMPLE_S` seconds until the block ends."""
        while not ended.wait(SAMPLE_S):
            grown[0] = max(grown[0], _resident() - before)

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield grown
    finally:
        ended.set()
        sampler.join()
        grown[0] = max(grown[0], _resident() - before)


def _resident() -> float:
    """Return the bytes of memory that this process holds now; 0 if unknown."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return float(line.split()[1]) * 1024
    return 0.0


def score_detections(
    views: Sequence[LabelledView], found: Sequence[Sequence[Detection]], least: Callable[[str], float]
) -> Tally:
    """Return the tally of the detections in each view (`found`) whose score is `least(label)` or more.

    Each box is for the thing that it overlaps most. Each thing is found once; a second box of it is wrong.
    Boxes of things that are hardly seen, and signs that tell of no type, do not count.

    Args:
        views: with what they truly show.
        found: detections of each view.
        least: score of a label from which on a box counts.
    """
    tally = Tally()
    for view, detections in zip(views, found, strict=True):
        sure = [one for one in detections if one.score >= least(one.label) and plain_label(one.label) != SIGN]
        _count_finds(
            tally,
            view.things,
            sorted(sure, key=lambda one: -one.score),
            lambda one, thing: (
                intersection_over_union(one.box, thing.box)
                if plain_label(one.label) in {plain_label(label) for label in thing.labels}
                else 0.0
            ),
            _SAME,
        )
    return tally


def score_lines(views: Sequence[LabelledView], read: Sequence[Sequence[TextLine]]) -> Tally:
    """Return the counts of signs read; lines of text are grouped to signs, as agents read them."""
    tally = Tally()
    for view, lines in zip(views, read, strict=True):
        words = [" ".join(line.text for line in sign) for sign in group_lines(lines)]
        signs = [thing for thing in view.things if thing.text]
        _count_finds(tally, signs, words, lambda said, thing: _resemblance(said, thing.text), _READ)
    return tally


def score_ranks(views: Sequence[LabelledView], scores: NDArray[np.float32], labels: Sequence[str]) -> Tally:
    """Return the counts of views whose best-scored label is one of the types of the place shown.

    Args:
        views: with what they truly show.
        scores: shape (views, labels).
        labels: that the columns stand for.
    """
    tally = Tally()
    for view, row in zip(views, scores, strict=True):
        best = labels[int(row.argmax())]
        is_right = best in view.place_types
        tally.right, tally.found, tally.there = tally.right + is_right, tally.found + 1, tally.there + 1
        for label in view.place_types[:1]:
            right, there = tally.of_label.get(label, (0, 0))
            tally.of_label[label] = right + is_right, there + 1
    return tally


def _count_finds(
    tally: Tally,
    things: Sequence[LabelledThing],
    found: Sequence[FoundT],
    fit: Callable[[FoundT, LabelledThing], float],
    least: float,
) -> None:
    """Count a view's finds in `tally`; one is right if it `fit`s a clear thing best, by at least `least`."""
    hit: set[int] = set()
    for one in found:
        fits = [fit(one, thing) for thing in things]
        best = max(range(len(fits)), key=fits.__getitem__, default=None)
        if best is None or fits[best] < least:
            tally.found += 1
        elif things[best].clear:
            tally.found += 1
            tally.right += best not in hit
            hit.add(best)
    for number, thing in enumerate(things):
        if thing.clear:
            tally.there += 1
            right, there = tally.of_label.get(thing.labels[0], (0, 0))
            tally.of_label[thing.labels[0]] = right + (number in hit), there + 1


def _resemblance(said: str, text: str) -> float:
    """Return the likeness of a text read to a known one, 0 to 100; 0 if either is under 3 letters."""
    read, known = utils.default_process(said), utils.default_process(text)
    return fuzz.partial_ratio(read, known) if min(len(read), len(known)) >= 3 else 0.0


PAGE, DATA, PICTURES = "check.html", "check.json", "checked"
COLUMNS = (
    "model", "role", "images/s", "load s", "memory MB", "GPU MB",
    "at", "precision", "recall", "at", "precision", "recall",
)  # fmt: skip
SHOWN = 4  # pictures of each detector; chosen
THEN = "check again"


def rows(results: Sequence[ModelMeasurement]) -> list[tuple[str, ...]]:
    """Return a row of texts for each model, under `COLUMNS`; dashes where it has no value."""
    return [
        (one.name, one.role, *("-" * (len(COLUMNS) - 2)))
        if one.fault
        else (
            one.name, one.role, f"{one.images_per_s:.3g}", f"{one.load_s:.1f}", f"{one.memory_mb:.0f}",
            "-" if one.gpu_mb is None else f"{one.gpu_mb:.0f}",
            *_score_cells(one.first), *_score_cells(one.second),
        )
        for one in results
    ]  # fmt: skip


def write_check(folder: Path, labelled: LabelledSet, results: Sequence[ModelMeasurement]) -> Path:
    """Write `check.json` and `check.html` into the folder of the labelled views; return the page's path.

    Args:
        folder: of the views.
        labelled: what they truly show.
        results: of each model.

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


def _score_cells(score: Score | None) -> tuple[str, str, str]:
    """Return a score's threshold, precision and recall as texts; three dashes for `None`."""
    if score is None:
        return "-", "-", "-"
    at = "-" if score.at is None else f"{score.at:g}"
    return at, show_share(score.precision), show_share(score.recall)


def _pictures(
    folder: Path, labelled: LabelledSet, views: Sequence[Image], one: ModelMeasurement
) -> list[str]:
    """Write pictures of the views with most things to find, with a model's finds; return their paths."""
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
    """Return a picture with the clear things boxed in one colour and the detections in another."""
    drawn = np.ascontiguousarray(pixels)
    for thing in view.things:
        if thing.clear:
            _draw_box(drawn, thing.box, "", rgb("good"))
    for one in found:
        _draw_box(drawn, one.box, f"{one.label} {one.score:.2f}", rgb("bad"))
    return drawn


def _draw_box(drawn: Image, box: Sequence[float], text: str, colour: tuple[int, int, int]) -> None:
    """Draw a box (left, top, right, bottom), pixels, into the picture `drawn`, with `text` above it."""
    left, top, right, bottom = (round(side) for side in box)
    cv2.rectangle(drawn, (left, top), (right, bottom), colour, 2)
    if text:
        cv2.putText(
            drawn, text, (left, max(top - 5, 12)), cv2.FONT_HERSHEY_SIMPLEX, 0.5, colour, 1, cv2.LINE_AA
        )
