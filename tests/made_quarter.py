"""A quarter where tests put places and homes, ways as the crow flies, and lives of Aria and Vivek in it."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
from made_run import begun
from numpy.typing import NDArray

from virl.agent.agent import Agent
from virl.agent.assembly import start_panorama
from virl.agent.character_file import LoadedCharacter, find_character, load_character
from virl.agent.run import Run
from virl.errors import NoRoute, NoStreetView, NotFound
from virl.geo.globe import LatLng, LocalFrame, distance
from virl.journal.journal import read_journal
from virl.journal.records import EndRecord, NoteRecord, Result
from virl.mind.base import Mind
from virl.mind.rules import RuleMind
from virl.platform.city.city import City, Listing
from virl.platform.city.maps import SPEED_M_S, Route, TravelMode
from virl.platform.city.places import OpeningHours, Place, Review
from virl.platform.city.streetview import Camera, Image, Panorama, View
from virl.platform.movers.base import LinksMover
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.perception.senses import open_senses
from virl.platform.providers.rentcast.listings import FileListings
from virl.settings.model import check_settings

CENTER = LatLng(41.25, -38.75)
FRAME = LocalFrame(CENTER)
OFF_THE_MAP_M = 3000.0
LUNCH = tuple(OpeningHours(day, 11 * 60, 15 * 60) for day in range(7))
EVENING = tuple(OpeningHours(day, 18 * 60, 23 * 60) for day in range(7))


def place(
    name: str,
    east: float,
    *reviews: str,
    kind: str = "restaurant",
    hours: tuple[OpeningHours, ...] = LUNCH,
    is_open: bool = True,
    rating: float | None = 4.0,
    price_level: int | None = 2,
) -> Place:
    """A place so many metres east of the middle."""
    return Place(
        id=f"id-{name}",
        name=name,
        types=(kind,),
        position=FRAME.position(east, 0.0),
        rating=rating,
        review_count=50,
        price_level=price_level,
        is_open=is_open,
        hours=hours,
        reviews=tuple(Review(4.0, text) for text in reviews),
    )


def home(name: str, east: float, price: float, **more: object) -> Listing:
    """A home so many metres east of the middle."""
    usual = Listing(
        id=name,
        address=f"{name} Street",
        position=FRAME.position(east, 0.0),
        price=price,
        property_type="Apartment",
        bedrooms=1,
        bathrooms=1.0,
        area=50.0,
        year_built=1990,
    )
    return replace(usual, **more)  # type: ignore[arg-type]


@dataclass
class QuarterPlaces:
    listed: Sequence[Place]
    asked: Counter[str] = field(default_factory=Counter)
    """How often the details of each place were asked for; `nearby` counts searches."""
    on_details: Callable[[str], object] = str

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        self.asked["nearby"] += 1
        found = [
            replace(one, hours=(), reviews=())
            for one in self.listed
            if distance(position, one.position) <= radius and (not types or set(types) & set(one.types))
        ]
        return sorted(found, key=lambda one: distance(position, one.position))

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        return []

    def details(self, place_id: str) -> Place:
        self.on_details(place_id)
        self.asked[place_id] += 1
        return next(one for one in self.listed if one.id == place_id)

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        return []


class QuarterMaps:
    """Walks as the crow flies, but for a detour that a test sets."""

    def __init__(self, detours: Mapping[str, float] | None = None, places: Sequence[Place] = ()) -> None:
        self._detours = {
            (one.position.lat, one.position.lng): (detours or {}).get(one.name, 0.0) for one in places
        }

    def geocode(self, address: str) -> LatLng:
        raise NotFound(f"no address {address!r}")

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        raise NoRoute("nobody asks for routes here")

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> NDArray[np.float64]:
        return np.array([[self._seconds(a, b, mode) for b in destinations] for a in origins])

    def _seconds(self, a: LatLng, b: LatLng, mode: TravelMode) -> float:
        if any(distance(one, CENTER) > OFF_THE_MAP_M for one in (a, b)):
            return float("inf")
        return (distance(a, b) + self._detours.get((b.lat, b.lng), 0.0)) / SPEED_M_S[mode]


class QuarterStreetView:
    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        return Panorama("here", CENTER, 0.0, ()) if distance(position, CENTER) <= radius else None

    def panorama(self, pano_id: str) -> Panorama:
        return Panorama("here", CENTER, 0.0, ())

    def view(self, pano_id: str, camera: Camera) -> View:
        raise NoStreetView("nobody looks here")


def quarter(
    places: Sequence[Place], homes: Sequence[Listing] = (), detours: Mapping[str, float] | None = None
) -> City:
    """A city of these places and homes. `detours`: metres that the walk to a place is longer, by its name."""
    return City(
        name="virlton",
        title="the Quarter",
        center=CENTER,
        streetview=QuarterStreetView(),
        places=QuarterPlaces(places),
        maps=QuarterMaps(detours, places),
        listings=FileListings(homes, ()),
    )


@cache
def _models() -> Models:
    return Models(ModelOptions())


def live(
    name: str,
    city: City,
    folder: Path,
    changes: Mapping[str, object],
    *,
    mind: Mind | None = None,
    source: Path | None = None,
) -> Result:
    """An agent's life in a folder, begun there or gone on with; raises what the routine raises."""
    source = source or find_character(name)
    read = load_character(source)
    data = read.model_dump() | {"start": {"lat": CENTER.lat, "lng": CENTER.lng}}
    character = check_settings(data | dict(changes), type(read), source=name)
    journal, start, done = begun(folder, name, character.model_dump(mode="json"))
    with journal:
        mind = mind or RuleMind()
        run = Run(journal, start, done, data=city, city="virlton", ledger=mind.ledger)
        LoadedCharacter(source, character).routine.run()(
            Agent(
                LoadedCharacter(source, character),
                city,
                start_panorama(city, LoadedCharacter(source, character)),
                mind,
                open_senses("sign-detector", "sign-describer", models=_models()),
                _models(),
                LinksMover(city.streetview),
                run=run,
            )
        )
    assert run.result is not None
    return run.result


def notes(folder: Path, topic: str) -> list[NoteRecord]:
    """The notes of a topic, in order."""
    records = read_journal(folder)
    return [one for one in records if isinstance(one, NoteRecord) and one.topic == topic]


def end(folder: Path) -> EndRecord:
    """How a run ended."""
    last = read_journal(folder)[-1]
    assert isinstance(last, EndRecord)
    return last
