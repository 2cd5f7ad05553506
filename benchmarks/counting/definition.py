"""The episodes of the counting benchmark: a walk each, counted in every way that is compared."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pydantic import Field

from virl.bench.benchmark import BaseOptions, Benchmark, Data, Episode, EpisodeResult, OwnPage
from virl.bench.resources import Resources
from virl.errors import BadInput
from virl.geo import LatLng
from virl.routines.counting.rounds import memory_settings_for

from .count import CountingGround, CountingTask, count_walk
from .noise import PoseNoise, parse_noise
from .published import PUBLISHED
from .score import METRICS, score, show
from .summary import FILE, tables, write_page
from .variants import Condition
from .walks import CountedWalk, choose_walks


class Options(BaseOptions):
    """What the counting benchmark is asked."""

    cities: tuple[str, ...] = Field(("virlton",), min_length=1)
    """Made cities to run in."""
    detector: tuple[str, ...] = Field(("rendered",), min_length=1)
    """Detectors to compare (see `virl models`)."""
    matcher: str = "sift"
    """Matcher (see `virl models`)."""
    memory: str = "default"
    """Memory settings in `platform/memory`, for exact poses."""
    noisy_memory: str = "street-view"
    """Memory settings in `platform/memory`, for poses with noise."""
    routes: int = Field(12, ge=0)
    """Number of routes."""
    regions: int = Field(2, ge=0)
    """Number of regions."""
    things: tuple[str, ...] = Field(("trash bin", "fire hydrant", "bench"), min_length=1)
    """Things to count; by default those of V-IRL's Imani."""
    background: tuple[str, ...] = ("mailbox", "planter", "bollard")
    """Further labels for the detector, which are not counted; by default look-alikes."""
    pose_noise: str = "1.5,2"
    """Noise of poses in a second count, in metres and degrees; `0,0` to skip that count."""
    draws: int = Field(2, ge=1)
    """Number of draws of the pose noise for each walk."""

    @property
    def task(self) -> CountingTask:
        """What is counted, and under which conditions.

        Raises:
            BadInput: the pose noise is not two numbers.
        """
        noise = parse_noise(self.pose_noise)
        conditions = [Condition(PoseNoise(), self.memory)]
        if noise != PoseNoise():
            conditions.append(Condition(noise, self.noisy_memory))
        things = tuple(dict.fromkeys(self.things))
        background = tuple(name for name in dict.fromkeys(self.background) if name not in things)
        return CountingTask(things, background, tuple(conditions), self.draws, self.seed)


@dataclass(frozen=True, slots=True)
class CountingGrounds:
    """What episodes share."""

    task: CountingTask
    grounds: Mapping[tuple[str, str], CountingGround]
    """By detector and city."""


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """Every walk for each detector."""
    _ = options.task  # refused before a city is opened
    return [
        Episode(walk.id, name, detector, _payload(walk))
        for name in options.cities
        for walk in choose_walks(resources.city(name), options.routes, options.regions, options.seed)
        for detector in options.detector
    ]


def prepare(options: Options, resources: Resources) -> CountingGrounds:
    """Opens the cities and the models, and looks up the true things."""
    task = options.task
    memories = {one.memory: memory_settings_for(one.memory, options.matcher) for one in task.conditions}
    grounds = {}
    for name in options.cities:
        city = resources.city(name)
        if city.truth is None:
            raise BadInput(f"{city.title} has no ground truth: choose a made city, such as virlton")
        things = tuple(city.truth.things(task.things))
        for detector in options.detector:
            eyes, matcher = resources.detector(detector, name), resources.matcher(options.matcher)
            grounds[detector, name] = CountingGround(city, city.truth, eyes, matcher, memories, things)
    return CountingGrounds(task, grounds)


def run(episode: Episode, shared: CountingGrounds) -> EpisodeResult:
    """Look at a walk once, and count it in every way."""
    walk = _walk(episode.case, episode.payload)
    return EpisodeResult(count_walk(shared.task, shared.grounds[episode.model, episode.city], walk))


def _payload(walk: CountedWalk) -> Data:
    return asdict(walk) | {"corners": [[*corner] for corner in walk.corners]}


def _walk(name: str, payload: Data) -> CountedWalk:
    corners = tuple(LatLng(*corner) for corner in payload["corners"])
    return CountedWalk(name, payload["kind"], payload["start"], corners)


BENCHMARK = Benchmark(
    name="counting",
    title="Counting",
    about="Score counts of street furniture along routes and in regions, with each memory rule switched off.",
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
