"""Looking for candidates: the kinds of place that a wish is about, within reach of the client."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from virl.agent.agent import Agent
from virl.errors import BadInput, NotFound
from virl.files.json_reading import JsonRecord
from virl.geo.globe import LatLng, distance
from virl.pages.numbers import count_noun
from virl.platform.city.locate import locate
from virl.platform.city.maps import SPEED_M_S
from virl.platform.city.places import Place, PlacesInFull, RatedPlaces, complete_to, nearby_in_full
from virl.routines.client import Client, client_of
from virl.routines.recommend.rules import USUAL_STARS, PlaceSearch, steady_stars
from virl.routines.recommend.settings import RECOMMEND

TOPIC, KEY = "search", "around"
LOOKED_UP = 2  # places looked up for each that may be weighed, as some turn out closed (chosen)
LEAST_STARS = (4.5, 4.0)  # asked for in turn where not all places are told (chosen: what is rarer first)
ANY_M = 1.0  # to which radius an answer has to be whole where one request will do
SUITS, UNSURE, TOO_DEAR = 2, 1, 0  # what is known of a price: better is more
_METRES_A_MINUTE = SPEED_M_S["walking"] * 60


class PlaceInReach(JsonRecord):
    """A place within reach of the client, by id, with its distance."""

    id: str
    minutes: float
    """Minutes on foot from the client to the place."""
    metres: int
    """Metres from the client to the place in a straight line."""


class Search(JsonRecord):
    """A search's kinds of places and limits, and the places found, the most promising first."""

    place_types: tuple[str, ...]
    max_price_level: int | None = None
    limit_minutes: float
    """Longest walk in minutes."""
    found: tuple[PlaceInReach, ...]
    gone: int
    """Number of places found that have closed for good."""
    too_far: int
    left_out: int
    """Number of places found that were not looked up, as less promising."""
    unreached: tuple[str, ...] = ()
    """Names of places to which no way leads."""


@dataclass(frozen=True, slots=True)
class Errand:
    """The client of a recommendation, and their position."""

    client: Client
    position: LatLng


def errand_of(agent: Agent) -> Errand:
    """Return the agent's client, or the agent itself without one, with their position.

    Raises:
        BadInput: the client's address is not in the city.
    """
    client = client_of(agent.character)
    if isinstance(client.where, str):
        try:
            return Errand(client, locate(agent.city, client.where)[1])
        except NotFound as fault:
            raise BadInput(f"{agent.source}: client: where: {fault}") from fault
    if client.where:
        return Errand(client, LatLng(client.where.lat, client.where.lng))
    return Errand(client, agent.start.position)


def search(agent: Agent, errand: Errand) -> Search:
    """Return the places that may fulfil the client's wish, searched once a run and noted."""
    if noted := agent.run.find_note(TOPIC, KEY):
        made = Search.model_validate(noted.data)
        # Asking again what an earlier process asked saves asking for the details of each place.
        if isinstance(agent.city.places, PlacesInFull):
            _within_reach(agent, errand.position, made.limit_minutes, made.place_types, made.max_price_level)
        return made
    plan = agent.mind.ask(
        agent.prompts.load("recommend/search", PlaceSearch),
        **errand.client.texts,
        place_types=list(agent.senses.place_types),
    )
    made = _search_places(agent, errand.position, plan)
    kinds = " or ".join(name.replace("_", " ") for name in plan.place_types)
    agent.run.note(
        TOPIC,
        KEY,
        f"{count_noun(len(made.found), 'place')} of the kind {kinds} "
        f"within {made.limit_minutes:.0f} minutes on foot; "
        f"permanently closed: {made.gone}, too far: {made.too_far}, skipped: {made.left_out}."
        + (f" No way leads to {', '.join(made.unreached)}." if made.unreached else ""),
        data=made.model_dump(mode="json"),
    )
    return made


def _within_reach(
    agent: Agent, here: LatLng, minutes: float, types: Sequence[str], max_price_level: int | None
) -> list[Place]:
    """Return the places within a walk of some minutes: all, or at least the most promising ones."""
    places, reach = agent.city.places, minutes * _METRES_A_MINUTE
    if not isinstance(places, RatedPlaces):
        return nearby_in_full(places, here, reach, types)
    told = nearby_in_full(places, here, reach, types, whole=ANY_M)
    if complete_to(told) >= reach:
        return told
    wanted = RECOMMEND.of(agent.character).candidates * LOOKED_UP
    for least in LEAST_STARS:
        rated = places.nearby_rated(here, reach, types, least, max_price_level)
        told = _open_ones([*told, *rated])
        promises = sorted((_promise(place, max_price_level) for place in told), reverse=True)[:wanted]
        # Places not told of have fewer stars than `least`, no ratings or a higher price: none is as good.
        if len(promises) == wanted and promises[-1] >= (SUITS, max(least, USUAL_STARS)):
            return told
        if complete_to(rated) < reach:
            break
    return [*told, *nearby_in_full(places, here, reach, types)]


def _search_places(agent: Agent, here: LatLng, plan: PlaceSearch) -> Search:
    """Return the places to rate, by a plan and the minutes on foot, with counts of the others."""
    asked = RECOMMEND.of(agent.character)
    limits = [asked.within_minutes, plan.walk_minutes, (asked.within_metres or np.inf) / _METRES_A_MINUTE]
    limit = min(minutes for minutes in limits if minutes is not None)
    listed = _within_reach(agent, here, limit, plan.place_types, plan.max_price_level)
    alive = _open_ones(listed)
    alive.sort(key=lambda place: _promise(place, plan.max_price_level), reverse=True)
    chosen = alive[: asked.candidates * LOOKED_UP]
    minutes = []
    if chosen:
        seconds = agent.city.maps.travel_times([here], [place.position for place in chosen])[0]
        minutes = [float(walk) / 60 for walk in seconds]
    found = tuple(
        PlaceInReach(id=place.id, minutes=float(walk), metres=round(distance(here, place.position)))
        for place, walk in zip(chosen, minutes, strict=True)
        if walk <= limit
    )
    unreached = tuple(place.name for place, walk in zip(chosen, minutes, strict=True) if np.isinf(walk))
    agent.city.left_out.add_unreached("walking", unreached)
    return Search(
        place_types=plan.place_types,
        max_price_level=plan.max_price_level,
        limit_minutes=limit,
        found=found,
        gone=len(listed) - len(alive),
        too_far=len(chosen) - len(found) - len(unreached),
        left_out=len(alive) - len(chosen),
        unreached=unreached,
    )


def _open_ones(places: Sequence[Place]) -> list[Place]:
    """Return the places that have not closed for good, each once."""
    return list({place.id: place for place in places if place.is_open}.values())


def _promise(place: Place, max_price_level: int | None) -> tuple[int, float]:
    """Return a place's sort key, larger is better: (how well its price suits, stars by `steady_stars`)."""
    stars = steady_stars(place.rating, place.review_count)
    if max_price_level is None:
        return SUITS, stars
    if place.price_level is None:
        return UNSURE, stars
    return (SUITS if place.price_level <= max_price_level else TOO_DEAR), stars
