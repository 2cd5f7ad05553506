"""The made benchmark, whose episodes write a file each and whose models are measured by different things."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import made_benchmark
from made_benchmark import BENCHMARK, Options

from virl.bench.benchmark import Metric, Scores, Shown, Tally
from virl.bench.episode import Episode, EpisodeResult, Record
from virl.bench.resources import Resources

NAME = "made_additions:ADDED"


@dataclass(frozen=True)
class World:
    made: made_benchmark.World
    resources: Resources


def prepare(options: Options, resources: Resources) -> World:
    return World(made_benchmark.prepare(options, resources), resources)


def run(episode: Episode, world: World) -> EpisodeResult:
    folder = world.resources.folder(episode) / "run"
    folder.mkdir(parents=True)
    (folder / "what was said.txt").write_text(episode.id)
    return made_benchmark.run(episode, world.made)


def score(records: Sequence[Record], options: Options) -> Scores:
    """The two models are measured by different things."""
    key = "plain" if records[0].model == "sharp" else "other"
    return Scores({key: [Tally(record.case, float(record.data["right"])) for record in records]})


def show(record: Record) -> Shown:
    return Shown("done", links=(("what <it> said", "run/what was said.txt"), ("nothing", "run/missing.txt")))


ADDED = replace(
    BENCHMARK,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    published=(),
    metrics=(Metric("plain", "accuracy"), Metric("other", "another measure")),
)
