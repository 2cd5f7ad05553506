"""Environments by short names."""

from pathlib import Path
from typing import Any

import gymnasium

from virl.datasets.export.touchdown import exported_touchdown
from virl.errors import BadInput, UnknownName
from virl.platform.providers.graph.cache import load_touchdown
from virl.platform.providers.graph.episodes import episode_faults
from virl.platform.providers.graph.home import find_data
from virl.platform.providers.graph.touchdown import Dataset, read_episode_file
from virl.resources import cache_home, data_home

ENVIRONMENTS = ("Walk", "StreetWalk")
DATASETS: tuple[Dataset, ...] = ("touchdown", "map2seq")


def make_env(name: str, **options: Any) -> gymnasium.Env[Any, Any]:
    """Open an environment of Gymnasium that virl registers.

    Args:
        name: `"Walk"`, a walk to a goal by sight, or `"StreetWalk"`, a walk by an instruction on a graph.
        options: arguments of the environment. `Walk` takes those of `virl.gym.WalkEnv`, such as `city`,
            `start` and `goal`. `StreetWalk` takes `dataset` (`"touchdown"` or `"map2seq"`), `scenario`
            (`"seen"` or `"unseen"`, the default), `split` (`"dev"` by default) and `data` (the folder of the
            data; by default the installed one, else an export of Virlton), or `graph` and `episodes`; and
            `max_actions`, `rules` and `shaping`.

    Raises:
        UnknownName: there is no such environment.
        BadInput: the data is not there, or a value is out of its range.
        ModelUnavailable: Gymnasium is not installed.
    """
    short = name.removeprefix("virl/").removesuffix("-v0")
    if short not in ENVIRONMENTS:
        raise UnknownName("environment", name, ENVIRONMENTS)
    if short == "StreetWalk" and "graph" not in options:
        return street_walk(**options)
    return gymnasium.make(f"virl/{short}-v0", **options)


def street_walk(
    dataset: Dataset = "touchdown",
    *,
    scenario: str = "unseen",
    split: str = "dev",
    data: str | Path | None = None,
    **options: Any,
) -> gymnasium.Env[Any, Any]:
    """Open `virl/StreetWalk-v0` on the episodes of a data set that can be walked; raises as `make_env`."""
    if dataset not in DATASETS:
        raise UnknownName("data set", dataset, DATASETS)
    folder = _folder(data)
    file = folder / f"{dataset}_{scenario}" / f"{split}.jsonl"
    if not file.is_file():
        there = sorted(f"{path.parent.name}/{path.stem}" for path in folder.glob("*_*/*.jsonl"))
        raise BadInput(f"{file}: no such file of episodes (found in {folder}: {', '.join(there) or 'none'})")
    graph = load_touchdown(folder / "graph")
    episodes = [one for one in read_episode_file(file).episodes if not episode_faults(graph, one)]
    return gymnasium.make("virl/StreetWalk-v0", graph=graph, episodes=episodes, dataset=dataset, **options)


def _folder(given: str | Path | None) -> Path:
    if given is not None:
        return find_data("touchdown", Path(given).expanduser())
    installed = (data_home() / "touchdown").is_dir()
    return find_data("touchdown") if installed else exported_touchdown(cache_home())
