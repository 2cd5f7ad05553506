"""The episodes of the benchmark `preview`: a way each, for each detector."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import Field

from virl.bench.benchmark import BaseOptions, Benchmark
from virl.bench.episode import Episode, EpisodeResult
from virl.bench.resources import Resources, truth_of
from virl.platform.city.city import City, Truth
from virl.platform.city.streetview import Pose
from virl.platform.navigators.tourist.signs import SignReader
from virl.platform.perception.active import Look, Looking
from virl.platform.perception.base import Detector, Matcher, Reader
from virl.platform.perception.memory import VisualMemory
from virl.registry import first_line
from virl.routines.counting.rounds import Counter, memory_settings_for
from virl.routines.directions.walkway import Lookout
from virl.routines.preview.facts import LANDMARK
from virl.routines.preview.observing import Glance, glance_at, legs_of
from virl.routines.preview.settings import PreviewSettings

from .score import LATIN, METRICS, latin_names, score, show, told_against
from .ways import ToldWay, choose_ways, stands_of, true_way


class Options(BaseOptions):
    """Options of the benchmark of previews."""

    cities: tuple[str, ...] = Field(("virlton",), min_length=1)
    """Made towns or map extracts."""
    detector: tuple[str, ...] = Field(("rendered",), min_length=1)
    """Detectors to compare (see `virl models`)."""
    reader: str = "sign-reader"
    """Reader of signs (see `virl models`)."""
    matcher: str = "sift"
    """Matcher (see `virl models`)."""
    count: int = Field(10, ge=1)
    """Number of ways in each city."""


@dataclass(frozen=True, slots=True)
class SeenCity:
    """A city with its truth and the models that look at it, which its episodes share."""

    city: City
    truth: Truth
    reader: Reader
    matcher: Matcher
    detectors: Mapping[str, Detector]


@dataclass(frozen=True, slots=True)
class Sights:
    """The options and the cities with their models that all episodes of a run share."""

    options: Options
    cities: Mapping[str, SeenCity]


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """Return an episode for every way in every city, for each detector."""
    return [
        Episode(way.id, name, detector, asdict(way))
        for name in options.cities
        for way in choose_ways(resources.city(name), options.count, options.seed)
        for detector in options.detector
    ]


def prepare(options: Options, resources: Resources) -> Sights:
    """Return the opened cities and models.

    Raises:
        BadInput: a city has no truth.
    """
    cities = {}
    for name in options.cities:
        city = resources.city(name)
        cities[name] = SeenCity(
            city,
            truth_of(city),
            resources.reader(options.reader, name),
            resources.matcher(options.matcher),
            {detector: resources.detector(detector, name) for detector in options.detector},
        )
    return Sights(options, cities)


def run(episode: Episode, world: Sights) -> EpisodeResult:
    """Look along a way as Noor does, and return what is told right, told wrong and left out."""
    there = world.cities[episode.city]
    stands = stands_of(there.city, ToldWay(**episode.payload))
    signs = SignReader(there.city.streetview, there.reader)
    lookout = Lookout(there.city.places, signs, alone=False, free=there.city.ledger is None)
    glances: list[Glance] = []
    looks: list[Look] = []
    with TemporaryDirectory(prefix="preview-") as folder:
        settings = memory_settings_for(there.city.capabilities.visual_memory, world.options.matcher)
        memory = VisualMemory.open(Path(folder) / "memory", settings, there.matcher)
        eyes, asked = there.detectors[episode.model], PreviewSettings()
        looking = Looking(range_deg=asked.range_deg)
        counter = Counter(there.city.streetview, eyes, memory, asked.things, looking=looking)
        for stand in stands:
            glances.append(glance_at(there.city.streetview, stand, lookout)[0])
            facing = stand.onward.heading if stand.onward else stand.pose.heading
            looks.append(counter.visit(Pose(stand.panorama.id, facing)).look)
        counter.finish()
        legs = legs_of(glances, counter.memory.objects(), lambda _: "")
    truth = true_way(there.truth, stands, looks)
    facts = [fact for leg in legs for fact in leg.facts]
    data = told_against(facts, truth, there.truth)
    names = {place_id: there.city.places.details(place_id).name for place_id in truth.landmarks}
    data |= {LATIN: latin_names(data[LANDMARK], names)}
    walked = [[*stand.panorama.position] for stand in stands]
    return EpisodeResult(data | {"walked": walked, "metres": legs[-1].to_m})


BENCHMARK = Benchmark(
    name="preview",
    title="Previews of ways",
    about=first_line(__name__),
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    metrics=METRICS,
    units="ways",
    typical_s=30.0,
    work="processes",
)
