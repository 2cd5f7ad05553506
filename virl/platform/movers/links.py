"""The `links` mover: the street view's own links, one metadata request a step."""

from virl.errors import BadInput
from virl.platform.city.streetview import Link, Pose, StreetView


class LinksMover:
    """A mover along the links that the provider lists for a panorama."""

    def __init__(self, streetview: StreetView) -> None:
        self._streetview = streetview

    def links(self, pose: Pose) -> tuple[Link, ...]:
        """Return the links that leave a pose, by heading."""
        panorama = self._streetview.panorama(pose.pano_id)
        return tuple(sorted(panorama.links, key=lambda link: link.heading))

    def take(self, pose: Pose, link: Link) -> Pose:
        """Return the pose at the other end of a link, facing the way it led."""
        if link not in self.links(pose):
            raise BadInput(f"no link to {link.pano_id!r} leaves panorama {pose.pano_id!r}")
        return Pose(self._streetview.panorama(link.pano_id).id, link.heading)
