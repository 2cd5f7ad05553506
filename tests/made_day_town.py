"""A small town for planning days: places where a test puts them, and ways as the crow flies."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from virl.errors import NoStreetView, NotFound
from virl.geo.globe import LatLng, LocalFrame, distance
from virl.platform.city.city import City
from virl.platform.city.maps import SPEED_M_S, Route, TravelMode
from virl.platform.city.places import OpeningHours, Place
from virl.platform.city.streetview import Camera, Image, Link, Panorama, View

CENTER = LatLng(41.25, -38.75)
FRAME = LocalFrame(CENTER)
ALWAYS = tuple(OpeningHours(day, 0, 1440) for day in range(7))


def hours(opens: str, closes: str, days: Sequence[int] = range(7)) -> tuple[OpeningHours, ...]:
    """Opening hours such as `"09:00"` to `"17:30"`, beyond `24:00` the next morning."""

    def minute(text: str) -> int:
        hour, minutes = text.split(":")
        return int(hour) * 60 + int(minutes)

    return tuple(OpeningHours(day, minute(opens), minute(closes)) for day in days)


def place(
    name: str,
    sort: str,
    east: float = 0.0,
    north: float = 0.0,
    *,
    open_at: tuple[OpeningHours, ...] = ALWAYS,
    level: int | None = 1,
    rating: float | None = 4.0,
    closed: bool = False,
) -> Place:
    """A place so many metres east and north of the middle."""
    return Place(
        id=f"id-{name}",
        name=name,
        types=(sort, "food") if sort in {"restaurant", "cafe"} else (sort,),
        position=FRAME.position(east, north),
        address=f"{round(abs(east))} East Street",
        rating=rating,
        review_count=10,
        price_level=level,
        is_open=not closed,
        hours=open_at,
    )


@dataclass(frozen=True)
class DayPlaces:
    listed: tuple[Place, ...]

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        near = [one for one in self.listed if distance(position, one.position) <= radius]
        kept = [one for one in near if not types or set(types) & set(one.types)]
        return sorted(
            (replace(one, hours=(), reviews=()) for one in kept),
            key=lambda one: distance(position, one.position),
        )

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        scored = [(fuzz.partial_ratio(query.lower(), one.name.lower()), one) for one in self.listed]
        return [one for score, one in sorted(scored, key=lambda pair: -pair[0]) if score > 60]

    def details(self, place_id: str) -> Place:
        for one in self.listed:
            if one.id == place_id:
                return one
        raise NotFound(f"no place {place_id!r}")

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        return []


@dataclass(frozen=True)
class DayMaps:
    islands: tuple[LatLng, ...] = ()
    """No way leads there."""
    addresses: Mapping[str, LatLng] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)

    def geocode(self, address: str) -> LatLng:
        if address not in self.addresses:
            raise NotFound(f"no address {address!r}")
        return self.addresses[address]

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        metres = sum(distance(a, b) for a, b in pairwise(stops))
        return Route(tuple(stops), metres, metres / SPEED_M_S[mode])

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> NDArray[np.float64]:
        self.asked.append(len(destinations))
        return np.array([[self._seconds(a, b, mode) for b in destinations] for a in origins])

    def _seconds(self, a: LatLng, b: LatLng, mode: TravelMode) -> float:
        return float("inf") if {a, b} & set(self.islands) else distance(a, b) / SPEED_M_S[mode]


class DayStreets:
    """Panoramas 100 m north of one another; what they show is green in the first and grey elsewhere."""

    def __init__(self, count: int = 3) -> None:
        self._all = [
            Panorama(f"p{i}", FRAME.position(0, 100.0 * i), 0.0, (Link(f"p{max(i - 1, 0)}", 180.0, 100.0),))
            for i in range(count)
        ]

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        best = min(self._all, key=lambda one: distance(position, one.position))
        return best if distance(position, best.position) <= radius else None

    def panorama(self, pano_id: str) -> Panorama:
        for one in self._all:
            if one.id == pano_id:
                return one
        raise NoStreetView(f"no panorama {pano_id!r}")

    def view(self, pano_id: str, camera: Camera) -> View:
        pixels = np.full((camera.height, camera.width, 3), 120, np.uint8)
        if pano_id == "p0" and camera.heading == 90:
            pixels[:, :] = (40, 140, 40)
        return View(pano_id, camera, pixels)


def day_town(*listed: Place, islands: Sequence[LatLng] = ()) -> City:
    """A town with these places."""
    return City("virlton", "Smallton", CENTER, DayStreets(), DayPlaces(listed), DayMaps(tuple(islands)))


USUAL = (
    place("Old Museum", "museum", 300, open_at=hours("10:00", "18:00")),
    place("Green Park", "park", 0, 0, open_at=hours("06:00", "22:00"), level=None),
    place("Reading Room", "library", -200, 100, open_at=hours("09:00", "18:00"), level=None),
    place("Corner Cafe", "cafe", 100, -50, open_at=hours("07:00", "19:00")),
    place("Noodle House", "restaurant", 150, 80, open_at=hours("11:00", "23:00")),
    place("Fish Kitchen", "restaurant", -250, -80, open_at=hours("11:30", "22:00"), level=2),
    place("Book Nook", "book_store", 400, 50, open_at=hours("10:00", "19:00")),
    place("Palace Pictures", "movie_theater", -400, 0, open_at=hours("14:00", "24:00")),
    place("The Fox", "bar", 60, 200, open_at=hours("16:00", "25:30")),
)
"""What a small town has."""
