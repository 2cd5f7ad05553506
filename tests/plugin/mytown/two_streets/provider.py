"""The provider `two-streets`: opens the city of a city file."""

from pathlib import Path

from virl.geo.globe import LocalFrame
from virl.platform.city.city import City
from virl.platform.city.graph import GraphMaps, NavigationGraph, build_graph
from virl.platform.city.places import Place, Review
from virl.platform.providers.provider import Access, Provider

from .city_file import TwoStreetsFile
from .places import Shops
from .streetview import DrawnStreets

STEP_M = 10.0
SIDE_M = 6.0
"""From the middle of the street to the shops."""


def open_city(name: str, file: TwoStreetsFile, access: Access) -> City:
    """The city of a file."""
    graph = _streets(name, file)
    shops = _shops(file)
    places = Shops(shops)
    return City(
        name, file.title, file.center, DrawnStreets(graph, shops), places, GraphMaps(graph, places.find)
    )


def _streets(name: str, file: TwoStreetsFile) -> NavigationGraph:
    """Panoramas on a cross, each linked with its neighbours."""
    frame = LocalFrame(file.center)
    arm = [step for step in range(-file.arm, file.arm + 1) if step]
    spots = [(0, 0), *((step, 0) for step in arm), *((0, step) for step in arm)]
    number = {spot: index for index, spot in enumerate(spots)}
    links = [
        (number[x, y], number[neighbour])
        for x, y in spots
        for neighbour in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))
        if neighbour in number
    ]
    positions = [frame.position(x * STEP_M, y * STEP_M) for x, y in spots]
    return build_graph(
        ids=[f"{name}-{x}-{y}" for x, y in spots],
        lat=[position.lat for position in positions],
        lng=[position.lng for position in positions],
        source=[source for source, _ in links],
        target=[target for _, target in links],
    )


def _shops(file: TwoStreetsFile) -> list[Place]:
    frame = LocalFrame(file.center)
    return [
        Place(
            id=f"shop-{number}",
            name=shop.name,
            types=(shop.type,),
            position=frame.position(number * STEP_M, SIDE_M),
            address=f"{number} Main Street",
            rating=shop.rating,
            review_count=1 if shop.review else 0,
            reviews=(Review(shop.rating, shop.review),) if shop.review else (),
        )
        for number, shop in enumerate(file.shops, start=1)
    ]


PROVIDER = Provider(
    file=TwoStreetsFile,
    open=open_city,
    shareable=True,
    terms="Drawn from its city file: free to use.",
    cities=Path(__file__).parent / "cities",
)
