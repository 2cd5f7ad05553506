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
    """Made cities."""
    detector: tuple[str, ...] = Field(("simulated",), min_length=1)
    """Detectors in platform/models; repeat it to compare several."""
    matcher: str = "sift"
    """A matcher in platform/models."""
    memory: str = "default"
    """Settings in platform/memory, for exact poses."""
    noisy_memory: str = "street-view"
    """Settings in platform/memory for poses that are off."""
    routes: int = Field(12, ge=0)
    """How many routes."""
    regions: int = Field(2, ge=0)
    """How many regions."""
    things: tuple[str, ...] = Field(("trash bin", "fire hydrant", "bench"), min_length=1)
    """What is counted; by default what V-IRL's Imani counts."""
    background: tuple[str, ...] = ("mailbox", "planter", "bollard")
    """What else the detector looks for; by default look-alikes."""
    pose_noise: str = "1.5,2"
    """Metres and degrees by which panoramas are off in a second count; `0,0` for no such count."""
    draws: int = Field(2, ge=1)
    """How often that noise is drawn for each walk."""

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
    about="How well things along routes and in regions are counted, with each rule of visual memory off.",
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    metrics=METRICS,
    published=PUBLISHED,
    page=OwnPage(FILE, "Rules of visual memory, and every walk on a map", write_page, tables),
    work="processes",
)
