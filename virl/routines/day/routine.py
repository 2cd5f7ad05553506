"""Diego, the interactive concierge: he plans a client's day, and mends the plan when they speak up.

Each activity is drafted, held against the city (ways, opening hours, Aria for meals), its effect on the
client and their money estimated, audited, revised if need be, and only then kept (V-IRL, 3.4.2 and 4.4).
`asking.py` asks for the draft, with `prompts/day/draft.md`; without a model, `rules.py` answers.
"""

from virl.agent.agent import Agent
from virl.agent.character import Character
from virl.agent.routine import Wish
from virl.mind.lexicon import Lexicon
from virl.mind.understanding import Reading
from virl.routines.clients.rules import check_language
from virl.routines.clients.settings import client_of
from virl.routines.day.planner import plan_day
from virl.routines.day.showing import show_day
from virl.routines.day.wish_rules import words_of_likes


def _read_wish(character: Character, lexicon: Lexicon) -> Reading:
    """Read the pastimes that the client likes and does not like, and whether they want to save money."""
    check_language(character)
    client = client_of(character)
    used = tuple(words_of_likes(client.intention, lexicon))
    return Reading(client.intention, used, (client.name, character.name), "day")


WISH = Wish(_read_wish)


def run(agent: Agent) -> None:
    """Plan the day, and hand it over as a page, a calendar and a report."""
    show_day(agent, plan_day(agent))
