"""A walker of `virl/Sight-v0` that learns by PPO of Stable-Baselines3 (Schulman et al., 2017)."""

import csv
import time
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from virl.console import SafeConsole
from virl.gym.sight import SightEnv
from virl.gym.walk import Seen

SHAPING = 0.02
"""Reward for each metre nearer; chosen: from start to goal about half of that for a success."""
LEARNING = {
    "n_steps": 128,
    "batch_size": 256,
    "n_epochs": 3,
    "gamma": 0.95,  # a search takes some ten actions
    "ent_coef": 0.01,
    "learning_rate": 3e-4,
}
"""Settings of PPO; the others are Stable-Baselines3's."""
POLICY, CURVE = "policy.zip", "curve.csv"
"""Names of the files that training writes."""
COLUMNS = ("steps", "seconds", "found", "reward", "actions")
"""Columns of the curve: so far; then the share found of the last 200 searches, means of the last 100."""


@dataclass(frozen=True, slots=True)
class Lessons:
    """Towns, pictures and limits of one training."""

    towns: tuple[str, ...]
    walkers: int
    """Number of walkers in each town."""
    pixels: int
    """Width and height of what is seen, in pixels."""
    black: bool
    """True if all pixels are black."""
    steps: int
    """Most actions of all walkers together."""
    minutes: float
    """Minutes after which learning ends."""
    seed: int


class BlackSight(SightEnv):
    """An environment that shows black pictures only."""

    def _observe(self) -> Seen:
        """Return an observation whose pixels are black."""
        return self.senses() | {"pixels": np.zeros((self.size[1], self.size[0], 3), np.uint8)}


class Recorder(BaseCallback):
    """A recorder of the learning curve, which also saves the policy, after each round.

    Args:
        folder: where both are written.
        lessons: of which this shows the progress.
        rows: the curve so far.
    """

    def __init__(self, folder: Path, lessons: Lessons, rows: list[tuple[Any, ...]]) -> None:
        super().__init__()
        self._folder, self._lessons, self._rows = folder, lessons, rows
        self._before = float(rows[-1][1]) if rows else 0.0
        self._began = time.monotonic()
        self._found: list[bool] = []
        columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
        self._bar = Progress(*columns, console=SafeConsole(stderr=True))
        self._task = self._bar.add_task("learning", total=1.0)

    @property
    def _seconds(self) -> float:
        """Seconds of learning, with those before it was resumed."""
        return self._before + time.monotonic() - self._began

    def _on_training_start(self) -> None:
        """Show the progress bar."""
        self._bar.start()

    def _on_step(self) -> bool:
        """Return whether to go on; note the searches that ended."""
        for info, done in zip(self.locals["infos"], self.locals["dones"], strict=True):
            if done:
                self._found.append(info["distance"] == 0 and not info["TimeLimit.truncated"])
        return self._seconds < 60 * self._lessons.minutes

    def _on_rollout_end(self) -> None:
        """Write a row of the curve, and save the policy."""
        ended = self.model.ep_info_buffer or [{"r": 0.0, "l": 0}]
        reward, actions = (float(np.mean([one[key] for one in ended])) for key in ("r", "l"))
        found = float(np.mean(self._found[-200:])) if self._found else 0.0
        row = self.num_timesteps, round(self._seconds), round(found, 3), round(reward, 3), round(actions, 1)
        self._rows.append(row)
        with (self._folder / CURVE).open("w", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *self._rows])
        self.model.save(self._folder / POLICY)
        done = max(row[0] / self._lessons.steps, row[1] / 60 / self._lessons.minutes)
        self._bar.update(self._task, completed=done, description=f"{row[0]} steps, {found:.0%} found")

    def _on_training_end(self) -> None:
        """Take the progress bar away."""
        self._bar.stop()


def learn(folder: Path, lessons: Lessons, *, resume: bool) -> None:
    """Train a policy; write it and its learning curve to a folder after each round.

    Args:
        folder: receives `policy.zip` and `curve.csv`.
        lessons: what is learned from, and how long.
        resume: goes on with the policy and the curve of the folder.
    """
    kind, size = BlackSight if lessons.black else SightEnv, (lessons.pixels, lessons.pixels)
    firsts = [kind(town, size=size, shaping=SHAPING) for town in lessons.towns]
    walkers = [deepcopy(first) for first in firsts for _ in range(lessons.walkers)]
    envs = DummyVecEnv([lambda walker=walker: Monitor(walker) for walker in walkers])
    rows: list[tuple[Any, ...]] = []
    if resume:
        learner = PPO.load(folder / POLICY, envs, device="cpu")
        with (folder / CURVE).open(newline="") as file:
            rows = [tuple(row) for row in csv.reader(file)][1:]
    else:
        learner = PPO("MultiInputPolicy", envs, seed=lessons.seed, device="cpu", **LEARNING)
    recorder = Recorder(folder, lessons, rows)
    left = max(lessons.steps - learner.num_timesteps, 0)
    learner.learn(left, callback=recorder, reset_num_timesteps=not resume)
