"""Aria, the place recommender: she finds a place for a client, by what visitors say of those within reach.

She looks for the kinds of place that the client's wish is about, leaves out what is closed or too far, reads
the reviews of the others, rates each, and says why the best one and why not the next (V-IRL, appendix B.2).
"""

from random import Random

from virl.agent.agent import Agent
from virl.agent.character import Character, Point
from virl.agent.routine import Wish
from virl.geo.globe import LatLng
from virl.mind.lexicon import Lexicon, found_in
from virl.mind.sentences import asked_for
from virl.mind.understanding import Reading
from virl.mind.wishes import wishes_in, words_for_kinds
from virl.platform.city.city import City
from virl.platform.city.starts import draw_address, is_there
from virl.platform.city.streetview import Panorama
from virl.routines.client import CLIENT, client_of, walks_in
from virl.routines.recommend.rules import SearchQuestion, plan_search
from virl.routines.recommend.search import errand_of, search
from virl.routines.recommend.showing import recommend
from virl.routines.recommend.weigh import weigh_all

__all__ = ["WISH", "fit", "run"]


def _read_wish(character: Character, lexicon: Lexicon) -> Reading:
    """Return the client's wish as text, with its words on types, attributes and walks that rules use."""
    client = client_of(character)
    asked = SearchQuestion(**client.texts, place_types=lexicon.kinds)
    kinds, text = plan_search(asked, lexicon).place_types, client.intention
    used = [*words_for_kinds(text, kinds, lexicon), *walks_in(asked_for(text))]
    used += [wish.stretch for wish in wishes_in(text, lexicon, loosely=True)]
    best = tuple(found_in(text, ("best",)))
    return Reading(text, tuple(used), (client.name, character.name), "recommend", checked=best)


WISH = Wish(_read_wish)


def fit(character: Character, city: City, start: Panorama, seed: int) -> tuple[Character, tuple[str, ...]]:
    """Move a client outside the city near the start; return (character, sentences on changes).

    Args:
        character: character as its file has it.
        city: city of the run.
        start: panorama at which the run begins.
        seed: seed of what is chosen at random.
    """
    client = CLIENT.of(character)
    if client is None or client.where is None:
        return character, ()
    if isinstance(client.where, str):
        where, is_here = client.where, is_there(city, client.where, start.position)
    else:
        position = LatLng(client.where.lat, client.where.lng)
        where, is_here = str(position), city.streetview.nearest(position) is not None
    if is_here:
        return character, ()
    address = draw_address(city, start.position, (), Random(seed))
    at = address.position if address else start.position
    changed = client.model_copy(update={"where": Point(lat=at.lat, lng=at.lng)})
    told = f"{where} is not in {city.title}: {client.name} is at {address.text if address else 'the start'}."
    return character.model_copy(update={CLIENT.name: changed}), (told,)


def run(agent: Agent) -> None:
    """Find places for the client, rate each, recommend the best, and end the run."""
    errand = errand_of(agent)
    found = search(agent, errand)
    recommend(agent, errand, found, weigh_all(agent, errand, found))
