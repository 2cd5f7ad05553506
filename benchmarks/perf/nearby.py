"""How many requests nearby places cost on dense streets, and how many of them are found.

    python -m benchmarks.perf.nearby [--places 100,300,600] [--radii 30,40,50,60,80,100,200] [--json]

Each town has so many places within 200 metres of a position, evenly spread, and is served in Google's formats
over loopback HTTP. The client of the Google provider asks with its default settings, each radius for itself.
Dollars are list prices. `whole` is how far from the position nothing is missing, as the answer says itself.
The walk is one of ten steps of ten metres that asks for 50 metres at each, as collecting data does; the
client and its cache of squares see it from its first step on.
"""

import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from rich.table import Table

from virl.geo.globe import LatLng, destination, distance
from virl.platform.city.city import City
from virl.platform.city.places import Place, complete_to
from virl.platform.city.streetview import Image
from virl.platform.providers.cities import open_city
from virl.platform.providers.google.city import open_google
from virl.platform.providers.google.client import GoogleHttp
from virl.platform.providers.google.settings import Keys, at_base_url, load_google_settings
from virl.platform.providers.http.stored_replies import Keeping, ReplyCache
from virl.serve.city_server import ServedCity
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city

from .figures import command, figure_table, figures

PLACES = (100, 300, 600)
RADII = (30, 40, 50, 60, 80, 100, 200)
WITHIN_M, SPREAD_M = 200.0, 600.0
WALK_M = 50.0
STEPS, STEP_M = 10, 10.0
TYPES = ("restaurant", "cafe", "bank", "clothing_store", "bar", "dentist", "bakery", "hair_care", "park")
HERE = LatLng(41.25, -38.75)


@dataclass(frozen=True, slots=True)
class QueryCosts:
    """The requests, dollars and finds of one search for places, or of one walk."""

    places: int
    """Number of places within 200 metres."""
    radius: float
    requests: int
    usd: float
    found: int
    there: int
    """Number of places that are truly within the radius."""
    whole: float
    """Metres to which the answer says that it is complete."""


class EvenPlaces:
    """Places spread evenly around a position, as a city's `Places`."""

    def __init__(self, within_200_m: int, seed: int = 0) -> None:
        """Scatter places evenly by `seed`, so that `within_200_m` of them are within 200 m."""
        rng = np.random.default_rng(seed)
        count = round(within_200_m * (SPREAD_M / WITHIN_M) ** 2)
        rank = np.arange(count)
        away = WITHIN_M * np.sqrt((rank + rng.random(count)) / within_200_m)
        types = rng.choice(TYPES, count)
        self.all = [
            Place(
                id=f"place-{i:05}",
                name=f"House {i}",
                types=(str(types[i]),),
                position=destination(HERE, float(rng.uniform(0, 360)), float(away[i])),
                address=f"{i} Even Street",
            )
            for i in range(count)
        ]
        self._by_id = {place.id: place for place in self.all}

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Return the places within `radius` metres, nearest first, as `Places.nearby` does."""
        del whole
        near = [
            (metres, place)
            for place in self.all
            if (metres := distance(position, place.position)) <= radius
            and (not types or set(types) & set(place.types))
        ]
        return [place for _, place in sorted(near, key=lambda one: (one[0], one[1].id))]

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        """Return no places: nothing is searched by text here."""
        del query, near
        return []

    def details(self, place_id: str) -> Place:
        """Return the place with this id, as `Places.details` does."""
        return self._by_id[place_id]

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """Return no photos: these places have none."""
        del place_id, limit
        return []


def main() -> None:
    """Measure searches and walks in each town, and print their costs."""
    parser = command(__doc__)
    parser.add_argument("--places", default=",".join(map(str, PLACES)), help="within 200 metres")
    parser.add_argument("--radii", default=",".join(map(str, RADII)), help="metres")
    options = parser.parse_args()
    towns, radii = ([int(one) for one in text.split(",")] for text in (options.places, options.radii))
    made = open_city("virlton")
    asked: list[QueryCosts] = []
    walks: list[QueryCosts] = []
    with figures(options) as found:
        for count in towns:
            with town(made, count) as (places, server):
                asked += [_measure_stands(places, server, count, radius, [HERE]) for radius in radii]
                stands = [destination(HERE, 90.0, STEP_M * step) for step in range(STEPS)]
                walks.append(_measure_stands(places, server, count, WALK_M, stands))
        found["questions"] = [asdict(one) for one in asked]
        found["walks"] = [asdict(one) for one in walks]
        found.show(_costs_table(asked, towns, radii))
        for one in walks:
            found.show(
                f"{one.places} places, a walk of {STEPS} steps of {STEP_M:g} m, {WALK_M:g} m at each: "
                f"{one.requests} requests, ${one.usd:.2f}, whole to {one.whole:.0f} m"
            )


@contextmanager
def town(made: City, count: int) -> Iterator[tuple[EvenPlaces, ServedCity]]:
    """Yield (`count` evenly scattered places, server that serves them in Google's formats)."""
    places = EvenPlaces(count)
    with serve_city(replace(made, places=places), ServeOptions()) as server:
        yield places, server


def _measure_stands(
    places: EvenPlaces, server: ServedCity, count: int, radius: float, stands: Sequence[LatLng]
) -> QueryCosts:
    """Return the costs and finds of searches within `radius` metres at each stand; `count` are in 200 m."""
    server.reset()
    settings = at_base_url(load_google_settings(), server.url)
    with (
        tempfile.TemporaryDirectory() as folder,
        GoogleHttp(settings, Keys("any-key-of-a-benchmark"), Keeping(ReplyCache(Path(folder), 64e6))) as http,
    ):
        city = open_google("even", "Even", HERE, http=http)
        told = [city.places.nearby(at, radius) for at in stands]
        usd = http.ledger.total().usd
    return QueryCosts(
        places=count,
        radius=radius,
        requests=server.stats()["requests"]["places_nearby"],
        usd=usd,
        found=len(told[0]),
        there=len(places.nearby(stands[0], radius)),
        whole=min(complete_to(found) for found in told),
    )


def _costs_table(asked: Sequence[QueryCosts], towns: Sequence[int], radii: Sequence[int]) -> Table:
    """Return the table of costs, by number of places and by radius in metres."""
    title = "requests: places found of those within the radius, whole to"
    table = figure_table("places within 200 m", *(f"{radius} m" for radius in radii), title=title)
    for count in towns:
        row = [one for one in asked if one.places == count]
        table.add_row(
            str(count), *(f"{one.requests}: {one.found} of {one.there}, {one.whole:.0f} m" for one in row)
        )
    return table


if __name__ == "__main__":
    main()
