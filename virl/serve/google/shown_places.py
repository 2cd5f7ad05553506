"""A city's places as the server shows them: their types, the oddities made on purpose, and its clock."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from zoneinfo import ZoneInfo

from virl.geo.globe import LatLng
from virl.platform.city.place_types import by_type
from virl.platform.city.places import Place, Places
from virl.platform.city.streetview import Image
from virl.serve.google.options import Oddities
from virl.serve.google.wire import invalid


@dataclass(frozen=True, slots=True)
class NewTypes:
    """Google's place types in Places (New), and those that stand for place types of virl's cities."""

    narrow: frozenset[str]
    """Types of Google's table A, which requests may name."""
    wide: frozenset[str]
    """Types of Google's table B, which only answers and autocomplete name."""
    renamed: Mapping[str, str]
    """Type of Places (New) by the city's own type, where they differ."""
    fine: Mapping[str, tuple[str, ...]]
    """Finer types of Google for each coarse type of made towns."""


_TABLES = by_type("google")
TYPES = NewTypes(
    narrow=frozenset(name for name, table in _TABLES.items() if table == "A"),
    wide=frozenset(name for name, table in _TABLES.items() if table == "B"),
    renamed=by_type("new"),
    fine=by_type("fine"),
)
ALWAYS = ("point_of_interest", "establishment")
"""Types that Google gives every place."""


def check_types(types: Iterable[str], *, also_wide: bool = False) -> None:
    """Raise `Refused` for types that are not in Google's table A or, with `also_wide`, in its table B.

    Raises:
        Refused: a type is not one that a request may name.
    """
    known = TYPES.narrow | TYPES.wide if also_wide else TYPES.narrow
    unknown = sorted(set(types) - known)
    if unknown:
        raise invalid(f"Unsupported types: {', '.join(unknown)}.")


def types_of(place: Place) -> list[str]:
    """Return the types of a place that Places (New) knows, each once, the finest first and `ALWAYS` last."""
    return list(_known_types(place.types))


def primary_type(place: Place) -> str | None:
    """Return a place's finest type of table A; `None` if it has none."""
    return next((kind for kind in _known_types(place.types) if kind in TYPES.narrow), None)


@lru_cache(maxsize=10_000)
def _known_types(types: tuple[str, ...]) -> tuple[str, ...]:
    """Return the types of Places (New) for a place's own types, each once, with `ALWAYS` last."""
    named = (TYPES.renamed.get(kind, kind) for kind in types)
    known = (kind for kind in named if kind in TYPES.narrow or kind in TYPES.wide)
    return tuple(dict.fromkeys((*known, *ALWAYS)))


@dataclass(frozen=True, slots=True)
class ShownPlaces:
    """Places of a city, each changed by a function before it is shown; implements `Places`."""

    places: Places
    change: Callable[[Place], Place]
    """Function that returns the place to show for a place."""
    adds_types: bool = False
    """True if `change` adds types, by which places are then also selected."""

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Return places of `types` within `radius` m, changed; beyond `whole` metres some may be missing."""
        own_types = () if self.adds_types else types
        found = [self.change(place) for place in self.places.nearby(position, radius, own_types, whole=whole)]
        return [place for place in found if not types or set(types).intersection(place.types)]

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        """Return the places that match a query, best first, each changed."""
        return [self.change(place) for place in self.places.search(query, near)]

    def details(self, place_id: str) -> Place:
        """Return the place with this id and its details, after `change` has been applied to it."""
        return self.change(self.places.details(place_id))

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """Return at most `limit` photos of a place."""
        return self.places.photos(place_id, limit)


def odd_places(places: Places, odd: Oddities) -> ShownPlaces:
    """Return the places, some made odd: the `closed` ones shut for good, the `bare` ones without details."""

    def change(place: Place) -> Place:
        """Return a place closed or without its details where its id draws that oddity, else unchanged."""
        if odd.has("bare", place.id):
            place = replace(
                place, hours=(), price_level=None, rating=None, review_count=0, reviews=(), facts=()
            )
        return replace(place, is_open=False) if odd.has("closed", place.id) else place

    return ShownPlaces(places, change)


def fine_places(places: Places) -> ShownPlaces:
    """Return places of a made town, each with a finer type listed before its own types, if there is one."""

    def add_fine_type(place: Place) -> Place:
        """Return a place with a finer type first, taken from its name or drawn by its id."""
        fine = TYPES.fine.get(place.types[0], ()) if place.types else ()
        if not fine:
            return place
        words = set(place.name.casefold().split())
        drawn = blake2b(place.id.encode(), digest_size=4).digest()
        by_id = fine[int.from_bytes(drawn, "big") % len(fine)]
        # A name that says the finer type, as "Thai Garden" does, goes before the draw.
        kind = next((kind for kind in fine if kind.partition("_")[0] in words), by_id)
        return replace(place, types=(kind, *place.types))

    return ShownPlaces(places, add_fine_type, adds_types=True)


REVIEWED_DAYS = 900  # greatest age of a review; chosen, since cities do not tell when they were written


@dataclass(frozen=True, slots=True)
class TownClock:
    """The clock of a town, in its time zone."""

    zone: str | None = None
    """IANA name of the time zone; `None` is UTC."""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    """Function that returns the current time, in any zone."""

    @property
    def local(self) -> datetime:
        """The current time in the town's time zone; UTC if the zone is unknown."""
        return self.now().astimezone(ZoneInfo(self.zone) if self.zone else UTC)

    @property
    def offset_minutes(self) -> int:
        """Minutes by which the town's clocks are ahead of UTC; negative west of it."""
        offset = self.local.utcoffset() or timedelta()
        return round(offset.total_seconds() / 60)

    def is_open(self, place: Place) -> bool:
        """Return whether a place is open at the current time of the town; false for unknown hours."""
        local = self.local
        return place.open_at(local.weekday(), local.hour * 60 + local.minute)

    def review_time(self, place_id: str, number: int) -> datetime:
        """Return the made-up time of review `number` of a place: midnight UTC, 1 to 900 days ago."""
        drawn = blake2b(f"{place_id} {number}".encode(), digest_size=2).digest()
        days = 1 + int.from_bytes(drawn, "big") % REVIEWED_DAYS
        midnight = self.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight - timedelta(days=days)

    def ago(self, when: datetime) -> str:
        """Return how long ago a time was, in words such as "2 months ago" or "in the last day"."""
        days = (self.now() - when).days
        for name, length in (("year", 365), ("month", 30), ("week", 7), ("day", 1)):
            if days >= length:
                count = days // length
                return f"{count} {name}s ago" if count > 1 else f"a {name} ago"
        return "in the last day"
