"""Which landmarks are seen, and where: the contract of spotters, and the views they look through."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from virl.geo.globe import egocentric_word
from virl.platform.city.streetview import Box, Camera, Pose
from virl.platform.navigators.tourist.ways import DIRECTIONS, heading_of

VIEW_FOV_DEG = 45.0
"""Degrees across each of the eight views: together they cover the whole circle (V-IRL, appendix B.7)."""


@dataclass(frozen=True, slots=True)
class LandmarkSighting:
    """A landmark that is seen."""

    name: str
    """The name that the directions use."""
    heading: float
    """The heading of the middle of what is seen, degrees clockwise from north."""
    score: float
    """Confidence, [0, 1]."""
    camera: Camera | None = None
    """The camera through which it was seen; `None` where no view was looked at."""
    box: Box | None = None
    """The box in that view, where the spotter can tell."""
    text: str = ""
    """The words read or replied about the view, for the record."""

    def direction(self, heading: float) -> str:
        """Return the direction for one who faces `heading`: one of the eight directions."""
        return egocentric_word(heading, self.heading)


class LandmarkSpotter(Protocol):
    """A spotter of landmarks by their names."""

    @property
    def name(self) -> str:
        """The name in tables, such as `"ocr"`."""
        ...

    def spot(self, pose: Pose, names: Sequence[str], *, thorough: bool) -> list[LandmarkSighting]:
        """Return the landmarks seen from a pose, each at most once, the surest first.

        Args:
            pose: where to look around.
            names: what to look for; nothing else is reported, whatever is written on the walls.
            thorough: whether to look in all directions; else one that looks piecemeal may leave out ahead
                and behind.

        Raises:
            NoImagery: there is no view there.
            ModelUnavailable: its model is missing.
        """
        ...


def eight_cameras(heading: float, *, size: int = 640) -> tuple[Camera, ...]:
    """Return the cameras of eight views around one who faces `heading`, in the order of `DIRECTIONS`.

    Args:
        heading: degrees clockwise from north.
        size: pixels of each side.
    """
    return tuple(
        Camera(heading_of(direction, heading), fov=VIEW_FOV_DEG, width=size, height=size)
        for direction in DIRECTIONS
    )


def surest(sightings: Sequence[LandmarkSighting]) -> list[LandmarkSighting]:
    """Return each landmark once, where it is seen best; the surest first."""
    best: dict[str, LandmarkSighting] = {}
    for sighting in sightings:
        if sighting.name not in best or best[sighting.name].score < sighting.score:
            best[sighting.name] = sighting
    return sorted(best.values(), key=lambda sighting: (-sighting.score, sighting.name))
