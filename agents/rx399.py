"""RX-399, the urban assistance robot: it goes along a route and reports what stands there.

At every panorama it looks to both sides, looks closer at what might be what it counts, and remembers each
thing once, with its position (V-IRL, section 3.3).
"""

from virl.agent import Agent
from virl.cli import run_module
from virl.counting.rounds import count_along
from virl.counting.where import onward_by_link, route_of
from virl.platform.movement.point.navigator import PointNavigator
from virl.platform.movement.point.plan import plan_route


def live(agent: Agent) -> None:
    """Go along the route and count, until its end or the limit of steps."""
    city, limit = agent.city, agent.character.limits.steps
    plan = plan_route(city.streetview, city.maps, agent.start.position, route_of(agent))
    # The round keeps the limit, so the navigator's is one step beyond.
    navigator = PointNavigator(city.streetview, agent.mover, plan, max_steps=limit + 1)
    count_along(agent, navigator.walk, onward_by_link)


if __name__ == "__main__":
    run_module("rx399")
