"""Diego, the interactive concierge: he plans a client's day, and mends the plan when they speak up.

Each activity is drafted, held against the city (ways, opening hours, Aria for meals), its effect on the
client and their money estimated, audited, revised if need be, and only then kept (V-IRL, 3.4.2 and 4.4).
"""

from virl.agent import Agent
from virl.cli import run_module
from virl.day.planner import plan_day
from virl.day.show import show_day


def live(agent: Agent) -> None:
    """Plan the day, and hand it over as a page, a calendar and a report."""
    show_day(agent, plan_day(agent))


if __name__ == "__main__":
    run_module("diego")
