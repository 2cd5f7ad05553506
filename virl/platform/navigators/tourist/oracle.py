"""Spotters that know the truth: for benchmarks, to tell what sight loses from what thought loses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import utils

from virl.geo.globe import LatLng, bearing, distance
from virl.platform.city.city import Truth
from virl.platform.city.streetview import Camera, Pose, StreetView
from virl.platform.navigators.tourist.spotting import LandmarkSighting, surest

NEAR_M = 20.0
"""Metres within which V-IRL's oracle sees a landmark (its published code)."""

MIN_FRACTION = 0.5
"""Share of a sign that must be seen for it to be legible. Chosen."""

MIN_PIXELS = 200
"""Pixels of a sign, in a view 640 wide, that must be seen for it to be legible. Chosen: a line of ten
letters, 8 pixels high, which is what the reader needs."""


FOV_DEG, PITCH_DEG, WIDTH, HEIGHT = 90.0, 12.0, 640, 256
"""Degrees and pixels of the four views in which the truth is looked at: as high as those that are read."""


@dataclass(frozen=True, slots=True)
class TruthSpotter:
    """A spotter that sees every sign that four views truly show, and reads it without a fault."""

    truth: Truth

    @property
    def name(self) -> str:
        """The name in tables: `"oracle"`."""
        return "oracle"

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
    """V-IRL's oracle: the nearest of the landmarks by the map, if it is near; walls do not hide it."""

    streetview: StreetView
    positions: Mapping[str, LatLng]
    """The positions of the landmarks and the destination, by name."""
    near: float = NEAR_M
    """Metres."""

    @property
    def name(self) -> str:
        """The name in tables: `"map"`."""
        return "map"

    def spot(self, pose: Pose, names: Sequence[str], *, thorough: bool) -> list[LandmarkSighting]:
        """Return the landmark nearest by the map, if it is within `near` metres."""
        del thorough
        here = self.streetview.panorama(pose.pano_id).position
        known = [(distance(here, self.positions[name]), name) for name in names if name in self.positions]
        metres, nearest = min(known, default=(float("inf"), ""))
        if metres > self.near:
            return []
        return [LandmarkSighting(nearest, bearing(here, self.positions[nearest]), 1.0)]
