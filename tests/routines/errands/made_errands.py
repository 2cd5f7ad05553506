"""A ring road with a few addresses, and Peng living there: nothing is opened, so that it is quick."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from made_run import begun
from made_streets import FRAME, MadeStreetView, ring
from numpy.typing import NDArray

from virl import resources
from virl.agent.agent import Agent
from virl.agent.character import Limits, character_model
from virl.agent.character_file import LoadedCharacter
from virl.agent.routine import our_fields
from virl.agent.run import Run
from virl.errors import BadInput, NoRoute, NotFound
from virl.geo.globe import LatLng, distance
from virl.journal.journal import Journal
from virl.mind.rules import RuleMind
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.city.maps import SPEED_M_S, Route, TravelMode
from virl.platform.city.places import Place
from virl.platform.movers.base import LinksMover
from virl.routines.errands.settings import Errands

SIZE = 10
LAPS = 4 * SIZE
"""Panoramas on the ring, 10 m apart; cars go round it one way."""


class RingMaps:
    """Addresses `N Ring Road` at panorama N, and `99 Far Away`, which no way leads to."""

    def __init__(self, streetview: MadeStreetView) -> None:
        self._streetview = streetview
        self.asked: list[str] = []

    def geocode(self, address: str) -> LatLng:
        self.asked.append(f"geocode {address}")
        number, _, street = address.partition(" ")
        if street == "Ring Road" and int(number) < LAPS:
            return self._streetview.panorama(f"r{number}").position
        if address == "99 Far Away":
            return self._streetview.panorama("s2").position
        raise NotFound(f"no address matches {address!r}")

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        self.asked.append(f"route of {len(stops)}")
        path, metres = [stops[0]], 0.0
        for here, there in zip(stops, stops[1:], strict=False):  # noqa: RUF007
            way = self._way(here, there, mode)
            if way is None:
                raise NoRoute("no way")
            path += way[1:]
            metres += _metres(way)
        return Route(tuple(path), metres, metres / SPEED_M_S[mode])

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> NDArray[np.float64]:
        self.asked.append("matrix")
        ways = [[self._way(here, there, mode) for there in destinations] for here in origins]
        metres = [[np.inf if way is None else _metres(way) for way in row] for row in ways]
        return np.array(metres) / SPEED_M_S[mode]

    def _way(self, here: LatLng, there: LatLng, mode: TravelMode) -> list[LatLng] | None:
        if here == there:
            return [here, there]
        ends = [self._streetview.nearest(position) for position in (here, there)]
        names = [end.id for end in ends if end]
        if any(name.startswith("s") for name in names):
            return None
        start, end = (int(name[1:]) for name in names)
        onward, back = (end - start) % LAPS, (start - end) % LAPS
        step = 1 if mode == "driving" or onward <= back else -1
        count = onward if step == 1 else back
        ring_ids = [f"r{(start + step * number) % LAPS}" for number in range(count + 1)]
        return [self._streetview.panorama(name).position for name in ring_ids]


def _metres(way: Sequence[LatLng]) -> float:
    return 0.0 if way[0] == way[-1] else 10.0 * (len(way) - 1)


class RingPlaces:
    """A bakery at panorama 7, another that has closed, and a library."""

    def __init__(self) -> None:
        self._known = [
            Place("b0", "Old Crust", ("bakery",), FRAME.position(10, 0), is_open=False),
            Place("b1", "Golden Crust", ("bakery",), FRAME.position(70, 0)),
            Place("l1", "City Library", ("library",), FRAME.position(100, 30)),
        ]

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        words = set(query.lower().split())
        found = [p for p in self._known if words & {*p.types, *p.name.lower().split()}]
        return sorted(found, key=lambda place: distance(place.position, near or place.position))

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        raise BadInput("not asked")


def ring_city() -> City:
    streets = ring(SIZE)
    return City("ring", "Ringville", FRAME.origin, streets, cast("Any", RingPlaces()), RingMaps(streets))


def peng(run: Run, errands: dict[str, Any], *, steps: int = 200, city: City | None = None) -> Agent:
    """Peng at panorama 0 of the ring."""
    character = character_model(our_fields())(
        name="Peng",
        city="ring",
        start="0 Ring Road",
        clock="mon 09:00",
        background="",
        intention="To be done soon.",
        errands=Errands.model_validate(errands),
        limits=Limits(steps=steps),
    )
    city = city or ring_city()
    source = resources.data_folder("agents") / "peng.yaml"
    return Agent(
        LoadedCharacter(source, character),
        city,
        city.streetview.panorama("r0"),
        RuleMind(ledger=run.ledger),
        cast("Any", None),
        cast("Any", None),
        LinksMover(city.streetview),
        run=run,
    )


def open_run(folder: Path) -> tuple[Journal, Run]:
    """A run that begins, or goes on where there is one already."""
    journal, start, done = begun(folder, "peng", {}, city="ring")
    return journal, Run(journal, start, done, ledger=Ledger())
