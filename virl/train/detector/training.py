"""The training: steps, checkpoints and a log. One that is stopped and resumed gives the same curve."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import asdict, dataclass
from math import cos, pi
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import torch
from torch import Tensor

from virl.errors import BadInput
from virl.platform.perception.detectors.rendered import CLASSES
from virl.train.detector.augment import CROP, crop, weather
from virl.train.detector.loss import PictureTarget, detection_loss
from virl.train.detector.network import STRIDES, DetectorNetwork, cell_middles
from virl.train.detector.views import Views

CHECKPOINT, LOG = "checkpoint.pt", "log.jsonl"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the training goes; all values chosen."""

    cycles: tuple[int, ...] = (3000, 3500)
    """Steps of each cycle of the learning rate: warm restarts (SGDR, Loshchilov and Hutter 2017)."""
    batch: int = 16
    rate: float = 2e-3
    """Highest learning rate of AdamW: a rise of `warm_up` steps, then a fall along a cosine in each cycle."""
    warm_up: int = 200
    least_rate: float = 0.02
    """Of the last step of a cycle, as a share of `rate`."""
    decay: float = 0.03
    """Weight decay."""
    averaging: float = 0.998
    """Share of the averaged weights that a step keeps, once training is under way."""
    seed: int = 0
    first_views: int = 2400
    """Views at the first step; each step adds `views_a_step` until all are there."""
    views_a_step: float = 1.6
    log_every: int = 20
    keep_every: int = 200

    @property
    def steps(self) -> int:
        """Of all cycles."""
        return sum(self.cycles)

    @property
    def views(self) -> int:
        """How many views the last step chooses from."""
        return int(self.first_views + self.views_a_step * self.steps)

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, the first of which is 0."""
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
    """A training in a folder: goes on from the checkpoint there, if there is one.

    Args:
        folder: of the checkpoint and the log.
        views: to learn from.
        recipe: how.

    Raises:
        BadInput: the checkpoint is of another recipe or other classes.
    """

    def __init__(self, folder: Path, views: Views, recipe: Recipe) -> None:
        self._folder, self._views, self._recipe = folder, views, recipe
        folder.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(recipe.seed)
        self.network = DetectorNetwork(len(CLASSES)).to(memory_format=torch.channels_last)
        self.average = deepcopy(self.network).eval().requires_grad_(requires_grad=False)
        self._optimizer = torch.optim.AdamW(
            _groups(self.network, recipe.decay), lr=recipe.rate, betas=(0.9, 0.99)
        )
        self.step = 0
        self._go_on()

    def run(self, until: int | None = None) -> None:
        """Train to the last step of the recipe, or to `until`."""
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
        """The batches of the steps to come, each made while the one before is learnt from."""
        with ThreadPoolExecutor(1) as pool:
            coming = pool.submit(self._batch, self.step)
            for step in range(self.step, last):
                batch = coming.result()
                coming = pool.submit(self._batch, step + 1) if step + 1 < last else coming
                yield batch

    def _batch(self, step: int) -> tuple[Tensor, list[PictureTarget]]:
        recipe = self._recipe
        there = min(len(self._views), int(recipe.first_views + recipe.views_a_step * step))
        pictures, targets = [], []
        for i in range(recipe.batch):
            rng = np.random.default_rng((recipe.seed, step, i))
            picture, boxes, classes, counts = crop(self._views[int(rng.integers(there))], rng)
            pictures.append(weather(picture, rng))
            targets.append(
                PictureTarget(torch.from_numpy(boxes), torch.from_numpy(classes), torch.from_numpy(counts))
            )
        stacked = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2)
        return stacked.float().contiguous(memory_format=torch.channels_last), targets

    def _keep(self, sums: "np.ndarray[Any, Any]") -> None:
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

    def _go_on(self) -> None:
        path = self._folder / CHECKPOINT
        if not path.exists():
            (self._folder / LOG).unlink(missing_ok=True)
            return
        state = read_checkpoint(path)
        if state["recipe"] != _plain(self._recipe):
            raise BadInput(f"{path} is of another recipe: give the same one, or another folder")
        self.network.load_state_dict(state["network"])
        self.average.load_state_dict(state["average"])
        self._optimizer.load_state_dict(state["optimizer"])
        self.step = state["step"]
        lines = (self._folder / LOG).read_text().splitlines() if (self._folder / LOG).exists() else []
        kept = [line for line in lines if json.loads(line)["step"] <= self.step]
        (self._folder / LOG).write_text("".join(line + "\n" for line in kept))


def _plain(recipe: Recipe) -> dict[str, Any]:
    """The recipe as a checkpoint holds it: its cycles are a list there."""
    return {**asdict(recipe), "cycles": list(recipe.cycles)}


def read_checkpoint(path: Path) -> dict[str, Any]:
    """What a training kept.

    Raises:
        BadInput: the file is missing or none, or of other classes.
    """
    try:
        state: dict[str, Any] = torch.load(path, weights_only=True)
        classes = state["classes"]
    except Exception as fault:
        raise BadInput(f"{path}: no checkpoint of this training ({type(fault).__name__})") from fault
    if tuple(classes) != CLASSES:
        raise BadInput(f"{path}: its classes are not those of this version")
    return state


def _groups(network: DetectorNetwork, decay: float) -> Sequence[dict[str, Any]]:
    """Weights of convolutions decay; offsets and norms do not."""
    parameters = list(network.parameters())
    return [
        {"params": [one for one in parameters if one.ndim > 1], "weight_decay": decay},
        {"params": [one for one in parameters if one.ndim <= 1], "weight_decay": 0.0},
    ]
