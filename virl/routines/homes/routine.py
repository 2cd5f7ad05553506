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
from virl.platform.city.streetview import Panorama
from virl.routines.client import check_language, client_of
from virl.routines.homes.home import Home, Near, NoListings, Rated
from virl.routines.homes.rules import HomeRatings, HomeWant, words_of_wants
from virl.routines.homes.search import areas_outside, rent_of, search_homes, wants_of
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
    """Return the intention's reading: wishes for a home and its surroundings."""
    check_language(character)
    client = client_of(character)
    used = tuple(words_of_wants(client.intention, lexicon))
    return Reading(client.intention, used, (client.name, character.name), "homes")


WISH = Wish(_read_wish)


def fit(character: Character, city: City, start: Panorama, seed: int) -> tuple[Character, tuple[str, ...]]:
    """Return (character, sentences on changes): areas outside the city are left out.

    Args:
        character: as its file has it.
        city: where it runs.
        start: not used.
        seed: not used.
    """
    del start, seed
    rent = RENT.of(character)
    away = areas_outside(character, city)
    if rent is None or not away:
        return character, ()
    areas = tuple(area for area in rent.areas if area not in away.values())
    where = "the other areas" if areas else city.title
    told = f"{', '.join(away)} of `rent: areas:` is not in {city.title}: looks for homes in {where}."
    return character.model_copy(update={RENT.name: rent.model_copy(update={"areas": areas})}), (told,)


def run(agent: Agent) -> None:
    """Run the search for homes: rate each one, and rank them; give up if the city has none."""
    try:
        search = search_homes(agent)
    except NoListings as lack:
        agent.run.end(Outcome("gave up", f"{lack}."), answer={"pick": None, "ranked": [], "skipped": []})
        return
    wants = wants_of(agent)
    rated: list[Rated] = []
    off_the_map: list[str] = []
    for number, weighed in enumerate(weigh_homes(agent, search.homes, wants), 1):
        agent.run.progress("weighing homes", number, len(search.homes))
        if isinstance(weighed, str):
            off_the_map.append(weighed)
        else:
            rated.append(weighed)
    conclude(agent, search, rated, off_the_map)


def weigh_homes(agent: Agent, homes: Sequence[Home], wants: Sequence[HomeWant]) -> Iterator[Weighed]:
    """Yield each home with its rating, or the reason for none, in order; noted ones are reused.

    Args:
        agent: whose run it is.
        homes: to weigh.
        wants: of the client.

    Raises:
        BadInput: the character has no `rent:`.
    """
    for at in range(0, len(homes), TOGETHER):
        some = homes[at : at + TOGETHER]
        found = {home.id: _read_noted(agent, home) or _places_near(agent, home, wants) for home in some}
        around = {key: near for key, near in found.items() if isinstance(near, tuple)}
        rated = _rate_homes(agent, [home for home in some if home.id in around], around, wants)
        for home in some:
            before = found[home.id]
            yield rated[home.id] if isinstance(before, tuple) else before


def _read_noted(agent: Agent, home: Home) -> Weighed | None:
    """Return a home's noted rating or reason from before the run was cut off; `None` without a note."""
    noted = agent.run.find_note(TOPIC, home.id)
    if noted is None:
        return None
    return Rated.model_validate(noted.data["rated"]) if "rated" in noted.data else noted.text


def _places_near(agent: Agent, home: Home, wants: Sequence[HomeWant]) -> tuple[Near, ...] | str:
    """Return the wanted places near a home, or the reason why they are unknown."""
    rent = rent_of(agent)
    away = distance(LatLng(home.lat, home.lng), agent.city.center)
    if away > MAX_FROM_CITY_M:
        line = f"lies {away / 1000:,.0f} km from {agent.city.title}"
        return agent.run.note(TOPIC, home.id, line, title=home.address).sentence
    try:
        return _nearby_of(agent, home, wants, rent.walk_metres)
    except NoRoute:
        line = "no way leads from there to any place near it"
        return agent.run.note(TOPIC, home.id, line, title=home.address).sentence


