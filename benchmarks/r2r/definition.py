"""The episodes of R2R: written directions, walked from viewpoint to viewpoint through buildings."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from virl.bench.benchmark import Benchmark, OwnPage, PageHead
from virl.bench.episode import Episode, Record
from virl.bench.report.walks_page import FILE, TITLE, write_walks_page
from virl.bench.resources import Resources
from virl.bench.walks import WalkScores, WalkWorld, run_walk, score_records, show_walk, walk_episodes
from virl.pages.numbers import show_share
from virl.platform.movers.discrete.actions import WalkState
from virl.registry import first_line

from .agents import open_agent
from .dataset import open_data
from .options import Options
from .published import METRICS, NAVGPT
from .score_file import score as score_file

ABOUT = "Viewpoints from above, north up, all storeys in one."
SUCCESS = "success"


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """Return an episode for each instruction of the split."""
    return walk_episodes(prepare(options, resources))


def prepare(options: Options, resources: Resources) -> WalkWorld:
    """Return the split's data and the agent, read and opened once."""
    return resources.make_once(("r2r", options), lambda: _open_world(options, resources))


def _open_world(options: Options, resources: Resources) -> WalkWorld:
    """Return the agent, graphs, instructions and scoring of a split's walks."""
    data = open_data(options.data, options.split)
    graphs = {scan: building.graph for scan, building in data.buildings.items()}
    return WalkWorld(
        agent=open_agent(data, options, resources),
        name=options.split,
        folder=data.folder,
        source=str(data.folder),
        graphs=graphs,
        ids=data.ids,
        instructions=data.episodes,
        faults=data.faults,
        attribution=data.attribution,
        start=lambda episode: WalkState(graphs[episode.scan].number(episode.start), episode.heading),
        score=lambda episode, walked: (
            data.buildings[episode.scan]
            .score([graphs[episode.scan].ids[node] for node in walked], episode.path)
            .finite()
        ),
        successes=(SUCCESS, "spl", "SDTW"),
    )


def figures(scores: WalkScores) -> Mapping[str, str]:
    """Return the metrics that a walk's page shows, as texts by heading."""
    error = "no way" if scores["nav_error"] is None else f"{scores['nav_error']:.1f} m"
    return {
        "way walked (TL)": f"{scores['trajectory_lengths']:.1f} m",
        "from end to goal (NE)": error,
        "success by length (SPL)": show_share(scores["spl"]),
        "likeness to gold path (nDTW)": show_share(scores["nDTW"]),
    }


def _write_page(path: Path, head: PageHead, records: Sequence[Record], options: Options) -> None:
    """Write the page that shows every walk from above."""
    buildings = open_data(options.data, options.split).buildings
    graphs = {scan: building.graph for scan, building in buildings.items()}
    write_walks_page(path, head, records, graphs, about=ABOUT, success=SUCCESS, figures=figures)


BENCHMARK = Benchmark(
    name="r2r",
    title="R2R",
    about=first_line(__name__),
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run_walk,
    score=partial(score_records, metrics=METRICS),
    show=partial(show_walk, success=SUCCESS, figures=figures),
    metrics=METRICS,
    units="walks",
    headline="success",
    bounds=("gold", "shortest"),
    published=(NAVGPT,),
    page=OwnPage(FILE, TITLE, _write_page),
    commands={"score": score_file},
    work="threads",
)
