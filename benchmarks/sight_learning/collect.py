"""`python -m benchmarks.sight_learning.collect`."""

from dataclasses import replace
from typing import Annotated, Any, Literal

import gymnasium
import numpy as np
import typer

from virl.cli.guard import add_guard
from virl.console import SafeConsole, counting_bar, echo
from virl.extras import Late, require
from virl.gym.walk import Seen

from .walkers import open_policy

minari = Late("minari", extra="learn")
EPISODES = 100
"""Number of searches that are held in memory before they are written; chosen."""


@add_guard()
def main(
    dataset: Annotated[str, typer.Argument(help="Id of the new data set, such as virlton/sight/oracle-v0.")],
    city: Annotated[str, typer.Option(help="Town to search in.")] = "virlton",
    walker: Annotated[Literal["random", "blind", "oracle"], typer.Option(help="Who searches.")] = "oracle",
    episodes: Annotated[int, typer.Option(help="Number of searches.", min=1)] = 200,
    pixels: Annotated[int, typer.Option(help="Width and height of what is seen.", min=16, max=2048)] = 84,
    seed: Annotated[int, typer.Option(help="Seed of the first search; the next has the next.")] = 0,
) -> None:
    """Record searches in virl/Sight-v0 as a data set of Minari, in the folder MINARI_DATASETS_PATH."""
    require("learn", "minari", "pyarrow", what="recording")
    made = gymnasium.make("virl/Sight-v0", city=city, size=(pixels, pixels))
    kept = None
    with counting_bar("searches", episodes, SafeConsole(stderr=True)) as advance:
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
    if kept is not None:
        echo(f"{kept.total_episodes} searches, {kept.total_steps} actions: {kept.storage.data_path}")


def _search(env: gymnasium.Env[Seen, np.int64], walker: str, seed: int, number: int) -> Any:
    """Return Minari's record of one search; `number` is its id in the data set."""
    seen, info = env.reset(seed=seed)
    inner: Any = env.unwrapped
    policy, ended = open_policy(walker, inner, seed), False
    views, record = [seen], minari.data_collector.EpisodeBuffer(id=number, seed=seed, actions=[])
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


if __name__ == "__main__":
    typer.run(main)
