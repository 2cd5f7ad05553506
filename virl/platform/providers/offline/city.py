"""Made cities put together: the plan of a town, and a provider of each kind over it."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache, partial

from virl.files.stores import ArrayStore, collector_paused
from virl.geo.globe import LatLng
from virl.platform.city.city import Capabilities, City
from virl.platform.city.graph import GraphMaps, NavigationGraph
from virl.platform.city.left_out import LeftOut
from virl.platform.city.maps import Journey
from virl.platform.providers.offline.city_file import OfflineCity, StreetSigns
from virl.platform.providers.provider import CityFile
from virl.towns.buses import bus_lines, journey_of
from virl.towns.life.shops import TOWN, move_in
from virl.towns.listings import OfflineListings, let_homes
from virl.towns.open_towns import OPEN_TOWNS, OpenTown
from virl.towns.places import AddressBook, OfflinePlaces
from virl.towns.plan.layout import lay_out
from virl.towns.plan.signposts import hang_plates, put_up_signposts
from virl.towns.plan.town_plan import CityPlan, StreetPlan
from virl.towns.render import LOOKS
from virl.towns.storage import decode, encode, maker, picture_key
from virl.towns.streetview import OfflineStreetMap, OfflineStreetView, renderer_on_demand
from virl.towns.truth import OfflineTruth, PlanInventory, plan_statistics

PLANS = 2
"""Number of town plans kept in memory, so that a plan asked for again is not drawn anew; chosen."""
_KEPT = ArrayStore("plans", "plan of a town", 12, encode, partial(decode, CityPlan))
"""Store on disk that keeps the last 12 town plans; the number is chosen."""


def draw_plan(seed: int, town: str = TOWN, street_signs: tuple[StreetSigns, ...] = ()) -> CityPlan:
    """Return the plan of the town that grows from a seed, the same under every version of Python.

    Args:
        seed: seed of the town, 0 or more.
        town: name of the town.
        street_signs: kinds of signs that hang over its junctions.
    """
    layout = lay_out(seed)
    shops, homes = move_in(layout, seed, town), let_homes(layout, seed, town)
    plates = hang_plates(layout) if "plates" in street_signs else ()
    signposts = put_up_signposts(layout, shops) if "signposts" in street_signs else ()
    return CityPlan(seed, layout, shops, homes, (*plates, *signposts))


@lru_cache(maxsize=PLANS)
def kept_plan(seed: int, town: str = TOWN, street_signs: tuple[StreetSigns, ...] = ()) -> CityPlan:
    """Return the plan of `draw_plan`, from the cache on disk if it was drawn before.

    Args:
        seed: seed of the town, 0 or more.
        town: name of the town.
        street_signs: kinds of signs that hang over its junctions.
    """
    return _KEPT.get(
        f"{maker()} {_plan_key(seed, town, street_signs)}", lambda: draw_plan(seed, town, street_signs)
    )


def _plan_key(seed: int, town: str, street_signs: tuple[StreetSigns, ...]) -> str:
    """Return a text for the cache that differs for different plans."""
    return " ".join((str(seed), town, *street_signs))


def plan_of(file: CityFile) -> CityPlan | None:
    """Return the plan of a file's city; `None` for a city that is not a made town."""
    return kept_plan(file.seed, street_signs=file.street_signs) if isinstance(file, OfflineCity) else None


def open_offline(
    name: str, title: str, seed: int, street_signs: tuple[StreetSigns, ...] = (), crowd: float = 1.0
) -> City:
    """Return the made town of a seed as a city, with all providers and its ground truth.

    Args:
        name: name by which `open_city` opens the city.
        title: name of the town as people write it.
        seed: seed of the town, 0 or more; the same seed makes the same town.
        street_signs: kinds of signs that hang over its junctions.
        crowd: people and traffic in its views, as a factor on what is usual.
    """
    key = f"{_plan_key(seed, title, street_signs)} {crowd:g}"

    def open_town() -> OpenTown:
        """Return the town, opened."""
        with collector_paused():
            plan = kept_plan(seed, title, street_signs)
        return _open_town(name, title, replace(plan, crowd=crowd), key)

    return OPEN_TOWNS.get(f"{name} {key}", open_town).lend(LeftOut())


def _open_town(name: str, title: str, plan: CityPlan, key: str) -> OpenTown:
    """Return the town of a plan, opened with its providers, to be shared by runs; `key`: of its pictures."""
    renderer = renderer_on_demand(plan)
    streetview = OfflineStreetView(plan.layout, renderer, picture_key(key))
    city = City(
        name=name,
        title=title,
        capabilities=Capabilities(looks=LOOKS),
        center=plan.layout.frame.origin,
        streetview=streetview,
        places=OfflinePlaces(plan.shops, lambda shop: renderer().photo(shop)),
        maps=OfflineMaps(
            plan.layout, streetview.graph, {shop.place.name: shop.place.position for shop in plan.shops}
        ),
        listings=OfflineListings(plan.listings),
        truth=OfflineTruth(plan, renderer),
        street_map=OfflineStreetMap(plan.layout),
        inventory=PlanInventory(plan, plan_statistics),
        life=[shop.place.position for shop in plan.shops],
    )
    return OpenTown(city, streetview)


class OfflineMaps(GraphMaps):
    """Maps of a made town: addresses, ways along panoramas, and buses."""

    def __init__(self, layout: StreetPlan, graph: NavigationGraph, named: Mapping[str, LatLng]) -> None:
        """Make the maps of a town's plan and panoramas; `named` has positions by name for `geocode`."""
        super().__init__(graph, AddressBook(layout, named).find)
        self._lines = cache(partial(bus_lines, layout))  # drawn on first use

    def journey(self, here: LatLng, there: LatLng, weekday: int, minute: int) -> Journey:  # noqa: ARG002
        """Return the bus journey that arrives first, leaving at a minute of the day or later, on any weekday.

        Raises:
            NoRoute: an end is off the map.
        """
        return journey_of(self._lines(), self, here, there, minute)
