"""The VLN benchmark: a route each, walked by directions in words, and who walks with which hints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from pydantic import Field

from virl.bench.benchmark import Benchmark
from virl.bench.city_data import CityOptions, city_data
from virl.bench.episode import Episode, EpisodeResult, Picture
from virl.bench.records import jpeg
from virl.bench.resources import Resources, cost_of, is_model
from virl.datasets.collect.dataset import RouteRow
from virl.errors import BadInput, MindFailed, ModelUnavailable, UnknownName
from virl.geo.globe import LatLng
from virl.mind.base import Mind
from virl.platform.city.city import City
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Panorama, Pose
from virl.platform.movers.base import Step, is_steered
from virl.platform.movers.open_mover import fit_mover, open_mover
from virl.platform.navigators.instruction.baselines import HUMAN
from virl.platform.navigators.tourist.navigator import MAX_STEPS, TouristNavigator
from virl.platform.navigators.tourist.signs import OcrSpotter, SignReader
from virl.platform.navigators.tourist.spotters import (
    ChoiceSpotter,
    DescriberSpotter,
    ReadingMindSpotter,
    RecognizerSpotter,
)
from virl.platform.navigators.tourist.spotting import (
    LandmarkSighting,
    LandmarkSpotter,
    MapSpotter,
    TruthSpotter,
)
from virl.platform.navigators.tourist.ways import CrossingHints, HonestHints, PaperHints
from virl.platform.perception.models import model_names
from virl.registry import first_line

from .published import PUBLISHED
from .score import METRICS, score, show

Mode = Literal["honest", "paper"]
_ORACLE, _TRUTH, _OCR, _READ_AND_ASKED, _CHOICE = "oracle", "truth", "ocr", "ocr+mind", "choice:"
_READER = "rapidocr"


@dataclass(frozen=True, slots=True)
class Walker:
    """A walker: its recogniser of landmarks and its mode, parsed from a name such as `ocr@paper`."""

    spotter: str
    mode: Mode


class Options(CityOptions):
    """Options of VLN."""

    models: tuple[str, ...] = ("oracle", "oracle@paper", "ocr", "ocr@paper")
    """Ways of recognizing landmarks: `oracle` (from the map, as V-IRL), `truth` (from the true signs, in made
    cities), `ocr`, `human` (a person who plays), or a recognizer, describer or reader (see `virl models`).
    Append `@paper` to give the agent V-IRL's hints at crossings."""
    mind: str = "rules"
    """The mind that decides: `rules`, or a chat model such as `openai:gpt-5-mini`."""
    max_steps: int = Field(MAX_STEPS, ge=1)
    """Maximum actions of a walk."""
    mover: Literal["links", "grid", "hybrid", "web"] | None = None
    """Mover of the walkers (see the movers of `virl run`). By default, the mover that fits each city."""


@dataclass(frozen=True, slots=True)
class RoutesWorld:
    """The options, cities and walkers that all episodes of a run share."""

    options: Options
    cities: Mapping[str, City]
    walkers: Mapping[str, Walker]
    resources: Resources


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """Return an episode for each route of each city, for each walker."""
    return [
        Episode(route.id, name, model, {"route": route.model_dump(mode="json")})
        for name in options.cities
        for route in city_data(options, name, resources, needs="routes").routes
        for model in options.models
    ]


def prepare(options: Options, resources: Resources) -> RoutesWorld:
    """Return the opened cities and walkers; raises if anything that a walker needs is missing."""
    cities = {name: resources.city(name) for name in options.cities}
    walkers = {model: parse_walker(model) for model in options.models}
    mind = resources.mind(options.mind)
    for walker in walkers.values():
        for city in cities.values():
            _spotter(walker.spotter, city, {}, mind, resources)  # what it lacks is told before any walk
    return RoutesWorld(options, cities, walkers, resources)


def run(episode: Episode, world: RoutesWorld) -> EpisodeResult:
    """Walk a route until the walker stops, is lost or has no actions left; return the walk.

    A walk whose mind gives no usable reply ends where it stands, and has not arrived.
    """
    route = RouteRow.model_validate(episode.payload["route"])
    city, walker = world.cities[episode.city], world.walkers[episode.model]
    mind = world.resources.mind(world.options.mind)
    instruction = route.instruction if walker.mode == "honest" else route.instruction_paper
    ended: Outcome | None = None
    failure: MindFailed | None = None
    walked: list[dict[str, Any]] = []
    files: dict[str, Picture] = {}
    fit = fit_mover(city, city.streetview.panorama(route.start.pano_id), world.options.mover)
    with open_mover(fit.name, city.streetview) as mover:
        navigator = TouristNavigator(
            city.streetview,
            mover,
            mind,
            _spotter_of(walker, city, route, mind, world.resources),
            instruction,
            hints=hints_of(walker, route),
            max_steps=world.options.max_steps,
            landmarks=() if walker.spotter == HUMAN else None,
        )
        stood = city.streetview.panorama(route.start.pano_id)
        try:
            for step in navigator.walk(route.start):
                stood = step.panorama
                taken, views = _step_data(city, navigator, step)
                walked.append(taken)
                files |= views
                ended = step.choice.outcome
        except MindFailed as fault:
            failure, ended = fault, Outcome("no reply", str(fault))
            walked.append(_last_step_data(stood, ended))
    data = {
        "route": episode.payload["route"],
        "instruction": instruction,
        "mover": fit.name,
        "gold": [[*city.streetview.panorama(pano_id).position] for pano_id in route.pano_ids],
        "walked": walked,
        "ending": "failed" if failure else "lost" if ended is None or ended.kind == "lost" else "stopped",
        "reason": ended.reason if ended else "",
    }
    return EpisodeResult(data, files, cost_of(mind.ledger.take_asked()), failure)


