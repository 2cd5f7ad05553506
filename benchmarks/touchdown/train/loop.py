"""The training: epochs of batches, each ended by an evaluation of the model, with checkpoints all along."""

import json
import math
import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from rich.progress import Progress as Bar

from virl.bench.metrics.paths import score_walks
from virl.bench.statistics import mean_with_interval
from virl.files.writing import PARTIAL, JsonLines, refusals_in_a_line, write_whole

from .chart import draw_curves
from .checkpoint import Progress, save_checkpoint
from .hyperparameters import Hyperparameters, Method
from .learner import Learner, Update
from .metrics import metrics_of, read_metrics
from .model import save_adapter
from .samples import Lessons
from .tokens import Sample
from .walking import Rollout, TrainingRoute, Walks
from .writer import GreedyWriter


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The figures of a model's walks on a split."""

    episodes: int
    tc: float
    """Task completion, [0, 1]; a walk cut off at a limit can complete the task, as in VELMA's code."""
    tc_low: float
    """Lower end of the task completion's 95 % bootstrap interval; `tc_high` is the upper end."""
    tc_high: float
    spd: float | None
    """Mean shortest path distance in links; `None` if no way leads from the end of some walk."""
    kpa: float
    kpa_published: float
    decisions: int
    """Number of actions that the model was asked for."""
    invalid: int
    """Number of replies that named no action."""
    stopped: int
    """Number of walks that ended with a stop."""
    too_long: int
    """Number of walks whose text grew beyond the cutoff."""
    tokens: int
    """Number of tokens that the model read."""


CURVES, CHECKPOINTS, BEST = "curves.svg", "checkpoints", "best"
"""Names of a training's further files in its folder: chart, checkpoints and best adapter."""

_RESUME = "go on with --resume"


