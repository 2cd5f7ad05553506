"""The benchmark `sight-learning`: episodes, runs and scores of searches in `virl/Sight-v0`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from virl.bench.benchmark import Benchmark, BenchOptions, Metric, Scores, Shown, Tally
from virl.bench.episode import Episode, EpisodeResult, Record
from virl.bench.resources import Resources, truth_of
from virl.geo.globe import LatLng
from virl.gym.sight import KINDS, SightEnv
from virl.platform.city.city import City
from virl.registry import first_line

from .walkers import WALKERS, check_walker, open_policy


class Options(BenchOptions):
    """Options of the benchmark of searches by signs."""

    models: tuple[str, ...] = Field(WALKERS, min_length=1)
    """Walkers to compare: `random`, `blind` (goes straight on without looking), `oracle` (shortest way), or
    the path of a policy.zip that `benchmarks.sight_learning.train` has saved."""
    count: int = Field(200, ge=1)
    """Number of searches in each city."""
    kinds: tuple[str, ...] = Field(KINDS, min_length=1)
    """Place types that are searched for."""
    pixels: int = Field(84, ge=16, le=2048)
    """Width and height of what is seen, in pixels."""
    max_steps: int = Field(40, ge=1)
    """Most actions of a search."""


@dataclass(frozen=True, slots=True)
class Towns:
    """The parts that episodes share: options and open cities."""

    options: Options
    cities: Mapping[str, City]


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """Return the searches of every walker in every city; all walkers get the same starts."""
    del resources
    return [
        Episode(f"search-{number:04}", name, model, {"seed": options.seed * 1_000_000 + number})
        for name in options.cities
        for number in range(options.count)
        for model in options.models
    ]


def prepare(options: Options, resources: Resources) -> Towns:
    """Open the cities.

    Raises:
        BadInput: a city has no truth, or there is no such file of a policy.
        ModelUnavailable: stable-baselines3 is not installed.
        UnknownName: there is no such walker.
    """
    for name in options.models:
        check_walker(name)
    cities = {name: resources.city(name) for name in options.cities}
    for city in cities.values():
        truth_of(city)
    return Towns(options, cities)


def run(episode: Episode, towns: Towns) -> EpisodeResult:
    """Walk one search to its end."""
    options, seed = towns.options, int(episode.payload["seed"])
    size = (options.pixels, options.pixels)
    env = SightEnv(towns.cities[episode.city], kinds=options.kinds, size=size, max_steps=options.max_steps)
    seen, info = env.reset(seed=seed)
    policy = open_policy(episode.model, env, seed)
    walked, first, ended, reward = [tuple(info["position"])], info["distance"], False, 0.0
    while not ended:
        seen, reward, stopped, cut, info = env.step(np.int64(policy(seen, info)))
        walked.append(tuple(info["position"]))
        ended = stopped or cut
    return EpisodeResult(
        {
            "kind": info["kind"],
            "found": reward > 0,
            "actions": len(walked) - 1,
            "stopped": bool(stopped),
            "metres_at_start": float(first),
            "metres_at_end": float(info["distance"]),
            "walked": [[float(lat), float(lng)] for lat, lng in walked],
        }
    )


def score(records: Sequence[Record], options: Options) -> Scores:
    """Score searches by the share that ended with a stop at a place of the kind."""
    del options
    return Scores(
        {
            "found": [Tally(one.case, float(one.data["found"])) for one in records],
            "actions": [Tally(one.case, float(one.data["actions"])) for one in records],
        }
    )


def show(record: Record) -> Shown:
    """Return what a search was for, how it ended, and its way."""
    data = record.data
    ended = "found" if data["found"] else "stopped elsewhere" if data["stopped"] else "ran out of actions"
    return Shown(
        ended,
        float(data["found"]),
        f"Find a place of the kind {data['kind']} by its sign.",
        facts=(
            ("actions", str(data["actions"])),
            ("metres to a success, at the start", f"{data['metres_at_start']:.0f}"),
            ("metres to a success, at the end", f"{data['metres_at_end']:.0f}"),
        ),
        path=tuple(LatLng(*position) for position in data["walked"]),
    )


BENCHMARK = Benchmark(
    name="sight-learning",
    title="Searches by signs",
    about=first_line(__name__),
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    metrics=(
        Metric("found", "found", about="share of searches that end with a stop at a place of the kind"),
        Metric("actions", "actions", percent=False, about="mean number of actions"),
    ),
    units="searches",
    bounds=("oracle",),
    typical_s=0.1,
)
