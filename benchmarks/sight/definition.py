"""The episodes of the benchmark `sight`: a search each, for each walker."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from pydantic import Field, model_validator

from virl.bench.benchmark import BaseOptions, Benchmark
from virl.bench.episode import Episode, EpisodeResult, Picture
from virl.bench.records import jpeg
from virl.bench.resources import Resources, cost_of
from virl.errors import BadInput
from virl.geo.globe import bearing
from virl.mind.base import Mind
from virl.platform.city.city import City
from virl.platform.city.graph import NavigationGraph, whole_graph
from virl.platform.city.streetview import Camera, Image, Pose, view_of_picture
from virl.platform.movers.base import LinksMover, Step, is_steered
from virl.platform.navigators.instruction.baselines import HUMAN
from virl.platform.navigators.sight.explorer import SightExplorer
from virl.platform.navigators.sight.goal import SightGoal, goal_in_picture, goal_in_words
from virl.platform.navigators.sight.looking import Kept, SignLooks
from virl.platform.navigators.sight.navigator import Explorer, SightNavigator
from virl.platform.perception.lexicons.sign_lexicon import Lexicon
from virl.platform.perception.models import Models
from virl.registry import first_line

from .closed import WalkedStreetView
from .episodes import Known, Search, SearchRequest, metres_left, searches
from .published import PUBLISHED
from .score import METRICS, score, show
from .targets import Among, Kind
from .walkers import (
    ABILITIES,
    ASKED,
    SEES_ITSELF,
    AskedSearcher,
    EndingExplorer,
    StoppingExplorer,
    baseline_of,
    check_walker,
    forward_searcher,
)

SPLITS: Mapping[str, tuple[str, ...]] = {
    "train": ("virlstead",),
    "dev": ("virlham",),
    "test": ("virlford",),
}
"""Towns of each split; rules are tuned on `train`, chosen on `dev`, and nobody looks at walks of `test`."""
READER = "sign-reader"


class Options(BaseOptions):
    """Options of searches by sight."""

    split: Literal["train", "dev", "test"] = "dev"
    """Split of the towns and wishes that are used."""
    cities: tuple[str, ...] = ()
    """Made towns or map extracts; by default those of the split."""
    models: tuple[str, ...] = Field(("oracle", "greedy", "random", "forward", "iris"), min_length=1)
    """The searchers: `oracle`, `greedy` (knows the target's bearing), `random`, `forward`, `iris` (by signs;
    also `iris@fronts`, `iris@no-map`, `iris@no-signs`, `iris@no-backtracking`), `plain` or `verbalized` (the
    published prompts, with `--mind`), or `human` (a person who plays)."""
    kinds: tuple[Kind, ...] = Field(("name", "looks", "picture", "wish"), min_length=1)
    """Forms in which targets are told: by `name`, `looks`, a `picture`, a `wish`, or by name and `address`,
    which helps where plates name streets (`virlham`, `virlford`)."""
    among: Among = "landmarks"
    """Places that are targets: `landmarks`, such as museums, churches and hospitals, to which signposts
    point in towns that have some; or `all`."""
    count: int = Field(10, ge=1)
    """Number of searches for each kind in each city."""
    least_m: float = Field(300.0, ge=50)
    """Minimum metres of a shortest way."""
    most_m: float = Field(2000.0, ge=100)
    """Maximum metres of a shortest way."""
    mind: str = "rules"
    """The mind that decides for `iris`, `plain` and `verbalized`: `rules`, or a chat model such as
    `openai:gpt-5-mini`."""
    reader: str = READER
    """Reader of signs (see `virl models`)."""
    truth: str = ""
    """Made town or map extract that the cities are pictures of, where they have no ground truth
    themselves."""

    @model_validator(mode="after")
    def _distances(self) -> "Options":
        """Return the options; raise ValueError if `least_m` is not below `most_m`."""
        if self.least_m >= self.most_m:
            raise ValueError("least_m must be below most_m")
        return self


@dataclass(frozen=True, slots=True)
class SearchedCity:
    """A city that is searched, with its graph and truth, and signs already read, shared by its searches."""

    city: City
    graph: NavigationGraph
    known: Known
    """City whose places and truth are known: this one, or the one that its pictures show."""
    kept: Kept = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Searches:
    """The options, cities and lexicon that all episodes of a run share."""

    options: Options
    cities: Mapping[str, SearchedCity]
    lexicon: Lexicon
    resources: Resources


def episodes(options: Options, resources: Resources) -> list[Episode]:
    """Return an episode for every search in every city, for each searcher.

    Raises:
        UnknownName: there is no such walker.
        BadInput: a city has no truth, or no search fits.
    """
    for walker in options.models:
        check_walker(walker)
    o = options
    made: list[Episode] = []
    for name in options.cities or SPLITS[options.split]:
        there = _open_searched(options, name, resources)
        for kind in options.kinds:
            asked = SearchRequest(kind, o.among, o.split, o.count, o.seed, o.least_m, o.most_m)
            found = searches(there.known, there.graph, asked)
            made += [
                Episode(f"{kind}-{number:03d}", name, walker, search.model_dump(mode="json"))
                for number, search in enumerate(found)
                for walker in options.models
                if (walker, kind) != (HUMAN, "picture")  # the page of a player shows no picture of a task
            ]
    if not made:
        raise BadInput("no search fits: give other kinds, or a smaller --least-m")
    return made


def prepare(options: Options, resources: Resources) -> Searches:
    """Return the opened cities and the lexicon of signs; opens readers and mind too.

    Raises:
        BadInput: a person is to play where nobody plays.
    """
    if HUMAN in options.models and not is_steered():
        raise BadInput(f"model {HUMAN!r} is a person who plays: see docs/how-to/watch.md")
    resources.mind(options.mind)
    names = options.cities or SPLITS[options.split]
    cities = {name: _open_searched(options, name, resources) for name in names}
    if {*ABILITIES, *ASKED} & set(options.models):
        for name in cities:
            resources.reader(options.reader, name)
    return Searches(options, cities, Models().lexicon("sign-lexicon"), resources)


def _open_searched(options: Options, name: str, resources: Resources) -> SearchedCity:
    """Return a city with its graph, and with the city that knows its truth."""
    city = resources.city(name)
    known = resources.town(options.truth) if options.truth else city
    own, truth = (
        resources.make_once(("sight", "graph", one), partial(whole_graph, whole))
        for one, whole in ((name, city), (options.truth or name, known))
    )
    return SearchedCity(city, own, Known(known, truth))


def run(episode: Episode, world: Searches) -> EpisodeResult:
    """Search until the walker stops, has no decisions or moves left, or its mind fails; return the walk."""
    search, there = Search.model_validate(episode.payload), world.cities[episode.city]
    left = metres_left(there.graph, [there.graph.number(pano_id) for pano_id in search.reached])
    mind = world.resources.mind(world.options.mind)
    seen = WalkedStreetView(there.city.streetview, search.start)
    looks = SignLooks(
        seen, world.resources.reader(world.options.reader, episode.city), world.lexicon, there.kept
    )
    explorer = EndingExplorer(
        lambda: _make_explorer(episode.model, search, there, left.tolist(), mind, looks, world)
    )
    navigator = SightNavigator(
        seen,
        LinksMover(seen),
        explorer,
        max_decisions=search.max_decisions,
        max_moves=search.max_moves,
        task=search.told,
    )
    walked: list[dict[str, Any]] = []
    for step in navigator.walk(Pose(search.start, search.heading)):
        seen.stand(step.pose.pano_id)
        walked.append(_step_data(step, float(left[there.graph.number(step.pose.pano_id)])))
    end = walked[-1]
    data = {
        "search": episode.payload,
        "walked": walked,
        "decisions": navigator.decisions,
        "views": looks.views,
        "success": end["pano_id"] in search.reached and end["stopped"],
        "told": episode.model not in SEES_ITSELF,
        "target": [*there.known.city.places.details(search.place_ids[0]).position],
    }
    return EpisodeResult(
        data, _pictures(search, there, end), cost_of(mind.ledger.take_asked()), explorer.failure
    )


def _step_data(step: Step, left: float) -> dict[str, Any]:
    """Return a step of the walk as data; `left` is the metres that remain to the target."""
    choice, position = step.choice, step.panorama.position
    return {
        "pano_id": step.pose.pano_id,
        "lat": position.lat,
        "lng": position.lng,
        "moved": step.distance,
        "left": left,
        "choices": len(step.links),
        "next": choice.link.pano_id if choice.link else None,
        "stopped": choice.outcome is not None and choice.outcome.kind not in ("limit", "no reply"),
        "decided": choice.reason,
    }


def _pictures(search: Search, there: SearchedCity, end: Mapping[str, Any]) -> dict[str, Picture]:
    """Return pictures for the page: the target's front, and the view towards it where the walk ended."""
    files: dict[str, Picture] = {}
    if photos := there.known.city.places.photos(search.place_ids[0]):
        files["target.jpg"] = partial(jpeg, view_of_picture(photos[0]))
    target = there.known.city.places.details(search.place_ids[0]).position
    heading = bearing(there.graph.position(there.graph.number(end["pano_id"])), target)
    view = there.city.streetview.view(end["pano_id"], Camera(heading, 8.0, 90.0))
    files["end.jpg"] = partial(jpeg, view)
    return files


