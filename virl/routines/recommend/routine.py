"""Aria, the place recommender: she finds a place for a client, by what visitors say of those within reach.

She looks for the kinds of place that the client's wish is about, leaves out what is closed or too far, reads
the reviews of the others, rates each, and says why the best one and why not the next (V-IRL, appendix B.2).
"""

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.routine import Wish
from virl.mind.lexicon import Lexicon, found_in
from virl.mind.sentences import asked_for
from virl.mind.understanding import Reading
from virl.mind.wishes import wishes_in, words_for_kinds
from virl.routines.clients.fitting import fit
from virl.routines.clients.settings import client_of
from virl.routines.clients.walks import walks_in
from virl.routines.recommend.rules import SearchQuestion, plan_search
from virl.routines.recommend.search import errand_of, search
from virl.routines.recommend.showing import recommend
from virl.routines.recommend.weigh import weigh_all

__all__ = ["WISH", "fit", "run"]


def _read_wish(character: Character, lexicon: Lexicon) -> Reading:
    """Read the kind of place, the attributes and the longest walk that the client's intention names."""
    client = client_of(character)
    asked = SearchQuestion(
        name=client.name,
        background=client.background,
        intention=client.intention,
        place_types=lexicon.kinds,
    )
    kinds, text = plan_search(asked, lexicon).place_types, client.intention
    used = [*words_for_kinds(text, kinds, lexicon), *walks_in(asked_for(text))]
    used += [wish.stretch for wish in wishes_in(text, lexicon, loosely=True)]
    best = tuple(found_in(text, ("best",)))
    return Reading(text, tuple(used), (client.name, character.name), "recommend", checked=best)


WISH = Wish(_read_wish)


def run(agent: Agent) -> None:
    """Search, weigh each candidate, and recommend the best."""
    errand = errand_of(agent)
    found = search(agent, errand)
    recommend(agent, errand, found, weigh_all(agent, errand, found))
