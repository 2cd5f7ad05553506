"""Searches in `virl/Sight-v0` as a data set of Minari."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium
import minari
import numpy as np
from minari.data_collector import EpisodeBuffer

from virl.gym.walk import Seen

from .walkers import open_policy

EPISODES = 100
"""Number of searches that are held in memory before they are written; chosen."""


def record(
    dataset: str, city: str, walker: str, episodes: int, pixels: int, seed: int, advance: Callable[[], None]
) -> Any:
    """Record searches, and return the data set that Minari has of them.

    Args:
        dataset: id of the new data set.
        city: name of the town.
        walker: name of who searches.
        episodes: number of searches, 1 or more.
        pixels: width and height of what is seen.
        seed: that of the first search; the next has the next.
        advance: called after each search.
    """
    made = gymnasium.make("virl/Sight-v0", city=city, size=(pixels, pixels))
    kept = None
    for first in range(0, episodes, EPISODES):
        searches = []
        for number in range(first, min(first + EPISODES, episodes)):
            searches.append(_search(made, walker, seed + number, number))
            advance()
        if kept is not None:
            kept.update_dataset_from_buffer(searches)
            continue
        kept = minari.create_dataset_from_buffers(
            dataset,
            searches,
            made,
            algorithm_name=walker,
            description=f"Searches for shops by their signs in {city}, {pixels} pixels.",
            data_format="arrow",
            jpeg_encoding=False,
        )
    made.close()
    return kept


def _search(env: gymnasium.Env[Seen, np.int64], walker: str, seed: int, number: int) -> EpisodeBuffer:
    """Return Minari's record of one search; `number` is its id in the data set."""
    seen, info = env.reset(seed=seed)
    inner: Any = env.unwrapped
    policy, ended = open_policy(walker, inner, seed), False
    views, record = [seen], EpisodeBuffer(id=number, seed=seed, actions=[])
    while not ended:
        action = np.int64(policy(seen, info))
        seen, reward, stopped, cut, info = env.step(action)
        views.append(seen)
        for column, value in zip(
            (record.actions, record.rewards, record.terminations, record.truncations),
            (action, reward, stopped, cut),
            strict=True,
        ):
            column.append(value)
        ended = stopped or cut
    return replace(record, observations={name: [one[name] for one in views] for name in seen})
