"""Train a walker of `virl/Sight-v0` by PPO of Stable-Baselines3; write its policy and its learning curve.

    python -m benchmarks.sight_learning.train --out FOLDER [--steps 1000000] [--minutes 60] [--seed 0] [--black]

It learns in Virlton's sisters; `virl bench sight-learning --model random --model FOLDER/policy.zip` scores it in
Virlton. With `--black` all pixels are black: what is learned without eyes. `docs/how-to/learn-to-walk.md` has
results.
"""

import csv
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from virl.gym.sight import SightEnv
from virl.gym.walk import Seen

TOWNS = ("virlbury", "virlmouth", "virlham", "virlstead")
"""Towns in which it learns."""
WALKERS = 5  # in each town; chosen
SHAPING = 0.02  # reward for each metre nearer; chosen: about half of a success from start to goal
LEARNING = {
    "n_steps": 128,
    "batch_size": 256,
    "n_epochs": 4,
    "gamma": 0.95,  # a search takes some ten actions
    "ent_coef": 0.01,
    "learning_rate": lambda left: 3e-4 * max(left, 0.1),
}
"""Settings of PPO; the others are Stable-Baselines3's."""


class Blindfold(gymnasium.ObservationWrapper[Seen, np.int64, Seen]):
    """An environment whose pixels are black."""

    def observation(self, observation: Seen) -> Seen:
        """Return an observation with black pixels."""
        return observation | {"pixels": np.zeros_like(observation["pixels"])}


class Curve(BaseCallback):
    """The learning curve: after each round the step, seconds, success of the last 200 episodes, and reward.

    Args:
        file: where it is written, as CSV.
        minutes: after which learning ends.
    """

    def __init__(self, file: Path, minutes: float) -> None:
        """Prepare a curve that is written to a file."""
        super().__init__()
        self._file, self._until = file, 60 * minutes
        self._began = time.monotonic()
        self._rows: list[tuple[Any, ...]] = [("steps", "seconds", "found", "reward", "actions")]
        self._found: list[bool] = []

    def _on_step(self) -> bool:
        """Note the episodes that ended, and return whether to go on."""
        for info, done in zip(self.locals["infos"], self.locals["dones"], strict=True):
            if done:
                self._found.append(info["distance"] == 0 and not info["TimeLimit.truncated"])
        return time.monotonic() - self._began < self._until

    def _on_rollout_end(self) -> None:
        """Write a row of the curve."""
        ended = self.model.ep_info_buffer or ()
        if not ended:
            return
        reward, actions = (float(np.mean([one[key] for one in ended])) for key in ("r", "l"))
        found = float(np.mean(self._found[-200:]))
        seconds = time.monotonic() - self._began
        self._rows.append(
            (self.num_timesteps, round(seconds), round(found, 3), round(reward, 3), round(actions, 1))
        )
        print(f"{self.num_timesteps:8} steps, {seconds:5.0f} s: found {found:.0%}, reward {reward:.2f}")
        with self._file.open("w", newline="") as out:
            csv.writer(out).writerows(self._rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and save a policy.

    Args:
        arguments: of the command line; by default those of the process.
    """
    options = _options(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    walkers = [walker for town in options.towns for walker in _walkers(town, options)]
    envs = DummyVecEnv([lambda walker=walker: Monitor(walker) for walker in walkers])
    learner = PPO("MultiInputPolicy", envs, seed=options.seed, device="cpu", **LEARNING)
    learner.learn(options.steps, callback=Curve(options.out / "curve.csv", options.minutes))
    learner.save(options.out / "policy.zip")
    print(f"policy: {options.out / 'policy.zip'}")


def _walkers(town: str, options: Namespace) -> list[gymnasium.Env[Seen, np.int64]]:
    """Return the walkers of a town, which share it."""
    first = SightEnv(town, size=(options.pixels, options.pixels), shaping=SHAPING)
    walkers = [first, *(deepcopy(first) for _ in range(options.walkers - 1))]
    return [Blindfold(walker) for walker in walkers] if options.black else [*walkers]


def _options(arguments: Sequence[str] | None) -> Namespace:
    """Return the options of the command line."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for policy and curve")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=60.0, help="learning ends after so many minutes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--towns", nargs="+", default=TOWNS)
    parser.add_argument("--walkers", type=int, default=WALKERS, help="walkers in each town")
    parser.add_argument("--pixels", type=int, default=84)
    parser.add_argument("--black", action="store_true", help="all pixels are black")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
