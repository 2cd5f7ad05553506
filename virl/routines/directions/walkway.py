"""The walk that directions are given for: from panorama to panorama, along a route."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from virl.errors import NoRoute
from virl.platform.maps import Maps
from virl.platform.movement.base import Mover
from virl.platform.movement.instruction.tourist.ways import direction_of, link_ahead
from virl.platform.movement.point.navigator import PointNavigator
from virl.platform.movement.point.plan import plan_route
from virl.platform.streetview import Link, Panorama, Pose, StreetView

MAX_STEPS = 2000
"""Panoramas of a walk. Chosen: 20 km."""


@dataclass(frozen=True, slots=True)
class Stand:
    """One panorama of a walk."""

    pose: Pose
    """As one arrives there; at the start, as the walker faces."""
    panorama: Panorama
    links: tuple[Link, ...]
    onward: Link | None
    """The link that the walk takes; `None` at its end."""
    came_from: str | None

    @property
    def goes_on(self) -> bool:
        """Whether walking on without a turn does what the walk does."""
        return self.onward == link_ahead(self.links, self.pose.heading, self.came_from)

    @property
    def turn(self) -> str:
        """The direction that the walk takes from here, in one of eight words; empty at its end."""
        if self.onward is None:
            return ""
        return "front" if self.goes_on else direction_of(self.links, self.pose.heading, self.onward)


def walk_to(
    streetview: StreetView, maps: Maps, mover: Mover, start: Pose, end: Panorama
) -> tuple[Stand, ...]:
    """The walk from a pose to a panorama, along a route.

    Raises:
        NoRoute: there is none, or the links do not lead along it.
    """
    if start.pano_id == end.id:
        return tuple(stands_along(streetview, mover, start, [end.id]))
    here = streetview.panorama(start.pano_id)
    plan = plan_route(streetview, maps, here.position, [end.position])
    navigator = PointNavigator(streetview, mover, plan, max_steps=MAX_STEPS)
    poses = [step.pose for step in navigator.walk(start)]
    outcome = navigator.outcomes[0]
    if not outcome.reached:
        raise NoRoute(f"no walk leads to {end.position}: {outcome.reason}")
    return tuple(stands_along(streetview, mover, start, _without_detours(poses)))


def length_of(walk: tuple[Stand, ...]) -> float:
    """Metres of a walk."""
    return sum(stand.onward.distance for stand in walk if stand.onward)


def _without_detours(poses: list[Pose]) -> list[str]:
    """The panoramas of a walk, without the ways that led back to where they began."""
    path: list[str] = []
    for pose in poses:
        if pose.pano_id in path:
            del path[path.index(pose.pano_id) :]
        path.append(pose.pano_id)
    return path


def stands_along(streetview: StreetView, mover: Mover, start: Pose, path: Sequence[str]) -> Iterator[Stand]:
    """The stands of a walk along panoramas that links lead through.

    Raises:
        NoRoute: no link leads from one to the next.
    """
    pose, came_from = start, None
    for index, pano_id in enumerate(path):
        panorama, links = streetview.panorama(pano_id), mover.links(pose)
        following = path[index + 1] if index + 1 < len(path) else None
        onward = next((link for link in links if link.pano_id == following), None)
        if following is not None and onward is None:
            raise NoRoute(f"no link leads from panorama {pano_id!r} to {following!r}")
        yield Stand(pose, panorama, links, onward, came_from)
        if onward is not None:
            came_from = pano_id
            pose = mover.take(Pose(pano_id, onward.heading), onward)
