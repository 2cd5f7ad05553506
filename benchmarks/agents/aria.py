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
"""Its clients use wordings that no other seed's use."""
USUAL_MINUTES = 15.0  # the longest walk where the client names none: Aria's default
WALK_M_MIN = 80.0  # metres that a client walks in a minute
SECOND_WISH, LIMITED = 0.45, 0.35  # share of clients with a second wish, with a limit on the walk (chosen)
LIMITS_MIN = (5, 7, 8, 10, 12)


Wordings = Annotated[tuple[str, ...], Field(min_length=1)]
"""Ways to say one thing."""


class Sentences(Settings):
    """All that clients say: `aria_reported.yaml`, and `tried` in `aria_wishes.yaml`."""

    types: dict[str, Wordings]
    wishes: dict[str, Wordings]
    limits: Wordings


class ClientPhrases(Settings):
    """`aria_wishes.yaml`."""

    types: dict[str, tuple[str, ...]]
    """Attributes that clients ask of each kind of place; after `not`, that it lacks them."""
    tried: Sentences
    """Used by all seeds but the reported one."""
    backgrounds: tuple[str, ...]
    names: tuple[str, ...]
    clocks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DrawnClient:
    """A client, and what is true of the places around."""

    name: str
    background: str
    intention: str
    clock: str
    start: LatLng
    place_type: str
    wishes: tuple[str, ...]
    minutes: float
    """The longest walk that suits."""
    options: tuple[str, ...]
    """Ids of the places of this kind that are open and near."""
    fitting: tuple[str, ...]
    """Those of them that have what is asked for."""
    best_rated: str


def cases(city: City, seed: int) -> list[str]:
    """Return the names of the cases: `aria-00` and so on."""
    return list(_draw_clients(city, seed))


def run(case: AgentCase) -> dict[str, Any]:
    """Let Aria serve one client, and look up whether the pick fits."""
    drawn = _draw_clients(case.city, case.seed)[case.id]
    changes = {
        "clock": drawn.clock,
        "start": {"lat": drawn.start.lat, "lng": drawn.start.lng},
        "client": {"name": drawn.name, "background": drawn.background, "intention": drawn.intention},
        "recommend": {"within_minutes": USUAL_MINUTES},
    }
    return _judge_pick(case, case.run("aria", changes).answer["pick"])


def unanswered(case: AgentCase) -> dict[str, Any]:
    """Return a case without a pick: a wish that is not understood is a pick that does not fit."""
    return _judge_pick(case, None)


def _judge_pick(case: AgentCase, pick: object) -> dict[str, Any]:
    """Return the id of a pick, `None` for none, held against the truth."""
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
    Metric("fits", "truly fits"),
    Metric("barred", "closed or too far"),
    Metric("random_fits", "a random place fits"),
    Metric("best_rated_fits", "the best rated fits"),
)
"""Shares of picks, beside what chance and the best public rating would pick of what is open and near."""


def notes(records: Sequence[Record]) -> list[str]:
    """Return what the measures should be."""
    return [f"aria: clients: {len(records)}; target: at least 80 % truly fit, none closed or too far"]


def outcome(data: Data) -> tuple[str, float | None]:
    """Return what was picked."""
    said = "nothing picked" if data["pick"] is None else f"picked {data['pick']}"
    verdict = "closed or too far" if data["barred"] else "fits" if data["fits"] else "does not fit"
    return f"{said}: {verdict}", float(data["fits"])


@lru_cache(maxsize=4)
def _draw_clients(city: City, seed: int) -> Mapping[str, DrawnClient]:
    """Draw the clients of all cases in a city, by case name."""
    rng = Random(f"{seed} aria")
    drawn: dict[str, DrawnClient] = {}
    while len(drawn) < CASES:
        case = _draw(city, rng, seed)
        if case:
            drawn[f"aria-{len(drawn):02d}"] = case
    return drawn


