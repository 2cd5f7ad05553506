"""Vivek, the estate agent: he finds a home to rent for a client, by what it costs and what is near it.

He reads which sorts of places matter to the client, looks at the listings of the districts and the price
window, finds the walk from each home to the nearest of those places, rates each home, and ranks them
(V-IRL, appendix B.3). Of each wanted kind the nearest on foot counts, from one search and one matrix.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.routine import Wish
from virl.errors import NoRoute
from virl.geo.globe import LatLng, distance
from virl.mind.lexicon import Lexicon
from virl.mind.understanding import Reading
from virl.platform.city.city import City
from virl.platform.city.outcome import Outcome
from virl.platform.city.places import Place
from virl.routines.client import check_language, client_of
from virl.routines.homes.rules import HomeRatings, HomeWant, words_of_wants
from virl.routines.homes.search import (
    Home,
    Near,
    NoListings,
    Rated,
    areas_outside,
    rent_of,
    search_homes,
    wants_of,
)
from virl.routines.homes.settings import RENT
from virl.routines.homes.showing import conclude
from virl.settings.region_file import MAX_FROM_CITY_M

_WALKED_TO = 2  # places of a kind, nearest as the crow flies, that the walk is looked up to (chosen)
TOPIC = "home"
TOGETHER = 6
"""Number of homes rated in one question; chosen: their facts fill about a page."""
Weighed = Rated | str
"""A home with its rating, or a sentence on why it has none."""


def _read_wish(character: Character, lexicon: Lexicon) -> Reading:
    """Return the client's wish with its words for a home and for places near it."""
    check_language(character)
    client = client_of(character)
    used = tuple(words_of_wants(client.intention, lexicon))
    return Reading(client.intention, used, (client.name, character.name), "homes")


WISH = Wish(_read_wish)


def fit(character: Character, city: City, *_: object) -> tuple[Character, tuple[str, ...]]:
    """Leave out a character's areas that lie outside a city; return (character, sentences on changes)."""
    rent = RENT.of(character)
    away = areas_outside(character, city)
    if rent is None or not away:
        return character, ()
    areas = tuple(area for area in rent.areas if area not in away.values())
    where = "the other areas" if areas else city.title
    told = f"{', '.join(away)} of `rent: areas:` is not in {city.title}: looks for homes in {where}."
    return character.model_copy(update={RENT.name: rent.model_copy(update={"areas": areas})}), (told,)


def run(agent: Agent) -> None:
    """Search homes, rate each one, rank them, and end the run; without listings it gives up."""
    try:
        search = search_homes(agent)
    except NoListings as lack:
        agent.run.end(Outcome("gave up", f"{lack}."), answer={"pick": None, "ranked": [], "skipped": []})
        return
    wants = wants_of(agent)
    rated: list[Rated] = []
    off_the_map: list[str] = []
    for number, weighed in enumerate(_weigh_homes(agent, search.homes, wants), 1):
        agent.run.progress("weighing homes", number, len(search.homes))
        if isinstance(weighed, str):
            off_the_map.append(weighed)
        else:
            rated.append(weighed)
    conclude(agent, search, rated, off_the_map)


def _weigh_homes(agent: Agent, homes: Sequence[Home], wants: Sequence[HomeWant]) -> Iterator[Weighed]:
    """Yield each home in order with its rating, noted or new, or with a sentence on why it has none."""
    for at in range(0, len(homes), TOGETHER):
        some, found = homes[at : at + TOGETHER], dict[str, tuple[Near, ...] | Weighed]()
        for home in some:
            if noted := agent.run.find_note(TOPIC, home.id):  # weighed before the run was cut off
                data = noted.data.get("rated")
                found[home.id] = Rated.model_validate(data) if "rated" in noted.data else noted.text
            else:
                found[home.id] = _places_near(agent, home, wants)
        around = {key: near for key, near in found.items() if isinstance(near, tuple)}
        rated = _rate_homes(agent, [home for home in some if home.id in around], around, wants)
        for home in some:
            before = found[home.id]
            yield rated[home.id] if isinstance(before, tuple) else before


