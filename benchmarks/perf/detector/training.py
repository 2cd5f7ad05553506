"""The training of the detector: changed views, the loss, steps, checkpoints and a log.

One that is stopped and resumed gives the same curve. A view gets a crop at another scale, other light and
weather, and a worse camera. Cells answer for things by task-aligned assignment (TOOD, Feng et al. 2021): the
cells inside a thing's box whose score and box fit it best answer for it; they learn to score as well as their
boxes fit.
"""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from math import cos, pi
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from benchmarks.perf.detector.network import STRIDES, DetectorNetwork, Outputs, cell_middles
from benchmarks.perf.detector.restart import load_exported
from benchmarks.perf.detector.views import Floats, Sample, Views
from virl.errors import BadInput
from virl.geo.globe import Ints
from virl.platform.city.streetview import Image
from virl.platform.perception.detectors.rendered import CLASSES, INPUT_SIDE

CROP = 320
"""Pixels along a side of the pictures trained on. Chosen: such a crop costs 0.4 of a whole view."""
_SCALES = (0.65, 1.35)  # of a view, over that at which the network sees it later; chosen
_LEAST_SIDE, _LEAST_SHARE = 5.0, 0.25
"""Least shorter side, pixels of the crop, and visible share of a thing that should be found. Chosen."""
_BEST = 10  # cells a thing; TOOD takes 13, YOLOv8 10
_SCORE_POWER, _FIT_POWER = 0.5, 6.0  # of the alignment, as YOLOv8's
_BOX_WEIGHT, _CLASS_WEIGHT = 2.0, 1.0  # chosen
_ALPHA, _GAMMA = 0.75, 2.0  # of negatives: varifocal loss (Zhang et al. 2021, section 4.1)


@dataclass(frozen=True, slots=True)
class PictureTarget:
    """The things in one training picture, and which of them the network should find."""

    boxes: Tensor
    """Boxes of the things in pixels, (n, 4)."""
    classes: Tensor
    """Indices of the things' classes, (n,)."""
    counts: Tensor
    """True for each thing that counts, (n,); others are neither right nor wrong to find."""


CHECKPOINT, LOG = "checkpoint.pt", "log.jsonl"


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings of a training; all values are chosen."""

    cycles: tuple[int, ...] = (3000, 5000, 4000)
    """Steps of each cycle of the learning rate: warm restarts (SGDR, Loshchilov and Hutter 2017)."""
    batch: int = 16
    rate: float = 2e-3
    """Highest learning rate of AdamW; it rises over `warm_up` steps, then falls along a cosine."""
    warm_up: int = 200
    least_rate: float = 0.02
    """Learning rate at a cycle's end, as a share of `rate`."""
    decay: float = 0.03
    """Weight decay."""
    averaging: float = 0.998
    """Share of the averaged weights that is kept at each step."""
    seed: int = 0
    start: str = ""
    """SHA-256 of the exported network to start from; by default, from random weights."""
    first_views: int = 2400
    """Number of views that the first step draws from; each step adds `views_a_step`."""
    views_a_step: float = 1.6
    log_every: int = 20
    keep_every: int = 200

    @property
    def steps(self) -> int:
        """Number of steps of all cycles together."""
        return sum(self.cycles)

    @property
    def views(self) -> int:
        """Number of views that the last step draws from."""
        return int(self.first_views + self.views_a_step * self.steps)

    def rate_at(self, step: int) -> float:
        """Return the learning rate of a step, numbered from 0."""
        if step < self.warm_up:
            return self.rate * (step + 1) / self.warm_up
        cycle, first = 0, 0
        while step >= first + self.cycles[cycle]:
            first += self.cycles[cycle]
            cycle += 1
        rise = self.warm_up if cycle == 0 else 0
        done = (step - first - rise) / max(self.cycles[cycle] - rise, 1)
        return self.rate * (self.least_rate + (1 - self.least_rate) * (1 + cos(pi * done)) / 2)


