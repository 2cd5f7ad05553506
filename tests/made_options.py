"""A made benchmark that shows what kinds of options there can be; it has one episode."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from virl.bench.benchmark import BaseOptions, Benchmark, Metric, Scores, Tally
from virl.bench.episode import Episode, EpisodeResult, Record
from virl.bench.resources import Resources
from virl.console import echo


class Options(BaseOptions):
    flag: bool = False
    level: Literal["low", "high"] = "low"
    parts: tuple[int, ...] = ()
    maybe: int | None = None
    limit: int = 0
    """Taken by the engine."""
    who: str = Field("", json_schema_extra={"envvar": "MADE_WHO"})


def episodes(options: Options, resources: Resources) -> list[Episode]:
    return [Episode("only", "here", "it")]


def prepare(options: Options, resources: Resources) -> Options:
    return options


def run(episode: Episode, world: Options) -> EpisodeResult:
    return EpisodeResult({"parts": list(world.parts)})


def score(records: Sequence[Record], options: Options) -> Scores:
    return Scores({"parts": [Tally(record.case, sum(record.data["parts"])) for record in records]})


def twice(number: int) -> None:
    """Twice a number."""
    echo(str(2 * number))


BENCHMARK = Benchmark(
    name="made-options",
    title="Options",
    about="Whether options arrive.",
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    metrics=(Metric("parts", "parts", percent=False),),
    commands={"twice": twice},
)
