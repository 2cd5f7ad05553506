"""The views on the page of a town: panoramas spread over it, chosen from a seed."""

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import PIL.Image
import shapely

from virl.errors import NoImagery
from virl.geo.globe import LocalFrame, distance
from virl.platform.city.city import City
from virl.platform.city.interchange import held_street_map, streets_at
from virl.platform.city.streetview import Camera, Image, Panorama

# All chosen.
CANDIDATES = 12  # of these, each new view takes the one farthest from the views before it
HOUSE_M = 40.0  # a panorama with a house so near is in a built-up street
OPEN_LAND = 0.3  # what a metre between views counts where there is none: a country shows its villages too
WIDTH, HEIGHT = 640, 480
FOV, PITCH = 90.0, 4.0
TURNED = 35.0  # degrees from the way along the street, so that one of its sides fills the view
QUALITY = 82  # of JPEG


@dataclass(frozen=True, slots=True)
class TownView:
    """A view and where it is."""

    panorama: Panorama
    camera: Camera
    street: str
    """Its name; empty where none is known."""
    pixels: Image
    """The picture."""

    @property
    def data(self) -> str:
        """The picture as a data URI."""
        return _jpeg(self.pixels)


def town_views(city: City, count: int, seed: int) -> list[TownView]:
    """Return views spread over a city, from north to south; the same seed chooses the same ones.

    Empty if the city has no pictures; a panorama whose own picture is missing is left out.

    Args:
        city: held whole.
        count: how many, at most.
        seed: any non-negative integer.
    """
    rng = Random(seed)
    chosen = sorted(_spread(city, count, rng), key=lambda one: (-one.position.lat, one.position.lng))
    inventory = city.inventory
    streets = streets_at([one.position for one in chosen], inventory.streets() if inventory else ())
    drawn = []
    for panorama, street in zip(chosen, streets, strict=True):
        along = rng.choice([link.heading for link in panorama.links] or [panorama.heading])
        camera = Camera(along + rng.choice((-TURNED, TURNED)), PITCH, FOV, WIDTH, HEIGHT)
        try:
            pixels = city.streetview.view(panorama.id, camera).pixels
        except NoImagery:
            continue
        drawn.append(TownView(panorama, camera, street.name if street else "", pixels))
    return drawn


def _spread(city: City, count: int, rng: Random) -> Iterator[Panorama]:
    """Yield panoramas that keep apart (Mitchell's best candidate)."""
    names = held_street_map(city).panorama_ids()
    drawn = rng.sample(names, min(len(names), count * CANDIDATES))
    left = [city.streetview.panorama(name) for name in drawn]
    weight = dict(zip(drawn, _weights(city, left), strict=True))
    chosen: list[Panorama] = []
    while left and len(chosen) < count:
        best = max(
            left[:CANDIDATES],
            key=lambda one: (
                weight[one.id]
                * min((distance(one.position, other.position) for other in chosen), default=1.0)
            ),
        )
        left.remove(best)
        chosen.append(best)
    yield from chosen


def _weights(city: City, panoramas: Sequence[Panorama]) -> list[float]:
    if not city.inventory or not panoramas:
        return [1.0] * len(panoramas)
    frame = LocalFrame(city.center)
    middles = shapely.get_coordinates(
        [shapely.centroid(house.outline) for house in city.inventory.houses()]
    ).reshape(-1, 2)
    points = np.asarray(shapely.points(np.column_stack(frame.to_metres(middles[:, 1], middles[:, 0]))))
    houses = shapely.STRtree(points)
    where = shapely.points([frame.point(one.position) for one in panoramas])
    built_up = set(houses.query(where, predicate="dwithin", distance=HOUSE_M)[0].tolist())
    return [1.0 if number in built_up else OPEN_LAND for number in range(len(panoramas))]


def _jpeg(pixels: Image) -> str:
    file = io.BytesIO()
    PIL.Image.fromarray(pixels).save(file, "JPEG", quality=QUALITY, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode()
