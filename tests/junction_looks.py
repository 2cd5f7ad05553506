"""Looks from the middle of junctions of a made town, down each street that leaves them."""

from collections.abc import Iterator
from itertools import islice

from virl.platform.city.city import City
from virl.platform.city.streetview import Camera


def looks_down(town: City, numbers: range, junctions: int) -> Iterator[tuple[str, Camera]]:
    """The id of the panorama and the camera of each look, from the first junctions among panoramas."""
    panoramas = (town.streetview.panorama(f"vt-{number:05d}") for number in numbers)
    for panorama in islice((one for one in panoramas if one.is_crossing), junctions):
        for link in panorama.links:
            yield panorama.id, Camera(link.heading, 3.0, 20.0, 640, 480)