def _last_step_data(panorama: Panorama, ended: Outcome) -> dict[str, Any]:
    """Return the data of a last step at which nothing was decided, as the walk had `ended`."""
    position = panorama.position
    return {
        "pano_id": panorama.id,
        "lat": position.lat,
        "lng": position.lng,
        "next": None,
        "observed": "",
        "decided": ended.sentence,
        "refused": [],
        "seen": [],
    }


def _step_data(
    city: City, navigator: TouristNavigator, step: Step
) -> tuple[dict[str, Any], dict[str, Picture]]:
    """Return (step of the walk as data, views in which a landmark was seen by file name)."""
    choice = step.choice
    seen: list[dict[str, Any]] = []
    files: dict[str, Picture] = {}
    for number, one in enumerate(navigator.observations[-1].seen):
        shown: dict[str, Any] = {"name": one.name, "where": one.direction(step.pose.heading)}
        if one.camera is not None:
            file = f"{step.index:03d}-{number}.jpg"
            files[file] = partial(jpeg, city.streetview.view(step.pose.pano_id, one.camera))
            size = (one.camera.width, one.camera.height)
            box = [edge / size[index % 2] for index, edge in enumerate(one.box)] if one.box else None
            shown |= {"file": file, "box": box}
        seen.append(shown)
    position = step.panorama.position
    taken = {
        "pano_id": step.pose.pano_id,
        "lat": position.lat,
        "lng": position.lng,
        "next": choice.link.pano_id if choice.link else None,
        "observed": navigator.observations[-1].sentence(),
        "decided": choice.reason,
        "refused": list(navigator.transcript[-1].act.refused),
        "seen": seen,
    }
    return taken, files


BENCHMARK = Benchmark(
    name="vln",
    title="Vision-and-language navigation",
    about=first_line(__name__),
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    metrics=METRICS,
    units="routes",
    bounds=("oracle", "truth"),
    published=PUBLISHED,
    typical_s=30.0,
    work="threads",
)


class NoSpotter:
    """A spotter that finds no landmarks, for a person who sees for themselves."""

    name = HUMAN

    def spot(
        self,
        pose: Pose,  # noqa: ARG002 - of the protocol
        names: Sequence[str],  # noqa: ARG002 - of the protocol
        *,
        thorough: bool,  # noqa: ARG002 - of the protocol
    ) -> list[LandmarkSighting]:
        """Return no sightings: the person looks for themselves."""
        return []


def parse_walker(model: str) -> Walker:
    """Return the walker that a name such as `ocr` or `ocr@paper` means.

    Raises:
        BadInput: there is no such mode.
    """
    spotter, at, mode = model.partition("@")
    if at and mode != "paper":
        raise BadInput(f"model {model!r}: append @paper for the paper's mode, or nothing for the honest mode")
    return Walker(spotter, "paper" if at else "honest")


def _spotter_of(
    walker: Walker, city: City, route: RouteRow, mind: Mind, resources: Resources
) -> LandmarkSpotter:
    """Return the walker's spotter of landmarks on a route."""
    landmarks = {
        key.landmark: LatLng(*key.landmark_position) for key in route.key_points if key.landmark_position
    }
    known = landmarks | {route.place_name: route.destination}
    return _spotter(walker.spotter, city, known, mind, resources)


def hints_of(walker: Walker, route: RouteRow) -> CrossingHints:
    """Return the hints at crossings that the walker gets on a route, by its mode."""
    if walker.mode == "honest":
        return HonestHints()
    return PaperHints([key.position for key in route.key_points if key.kind == "turn"])


def _spotter(
    name: str, city: City, landmarks: dict[str, LatLng], mind: Mind, resources: Resources
) -> LandmarkSpotter:
    """Return the spotter with this name; `landmarks` are positions by name, for the oracle."""
    if name == _ORACLE:
        return MapSpotter(city.streetview, landmarks)
    if name == _TRUTH:
        if city.truth is None:
            raise ModelUnavailable(
                f"{_TRUTH}: needs the ground truth of a made city, and {city.title} has none"
            )
        return TruthSpotter(city.truth)
    if name == HUMAN:
        if not is_steered():
            raise BadInput(f"model {HUMAN!r} is a person who plays: see docs/how-to/watch.md")
        return NoSpotter()
    if name == _OCR:
        return OcrSpotter(SignReader(city.streetview, resources.reader(_READER)))
    if name == _READ_AND_ASKED:
        return ReadingMindSpotter(city.streetview, resources.reader(_READER), mind)
    return _of_a_model(name, city, resources)


def _of_a_model(name: str, city: City, resources: Resources) -> LandmarkSpotter:
    """Return the spotter by a reader, recognizer or describer in `platform/models`."""
    if is_model("reader", name):
        return OcrSpotter(SignReader(city.streetview, resources.reader(name)))
    if is_model("recognizer", name):
        return RecognizerSpotter(city.streetview, resources.recognizer(name))
    if is_model("describer", name):
        return DescriberSpotter(city.streetview, resources.describer(name), name)
    plain = name.removeprefix(_CHOICE)
    if plain != name and is_model("describer", plain):
        return ChoiceSpotter(city.streetview, resources.describer(plain), name)
    known = [_ORACLE, _TRUTH, _OCR, _READ_AND_ASKED, HUMAN]
    known += [each for role in ("reader", "recognizer", "describer") for each in model_names(role)]
    raise UnknownName("recogniser of landmarks", name, known)
