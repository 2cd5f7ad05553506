"""Aria's score: clients whose wishes are known, and whether her pick truly has what they ask for.

A case is drawn from a seed: a kind of place, one or two hidden attributes, a clock, a start, sometimes a
limit on the walk, all put into words. A pick fits if it is of that kind, has the attributes, is open at the
clock and is within the limit by the true walk. Cases that nothing fits are not drawn.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from random import Random
from typing import Annotated, Any

from pydantic import Field

from virl.bench.benchmark import Metric
from virl.bench.episode import Data, Record
from virl.bench.resources import truth_of
from virl.errors import BadInput
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.interchange import held_street_map
from virl.platform.city.places import DAYS, Place
from virl.settings.model import Settings, load_settings

from .scoring import AgentCase, ScoredAgent

CASES = 50
REPORTED_SEED = 0
"""The only seed whose clients use the wordings of `aria_reported.yaml`."""
USUAL_MINUTES = 15.0  # the longest walk where the client names none: Aria's default
WALK_M_MIN = 80.0  # metres that a client walks in a minute
SECOND_WISH, LIMITED = 0.45, 0.35  # share of clients with a second wish, with a limit on the walk (chosen)
LIMITS_MIN = (5, 7, 8, 10, 12)


Wordings = Annotated[tuple[str, ...], Field(min_length=1)]
"""Ways to say the same."""


class Sentences(Settings):
    """The sentences of clients on kinds of places, wishes and limits; each has several wordings."""

    types: dict[str, Wordings]
    wishes: dict[str, Wordings]
    limits: Wordings


class ClientPhrases(Settings):
    """The contents of `aria_wishes.yaml`: what clients ask for, and the words they use."""

    types: dict[str, tuple[str, ...]]
    """Attributes that clients ask for by kind of place; after `not`, that the place lacks them."""
    tried: Sentences
    """Sentences of all seeds but `REPORTED_SEED`."""
    backgrounds: tuple[str, ...]
    names: tuple[str, ...]
    clocks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DrawnClient:
    """A client drawn for a case, with the places that are open and near and those that truly fit."""

    name: str
    background: str
    intention: str
    clock: str
    start: LatLng
    place_type: str
    wishes: tuple[str, ...]
    minutes: float
    """Longest walk that suits the client, minutes."""
    options: tuple[str, ...]
    """Ids of the places of the client's kind that are open and near."""
    fitting: tuple[str, ...]
    """Ids of those options that have what the client asks for."""
    best_rated: str


def cases(city: City, seed: int) -> list[str]:
    """Return the names of a seed's cases in a city: `aria-00` and so on."""
    return list(_draw_clients(city, seed))


def run(case: AgentCase) -> dict[str, Any]:
    """Let Aria serve the case's client, and return what is known of her pick as the case's data."""
    drawn = _draw_clients(case.city, case.seed)[case.id]
    changes = {
        "clock": drawn.clock,
        "start": {"lat": drawn.start.lat, "lng": drawn.start.lng},
        "client": {"name": drawn.name, "background": drawn.background, "intention": drawn.intention},
        "recommend": {"within_minutes": USUAL_MINUTES},
    }
    return _judge_pick(case, case.run("aria", changes).answer["pick"])


def unanswered(case: AgentCase) -> dict[str, Any]:
    """Return the data of a case without a pick, as where a wish was not understood: it does not fit."""
    return _judge_pick(case, None)


def _judge_pick(case: AgentCase, pick: object) -> dict[str, Any]:
    """Return the case's data on a pick, a place's id or `None`: whether it fits, and what others would."""
    city = case.city
    drawn = _draw_clients(city, case.seed)[case.id]
    return {
        "intention": drawn.intention,
        "clock": drawn.clock,
        "place_type": drawn.place_type,
        "wishes": list(drawn.wishes),
        "minutes": drawn.minutes,
        "pick": pick,
        "fits": pick in drawn.fitting,
        "right_kind": pick is not None and drawn.place_type in city.places.details(str(pick)).types,
        "barred": pick is not None and not _open_and_near(city, drawn, str(pick)),
        "options": len(drawn.options),
        "fitting": len(drawn.fitting),
        "random_fits": len(drawn.fitting) / len(drawn.options),
        "best_rated_fits": drawn.best_rated in drawn.fitting,
    }


METRICS = (
    Metric("fits", "truly fits", about="picks that fit the wish"),
    Metric("barred", "closed or too far", about="picks that cannot be visited"),
    Metric("random_fits", "a random place fits", about="random picks among open and near places that fit"),
    Metric(
        "best_rated_fits", "the best rated fits", about="best rated of the open and near places, if it fits"
    ),
)
"""Shares of picks that fit or are barred, and of a random or the best rated open and near place that fit."""


def notes(records: Sequence[Record]) -> list[str]:
    """Return a note on the number of clients and the targets, for readers of the report."""
    return [f"aria: clients: {len(records)}; target: at least 80 % truly fit, none closed or too far"]


def outcome(data: Data) -> tuple[str, float | None]:
    """Return (words on the pick, 1 if it fits, else 0)."""
    said = "nothing picked" if data["pick"] is None else f"picked {data['pick']}"
    verdict = "closed or too far" if data["barred"] else "fits" if data["fits"] else "does not fit"
    return f"{said}: {verdict}", float(data["fits"])