@dataclass(slots=True)
class Training:
    """One training, new or resumed, with its model, episodes and progress.

    Args:
        method: `ft` learns the gold walks, `rbl` also from the model's own (Algorithm 1).
        hyperparameters: as the learner has them.
        learner: the model, and what trains it.
        lessons: makes samples.
        train: the episodes to learn from.
        dev: the episodes that choose the best epoch.
        out: folder of the training.
        progress: how far it has come.
    """

    method: Method
    hyperparameters: Hyperparameters
    learner: Learner
    lessons: Lessons
    train: Sequence[TrainingRoute]
    dev: Sequence[TrainingRoute]
    out: Path
    progress: Progress = field(default_factory=Progress)
    _sources: Counter[str] = field(default_factory=Counter)
    _metrics: JsonLines = field(init=False)
    _rolled_out: int = 0
    """Number of tokens that the model read in the walks of the current step."""

    def run(self, bar: Bar) -> None:
        """Train to the end of the last epoch, with checkpoints and evaluations.

        Raises:
            CannotWrite: the disk refuses; the last checkpoint is kept.
        """
        self._metrics = metrics_of(self.out, self.progress.metrics_size)
        steps = bar.add_task("training", total=self._total_steps, completed=self.progress.step)
        while self.progress.epoch < self.hyperparameters.epochs:
            for batch in self._batches_left():
                self._take_step(batch)
                bar.update(steps, completed=self.progress.step)
                if self.progress.step % self.hyperparameters.save_every == 0:
                    self._save()
            self._end_epoch(bar)
            self._save()

    @property
    def _steps_per_epoch(self) -> int:
        """Number of optimizer steps in an epoch."""
        return steps_per_epoch(len(self.train), self.hyperparameters)

    @property
    def _total_steps(self) -> int:
        """Number of optimizer steps in all epochs."""
        return self._steps_per_epoch * self.hyperparameters.epochs

    def _batches_left(self) -> Iterator[Sequence[TrainingRoute]]:
        """Yield the batches of this epoch that are left after the steps taken, in the seed's order."""
        epoch, size = self.progress.epoch, self.hyperparameters.batch_size
        draw = random.Random(f"{self.hyperparameters.seed} order {epoch}")
        order = draw.sample(self.train, len(self.train))
        done = self.progress.step - epoch * self._steps_per_epoch
        for begin in range(done * size, len(order), size):
            yield order[begin : begin + size]

    def _take_step(self, batch: Sequence[TrainingRoute]) -> None:
        """Learn from a batch, and record its figures."""
        begun = perf_counter()
        self._sources, self._rolled_out = Counter(), 0
        update = self.learner.update(self._samples(batch), len(batch), self.progress.step)
        seconds = perf_counter() - begun
        self.progress.step += 1
        self._note("update", seconds, self._update_data(update, seconds))

    def _samples(self, batch: Sequence[TrainingRoute]) -> Iterator[Sample]:
        """Yield the batch's samples: the model's own walk with probability `mixing`, else the gold walk."""
        writer = self._writer(self.hyperparameters.rollout_cutoff)
        for route in batch:
            seed = f"{self.hyperparameters.seed} mixing {self.progress.epoch} {route.episode.id}"
            chance = random.Random(seed)
            if self.method == "rbl" and chance.random() < self.hyperparameters.mixing:
                with self.learner.walking_mode():
                    rollout = self.lessons.walks.roll_out(route, writer)
                sample, source = self.lessons.sample_response(route, rollout)
                self._sources[source] += 1
            else:
                sample = self.lessons.gold(route)
                self._sources["gold"] += 1
            self._rolled_out = writer.fed
            yield sample

    def _writer(self, max_tokens: int) -> GreedyWriter:
        """Return a new writer of replies to prompts of at most `max_tokens` tokens."""
        return GreedyWriter(
            self.learner.model,
            self.lessons.encoder,
            max_reply_tokens=self.hyperparameters.max_reply_tokens,
            max_tokens=max_tokens,
        )

    def _update_data(self, update: Update, seconds: float) -> dict[str, Any]:
        """Return the figures of an update as data, with its tokens a second."""
        return asdict(update) | {
            "sources": dict(self._sources),
            "rollout_tokens": self._rolled_out,
            "tokens_per_second": round((update.tokens + self._rolled_out) / seconds, 1),
        }

    def _end_epoch(self, bar: Bar) -> None:
        """Measure the model on the dev routes, and keep its adapter if it is the best so far."""
        begun = perf_counter()
        task = bar.add_task(f"walks of epoch {self.progress.epoch + 1}", total=len(self.dev))
        writer = self._writer(self.hyperparameters.cutoff)
        with self.learner.walking_mode():
            found, rollouts = evaluate(self.lessons.walks, self.dev, writer, lambda: bar.advance(task))
        bar.remove_task(task)
        seconds = perf_counter() - begun
        self.progress.epoch += 1
        told = asdict(found) | {"tokens_per_second": round(found.tokens / seconds, 1)}
        self._note("dev", seconds, told)
        if found.tc > self.progress.best_tc:
            self.progress.best_tc, self.progress.best_epoch = found.tc, self.progress.epoch
            self._keep_best(found, [rollout.actions for rollout in rollouts])

    def _keep_best(self, found: Evaluation, actions: Sequence[Sequence[str]]) -> None:
        """Write the adapter, its evaluation and its walks' actions as the best so far."""
        best = self.out / BEST
        partial = best.with_name(best.name + PARTIAL)
        with refusals_in_a_line(best, _RESUME):
            shutil.rmtree(partial, ignore_errors=True)
            save_adapter(self.learner.model, partial)
            walked = {route.episode.id: list(done) for route, done in zip(self.dev, actions, strict=True)}
            told = {"epoch": self.progress.epoch, "dev": asdict(found), "actions": walked}
            (partial / "evaluation.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
            shutil.rmtree(best, ignore_errors=True)
            partial.rename(best)

    def _note(self, kind: str, seconds: float, told: dict[str, Any]) -> None:
        """Write a line of metrics, with seconds and peak memory in MiB."""
        self.progress.seconds += seconds
        line = {"kind": kind, "step": self.progress.step, "epoch": self.progress.epoch} | told
        line |= {"seconds": round(seconds, 3), "peak_memory_mib": peak_memory(self.learner.device)}
        self._metrics.append(json.dumps(line))
        self.progress.metrics_size = self._metrics.size

    def _save(self) -> None:
        """Write a checkpoint, and draw the chart of metrics."""
        save_checkpoint(self.out / CHECKPOINTS, self.learner, self.progress)
        draw(self.out)


def steps_per_epoch(samples: int, hyperparameters: Hyperparameters) -> int:
    """Return the number of optimizer steps in an epoch; the last one may have fewer samples."""
    return -(-samples // hyperparameters.batch_size)


def draw(out: Path) -> None:
    """Draw the chart `curves.svg` in a training's folder from `metrics.jsonl`."""
    write_whole(out / CURVES, draw_curves(read_metrics(out), out.name).encode(), _RESUME)


def peak_memory(device: torch.device) -> int | None:
    """Return the most memory used so far, MiB, of the GPU or else the process; `None` if it is unknown."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device)) >> 20
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415 - not on every system

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit >> 20


def evaluate(
    walks: Walks,
    routes: Sequence[TrainingRoute],
    writer: GreedyWriter,
    advance: Callable[[], None] = lambda: None,
) -> tuple[Evaluation, list[Rollout]]:
    """Let a model walk routes; return the figures of its walks, and the walks.

    Args:
        walks: how episodes are walked and told.
        routes: the episodes, at least one.
        writer: the model, in evaluation mode; a new one.
        advance: called as each walk ends.
    """
    rollouts = []
    for route in routes:
        rollouts.append(walks.roll_out(route, writer))
        advance()
    walked = ([state.node for state in rollout.states] for rollout in rollouts)
    gold = ([walks.graph.number(node) for node in route.episode.path] for route in routes)
    scores = score_walks(walks.graph, list(zip(walked, gold, strict=True)))
    tc, low, high = mean_with_interval([score.tc for score in scores])
    spd = math.fsum(score.spd for score in scores) / len(scores)
    found = Evaluation(
        episodes=len(routes),
        tc=tc,
        tc_low=low,
        tc_high=high,
        spd=spd if math.isfinite(spd) else None,
        kpa=math.fsum(score.kpa for score in scores) / len(scores),
        kpa_published=math.fsum(score.kpa_published for score in scores) / len(scores),
        decisions=sum(len(rollout.moves) - len(walks.opening_actions) for rollout in rollouts),
        invalid=sum(len(rollout.invalid) for rollout in rollouts),
        stopped=sum(rollout.is_stopped for rollout in rollouts),
        too_long=sum(rollout.too_long for rollout in rollouts),
        tokens=writer.fed,
    )
    return found, rollouts
