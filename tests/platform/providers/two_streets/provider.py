"""Towns of two streets that cross: enough for an agent to walk in."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from pydantic import Field

from virl.errors import BadInput, NotFound
from virl.geo import LocalFrame, distance
from virl.platform.city import City
from virl.platform.graph import build_graph, panorama_at, panorama_near
from virl.platform.places import Place, Review
from virl.platform.providers.city_file import CityFile, Position
from virl.platform.providers.graph.maps import GraphMaps
from virl.platform.providers.provider import Provider
from virl.platform.streetview import View

STEP_M = 10.0


class TwoStreetsFile(CityFile):
    """What a city file of this provider holds."""

    center: Position
    arm: int = Field(ge=1)
    """Panoramas on each side of the crossing, 10 m apart."""
    shops: dict[str, str]
    """Names of the shops along Main Street, from the crossing on, and their place types."""


class Streets:
    """Street view: panoramas on two streets, and views in one colour for each heading."""

    def __init__(self, graph):
        self.graph = graph

    def nearest(self, position, radius=50.0):
        return panorama_near(self.graph, position, radius)

    def panorama(self, pano_id):
        return panorama_at(self.graph, self.graph.number(pano_id))

    def view(self, pano_id, camera):
        self.panorama(pano_id)  # raises NoStreetView if there is none
        colour = (camera.heading / 360 * 255, 127 + camera.pitch, 127)
        pixels = np.full((camera.height, camera.width, 3), colour).astype(np.uint8)
        return View(pano_id, camera, pixels)


class Shops:
    """Places, all held in memory."""

    def __init__(self, shops):
        self.shops = {shop.id: shop for shop in shops}

    def nearby(self, position, radius, types=()):
        if not 0 < radius <= 50_000:
            raise BadInput(f"radius {radius:g} m: give one above 0, up to 50000")
        away = {shop.id: distance(position, shop.position) for shop in self.shops.values()}
        near = [self.shops[i] for i in sorted(away, key=away.get) if away[i] <= radius]
        return [replace(shop, reviews=()) for shop in near if not types or {*types} & {*shop.types}]

    def search(self, query, near=None):
        words = query.lower().split()
        held = [one for one in self.shops.values() if any(word in one.name.lower() for word in words)]
        return [replace(shop, reviews=()) for shop in held]

    def details(self, place_id):
        if place_id not in self.shops:
            raise NotFound(f"no place has the id {place_id!r}")
        return self.shops[place_id]

    def photos(self, place_id, limit=1):
        self.details(place_id)
        return []


def open_city(name, file, access):
    frame = LocalFrame(file.center)
    along = [step for step in range(-file.arm, file.arm + 1) if step]
    spots = [(0, 0), *((step, 0) for step in along), *((0, step) for step in along)]
    positions = [frame.position(x * STEP_M, y * STEP_M) for x, y in spots]
    number = {spot: index for index, spot in enumerate(spots)}
    pairs = [
        (number[x, y], number[there])
        for x, y in spots
        for there in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))
        if there in number
    ]
    graph = build_graph(
        [f"{name}-{x}-{y}" for x, y in spots],
        [position.lat for position in positions],
        [position.lng for position in positions],
        [source for source, _ in pairs],
        [target for _, target in pairs],
    )
    shops = [
        Place(
            id=f"shop-{index}",
            name=shop,
            types=(kind,),
            position=frame.position(index * STEP_M, 4.0),
            address=f"{index} Main Street",
            rating=4.0,
            reviews=(Review(4.0, f"A good {kind}."),),
        )
        for index, (shop, kind) in enumerate(file.shops.items(), start=1)
    ]

    def find(address):
        for shop in shops:
            if address.lower() in {shop.name.lower(), shop.address.lower()}:
                return shop.position
        raise NotFound(f"no position of {address!r}")

    return City(name, file.title, file.center, Streets(graph), Shops(shops), GraphMaps(graph, find))


PROVIDER = Provider(
    file=TwoStreetsFile,
    open=open_city,
    shareable=True,
    terms="Drawn from its city file: free to use.",
    cities=Path(__file__).parent / "cities",
)