def _rate_homes(
    agent: Agent, homes: Sequence[Home], nearby: Mapping[str, tuple[Near, ...]], wants: Sequence[HomeWant]
) -> dict[str, Rated]:
    """Return homes with ratings by id, each noted; a question's first note has all its ratings."""
    rated = {one.home.id: one for one in _read_begun(agent)}
    missing = [home for home in homes if home.id not in rated]
    asked = _ask_ratings(agent, missing, nearby, wants) if missing else []
    rated |= {one.home.id: one for one in asked}
    together = [one.model_dump(mode="json") for one in asked]
    for home in homes:
        one = rated[home.id]
        data: dict[str, object] = {"rated": one.model_dump(mode="json")}
        data |= {"together": together} if asked and home is missing[0] else {}
        text = f"{one.rating:g} of 10. {one.reason}"
        agent.run.note(TOPIC, home.id, text, title=home.address, data=data)
    return {home.id: rated[home.id] for home in homes}


def _read_begun(agent: Agent) -> Iterator[Rated]:
    """Yield the ratings given before the run was cut off, those of homes without a note included."""
    for note in agent.run.notes(TOPIC):
        together = note.data.get("together")
        yield from (Rated.model_validate(one) for one in together) if isinstance(together, list) else ()


def _ask_ratings(
    agent: Agent, homes: Sequence[Home], nearby: Mapping[str, tuple[Near, ...]], wants: Sequence[HomeWant]
) -> list[Rated]:
    """Return the mind's ratings of homes, in their order."""
    client = client_of(agent.character)
    reply = agent.mind.ask(
        agent.prompts.load("homes/rating", HomeRatings),
        name=client.name,
        background=client.background,
        intention=client.intention,
        price=list(rent_of(agent).price),
        wants=[want.model_dump() for want in wants],
        homes=[
            {"home": _home_facts(home), "nearby": [near.model_dump() for near in nearby[home.id]]}
            for home in homes
        ],
    )
    return [
        Rated(home=home, nearby=nearby[home.id], rating=one.rating, reason=one.explanation)
        for home, one in zip(homes, reply.ratings, strict=True)
    ]


def _home_facts(home: Home) -> dict[str, object]:
    """Return the facts of a home for the prompt; rent in dollars, area in square metres."""
    return {
        "address": home.address,
        "rent": home.price,
        "property_type": home.property_type,
        "area_m2": home.area,
        "bedrooms": home.bedrooms,
        "bathrooms": home.bathrooms,
        "year_built": home.year_built,
    }


def _nearby_of(agent: Agent, home: Home, wants: Sequence[HomeWant], radius: float) -> tuple[Near, ...]:
    """Return the nearest place of each wanted type to a home.

    Args:
        agent: in the city.
        home: the home.
        wants: kinds of place.
        radius: metres as the crow flies.

    Raises:
        NoRoute: no way leads from the home to any of them.
    """
    types = tuple(want.place_type for want in wants)
    if not types:
        return ()
    here = LatLng(home.lat, home.lng)
    places = {
        place.id: place for place in agent.city.places.nearby(here, radius, types) if place.is_open
    }.values()
    by_type = {kind: [place for place in places if kind in place.types] for kind in types}
    minutes = _walks(agent, here, [place for some in by_type.values() for place in some[:_WALKED_TO]])
    return tuple(_nearest_place(kind, some, minutes) for kind, some in by_type.items())


def _walks(agent: Agent, here: LatLng, places: Sequence[Place]) -> dict[str, float]:
    """Return the minutes on foot to places, by id; each place is asked for once.

    Raises:
        NoRoute: no way leads to any of them.
    """
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


def _nearest_place(kind: str, places: Sequence[Place], minutes: dict[str, float]) -> Near:
    """Return the nearest place of a type by minutes on foot; without place if none can be reached."""
    walks = [(minutes[place.id], place) for place in places[:_WALKED_TO] if minutes[place.id] < float("inf")]
    if not walks:
        return Near(place_type=kind)
    walk, place = min(walks, key=lambda one: (one[0], one[1].id))
    return Near(place_type=kind, name=place.name, walk_minutes=round(walk, 1), count=len(places))