class Training:
    """A training of the detector in a folder, which continues from the checkpoint there.

    Raises:
        BadInput: the checkpoint is of another recipe or other classes.
    """

    def __init__(self, folder: Path, views: Views, recipe: Recipe, start: Path | None = None) -> None:
        """Begin in `folder`, or go on from its checkpoint; raise BadInput if that is of another recipe.

        Args:
            folder: of the checkpoint and the log.
            views: to train on.
            recipe: settings of the training.
            start: exported network to begin with; by default, random weights.
        """
        if start:
            recipe = replace(recipe, start=sha256(start.read_bytes()).hexdigest())
        self._folder, self._views, self._recipe = folder, views, recipe
        folder.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(recipe.seed)
        network = DetectorNetwork(len(CLASSES))
        if start and not (folder / CHECKPOINT).exists():
            network = load_exported(start, torch.cat([self._batch(step)[0] for step in range(4)]))
        self.network = network.to(memory_format=torch.channels_last)
        self.average = deepcopy(self.network).eval().requires_grad_(requires_grad=False)
        self._optimizer = torch.optim.AdamW(
            _groups(self.network, recipe.decay), lr=recipe.rate, betas=(0.9, 0.99)
        )
        self.step = 0
        self._load_checkpoint()

    def run(self, until: int | None = None) -> None:
        """Train to the recipe's last step, or to the step `until`, with a log and checkpoints."""
        recipe = self._recipe
        last = min(until or recipe.steps, recipe.steps)
        middles = torch.cat([cell_middles(CROP // stride, CROP // stride, stride) for stride in STRIDES])
        started, used = perf_counter(), process_time()
        sums = np.zeros(2)
        for pictures, targets in self._batches(last):
            sums += self._learn(pictures, targets, middles)
            if self.step % recipe.log_every == 0:
                line = {
                    "step": self.step,
                    "class_loss": round(sums[0] / recipe.log_every, 5),
                    "box_loss": round(sums[1] / recipe.log_every, 5),
                    "rate": round(recipe.rate_at(self.step - 1), 7),
                    "seconds": round(perf_counter() - started, 1),
                    "cpu_seconds": round(process_time() - used, 1),
                }
                with (self._folder / LOG).open("a") as log:
                    log.write(json.dumps(line) + "\n")
                sums[:] = 0
            if self.step % recipe.keep_every == 0 or self.step == last:
                self._keep(sums)

    def _learn(self, pictures: Tensor, targets: list[PictureTarget], middles: Tensor) -> tuple[float, float]:
        """Train on one batch; return its (class loss, box loss). `middles`: of the cells, pixels."""
        self.network.train()
        for group in self._optimizer.param_groups:
            group["lr"] = self._recipe.rate_at(self.step)
        outputs = self.network(pictures)
        class_loss, box_loss = detection_loss(outputs, targets, middles)
        self._optimizer.zero_grad()
        (class_loss + box_loss).backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 10.0)
        self._optimizer.step()
        self.step += 1
        keep = min(self._recipe.averaging, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            for mean, now in zip(
                self.average.state_dict().values(), self.network.state_dict().values(), strict=True
            ):
                if mean.dtype.is_floating_point:
                    mean.lerp_(now, 1 - keep)
                else:
                    mean.copy_(now)
        return class_loss.item(), box_loss.item()

    def _batches(self, last: int) -> Iterator[tuple[Tensor, list[PictureTarget]]]:
        """Yield the batches from the current step to `last`, each made while the one before is used."""
        with ThreadPoolExecutor(1) as pool:
            coming = pool.submit(self._batch, self.step)
            for step in range(self.step, last):
                batch = coming.result()
                coming = pool.submit(self._batch, step + 1) if step + 1 < last else coming
                yield batch

    def _batch(self, step: int) -> tuple[Tensor, list[PictureTarget]]:
        """Return the pictures, (n, 3, height, width), and targets of a step, the same each time."""
        recipe = self._recipe
        there = min(len(self._views), int(recipe.first_views + recipe.views_a_step * step))
        pictures, targets = [], []
        for i in range(recipe.batch):
            rng = np.random.default_rng((recipe.seed, step, i))
            picture, *truth = crop(self._views[int(rng.integers(there))], rng)
            pictures.append(weather(picture, rng))
            targets.append(PictureTarget(*map(torch.from_numpy, truth)))
        stacked = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2)
        return stacked.float().contiguous(memory_format=torch.channels_last), targets

    def _keep(self, sums: "np.ndarray[Any, Any]") -> None:
        """Write a checkpoint, with the sums of losses since the last line of the log."""
        state = {
            "recipe": _plain(self._recipe),
            "classes": list(CLASSES),
            "step": self.step,
            "sums": sums.tolist(),
            "network": self.network.state_dict(),
            "average": self.average.state_dict(),
            "optimizer": self._optimizer.state_dict(),
        }
        path = self._folder / CHECKPOINT
        torch.save(state, path.with_suffix(".new"))
        path.with_suffix(".new").replace(path)

    def _load_checkpoint(self) -> None:
        """Load the folder's checkpoint, if any, and cut the log to its step."""
        path = self._folder / CHECKPOINT
        if not path.exists():
            (self._folder / LOG).unlink(missing_ok=True)
            return
        state = read_checkpoint(path)
        if state["recipe"] != _plain(self._recipe):
            raise BadInput(f"{path} was trained with another recipe: give the same recipe, or another folder")
        self.network.load_state_dict(state["network"])
        self.average.load_state_dict(state["average"])
        self._optimizer.load_state_dict(state["optimizer"])
        self.step = state["step"]
        lines = (self._folder / LOG).read_text().splitlines() if (self._folder / LOG).exists() else []
        kept = [line for line in lines if json.loads(line)["step"] <= self.step]
        (self._folder / LOG).write_text("".join(line + "\n" for line in kept))


def _plain(recipe: Recipe) -> dict[str, Any]:
    """Return a recipe as plain data, as a checkpoint holds it."""
    return {**asdict(recipe), "cycles": list(recipe.cycles)}


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Return the state of a training that a checkpoint holds.

    Raises:
        BadInput: the file is missing or none, or of other classes.
    """
    try:
        state: dict[str, Any] = torch.load(path, weights_only=True)
        classes = state["classes"]
    except Exception as fault:
        raise BadInput(
            f"{path}: not a checkpoint of this training ({type(fault).__name__}): give its checkpoint.pt"
        ) from fault
    if tuple(classes) != CLASSES:
        raise BadInput(f"{path}: its classes are not those of this version: train again")
    return state


def _groups(network: DetectorNetwork, decay: float) -> Sequence[dict[str, Any]]:
    """Return the optimizer's two groups of weights: convolutions, which decay, and all others."""
    parameters = list(network.parameters())
    return [
        {"params": [one for one in parameters if one.ndim > 1], "weight_decay": decay},
        {"params": [one for one in parameters if one.ndim <= 1], "weight_decay": 0.0},
    ]


def detection_loss(outputs: Outputs, targets: list[PictureTarget], middles: Tensor) -> tuple[Tensor, Tensor]:
    """Return (class loss, box loss) of n pictures, weighted; cells answer for things as assigned.

    Args:
        outputs: of the network.
        targets: of each picture.
        middles: of the cells, pixels, (m, 2).
    """
    scores = outputs.logits.detach().sigmoid()
    wanted = torch.zeros_like(outputs.logits)
    free = torch.zeros_like(outputs.logits, dtype=torch.bool)
    misfit, total = outputs.boxes.new_zeros(()), outputs.boxes.new_zeros(())
    for i, target in enumerate(targets):
        boxes, classes = target.boxes[target.counts], target.classes[target.counts]
        rest = ~target.counts
        others, cells = torch.nonzero(_contains(middles, target.boxes[rest]), as_tuple=True)
        free[i, cells, target.classes[rest][others]] = True
        if not len(boxes):
            continue
        with torch.no_grad():
            cells, things, quality = _assign(scores[i], outputs.boxes[i], boxes, classes, middles)
        wanted[i, cells, classes[things]] = quality
        free[i, cells, classes[things]] = False
        fit = generalized_iou(outputs.boxes[i, cells], boxes[things])
        misfit = misfit + ((1 - fit) * quality).sum()
        total = total + quality.sum()
    weight = torch.where(wanted > 0, wanted, _ALPHA * outputs.logits.sigmoid().detach() ** _GAMMA)
    weight = weight.masked_fill(free, 0.0)
    entropy = functional.binary_cross_entropy_with_logits(outputs.logits, wanted, reduction="none")
    total = total.clamp(min=1.0)
    return _CLASS_WEIGHT * (entropy * weight).sum() / total, _BOX_WEIGHT * misfit / total


def _assign(
    scores: Tensor, found: Tensor, boxes: Tensor, classes: Tensor, middles: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return (cells, the thing of each, the score each should get) for one picture, shapes (k,).

    Of m cells are `scores`, (m, classes), the boxes `found`, (m, 4), and `middles`, (m, 2); of n things are
    `boxes`, (n, 4), and `classes`, (n,).
    """
    inside = _contains(middles, boxes)
    # A thing too small to hold the middle of a cell gets the cell that is nearest.
    nearest = torch.cdist((boxes[:, :2] + boxes[:, 2:]) / 2, middles).argmin(1)
    inside[torch.arange(len(boxes)), nearest] = True
    overlap = iou(boxes[:, None], found[None]).clamp(min=1e-6)
    align = scores[:, classes].T ** _SCORE_POWER * overlap**_FIT_POWER * inside
    # Cells inside come before all others, even where their boxes do not fit at all.
    best = (align + inside * 1e-12).topk(min(_BEST, align.shape[1]), dim=1).indices
    chosen = torch.zeros_like(inside).scatter_(1, best, value=True) & inside
    rank = torch.where(chosen, overlap + 1e-3, torch.zeros_like(overlap))
    thing = rank.argmax(0)
    cells = torch.nonzero(chosen.any(0)).squeeze(1)
    things = thing[cells]
    mine = torch.zeros_like(chosen)
    mine[things, cells] = True
    top_align = (align * mine).amax(1).clamp(min=1e-12)
    top_overlap = (overlap * mine).amax(1)
    quality = align[things, cells] / top_align[things] * top_overlap[things]
    return cells, things, quality.clamp(min=1e-4)


def iou(a: Tensor, b: Tensor) -> Tensor:
    """Return the intersection over union of boxes (..., 4), left, top, right, bottom, broadcast."""
    shared, union, _ = _overlap(a, b)
    return shared / union


def generalized_iou(a: Tensor, b: Tensor) -> Tensor:
    """Return the GIoU (Rezatofighi et al. 2019) of boxes (..., 4), broadcast, in [-1, 1]."""
    shared, union, hull = _overlap(a, b)
    return shared / union - (hull - union) / hull


def _overlap(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the areas of two boxes' intersection, of their union, and of the box around both."""
    low, high = torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])
    shared = (high - low).clamp(min=0).prod(-1)
    union = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - shared
    around = torch.maximum(a[..., 2:], b[..., 2:]) - torch.minimum(a[..., :2], b[..., :2])
    return shared, union.clamp(min=1e-6), around.prod(-1).clamp(min=1e-6)


def _contains(middles: Tensor, boxes: Tensor) -> Tensor:
    """Return a mask of the cell middles (m, 2) inside each box (n, 4), shape (n, m)."""
    low = middles[None] > boxes[:, None, :2]
    return (low & (middles[None] < boxes[:, None, 2:])).all(-1)


def crop(sample: Sample, rng: np.random.Generator) -> tuple[Image, Floats, Ints, NDArray[np.bool_]]:
    """Return (picture, boxes, classes, which count) of a random part of a view, scaled, perhaps mirrored."""
    height, width = sample.picture.shape[:2]
    scale = INPUT_SIDE / max(height, width) * float(rng.uniform(*_SCALES))
    scale = max(scale, CROP / min(height, width))
    side = round(CROP / scale)
    left, top = _corner(sample, side, (width, height), rng)
    part = sample.picture[top : top + side, left : left + side]
    picture = cv2.resize(part, (CROP, CROP), interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    whole = (sample.boxes - np.array([left, top, left, top], np.float32)) * np.float32(CROP / side)
    boxes = np.clip(whole, 0, CROP)
    area, full = _area(boxes), np.maximum(_area(whole), 1e-6)
    inside = area > 0
    sides = np.minimum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1])
    counts = (sides >= _LEAST_SIDE) & (sample.shares * area / full >= _LEAST_SHARE)
    if rng.random() < 0.5:
        picture = np.ascontiguousarray(picture[:, ::-1])
        boxes = np.column_stack([CROP - boxes[:, 2], boxes[:, 1], CROP - boxes[:, 0], boxes[:, 3]])
    return np.asarray(picture, np.uint8), boxes[inside], sample.classes[inside], counts[inside]


