"""The `hybrid` mover: listed links first, the grid only where they leave the wanted direction uncovered."""

from virl.errors import BadInput
from virl.geo.globe import signed_turn
from virl.platform.city.streetview import Link, Pose
from virl.platform.movers.base import Mover
from virl.platform.movers.grid import GridMover

HEADING_RANGE = 30.0  # degrees; V-IRL's general configuration
"""Degrees from the wanted heading within which a listed link makes asking the grid unnecessary."""


class HybridMover:
    """A mover along another mover's links, and along the grid's where none leads the wanted way.

    Once the grid was asked at a panorama, the links it found stay.

    Args:
        first: the mover asked first, `links` or `web`.
        grid: the mover asked where `first` has no link within `heading_range` of the wanted heading.
        heading_range: degrees.
    """

    def __init__(self, first: Mover, grid: GridMover, heading_range: float = HEADING_RANGE) -> None:
        self._first = first
        self._grid = grid
        self._heading_range = heading_range
        self._gridded: set[str] = set()

    def links(self, pose: Pose, toward: float | None = None) -> tuple[Link, ...]:
        """Return the links that leave a pose, by heading; asks the grid if none leads the wanted way.

        Args:
            pose: where to leave from.
            toward: the wanted heading in degrees; the pose's own by default.

        Raises:
            NoStreetView: the pose stands at no panorama.
        """
        listed = self._first.links(pose)
        wanted = pose.heading if toward is None else toward
        covered = any(abs(signed_turn(wanted, link.heading)) <= self._heading_range for link in listed)
        if pose.pano_id not in self._gridded:
            if covered:
                return listed
            self._grid.learn(pose.pano_id, listed)
            self._gridded.add(pose.pano_id)
        return self._grid.links(pose)

    def take(self, pose: Pose, link: Link) -> Pose:
        """Return the pose at the other end of a link, facing the way it led."""
        if link in self._first.links(pose):
            return self._first.take(pose, link)
        if pose.pano_id not in self._gridded:
            raise BadInput(f"no link to {link.pano_id!r} leaves panorama {pose.pano_id!r}")
        return self._grid.take(pose, link)
