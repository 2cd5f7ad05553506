"""Aria, the place recommender: she finds a place for a client, by what visitors say of those within reach.

She looks for the kinds of place that the client's wish is about, leaves out what is closed or too far, reads
the reviews of the others, rates each, and says why the best one and why not the next (V-IRL, appendix B.2).
"""

from virl.agent.assembly import Agent
from virl.routines.recommend.search import errand_of, search
from virl.routines.recommend.showing import recommend
from virl.routines.recommend.weigh import weigh_all


def run(agent: Agent) -> None:
    """Search, weigh each candidate, and recommend the best."""
    errand = errand_of(agent)
    found = search(agent, errand)
    recommend(agent, errand, found, weigh_all(agent, errand, found))
