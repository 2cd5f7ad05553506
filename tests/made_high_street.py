"""A few streets with shops, whose signs a made reader reads off the pictures: for those who ask the way.

    n2
    n1
w2 w1 c e1 e2 e3 x f1 f2
    s1      (x: a crossing with y1, y2 to the north)
    s2
"""

from collections import deque
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from made_streets import FRAME, MadeStreetView

from virl.errors import NotFound
from virl.geo.globe import LatLng, bearing, distance, signed_turn
from virl.platform.city.city import City
from virl.platform.city.maps import Route, TravelMode
from virl.platform.city.places import Place
from virl.platform.city.streetview import Camera, Image, View
from virl.platform.perception.base import Reader, TextLine
from virl.platform.perception.models import ModelOptions, Models

POINTS = {
    "w2": (-20, 0),
    "w1": (-10, 0),
    "c": (0, 0),
    "n1": (0, 10),
    "n2": (0, 20),
    "s1": (0, -10),
    "s2": (0, -20),
    "e1": (10, 0),
    "e2": (20, 0),
    "e3": (30, 0),
    "x": (40, 0),
    "y1": (40, 10),
    "y2": (40, 20),
    "y3": (40, 30),
    "y4": (40, 40),
    "f1": (50, 0),
    "f2": (60, 0),
}
EDGES = (
    *("w2-w1", "w1-c", "c-n1", "n1-n2", "c-s1", "s1-s2", "c-e1", "e1-e2", "e2-e3", "e3-x"),
    *("x-y1", "y1-y2", "y2-y3", "y3-y4", "x-f1", "f1-f2"),
)
SHOPS: Mapping[str, tuple[float, float]] = {
    "Moon Bakery": (32, 28),
    "Sun Books": (48, 33),
    "Hill Pharmacy": (8, 8),
    "Old Bank": (33, -8),
}
TYPES = {
    "Moon Bakery": "bakery",
    "Sun Books": "book_store",
    "Hill Pharmacy": "pharmacy",
    "Old Bank": "bank",
}
LEGIBLE_M = 16.0


class HighStreet(MadeStreetView):
    """Its pictures carry the number of a page, on which the reader finds what stands there."""

    def __init__(
        self,
        signs: Mapping[str, tuple[float, float]],
        points: Mapping[str, tuple[float, float]] = POINTS,
        edges: Sequence[str] = EDGES,
    ) -> None:
        super().__init__(points, edges)
        self.signs = {text: FRAME.position(*at) for text, at in signs.items()}
        self.pages: list[list[TextLine]] = []
        self.looked: list[tuple[str, float]] = []

    def view(self, pano_id: str, camera: Camera) -> View:
        here = self.panorama(pano_id).position
        page = [
            TextLine(text, 0.99, self._box(camera, bearing(here, there)))
            for text, there in self.signs.items()
            if distance(here, there) <= LEGIBLE_M
            and abs(signed_turn(camera.heading, bearing(here, there))) < camera.fov / 2
        ]
        self.looked.append((pano_id, camera.heading))
        self.pages.append(page)
        number = len(self.pages) - 1
        pixels = np.zeros((camera.height, camera.width, 3), np.uint8)
        pixels[0, 0] = number % 256, number // 256, 1
        return View(pano_id, camera, pixels)

    def _box(self, camera: Camera, toward: float) -> tuple[float, float, float, float]:
        tilted = camera.focal * np.cos(np.radians(camera.pitch))
        x = float(camera.width / 2 + tilted * np.tan(np.radians(signed_turn(camera.heading, toward))))
        return x - 20, camera.height / 2 - 9, x + 20, camera.height / 2 + 9

    def read(self, images: Sequence[Image]) -> list[list[TextLine]]:
        return [self.pages[int(image[0, 0, 0]) + 256 * int(image[0, 0, 1])] for image in images]


class MadeMaps:
    """The fewest panoramas."""

    def __init__(self, streets: MadeStreetView) -> None:
        self._streets = streets

    def geocode(self, address: str) -> LatLng:
        raise NotFound(address)

    def travel_times(self, origins, destinations, mode="walking"):
        raise NotImplementedError

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        ids = [self._streets.nearest(stop, 1000.0).id for stop in stops]
        path = [self._streets.panorama(one).position for one in self._way(ids[0], ids[-1])]
        return Route(tuple(path), 10.0 * (len(path) - 1), 10.0)

    def _way(self, start: str, end: str) -> list[str]:
        before = {start: start}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for link in self._streets.panorama(here).links:
                if link.pano_id not in before:
                    before[link.pano_id] = here
                    queue.append(link.pano_id)
        path = [end]
        while path[-1] != start:
            path.append(before[path[-1]])
        return path[::-1]


class MadePlaces:
    """The shops, whether or not they have a sign."""

    def __init__(self, shops: Mapping[str, tuple[float, float]]) -> None:
        self.shops = [
            Place(name, name, (TYPES.get(name, "store"),), FRAME.position(*at), rating=4.0, review_count=9)
            for name, at in shops.items()
        ]

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        near = [
            shop
            for shop in self.shops
            if distance(position, shop.position) <= radius and (not types or set(types) & set(shop.types))
        ]
        return sorted(near, key=lambda shop: distance(position, shop.position))

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        return [shop for shop in self.shops if query.casefold() in shop.name.casefold()]

    def details(self, place_id: str) -> Place:
        return next(shop for shop in self.shops if shop.id == place_id)

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        return []


class MadeModels(Models):
    """Opens the street's own reader."""

    def __init__(self, streets: HighStreet) -> None:
        super().__init__(ModelOptions())
        self._streets = streets

    def reader(self, name: str) -> Reader:
        return self._streets


LONG_POINTS = POINTS | {f"y{number}": (40, 10 * number) for number in range(5, 10)}
LONG_EDGES = (*EDGES, *(f"y{number}-y{number + 1}" for number in range(4, 9)))
"""The street to the north goes on for 90 m, with no crossing."""


def made_city(
    signs: Mapping[str, tuple[float, float]] = SHOPS,
    points: Mapping[str, tuple[float, float]] = POINTS,
    edges: Sequence[str] = EDGES,
) -> tuple[City, HighStreet]:
    """The streets as a city; shops without a sign are there but cannot be seen."""
    streets = HighStreet(signs, points, edges)
    city = City("virlton", "High Street", FRAME.position(0, 0), streets, MadePlaces(SHOPS), MadeMaps(streets))
    return city, streets
