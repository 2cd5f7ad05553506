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
    """The parts that episodes share."""

    task: CountingTask
    grounds: Mapping[tuple[str, str], CountingGround]
    """Grounds by detector and city."""


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """Return every walk for each detector."""
    _ = options.task  # refused before a city is opened
    return [
        Episode(walk.id, name, detector, _to_payload(walk))
        for name in options.cities
        for walk in choose_walks(resources.city(name), options.routes, options.regions, options.seed)
        for detector in options.detector
    ]


def prepare(options: Options, resources: Resources) -> CountingGrounds:
    """Open the cities and the models, and look up the true things."""
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
    """Look at a walk once, and count it in every way."""
    walk = _walk(episode.case, episode.payload)
    return EpisodeResult(count_walk(shared.task, shared.grounds[episode.model, episode.city], walk))


def _to_payload(walk: CountedWalk) -> Data:
    """Return a walk as the data of its episode."""
    return asdict(walk) | {"corners": [[*corner] for corner in walk.corners]}


def _walk(name: str, payload: Data) -> CountedWalk:
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
    published=PUBLISHED,
    page=OwnPage(FILE, "Rules of visual memory, and every walk on a map", write_page, tables),
    typical_s=28.0,
    work="processes",
)
