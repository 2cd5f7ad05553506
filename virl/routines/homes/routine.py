"""Vivek, the estate agent: he finds a home to rent for a client, by what it costs and what is near it.

He reads which sorts of places matter to the client, looks at the listings of the districts and the price
window, finds the walk from each home to the nearest of those places, rates each home, and ranks them
(V-IRL, appendix B.3).
"""

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.routine import Wish
from virl.mind.lexicon import Lexicon
from virl.mind.understanding import Reading
from virl.platform.city.city import City
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Panorama
from virl.routines.clients.rules import check_language
from virl.routines.clients.settings import client_of
from virl.routines.homes.home import Rated
from virl.routines.homes.rules import words_of_wants
from virl.routines.homes.search import areas_outside, search_homes, wants_of
from virl.routines.homes.settings import RENT
from virl.routines.homes.showing import conclude
from virl.routines.homes.source import NoListings
from virl.routines.homes.weigh import weigh_homes


def _read_wish(character: Character, lexicon: Lexicon) -> Reading:
    """Read what the client wants of a home and around it."""
    check_language(character)
    client = client_of(character)
    used = tuple(words_of_wants(client.intention, lexicon))
    return Reading(client.intention, used, (client.name, character.name), "homes")


WISH = Wish(_read_wish)


def fit(character: Character, city: City, start: Panorama, seed: int) -> tuple[Character, tuple[str, ...]]:
    """Leave out areas that are not in the city; without any other, homes are looked for all over it.

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
    """Search, weigh every home, and rank them, best first; give up where the city knows no homes."""
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
