"""The contract of spotters of landmarks, the views they look through, and spotters that know the truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from rapidfuzz import utils

from virl.geo.globe import LatLng, bearing, distance, egocentric_word
from virl.platform.city.city import Truth
from virl.platform.city.streetview import Box, Camera, Pose, StreetView, View
from virl.platform.navigators.tourist.ways import DIRECTIONS, heading_of

VIEW_FOV_DEG = 45.0
"""Width in degrees of each of the eight views, which together show the whole circle (V-IRL, appendix B.7)."""


@dataclass(frozen=True, slots=True)
class LandmarkSighting:
    """A sighting of a landmark from a pose."""

    name: str
    """Name of the landmark as the directions write it."""
    heading: float
    """Direction of the middle of the landmark, degrees clockwise from north."""
    score: float
    """Confidence of the sighting, [0, 1]."""
    camera: Camera | None = None
    """Camera through which the landmark was seen; `None` where no view was looked at."""
    box: Box | None = None
    """Box of the landmark in pixels of that view; `None` where the spotter cannot tell."""
    text: str = ""
    """Words read in the view or replied about it, for the record; may be empty."""

    def direction(self, heading: float) -> str:
        """Return the landmark's direction for one who faces `heading`: one of the eight directions."""
        return egocentric_word(heading, self.heading)


class LandmarkSpotter(Protocol):
    """A spotter of landmarks by their names."""

    @property
    def name(self) -> str:
        """Name of the spotter in tables, such as `"ocr"`."""
        ...

    def spot(self, pose: Pose, names: Sequence[str], *, thorough: bool) -> list[LandmarkSighting]:
        """Return the landmarks seen, each at most once, the surest first; looks all around if `thorough`.

        Args:
            pose: panorama at which to look around, and heading faced.
            names: names to look for; nothing else is reported, whatever is written on the walls.
            thorough: whether to look in all directions; else one that looks piecemeal may leave out ahead
                and behind.

        Raises:
            NoImagery: there is no view of the panorama.
            ModelUnavailable: the spotter's model is missing.
        """
        ...


def eight_cameras(heading: float) -> tuple[Camera, ...]:
    """Return the cameras of eight views around a walker who faces `heading`, in the order of `DIRECTIONS`."""
    return tuple(Camera(heading_of(direction, heading), fov=VIEW_FOV_DEG) for direction in DIRECTIONS)


def eight_views(streetview: StreetView, pose: Pose) -> list[View]:
    """Return the views all around a pose, through `eight_cameras`."""
    return [streetview.view(pose.pano_id, camera) for camera in eight_cameras(pose.heading)]


def surest(sightings: Sequence[LandmarkSighting]) -> list[LandmarkSighting]:
    """Return the sighting of the highest score of each landmark, the highest first."""
    best: dict[str, LandmarkSighting] = {}
    for sighting in sightings:
        if sighting.name not in best or best[sighting.name].score < sighting.score:
            best[sighting.name] = sighting
    return sorted(best.values(), key=lambda sighting: (-sighting.score, sighting.name))


NEAR_M = 20.0
"""Largest distance in metres at which V-IRL's oracle sees a landmark (its published code)."""
MIN_FRACTION = 0.5
"""Least share of a sign, [0, 1], that must be visible for the sign to be legible. Chosen."""
MIN_PIXELS = 200
"""Least area of a sign in pixels, in a view 640 pixels wide, for the sign to be legible.
Chosen: a line of ten letters, 8 pixels high, which is what the reader needs."""
FOV_DEG, PITCH_DEG, WIDTH, HEIGHT = 90.0, 12.0, 640, 256
"""Field of view, pitch (degrees) and size (pixels) of the four views in which the truth is looked up.
As high as those that are read."""


@dataclass(frozen=True, slots=True)
class TruthSpotter:
    """A spotter of the signs looked for that are mostly visible in four views, each read without a fault."""

    truth: Truth

    name: ClassVar[str] = "oracle"
    """Name of the spotter in tables."""

    def spot(self, pose: Pose, names: Sequence[str], *, thorough: bool) -> list[LandmarkSighting]:
        """Return the landmarks seen, the surest first; always looks in all directions."""
        del thorough
        asked = {utils.default_process(name): name for name in names}
        found = []
        for turn in (0.0, 90.0, 180.0, -90.0):
            camera = Camera(pose.heading + turn, PITCH_DEG, FOV_DEG, WIDTH, HEIGHT)
            for sign in self.truth.visible(pose.pano_id, camera, MIN_PIXELS, {"sign"}):
                name = asked.get(utils.default_process(sign.label))
                if name is not None and sign.visible_fraction >= MIN_FRACTION:
                    middle = (sign.box[0] + sign.box[2]) / 2, (sign.box[1] + sign.box[3]) / 2
                    heading, _ = camera.direction(*middle)
                    found.append(
                        LandmarkSighting(name, heading, sign.visible_fraction, camera, sign.box, sign.label)
                    )
        return surest(found)


@dataclass(frozen=True, slots=True)
class MapSpotter:
    """A spotter of the landmark nearest by position, if it is near, as V-IRL's oracle; walls hide nothing."""

    streetview: StreetView
    positions: Mapping[str, LatLng]
    """Positions of the landmarks and the destination, by name."""
    near: float = NEAR_M
    """Largest distance in metres at which a landmark is seen."""

    name: ClassVar[str] = "map"
    """Name of the spotter in tables."""

    def spot(self, pose: Pose, names: Sequence[str], *, thorough: bool) -> list[LandmarkSighting]:
        """Return the landmark nearest by position, if within `near` metres; else an empty list."""
        del thorough
        here = self.streetview.panorama(pose.pano_id).position
        known = [(distance(here, self.positions[name]), name) for name in names if name in self.positions]
        metres, nearest = min(known, default=(float("inf"), ""))
        if metres > self.near:
            return []
        return [LandmarkSighting(nearest, bearing(here, self.positions[nearest]), 1.0)]