def _draw(city: City, rng: Random, seed: int) -> DrawnClient | None:
    """Draw a client, or nothing if no place fits."""
    book, said = _load_phrases(), _sentences(seed)
    place_type = rng.choice([*book.types, "restaurant", "restaurant", "restaurant", "cafe"])
    wishes = _draw_wishes(book.types[place_type], rng)
    name, clock = rng.choice(book.names), rng.choice(book.clocks)
    start = _some_position(city, rng)
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
    """Return one or two of the wishes, by chance, which do not contradict each other."""
    first = rng.choice(asked)
    others = [wish for wish in asked if wish.removeprefix("not ") != first.removeprefix("not ")]
    return (first, rng.choice(others)) if rng.random() < SECOND_WISH else (first,)


def _some_position(city: City, rng: Random) -> LatLng:
    """Return the position of a random panorama, where Aria relocates to."""
    return city.streetview.panorama(rng.choice(held_street_map(city).panorama_ids())).position


def _options(city: City, start: LatLng, place_type: str, clock: str, minutes: float) -> Iterator[Place]:
    """Yield the places of a kind that are open at the clock and within a walk."""
    listed = city.places.nearby(start, minutes * 60 * 1.35, [place_type])
    if not listed:
        return
    seconds = city.maps.travel_times([start], [place.position for place in listed])[0]
    for place, walk in zip(listed, seconds, strict=True):
        detailed = city.places.details(place.id)
        if walk <= minutes * 60 and _is_open_at(detailed, clock):
            yield detailed


def _is_open_at(place: Place, clock: str) -> bool:
    """Return whether a place is open at a clock such as "Mon 18:30"."""
    return place.open_at(*_day_and_minute(clock))


def _day_and_minute(clock: str) -> tuple[int, int]:
    """Return the day of the week, 0 to 6, and minute of day of a clock such as "Mon 18:30"."""
    day, time = clock.split()
    hour, minute = time.split(":")
    return DAYS.index(day), int(hour) * 60 + int(minute)


def _has(city: City, place: Place, wishes: Sequence[str]) -> bool:
    """Return whether a place truly has what is asked for; what is not true of its kind at all, it has not."""
    attributes = truth_of(city).attributes(place.id)
    return all(attributes.get(wish.removeprefix("not ")) == (not wish.startswith("not ")) for wish in wishes)


def _open_and_near(city: City, case: DrawnClient, place_id: str) -> bool:
    """Return whether a pick is within the walk, and not known to be closed."""
    place = city.places.details(place_id)
    walk = city.maps.travel_times([case.start], [place.position])[0, 0]
    return bool(walk <= case.minutes * 60) and place.may_be_open_at(*_day_and_minute(case.clock))


@cache
def _load_phrases() -> ClientPhrases:
    """Load the phrases in which clients say their wishes."""
    path = Path(__file__).with_name("aria_wishes.yaml")
    book = load_settings(path, ClientPhrases)
    _check_all_said(book, book.tried, path)
    return book


@cache
def _load_reported() -> Sentences:
    """Load the reported sentences."""
    path = Path(__file__).with_name("aria_reported.yaml")
    sentences = load_settings(path, Sentences)
    _check_all_said(_load_phrases(), sentences, path)
    return sentences


def _sentences(seed: int) -> Sentences:
    """Return the sentences of a seed's clients."""
    reported = _load_reported()  # also where it is not used: neither file may lack what the other has
    return reported if seed == REPORTED_SEED else _load_phrases().tried


def _check_all_said(book: ClientPhrases, sentences: Sentences, path: Path) -> None:
    """Refuse sentences that leave out a type or a wish, or have an unknown one."""
    asked = {wish for wishes in book.types.values() for wish in wishes}
    for field, known, said in (
        ("types", set(book.types), set(sentences.types)),
        ("wishes", asked, set(sentences.wishes)),
    ):
        if known != said:
            raise BadInput(f"{path}: {field}: missing or unknown: {', '.join(sorted(known ^ said))}")


ARIA = ScoredAgent(
    rows=("aria",),
    cases=cases,
    run=run,
    unanswered=unanswered,
    metrics=METRICS,
    notes=notes,
    outcome=outcome,
)
