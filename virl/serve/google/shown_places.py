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
    """The types of Places (New)."""

    narrow: frozenset[str]
    """Google's table A."""
    wide: frozenset[str]
    """Google's table B."""
    renamed: Mapping[str, str]
    fine: Mapping[str, tuple[str, ...]]
    """Finer types of what a made town calls a place."""


def _read_types() -> NewTypes:
    """Read the tables of Google's place types."""
    tables = by_type("google")
    return NewTypes(
        narrow=frozenset(name for name, table in tables.items() if table == "A"),
        wide=frozenset(name for name, table in tables.items() if table == "B"),
        renamed=by_type("new"),
        fine=by_type("fine"),
    )


TYPES = _read_types()
ALWAYS = ("point_of_interest", "establishment")  # what all places are


def check_types(types: Iterable[str], *, also_wide: bool = False) -> None:
    """Refuse types that a request may not name.

    Args:
        types: what it names.
        also_wide: whether it may name those of table B too.

    Raises:
        Refused: it may not.
    """
    known = TYPES.narrow | TYPES.wide if also_wide else TYPES.narrow
    unknown = sorted(set(types) - known)
    if unknown:
        raise invalid(f"Unsupported types: {', '.join(unknown)}.")


def types_of(place: Place) -> list[str]:
    """Return the types of a place that Places (New) knows, the finest first, each once, `ALWAYS` last."""
    return list(_known_types(place.types))


def primary_type(place: Place) -> str | None:
    """Return the finest type of a place, of table A; `None` where it has none of those."""
    return next((kind for kind in _known_types(place.types) if kind in TYPES.narrow), None)


@lru_cache(maxsize=10_000)
def _known_types(types: tuple[str, ...]) -> tuple[str, ...]:
    """Return the types that Google's new API knows, with those that all places have."""
    named = (TYPES.renamed.get(kind, kind) for kind in types)
    known = (kind for kind in named if kind in TYPES.narrow or kind in TYPES.wide)
    return tuple(dict.fromkeys((*known, *ALWAYS)))


def display_name(kind: str) -> str:
    """Return a type in words, such as `Japanese Restaurant`."""
    return kind.replace("_", " ").title()


@dataclass(frozen=True, slots=True)
class ShownPlaces:
    """The places of a city, each changed before it is shown.

    Args:
        places: of the city.
        change: gives what is shown of a place.
        adds_types: whether places are shown with further types: they are then chosen by those, too.
    """

    places: Places
    change: Callable[[Place], Place]
    adds_types: bool = False

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Return nearby places as `Places.nearby`; they are chosen by the types that they are shown with."""
        asked = () if self.adds_types else types
        found = [self.change(place) for place in self.places.nearby(position, radius, asked, whole=whole)]
        return [place for place in found if not types or set(types).intersection(place.types)]

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        """Search for places, as `Places.search`."""
        return [self.change(place) for place in self.places.search(query, near)]

    def details(self, place_id: str) -> Place:
        """Return the details of a place, as `Places.details`."""
        return self.change(self.places.details(place_id))

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """Return photos of a place, as `Places.photos`."""
        return self.places.photos(place_id, limit)


def odd_places(places: Places, odd: Oddities) -> ShownPlaces:
    """Show a share of places as closed for good, and a share without hours, prices, ratings or reviews.

    Args:
        places: of the city.
        odd: which of them.
    """

    def change(place: Place) -> Place:
        if odd.has("bare", place.id):
            place = replace(
                place, hours=(), price_level=None, rating=None, review_count=0, reviews=(), facts=()
            )
        return replace(place, is_open=False) if odd.has("closed", place.id) else place

    return ShownPlaces(places, change)


def fine_places(places: Places) -> ShownPlaces:
    """Show the places of a made town with a finer type before those that they have."""
    return ShownPlaces(places, _with_fine_type, adds_types=True)


def _with_fine_type(place: Place) -> Place:
    """Return a place with a finer type first: one that its name tells, else one drawn by its id."""
    known = TYPES.fine.get(place.types[0], ()) if place.types else ()
    if not known:
        return place
    words = set(place.name.casefold().split())
    told = [kind for kind in known if words.intersection(kind.split("_")[:1])]
    drawn = blake2b(place.id.encode(), digest_size=4).digest()
    kind = told[0] if told else known[int.from_bytes(drawn, "big") % len(known)]
    return replace(place, types=(kind, *place.types))


REVIEWED_DAYS = 900  # reviews are at most so old; chosen, since cities do not tell when they were written


def _utc_now() -> datetime:
    """Return the time now, UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class TownClock:
    """Time in a town.

    Args:
        zone: its IANA time zone; `None` is UTC.
        now: gives the time.
    """

    zone: str | None = None
    now: Callable[[], datetime] = _utc_now

    @property
    def local(self) -> datetime:
        """The time in the town."""
        return self.now().astimezone(ZoneInfo(self.zone) if self.zone else UTC)

    @property
    def offset_minutes(self) -> int:
        """Minutes that the town's clocks are ahead of UTC."""
        offset = self.local.utcoffset() or timedelta()
        return round(offset.total_seconds() / 60)

    def is_open(self, place: Place) -> bool:
        """Return whether a place is open now; its hours are known."""
        local = self.local
        return place.open_at(local.weekday(), local.hour * 60 + local.minute)

    def review_time(self, place_id: str, number: int) -> datetime:
        """Return the time of a review, by its place and number: always the same number of days ago."""
        drawn = blake2b(f"{place_id} {number}".encode(), digest_size=2).digest()
        days = 1 + int.from_bytes(drawn, "big") % REVIEWED_DAYS
        midnight = self.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight - timedelta(days=days)

    def ago(self, when: datetime) -> str:
        """Return the age of a time in words, such as `2 months ago`."""
        days = (self.now() - when).days
        for name, length in (("year", 365), ("month", 30), ("week", 7), ("day", 1)):
            if days >= length:
                count = days // length
                return f"{count} {name}s ago" if count > 1 else f"a {name} ago"
        return "in the last day"