def _make_explorer(
    name: str,
    search: Search,
    there: SearchedCity,
    left: list[float],
    mind: Mind,
    looks: SignLooks,
    world: Searches,
) -> Explorer:
    """Return the explorer with this name for a search; `left`: metres to the target by node."""
    photos = there.known.city.places.photos(search.place_ids[0]) if search.kind == "picture" else []
    if name == HUMAN:
        return forward_searcher()
    if name in ABILITIES:
        return SightExplorer(mind, looks, _goal_of(search, photos, mind, looks), ABILITIES[name])
    if name in ASKED:
        picture = view_of_picture(photos[0]) if photos else None
        asked = AskedSearcher(mind, looks, search.told, picture, verbalized=name == "verbalized")
        return StoppingExplorer(asked, frozenset(search.reached))
    target = there.known.city.places.details(search.place_ids[0]).position
    return baseline_of(name, search, there.graph, left, target, world.options.seed)


def _goal_of(search: Search, photos: list[Image], mind: Mind, looks: SignLooks) -> SightGoal:
    """Return the goal of a search, from the target's picture if there is one, else from its words."""
    if photos:
        return goal_in_picture(photos[0], search.told, looks)
    return goal_in_words(search.told, mind, looks.lexicon.types, moment=search.moment)


BENCHMARK = Benchmark(
    name="sight",
    title="Search by sight",
    about=first_line(__name__),
    options=Options,
    episodes=episodes,
    prepare=prepare,
    run=run,
    score=score,
    show=show,
    metrics=METRICS,
    units="searches",
    bounds=("oracle", "greedy"),
    published=PUBLISHED,
    typical_s=20.0,
    work="threads",
)