def _places_near(agent: Agent, home: Home, wants: Sequence[HomeWant]) -> tuple[Near, ...] | str:
    """Return the nearest place of each wanted type to a home, or a sentence on why they are unknown."""
    rent, here = rent_of(agent), LatLng(home.lat, home.lng)
    away = distance(here, agent.city.center)
    if away > MAX_FROM_CITY_M:
        line = f"lies {away / 1000:,.0f} km from {agent.city.title}"
        return agent.run.note(TOPIC, home.id, line, title=home.address).sentence
    types = tuple(want.place_type for want in wants)
    listed = agent.city.places.nearby(here, rent.walk_metres, types) if types else []
    places = {place.id: place for place in listed if place.is_open}.values()
    by_type = {kind: [place for place in places if kind in place.types] for kind in types}
    try:
        minutes = _walks(agent, here, [place for some in by_type.values() for place in some[:_WALKED_TO]])
    except NoRoute:
        line = "no way leads from there to any place near it"
        return agent.run.note(TOPIC, home.id, line, title=home.address).sentence
    found = []
    for kind, some in by_type.items():
        walks = [(minutes[place.id], place.id, place.name) for place in some[:_WALKED_TO]]
        walk, _, name = min(walks, default=(float("inf"), "", ""))
        if walk < float("inf"):
            near = Near(place_type=kind, name=name, walk_minutes=round(walk, 1), count=len(some))
        else:
            near = Near(place_type=kind)
        found.append(near)
    return tuple(found)


def _rate_homes(
    agent: Agent, homes: Sequence[Home], nearby: Mapping[str, tuple[Near, ...]], wants: Sequence[HomeWant]
) -> dict[str, Rated]:
    """Return homes with their ratings by id, and note each; those rated before are not asked for again."""
    noted = (note.data.get("together") for note in agent.run.notes(TOPIC))
    begun = (Rated.model_validate(one) for some in noted if isinstance(some, list) for one in some)
    rated = {one.home.id: one for one in begun}
    missing = [home for home in homes if home.id not in rated]
    asked = _ask_ratings(agent, missing, nearby, wants) if missing else []
    rated |= {one.home.id: one for one in asked}
    together = [one.model_dump(mode="json") for one in asked]
    for home in homes:
        one = rated[home.id]
        data: dict[str, object] = {"rated": one.model_dump(mode="json")}
        # One note has all ratings of a question, should the run be cut off before the others are written.
        data |= {"together": together} if asked and home is missing[0] else {}
        text = f"{one.rating:g} of 10. {one.reason}"
        agent.run.note(TOPIC, home.id, text, title=home.address, data=data)
    return {home.id: rated[home.id] for home in homes}


def _ask_ratings(
    agent: Agent, homes: Sequence[Home], nearby: Mapping[str, tuple[Near, ...]], wants: Sequence[HomeWant]
) -> list[Rated]:
    """Return the mind's ratings of homes, in their order, asked for in one question."""
    reply = agent.mind.ask(
        agent.prompts.load("homes/rating", HomeRatings),
        **client_of(agent.character).texts,
        price=list(rent_of(agent).price),
        wants=[want.model_dump() for want in wants],
        homes=[
            {
                "home": {
                    "address": home.address,
                    "rent": home.price,
                    "property_type": home.property_type,
                    "area_m2": home.area,
                    "bedrooms": home.bedrooms,
                    "bathrooms": home.bathrooms,
                    "year_built": home.year_built,
                },
                "nearby": [near.model_dump() for near in nearby[home.id]],
            }
            for home in homes
        ],
    )
    return [
        Rated(home=home, nearby=nearby[home.id], rating=one.rating, reason=one.explanation)
        for home, one in zip(homes, reply.ratings, strict=True)
    ]


def _walks(agent: Agent, here: LatLng, places: Sequence[Place]) -> dict[str, float]:
    """Return the minutes on foot to places by id, infinite without a way; raise `NoRoute` if none has one."""
    once = {place.id: place.position for place in places}
    if not once:
        return {}
    seconds = agent.city.maps.travel_times([here], list(once.values()))[0]
    if not np.isfinite(seconds).any():
        raise NoRoute(f"no way leads from {here}")
    apart = {place_id for place_id, walk in zip(once, seconds, strict=True) if np.isinf(walk)}
    names = dict.fromkeys(place.name for place in places if place.id in apart)
    agent.city.left_out.add_unreached("walking", names)
    return {place_id: float(walk) / 60 for place_id, walk in zip(once, seconds, strict=True)}
