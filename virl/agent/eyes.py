"""The far sense of agents: what can be seen down a road from where they stand."""

from virl.agent.agent import Assembly
from virl.platform.city.streetview import Link, Panorama, View
from virl.platform.perception.road_sight import RoadSight, far_camera, sight_in

FRONT_FINDER = "front-finder"
"""Name of the detector of fronts."""


class FarEyes:
    """A describer that sees down roads by pixels alone; where views are paid, only in those taken anyway.

    Args:
        agent: who looks.
    """

    def __init__(self, agent: Assembly) -> None:
        self._streetview = agent.city.streetview
        self._finder = agent.models.keeping_detector(FRONT_FINDER)
        self.looks_far = agent.city.ledger is None or agent.city.is_drawn

    def look_far(self, panorama: Panorama, link: Link) -> RoadSight:
        """Return the sight far down a road, in a view of its own."""
        return self.glimpse(self._streetview.view(panorama.id, far_camera(link.heading)), panorama)

    def glimpse(self, view: View, panorama: Panorama) -> RoadSight:
        """Return the sight in a view that was taken already."""
        return sight_in(view, panorama.position, self._finder)
