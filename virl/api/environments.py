"""Environments of Gymnasium by short names."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, overload

import gymnasium
import numpy as np

from virl.datasets.export.touchdown import exported_touchdown
from virl.errors import BadInput, UnknownName, check_keywords
from virl.gym.walk import Seen, Spot
from virl.platform.city.city import City
from virl.platform.city.graph import InstructionEpisode, NavigationGraph
from virl.platform.movers.discrete.actions import Rules
from virl.platform.providers.graph.city import find_data
from virl.platform.providers.graph.data_files import episode_faults
from virl.platform.providers.graph.touchdown import Dataset, load_touchdown, read_episode_file
from virl.resources import cache_home, data_home

DATASETS: tuple[Dataset, ...] = ("touchdown", "map2seq")


class WalkSettings(TypedDict, total=False):
    """Keyword arguments of `make_env("Walk")`, as `virl.gym.WalkEnv` describes them."""

    city: str | City
    start: Spot | None
    goal: Spot | None
    within: tuple[float, float]
    size: tuple[int, int]
    fov: float
    max_steps: int
    shaping: float
    render_mode: str | None


class SightSettings(TypedDict, total=False):
    """Keyword arguments of `make_env("Sight")`, as `virl.gym.SightEnv` describes them."""

    city: str | City
    kinds: tuple[str, ...]
    size: tuple[int, int]
    fov: float
    max_steps: int
    shaping: float
    render_mode: str | None


class StreetWalkSettings(TypedDict, total=False):
    """Keyword arguments of `make_env("StreetWalk")`: a data set, or a graph with episodes."""

    dataset: Dataset
    """Name of the data set: `"touchdown"`, the default, or `"map2seq"`."""
    scenario: Literal["seen", "unseen"]
    """Streets to walk: `"seen"`, those of the training episodes, or `"unseen"`, the default, others."""
    split: str
    """Name of the part of the data: `"dev"` by default."""
    data: str | Path | None
    """Folder of the data; `None` takes the installed data or, if none is, an export of the city Virlton."""
    graph: NavigationGraph
    """Graph to walk on instead of a data set's; needs `episodes`."""
    episodes: Sequence[InstructionEpisode]
    """Episodes on `graph`, instead of a data set's."""
    rules: Rules
    """Rules of the walk: which actions there are, what each does, and which are possible where."""
    max_actions: int
    """Most actions of an episode."""
    shaping: float
    """Reward for each link that the walker comes nearer to the target; 0 by default."""


ENVIRONMENTS = {"Walk": WalkSettings, "Sight": SightSettings, "StreetWalk": StreetWalkSettings}


@overload
def make_env(name: Literal["Walk"], **options: Unpack[WalkSettings]) -> gymnasium.Env[Seen, np.int64]: ...
@overload
def make_env(name: Literal["Sight"], **options: Unpack[SightSettings]) -> gymnasium.Env[Seen, np.int64]: ...
@overload
def make_env(
    name: Literal["StreetWalk"], **options: Unpack[StreetWalkSettings]
) -> gymnasium.Env[Seen, np.int64]: ...
def make_env(name: str, **options: Any) -> gymnasium.Env[Seen, np.int64]:
    """Return an environment of Gymnasium that virl registers, such as "Walk".

    Args:
        name: `"Walk"`, a walk to a goal by sight, `"Sight"`, a search for a kind of place by its sign, or
            `"StreetWalk"`, a walk by an instruction on a graph.
        options: as `WalkSettings`, `SightSettings` or `StreetWalkSettings` says.

    Raises:
        UnknownName: there is no such environment.
        BadInput: the data is not there, or a value is out of its range.
        ModelUnavailable: Gymnasium is not installed.
        TypeError: there is no such argument.

    Examples:
        >>> seen, info = virl.make_env("Walk").reset(seed=0)
    """
    if name not in ENVIRONMENTS:
        raise UnknownName("environment", name, list(ENVIRONMENTS))
    check_keywords(make_env, options, ENVIRONMENTS[name])
    if name == "StreetWalk" and "graph" not in options:
        return _street_walk(**options)
    return gymnasium.make(f"virl/{name}-v0", **options)


def _street_walk(
    dataset: Dataset = "touchdown",
    *,
    scenario: str = "unseen",
    split: str = "dev",
    data: str | Path | None = None,
    **options: Any,
) -> gymnasium.Env[Seen, np.int64]:
    """Return the environment `virl/StreetWalk-v0` with those episodes of a data set that its graph allows."""
    if dataset not in DATASETS:
        raise UnknownName("data set", dataset, DATASETS)
    if data is not None:
        folder = find_data("touchdown", Path(data).expanduser())
    elif (data_home() / "touchdown").is_dir():
        folder = find_data("touchdown")
    else:
        folder = exported_touchdown(cache_home())
    file = folder / f"{dataset}_{scenario}" / f"{split}.jsonl"
    if not file.is_file():
        there = sorted(f"{path.parent.name}/{path.stem}" for path in folder.glob("*_*/*.jsonl"))
        raise BadInput(f"{file}: no such file of episodes (found in {folder}: {', '.join(there) or 'none'})")
    graph = load_touchdown(folder / "graph")
    episodes = [one for one in read_episode_file(file).episodes if not episode_faults(graph, one)]
    return gymnasium.make("virl/StreetWalk-v0", graph=graph, episodes=episodes, dataset=dataset, **options)
