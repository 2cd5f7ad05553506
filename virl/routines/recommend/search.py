"""Looking for candidates: the kinds of place that a wish is about, within reach of the client."""

from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel, ConfigDict

from virl.agent.assembly import Agent
from virl.drawing.numbers import counted
from virl.errors import BadInput, NotFound
from virl.geo import LatLng, distance
from virl.platform.locate import locate
from virl.platform.maps import SPEED_M_S
from virl.platform.places import Place, PlacesInFull, nearby_in_full
from virl.routines.clients.settings import Client, served
from virl.routines.recommend.replies import PlaceSearch
from virl.routines.recommend.settings import RECOMMEND
from virl.routines.recommend.stars import steady_stars

TOPIC, KEY = "search", "around"
LOOKED_UP = 2  # places looked up for each that may be weighed, as some turn out closed (chosen)
_METRES_A_MINUTE = SPEED_M_S["walking"] * 60


class PlaceInReach(BaseModel):
    """A place within reach that has not closed for good."""

    model_config = ConfigDict(frozen=True)

    id: str
    minutes: float
    """On foot."""
    metres: int
    """As the crow flies."""


class Search(BaseModel):
    """What a search was for, and what it found, the most promising first."""

    model_config = ConfigDict(frozen=True)

    place_types: tuple[str, ...]
    limit_minutes: float
    """The longest walk."""
    found: tuple[PlaceInReach, ...]
    gone: int
    """Places that have closed for good."""
    too_far: int
    left_out: int
    """Places beyond the number that is looked up."""


@dataclass(frozen=True, slots=True)
class Errand:
    """Whom the agent works for, and where they are."""

    client: Client
    position: LatLng


def errand_of(agent: Agent) -> Errand:
    """The client's errand; an agent without a client works for itself.

    Raises:
        BadInput: the client's address is not in the city.
    """
    client = served(agent.character)
    if isinstance(client.where, str):
        try:
            return Errand(client, locate(agent.city, client.where)[1])
        except NotFound as fault:
            raise BadInput(f"{agent.source}: client: where: {fault}") from fault
    if client.where:
        return Errand(client, LatLng(client.where.lat, client.where.lng))
    return Errand(client, agent.start.position)


def search(agent: Agent, errand: Errand) -> Search:
    """Places that the wish may be fulfilled at, once a run; walking times come from one matrix."""
    if noted := agent.run.noted(TOPIC, KEY):
        made = Search.model_validate(noted.data)
        _recall(agent, errand, made)
        return made
    client = errand.client
    plan = agent.mind.ask(
        agent.prompts.load("recommend/search", PlaceSearch),
        name=client.name,
        background=client.background,
        intention=client.intention,
        place_types=list(agent.senses.place_types),
    )
    made = _look(agent, errand.position, plan)
    kinds = " or ".join(name.replace("_", " ") for name in plan.place_types)
    agent.run.note(
        TOPIC,
        KEY,
        f"{counted(len(made.found), 'place')} of the kind {kinds} "
        f"within {made.limit_minutes:.0f} minutes on foot; "
        f"permanently closed: {made.gone}, too far: {made.too_far}, skipped: {made.left_out}.",
        data=made.model_dump(mode="json"),
        asked=agent.mind.ledger.take(),
    )
    return made


def _recall(agent: Agent, errand: Errand, made: Search) -> None:
    """Ask again what an earlier process asked, where that saves asking for the details of each place."""
    if isinstance(agent.city.places, PlacesInFull):
        reach = made.limit_minutes * _METRES_A_MINUTE
        nearby_in_full(agent.city.places, errand.position, reach, made.place_types)


def _look(agent: Agent, here: LatLng, plan: PlaceSearch) -> Search:
    asked = RECOMMEND.of(agent.character)
    limits = [asked.within_minutes, plan.walk_minutes, (asked.within_metres or np.inf) / _METRES_A_MINUTE]
    limit = min(minutes for minutes in limits if minutes is not None)
    listed = nearby_in_full(agent.city.places, here, limit * _METRES_A_MINUTE, plan.place_types)
    alive = list({place.id: place for place in listed if place.is_open}.values())
    alive.sort(key=lambda place: _promise(place, plan.max_price_level), reverse=True)
    chosen = alive[: asked.candidates * LOOKED_UP]
    minutes = _minutes(agent, here, chosen)
    found = tuple(
        PlaceInReach(id=place.id, minutes=float(walk), metres=round(distance(here, place.position)))
        for place, walk in zip(chosen, minutes, strict=True)
        if walk <= limit
    )
    return Search(
        place_types=plan.place_types,
        limit_minutes=limit,
        found=found,
        gone=len(listed) - len(alive),
        too_far=len(chosen) - len(found),
        left_out=len(alive) - len(chosen),
    )


def _minutes(agent: Agent, here: LatLng, places: list[Place]) -> list[float]:
    if not places:
        return []
    seconds = agent.city.maps.travel_times([here], [place.position for place in places])
    return [float(walk) / 60 for walk in seconds[0]]


def _promise(place: Place, max_price_level: int | None) -> tuple[bool, float]:
    """Not too dear, then by public rating, drawn towards the usual one where few have rated."""
    known = max_price_level is not None and place.price_level is not None
    too_dear = known and (place.price_level or 0) > (max_price_level or 0)
    return not too_dear, steady_stars(place.rating, place.review_count)
