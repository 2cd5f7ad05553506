"""The episodes of the counting benchmark: a walk each, counted in every way that is compared."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from virl.bench.benchmark import Benchmark, OwnPage
from virl.bench.episode import Data, Episode, EpisodeResult
from virl.bench.resources import Resources, truth_of
from virl.geo.globe import LatLng
from virl.registry import first_line
from virl.routines.counting.rounds import memory_settings_for

from .count import CountingGround, CountingTask, count_walk
from .options import Options
from .published import PUBLISHED
from .score import METRICS, score, show
from .summary import FILE, tables, write_page
from .walks import CountedWalk, choose_walks


@dataclass(frozen=True, slots=True)
class CountingGrounds:
    """The task, and the cities with their models, that all episodes of a run share."""

    task: CountingTask
    grounds: Mapping[tuple[str, str], CountingGround]
    """City and models by (detector, city's name)."""


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """Return an episode for every walk in every city and each detector."""
    _ = options.task  # refused before a city is opened
    return [
        Episode(walk.id, name, detector, asdict(walk) | {"corners": [[*corner] for corner in walk.corners]})
        for name in options.cities
        for walk in choose_walks(resources.city(name), options.routes, options.regions, options.seed)
        for detector in options.detector
    ]


def prepare(options: Options, resources: Resources) -> CountingGrounds:
    """Return the opened cities and models, with the true things to count."""
    task = options.task
    memories = {one.memory: memory_settings_for(one.memory, options.matcher) for one in task.conditions}
    grounds = {}
    for name in options.cities:
        city = resources.city(name)
        truth = truth_of(city)
        things = tuple(truth.things(task.things))
        for detector in options.detector:
            eyes, matcher = resources.detector(detector, name), resources.matcher(options.matcher)
            grounds[detector, name] = CountingGround(city, truth, eyes, matcher, memories, things)
    return CountingGrounds(task, grounds)


def run(episode: Episode, shared: CountingGrounds) -> EpisodeResult:
    """Look along the episode's walk once, count it in every way, and return the data."""
    walk = _walk(episode.case, episode.payload)
    return EpisodeResult(count_walk(shared.task, shared.grounds[episode.model, episode.city], walk))


def _walk(name: str, payload: Data) -> CountedWalk:
    """Return the walk in an episode's payload, named by its case."""
    corners = tuple(LatLng(*corner) for corner in payload["corners"])
    return CountedWalk(name, payload["kind"], payload["start"], corners)


BENCHMARK = Benchmark(
    name="counting",
    title="Counting",
    about=first_line(__name__),
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    metrics=METRICS,
    units="walks",
    headline="virl_accuracy",
    published=PUBLISHED,
    page=OwnPage(FILE, "Rules of visual memory, and every walk on a map", write_page, tables),
    typical_s=28.0,
    work="processes",
)
