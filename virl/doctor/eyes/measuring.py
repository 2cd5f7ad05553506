"""One model over all labelled views, in a process of its own, so that its memory is its own."""

import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

from virl.doctor.eyes.labelled import LabelledSet, open_views, read_labelled
from virl.doctor.eyes.scoring import Tally, score_detections, score_lines, score_ranks
from virl.errors import VirlError
from virl.platform.city import Truth
from virl.platform.perception.base import Detection
from virl.platform.perception.models import ModelOptions, Models, look_scores, read_model
from virl.platform.perception.registry import Role
from virl.platform.place_types import types_20
from virl.platform.streetview import View

MEASURED: tuple[Role, ...] = ("detector", "recognizer", "reader", "describer")
SAMPLE_S = 0.02  # chosen
MB = 1e6


@dataclass(frozen=True, slots=True)
class Score:
    """Precision and recall at a threshold."""

    at: float | None
    """The threshold, [0, 1]; `None` where a model has none."""
    precision: float | None
    recall: float | None
    right: int
    found: int
    there: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What one model did."""

    name: str
    role: Role
    fault: str = ""
    """Why it could not run, in a line; then nothing below is given."""
    device: str = ""
    load_s: float = 0.0
    """Seconds until its first view was done."""
    images_per_s: float = 0.0
    """All views at once, in the batches of its file, once it was loaded."""
    memory_mb: float = 0.0
    """Megabytes that the process grew to at most, over what it had before."""
    gpu_mb: float | None = None
    """Megabytes of the GPU's memory at most; `None` without one."""
    first: Score | None = None
    second: Score | None = None
    of_label: dict[str, tuple[int, int]] = field(default_factory=dict)
    """For each label, the things found at the first threshold and those there."""
    found: tuple[tuple[Detection, ...], ...] = ()
    """What a detector found in each view."""


def measure(names: Sequence[tuple[Role, str]], folder: Path, options: ModelOptions) -> Iterator[Measured]:
    """Each model after the other, in a process of its own.

    Args:
        names: role and name of each.
        folder: of labelled views.
        options: device and downloads.
    """
    for role, name in names:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            asked = (role, name, folder, options.device, options.allow_downloads)
            yield pool.submit(measure_here, *asked).result()


def measure_here(role: Role, name: str, folder: Path, device: Any, allow_downloads: bool) -> Measured:
    """One model in this process; what keeps it from running is told in the result."""
    labelled = read_labelled(folder)
    views = open_views(folder, labelled)
    try:
        options = ModelOptions(device, allow_downloads, _truth(role, name, labelled))
        return _measured(role, name, labelled, views, Models(options))
    except VirlError as fault:
        return Measured(name, role, fault=str(fault))


def _measured(
    role: Role, name: str, labelled: LabelledSet, views: Sequence[View], models: Models
) -> Measured:
    chosen = [i for i, one in enumerate(labelled.views) if one.place_types or role != "recognizer"]
    shown, truths = [views[i] for i in chosen], [labelled.views[i] for i in chosen]
    with _memory() as grown:
        begun = perf_counter()
        run = _runner(role, name, labelled, models)
        run(shown[:1])
        load_s = perf_counter() - begun
        begun = perf_counter()
        results = run(shown)
        took = perf_counter() - begun
    first, second, tally = _scores(role, name, truths, results)
    return Measured(
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
    if role == "detector":
        at = look_scores(name)
        tallies = [score_detections(truths, results, least) for least in (at.first, at.second)]
        return _score(tallies[0], at.first), _score(tallies[1], at.second), tallies[0]
    if role == "recognizer":
        tally = score_ranks(truths, results, types_20())
    elif role == "reader":
        tally = score_lines(truths, results)
    else:
        return None, None, None
    return _score(tally, None), None, tally


def _score(tally: Tally, at: float | None) -> Score:
    return Score(at, tally.precision, tally.recall, tally.right, tally.found, tally.there)


def _truth(role: Role, name: str, labelled: LabelledSet) -> Truth | None:
    """What the simulated detector sees; no other model is told."""
    from virl.platform.providers import open_city  # noqa: PLC0415 - brings in the renderer

    settings = read_model(role, name)
    kinds = {settings.kind, *(read_model(*other).kind for other in settings.needs().models)}
    return open_city(labelled.city).truth if "simulated" in kinds else None


def _gpu_mb() -> float | None:
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return None
    return float(torch.cuda.max_memory_allocated()) / MB or None


@contextmanager
def _memory() -> Iterator[list[float]]:
    """Bytes that this process grows by at most within the block; sampled."""
    before, grown, ended = _resident(), [0.0], threading.Event()

    def sample() -> None:
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
    """Bytes of memory that this process has now."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return float(line.split()[1]) * 1024
    return 0.0
