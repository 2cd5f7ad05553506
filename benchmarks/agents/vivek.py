"""Vivek's score: clients whose wishes are known, and how well his ranking agrees with what truly suits them.

A case is drawn from a seed: a price window, kinds of places that should be near (or far), and sometimes the
rent, the size, the bedrooms or the age of the house, each as important as its wording says. The hidden
suitability of a home is the weighted mean of

- a place that should be near: 1 less a fifteenth for each minute of the true walk to the nearest, at least 0;
  one that should be far: 1 less that;
- the rent: 1 at the low end of the window, 0 at its high end; it weighs 1 unless the client speaks of it;
- the size: 0 at 25 square metres, 1 at 120; the bedrooms: 1, less a half for each too many or too few;
- the age of the house: 0 for 1885, 1 for 2024, or the other way round.

The measure is Spearman's rank correlation between the two over all homes of the window.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from shapely import Polygon

from virl.bench.benchmark import Metric
from virl.bench.episode import Data, Record
from virl.pages.numbers import short_number
from virl.plain_text import capitalize
from virl.platform.city.city import City, Listing
from virl.platform.city.places import Place
from virl.platform.providers.cities import region_of_city
from virl.settings.model import Settings, load_settings

from .aria import REPORTED_SEED
from .scoring import AgentCase, ScoredAgent

CASES = 30
FEWEST_HOMES = 10
PLACES = (1, 2, 2, 3, 3)  # how many kinds of places a client speaks of, as often as they come up
AWAY, MONEY, SIZE, BEDROOMS, AGE = 0.2, 0.5, 0.35, 0.4, 0.3  # share of clients who speak of these (chosen)
WALK_MIN = 15.0
SMALL_M2, LARGE_M2 = 25.0, 120.0
OLDEST, NEWEST = 1885, 2024
THRIFTY, SAID = 3.0, 2.0  # weights of what a client says of the rent, and of the home itself
ROOMS = ("one", "two", "three")


class Wordings(Settings):
    """Ways to say one thing, for the reported seed and for all others."""

    tried: tuple[str, ...]
    reported: tuple[str, ...]

    def of(self, seed: int) -> tuple[str, ...]:
        """Return the wordings that the clients of a seed use."""
        return self.reported if seed == REPORTED_SEED else self.tried


class HomePhrases(Settings):
    """The contents of `vivek_wishes.yaml`: the words in which clients say their wishes."""

    opening: Wordings
    places: dict[str, Wordings]
    importance: dict[int, Wordings]
    away: Wordings
    thrifty: Wordings
    careless: Wordings
    spacious: Wordings
    bedrooms: Wordings
    modern: Wordings
    old: Wordings
    backgrounds: tuple[str, ...]
    names: tuple[str, ...]
    windows: tuple[tuple[float, float], ...]


@dataclass(slots=True)
class Wishes:
    """The wishes of a client, each with its weight."""

    near: dict[str, float]
    away: dict[str, float]
    rent: float = 1.0
    size: float = 0.0
    bedrooms: int | None = None
    newness: float = 0.0
    """Weight of a house's age; negative if old houses are wished for."""


@dataclass(frozen=True, slots=True)
class DrawnSearch:
    """A client drawn for a case, with the homes in the price window and how well each suits."""

    name: str
    background: str
    intention: str
    window: tuple[float, float]
    homes: tuple[Listing, ...]
    suitability: Mapping[str, float]
    """Suitability by the id of the home, [0, 1]."""


def cases(city: City, seed: int) -> list[str]:
    """Return the names of a seed's cases in a city: `vivek-00` and so on."""
    return list(_draw_searches(city, seed))


def run(case: AgentCase) -> dict[str, Any]:
    """Let Vivek rank the homes for the case's client, and return how well that agrees with what suits.

    Raises:
        ValueError: the ranking is not of the homes in the case.
    """
    drawn = _draw_searches(case.city, case.seed)[case.id]
    changes = {
        "start": {"lat": case.city.center.lat, "lng": case.city.center.lng},
        "client": {"name": drawn.name, "background": drawn.background, "intention": drawn.intention},
        "rent": {"price": list(drawn.window)},
    }
    answer = case.run("vivek", changes).answer
    ranked = [home["id"] for home in answer["ranked"]]  # type: ignore[attr-defined]
    if set(ranked) != set(drawn.suitability):
        raise ValueError(f"{case.id}: the ranking is not of the homes in the window")
    places = {home_id: place for place, home_id in enumerate(ranked)}
    ids = sorted(drawn.suitability)
    truth = [drawn.suitability[one] for one in ids]
    return unanswered(case) | {
        "correlation": _agreement([-places[one] for one in ids], truth),
        "pick": ranked[0],
        "pick_beaten_by": sum(value > drawn.suitability[ranked[0]] for value in truth) / len(truth),
    }


