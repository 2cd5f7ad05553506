"""Errors of where a provider says its panoramas are, as real street view has them."""

import random
from dataclasses import dataclass, replace

from virl.errors import BadInput
from virl.geo.globe import LocalFrame
from virl.platform.city.streetview import View
from virl.platform.perception.active import Sighting

from .trip import SeenTrip


@dataclass(frozen=True, slots=True)
class PoseNoise:
    """The standard deviations of the errors in a panorama's reported pose."""

    metres: float = 0.0
    """Metres of the position's error to the east, and to the north."""
    degrees: float = 0.0
    """Degrees of the heading's error."""

    def __str__(self) -> str:
        """Return the noise in words, such as "1.5 m, 2 degrees", or "none"."""
        return f"{self.metres:g} m, {self.degrees:g} degrees" if self.metres or self.degrees else "none"


def parse_noise(text: str) -> PoseNoise:
    """Return the noise that a text such as `"1.5,2"` states in metres and degrees.

    Raises:
        BadInput: that is not two numbers from 0 on.
    """
    try:
        metres, degrees = (float(part) for part in text.split(","))
        if 0 <= metres < 100 and 0 <= degrees < 90:
            return PoseNoise(metres, degrees)
    except ValueError:
        pass
    raise BadInput(f"pose noise {text!r}: give metres and degrees, such as 1.5,2")


def misplace_views(seeing: SeenTrip, noise: PoseNoise, seed: int, draw: int = 0) -> SeenTrip:
    """Return a walk's sightings with noise in their poses, drawn by panorama from `seed` and `draw`.

    A panorama is off by the same whenever it is visited. What its views show stays as it is.

    Args:
        seeing: with the true poses.
        noise: how far off.
        seed: another seed errs elsewhere.
        draw: so does another draw.
    """
    looks = (tuple(_misplace(one, noise, f"{seed} {draw}") for one in look) for look in seeing.looks)
    return replace(seeing, looks=tuple(looks))


def _misplace(one: Sighting, noise: PoseNoise, seed: str) -> Sighting:
    """Return a sighting with noise in its position and heading, drawn from `seed` and its panorama."""
    chance = random.Random(f"{seed} {one.view.pano_id}")
    east, north, turn = (chance.gauss(0.0, 1.0) for _ in range(3))
    camera = replace(one.view.camera, heading=one.view.camera.heading + turn * noise.degrees)
    position = LocalFrame(one.position).position(east * noise.metres, north * noise.metres)
    return replace(one, view=View(one.view.pano_id, camera, one.view.pixels), position=position)