@lru_cache(maxsize=4)
def _draw_clients(city: City, seed: int) -> Mapping[str, DrawnClient]:
    """Return the clients of all cases in a city, by case name."""
    rng = Random(f"{seed} aria")
    drawn: dict[str, DrawnClient] = {}
    while len(drawn) < CASES:
        case = _draw(city, rng, seed)
        if case:
            drawn[f"aria-{len(drawn):02d}"] = case
    return drawn


def _draw(city: City, rng: Random, seed: int) -> DrawnClient | None:
    """Return a drawn client; `None` if no place fits the wishes."""
    (book, _), said = _load_phrases(), _sentences(seed)
    place_type = rng.choice([*book.types, "restaurant", "restaurant", "restaurant", "cafe"])
    wishes = _draw_wishes(book.types[place_type], rng)
    name, clock = rng.choice(book.names), rng.choice(book.clocks)
    start = city.streetview.panorama(rng.choice(held_street_map(city).panorama_ids())).position
    minutes = float(rng.choice(LIMITS_MIN)) if rng.random() < LIMITED else None
    sentences = [rng.choice(said.types[place_type])]
    sentences += [rng.choice(said.wishes[wish]) for wish in wishes]
    if minutes is not None:
        sentences.append(rng.choice(said.limits))
    intention = " ".join(
        sentence.format(name=name, minutes=f"{minutes or 0:.0f}", metres=f"{(minutes or 0) * WALK_M_MIN:.0f}")
        for sentence in sentences
    )
    reach = USUAL_MINUTES if minutes is None else minutes
    options = list(_options(city, start, place_type, clock, reach))
    fitting = tuple(place.id for place in options if _has(city, place, wishes))
    if not fitting:
        return None
    best = max(options, key=lambda place: (place.rating or 0.0, place.review_count, place.id))
    return DrawnClient(
        name=name,
        background=rng.choice(book.backgrounds),
        intention=intention,
        clock=clock,
        start=start,
        place_type=place_type,
        wishes=wishes,
        minutes=reach,
        options=tuple(place.id for place in options),
        fitting=fitting,
        best_rated=best.id,
    )


def _draw_wishes(asked: Sequence[str], rng: Random) -> tuple[str, ...]:
    """Return one or two of the wishes in `asked`, drawn, which do not contradict each other."""
    first = rng.choice(asked)
    others = [wish for wish in asked if wish.removeprefix("not ") != first.removeprefix("not ")]
    return (first, rng.choice(others)) if rng.random() < SECOND_WISH else (first,)


def _options(city: City, start: LatLng, place_type: str, clock: str, minutes: float) -> Iterator[Place]:
    """Yield the places of a type that are open at `clock` ("Mon 18:30") and within `minutes` of walking."""
    listed = city.places.nearby(start, minutes * 60 * 1.35, [place_type])
    if not listed:
        return
    seconds = city.maps.travel_times([start], [place.position for place in listed])[0]
    for place, walk in zip(listed, seconds, strict=True):
        detailed = city.places.details(place.id)
        if walk <= minutes * 60 and detailed.open_at(*_day_and_minute(clock)):
            yield detailed


def _day_and_minute(clock: str) -> tuple[int, int]:
    """Return (day of the week from 0 for Monday, minute of the day) of a clock such as "Mon 18:30"."""
    day, time = clock.split()
    hour, minute = time.split(":")
    return DAYS.index(day), int(hour) * 60 + int(minute)


def _has(city: City, place: Place, wishes: Sequence[str]) -> bool:
    """Return whether a place truly has all attributes in `wishes`, and lacks those after "not "."""
    attributes = truth_of(city).attributes(place.id)
    return all(attributes.get(wish.removeprefix("not ")) == (not wish.startswith("not ")) for wish in wishes)


def _open_and_near(city: City, case: DrawnClient, place_id: str) -> bool:
    """Return whether a place is within the client's walk, and not known to be closed at the clock."""
    place = city.places.details(place_id)
    walk = city.maps.travel_times([case.start], [place.position])[0, 0]
    return bool(walk <= case.minutes * 60) and place.may_be_open_at(*_day_and_minute(case.clock))


@cache
def _load_phrases() -> tuple[ClientPhrases, Sentences]:
    """Return (phrases of `aria_wishes.yaml`, sentences of `aria_reported.yaml`), read once a process."""
    paths = [Path(__file__).with_name(name) for name in ("aria_wishes.yaml", "aria_reported.yaml")]
    book, reported = load_settings(paths[0], ClientPhrases), load_settings(paths[1], Sentences)
    # Both, whichever seed asks: neither file may lack what the other has.
    for path, sentences in zip(paths, (book.tried, reported), strict=True):
        _check_all_said(book, sentences, path)
    return book, reported


def _sentences(seed: int) -> Sentences:
    """Return the sentences that the clients of a seed use."""
    book, reported = _load_phrases()
    return reported if seed == REPORTED_SEED else book.tried


def _check_all_said(book: ClientPhrases, sentences: Sentences, path: Path) -> None:
    """Raise BadInput if sentences leave out a type or wish of the phrases, or have an unknown one."""
    asked = {wish for wishes in book.types.values() for wish in wishes}
    for field, known, said in (
        ("types", set(book.types), set(sentences.types)),
        ("wishes", asked, set(sentences.wishes)),
    ):
        if known != said:
            raise BadInput(f"{path}: {field}: missing or unknown: {', '.join(sorted(known ^ said))}")


ARIA = ScoredAgent(("aria",), cases, run, unanswered, METRICS, outcome, notes)