def _corner(sample: Sample, side: int, size: tuple[int, int], rng: np.random.Generator) -> tuple[int, int]:
    """Return (left, top) in pixels of a crop of `side`, which mostly holds the middle of a thing."""
    room = np.array(size) - side
    at = rng.uniform(0, 1, 2) * room
    if len(sample.boxes) and rng.random() < 0.8:
        common = np.bincount(sample.classes)[sample.classes]
        box = sample.boxes[rng.choice(len(sample.boxes), p=(1 / common) / (1 / common).sum())]
        at = (box[:2] + box[2:]) / 2 - rng.uniform(0.1, 0.9, 2) * side
    left, top = np.clip(np.rint(at), 0, room).astype(int).tolist()
    return left, top


def _area(boxes: Floats) -> Floats:
    """Return the area of each box, shape (n,)."""
    return np.asarray((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]), np.float32)


def weather(picture: Image, rng: np.random.Generator) -> Image:
    """Return a picture in other light and weather, through a worse camera; one in five is unchanged."""
    if rng.random() < 0.2:
        return picture
    x = picture.astype(np.float32)
    if rng.random() < 0.8:
        x = _light(x, rng)
    if rng.random() < 0.15:
        fog = rng.uniform(0.1, 0.55)
        x = x * (1 - fog) + np.float32(rng.uniform(150, 230)) * fog
    if rng.random() < 0.25:
        x = np.asarray(cv2.GaussianBlur(x, (0, 0), float(rng.uniform(0.4, 1.4))), np.float32)
    if rng.random() < 0.25:
        x += rng.standard_normal(x.shape[:2], np.float32)[..., None] * np.float32(rng.uniform(2, 14))
    worse = np.clip(x, 0, 255).astype(np.uint8)
    if rng.random() < 0.3:
        quality = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(30, 90))]
        worse = np.asarray(cv2.imdecode(cv2.imencode(".jpg", worse, quality)[1], cv2.IMREAD_COLOR), np.uint8)
    return worse


def _light(x: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """Return a picture, values 0 to 255, with random exposure, contrast, saturation and colour."""
    grey = x.mean(axis=2, keepdims=True)
    x = grey + (x - grey) * np.float32(rng.uniform(0.3, 1.5))
    x = (x - 128) * np.float32(rng.uniform(0.6, 1.3)) + 128 + np.float32(rng.uniform(-25, 25))
    x = x * rng.uniform(0.85, 1.15, 3).astype(np.float32)
    curve = (np.linspace(0, 1, 256) ** rng.uniform(0.6, 1.7) * 255).astype(np.float32)
    return curve[np.clip(x, 0, 255).astype(np.uint8)]
