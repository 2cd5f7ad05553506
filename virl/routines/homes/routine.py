"""Vivek, the estate agent: he finds a home to rent for a client, by what it costs and what is near it.

He reads which sorts of places matter to the client, looks at the listings of the districts and the price
window, finds the walk from each home to the nearest of those places, rates each home, and ranks them
(V-IRL, appendix B.3).
"""

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.routine import Wish
from virl.mind.lexicon import Lexicon
from virl.mind.understanding.reading import Reading
from virl.platform.outcome import Outcome
from virl.routines.clients.rules import check_language
from virl.routines.clients.settings import served
from virl.routines.homes.home import Rated
from virl.routines.homes.rules import words_of_wants
from virl.routines.homes.search import search_homes, wants_of
from virl.routines.homes.showing import conclude
from virl.routines.homes.source import NoListings
from virl.routines.homes.weigh import weigh_homes


def _read_wish(character: Character, lexicon: Lexicon) -> Reading:
    """Read what the client wants of a home and around it."""
    check_language(character)
    client = served(character)
    used = tuple(words_of_wants(client.intention, lexicon))
    return Reading(client.intention, used, (client.name, character.name), "homes")


WISH = Wish(_read_wish)


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