def unanswered(case: AgentCase) -> dict[str, Any]:
    """Return the data of a case without a ranking: correlation 0, and every home beats the pick."""
    drawn = _draw_searches(case.city, case.seed)[case.id]
    ids = sorted(drawn.suitability)
    cheapest = {home.id: place for place, home in enumerate(drawn.homes)}
    chance = Random(f"{case.seed} {case.id} random").sample(range(len(ids)), len(ids))
    truth = [drawn.suitability[one] for one in ids]
    return {
        "intention": drawn.intention,
        "homes": len(ids),
        "correlation": 0.0,
        "by_price": _agreement([-cheapest[one] for one in ids], truth),
        "random": _agreement(chance, truth),
        "pick": None,
        "pick_beaten_by": 1.0,
    }


METRICS = (
    Metric(
        "correlation", "rank correlation", percent=False, digits=2, about="with the true order, at most 1"
    ),
    Metric("pick_beaten_by", "homes that suit better", about="homes that suit better than the first pick"),
    Metric(
        "by_price", "cheapest first", percent=False, digits=2, about="the correlation of the order by rent"
    ),
    Metric("random", "random order", percent=False, digits=2, about="the correlation of a random order"),
)
"""Rank correlations with what truly suits: the ranking's, by rent, of chance; share of better homes."""


def notes(records: Sequence[Record]) -> list[str]:
    """Return a note on the number of clients and the target."""
    return [f"vivek: clients: {len(records)}; target: a rank correlation of at least 0.6"]


def outcome(data: Data) -> tuple[str, float | None]:
    """Return (words on the pick and the correlation, the correlation, at least 0)."""
    alike = short_number(data["correlation"])
    said = f"picked {data['pick']} of {data['homes']} homes, rank correlation {alike}"
    return said, max(0.0, data["correlation"])


def _agreement(ranking: Sequence[float], truth: Sequence[float]) -> float:
    """Return Spearman's rank correlation of two orders, [-1, 1]."""
    return float(spearmanr(ranking, truth).statistic)


@lru_cache(maxsize=4)
def _draw_searches(city: City, seed: int) -> Mapping[str, DrawnSearch]:
    """Return the searches of all cases in a city, by case name."""
    rng = Random(f"{seed} vivek")
    drawn: dict[str, DrawnSearch] = {}
    while len(drawn) < CASES:
        case = _draw_search(city, rng, seed)
        if len(case.homes) >= FEWEST_HOMES:
            drawn[f"vivek-{len(drawn):02d}"] = case
    return drawn


def _draw_search(city: City, rng: Random, seed: int) -> DrawnSearch:
    """Return a drawn search: client, wishes, price window, and each home's suitability."""
    book = _load_phrases()
    window = rng.choice(book.windows)
    name = rng.choice(book.names)
    wishes, sentences = _draw_wishes(book, rng, seed, _kinds(city))
    said = [sentence.format(name=name) for sentence in sentences]
    homes = _homes_in_window(city, window)
    return DrawnSearch(
        name=name,
        background=rng.choice(book.backgrounds),
        intention=" ".join(capitalize(one) for one in said),
        window=window,
        homes=tuple(homes),
        suitability=_suitability(city, homes, window, wishes),
    )


@lru_cache(maxsize=4)
def _kinds(city: City) -> frozenset[str]:
    """Return the kinds of places that clients may ask for and the city has open."""
    return frozenset(kind for kind in (*_load_phrases().places, "bar") if _open_places(city, kind))


