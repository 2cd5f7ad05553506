"""Diego, the interactive concierge: he plans a client's day, and mends the plan when they speak up.

Each activity is drafted, held against the city (ways, opening hours, Aria for meals), its effect on the
client and their money estimated, audited, revised if need be, and only then kept (V-IRL, 3.4.2 and 4.4).
"""

from virl.agent.agent import Agent
from virl.agent.routine import Wish
from virl.routines.clients.rules import check_language
from virl.routines.day.planner import plan_day
from virl.routines.day.showing import show_day

WISH = Wish(lambda character, _: check_language(character))


def run(agent: Agent) -> None:
    """Plan the day, and hand it over as a page, a calendar and a report."""
    show_day(agent, plan_day(agent))
