"""The episodes of Touchdown and Map2seq: written directions, walked through the streets of Manhattan."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from virl.bench.benchmark import Benchmark, OwnPage, PageHead
from virl.bench.episode import Episode, Record
from virl.bench.report.walks import FILE, TITLE, write_walks_page
from virl.bench.resources import Resources
from virl.bench.walks import WalkWorld, run_walk, score_records, show_walk, walk_episodes
from virl.platform.movement.discrete.task import start_state

from .agents import open_agent
from .dataset import name_of, open_data
from .options import Options
from .published import PUBLISHED
from .replay import replay
from .score import METRICS, SUCCESS, SUCCESSES, figures, score_walk
from .score_file import score as score_file

ABOUT = (
    "Episodes on the street map, north up. KPA* is the key point accuracy as the published code computes it."
)


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """Those of the split."""
    return walk_episodes(prepare(options, resources))


def prepare(options: Options, resources: Resources) -> WalkWorld:
    """Reads the data and makes the agent ready."""
    return resources.once(("touchdown", options), lambda: _open(options, resources))


def _open(options: Options, resources: Resources) -> WalkWorld:
    data = open_data(options.selection)
    return WalkWorld(
        agent=open_agent(data, options, resources),
        name=name_of(data, options.selection),
        folder=data.folder,
        source=data.source,
        graphs={"": data.graph},
        ids=data.ids,
        instructions=data.episodes,
        faults=data.faults,
        attribution=data.attribution,
        start=lambda episode: start_state(data.graph, episode, options.dataset),
        score=lambda episode, walked: score_walk(data.graph, episode, walked),
        successes=SUCCESSES,
    )


def write_page(path: Path, head: PageHead, records: Sequence[Record], options: Options) -> None:
    """Every episode on the street map."""
    graphs = {"": open_data(options.selection).graph}
    write_walks_page(path, head, records, graphs, about=ABOUT, success=SUCCESS, figures=figures)


BENCHMARK = Benchmark(
    name="touchdown",
    title="Touchdown and Map2seq",
    about="Follow written instructions through the streets of Manhattan.",
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run_walk,
    score=partial(score_records, metrics=METRICS),
    show=partial(show_walk, success=SUCCESS, figures=figures),
    metrics=METRICS,
    published=PUBLISHED,
    page=OwnPage(FILE, TITLE, write_page),
    commands={"score": score_file, "replay": replay},
    typical_s=0.3,
    work="threads",
)