def _draw_wishes(
    book: HomePhrases, rng: Random, seed: int, kinds: AbstractSet[str]
) -> tuple[Wishes, list[str]]:
    """Return (wishes of a client, sentences that say them in a random order)."""
    wishes = Wishes({}, {})
    said: list[str] = []
    for kind in rng.sample([kind for kind in book.places if kind in kinds], rng.choice(PLACES)):
        importance = rng.choice((1, 2, 3))
        wishes.near[kind] = float(importance)
        place = rng.choice(book.places[kind].of(seed))
        said.append(rng.choice(book.importance[importance].of(seed)).replace("{place}", place))
    if rng.random() < AWAY and "bar" in kinds:
        wishes.away["bar"] = 2.0
        said.append(rng.choice(book.away.of(seed)))
    if rng.random() < MONEY:
        wishes.rent = rng.choice((THRIFTY, 0.0))
        said.append(rng.choice((book.thrifty if wishes.rent else book.careless).of(seed)))
    if rng.random() < SIZE:
        wishes.size = SAID
        said.append(rng.choice(book.spacious.of(seed)))
    if rng.random() < BEDROOMS:
        rooms = rng.choice((2, 3))
        wishes.bedrooms = rooms
        said.append(rng.choice(book.bedrooms.of(seed)).replace("{rooms}", ROOMS[rooms - 1]))
    if rng.random() < AGE:
        wishes.newness = rng.choice((SAID, -SAID))
        said.append(rng.choice((book.modern if wishes.newness > 0 else book.old).of(seed)))
    rng.shuffle(said)
    return wishes, [rng.choice(book.opening.of(seed)), *said]


def _homes_in_window(city: City, window: tuple[float, float]) -> list[Listing]:
    """Return the homes for rent in a price window, (lowest, highest) dollars a month."""
    if city.listings is None:
        raise ValueError(f"{city.name}: lists no homes: choose another city")
    region = region_of_city(city)
    return city.listings.rentals(Polygon([(corner.lng, corner.lat) for corner in region.corners]), window)


def _suitability(
    city: City, homes: Sequence[Listing], window: tuple[float, float], wishes: Wishes
) -> dict[str, float]:
    """Return {home's id: suitability in [0, 1]}, as the head of this module defines it."""
    low, high = window
    count = len(homes)
    weights, worths = [wishes.rent], [np.array([(high - home.price) / (high - low) for home in homes])]
    for kind, weight in (wishes.near | wishes.away).items():
        walks = np.array([_minutes(city, kind)[home.id] for home in homes])
        closeness = np.clip(1 - walks / WALK_MIN, 0, 1)
        weights.append(weight)
        worths.append(1 - closeness if kind in wishes.away else closeness)
    if wishes.size:
        sizes = np.array([home.area or 0.0 for home in homes])
        weights.append(wishes.size)
        worths.append(np.clip((sizes - SMALL_M2) / (LARGE_M2 - SMALL_M2), 0, 1))
    if wishes.bedrooms is not None:
        rooms = np.array([np.inf if home.bedrooms is None else home.bedrooms for home in homes])
        missing = np.abs(rooms - wishes.bedrooms)
        weights.append(SAID)
        worths.append(np.clip(1 - missing / 2, 0, 1))
    if wishes.newness:
        built = np.array([home.year_built or OLDEST for home in homes])
        newness = np.clip((built - OLDEST) / (NEWEST - OLDEST), 0, 1)
        weights.append(abs(wishes.newness))
        worths.append(newness if wishes.newness > 0 else 1 - newness)
    means = np.average(worths, axis=0, weights=weights) if count else np.empty(0)
    return {home.id: float(mean) for home, mean in zip(homes, means, strict=True)}


def _open_places(city: City, kind: str) -> list[Place]:
    """Return the places of a type within 20 km that have not closed for good."""
    return [place for place in city.places.nearby(city.center, 20_000, [kind]) if place.is_open]


@lru_cache(maxsize=64)
def _minutes(city: City, kind: str) -> Mapping[str, float]:
    """Return {home's id: minutes of the walk to the nearest open place of a type}, for all homes."""
    homes = _homes_in_window(city, (0.0, float("inf")))
    places = [place.position for place in _open_places(city, kind)]
    seconds = city.maps.travel_times([home.position for home in homes], places)
    return {home.id: float(walk) / 60 for home, walk in zip(homes, seconds.min(axis=1), strict=True)}


@cache
def _load_phrases() -> HomePhrases:
    """Return the phrases of `vivek_wishes.yaml`, read once a process."""
    return load_settings(Path(__file__).with_name("vivek_wishes.yaml"), HomePhrases)


VIVEK = ScoredAgent(("vivek",), cases, run, unanswered, METRICS, outcome, notes)
