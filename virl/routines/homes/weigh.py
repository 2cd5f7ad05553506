"""Weighing homes: what is near each, and how well it suits the client."""

from collections.abc import Sequence

from virl.agent.assembly import Agent
from virl.errors import BadInput, NoRoute
from virl.geo import LatLng, distance
from virl.region_file import MAX_FROM_CITY_M
from virl.routines.clients.replies import Rating
from virl.routines.clients.settings import served
from virl.routines.homes.around import nearby_of
from virl.routines.homes.home import Home, Near, Rated
from virl.routines.homes.replies import HomeWant
from virl.routines.homes.settings import RENT

TOPIC = "home"


def weigh_home(agent: Agent, home: Home, wants: Sequence[HomeWant]) -> Rated | str:
    """The home with its rating, or a line on why it could not be weighed; what was noted is kept.

    Raises:
        BadInput: the character has no `rent:`.
    """
    if noted := agent.run.noted(TOPIC, home.id):
        return Rated.model_validate(noted.data["rated"]) if "rated" in noted.data else noted.text
    rent = RENT.of(agent.character)
    if rent is None:
        raise BadInput(f"{agent.source}: `rent:` is missing")
    away = distance(LatLng(home.lat, home.lng), agent.city.center)
    if away > MAX_FROM_CITY_M:
        line = f"{home.address}: lies {away / 1000:,.0f} km from {agent.city.title}"
        return agent.run.note(TOPIC, home.id, line).text
    try:
        nearby = nearby_of(agent, home, wants, rent.walk_metres)
    except NoRoute:
        line = f"{home.address}: lies off the map of {agent.city.title}"
        return agent.run.note(TOPIC, home.id, line).text
    rated = _rated(agent, home, nearby, wants, rent.price)
    agent.run.note(
        TOPIC,
        home.id,
        f"{home.address}: {rated.rating:g} of 10. {rated.reason}",
        data={"rated": rated.model_dump(mode="json")},
        asked=agent.mind.ledger.take(),
    )
    return rated


def _rated(
    agent: Agent,
    home: Home,
    nearby: tuple[Near, ...],
    wants: Sequence[HomeWant],
    price: tuple[float, float],
) -> Rated:
    client = served(agent.character)
    reply = agent.mind.ask(
        agent.prompts.load("homes/rating", Rating),
        name=client.name,
        background=client.background,
        intention=client.intention,
        price=list(price),
        wants=[want.model_dump() for want in wants],
        home={
            "address": home.address,
            "rent": home.price,
            "property_type": home.property_type,
            "area_m2": home.area,
            "bedrooms": home.bedrooms,
            "bathrooms": home.bathrooms,
            "year_built": home.year_built,
        },
        nearby=[near.model_dump() for near in nearby],
    )
    return Rated(home=home, nearby=nearby, rating=reply.rating, reason=reply.explanation)
