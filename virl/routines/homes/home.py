"""A home to rent, what is near it, how well it suits, and the sources of listings.

Listings come from the city's provider, a file of RentCast records, or the RentCast API.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from virl.agent.agent import Agent
from virl.errors import BadInput
from virl.files.json_reading import JsonRecord
from virl.journal.convert import requests_record
from virl.journal.records import CostRecord
from virl.money.ledger import Ledger
from virl.pages.numbers import count_noun
from virl.platform.city.city import Listing, Listings
from virl.platform.providers.provider import Access
from virl.platform.providers.rentcast.client import open_rentcast
from virl.platform.providers.rentcast.listings import RentCastListings, read_listings
from virl.routines.homes.settings import RENT

CITY, RENTCAST = "city", "rentcast"
"""Names of sources of listings: the city's provider, and the RentCast API."""


def bedrooms_in_words(count: int | None) -> str:
    """Return a number of bedrooms as text, such as "2 bedrooms"; 0 is a studio, `None` unknown."""
    if count is None:
        return "bedrooms unknown"
    return count_noun(count, "bedroom") if count else "studio"


class Home(JsonRecord):
    """A home for rent, as recorded in the journal."""

    id: str
    address: str
    lat: float
    lng: float
    price: float
    """Rent in US dollars a month."""
    property_type: str
    bedrooms: int | None
    """Number of bedrooms, 0 for a studio; `None` if not listed."""
    bathrooms: float | None
    area: float | None
    """Floor area in square metres; `None` if not listed."""
    year_built: int | None

    @classmethod
    def of(cls, listing: Listing) -> "Home":
        """Return the record of a listing."""
        return cls(
            id=listing.id,
            address=listing.address,
            lat=listing.position.lat,
            lng=listing.position.lng,
            price=listing.price,
            property_type=listing.property_type,
            bedrooms=listing.bedrooms,
            bathrooms=listing.bathrooms,
            area=listing.area,
            year_built=listing.year_built,
        )

    @property
    def size(self) -> str:
        """Bedrooms and area as text, such as `"2 bedrooms, 64 square metres"`."""
        rooms = bedrooms_in_words(self.bedrooms)
        return rooms if self.area is None else f"{rooms}, {self.area:.0f} square metres"


class Near(JsonRecord):
    """The nearest place of a type to a home, by minutes on foot."""

    place_type: str
    name: str = ""
    walk_minutes: float | None = None
    """Minutes on foot from the home; `None` if no place of the type is within reach."""
    count: int = 0
    """Number of places of the type within reach; 0 if none can be walked to."""


class Rated(JsonRecord):
    """A home with the places near it, and its rating for a client."""

    home: Home
    nearby: tuple[Near, ...]
    rating: float
    """Rating of how well the home suits, 0 to 10."""
    reason: str


def rank_homes(homes: Sequence[Rated]) -> list[Rated]:
    """Return homes sorted by rating, best first; equal ones by lower rent, then by id."""
    return sorted(homes, key=lambda one: (-one.rating, one.home.price, one.home.id))


class NoListings(BadInput):
    """Error raised if the city's provider has no homes for rent."""


@dataclass(slots=True)
class ListingSource:
    """A source of homes for rent, with the faults of its listings and the cost of asking it."""

    listings: Listings
    all: Sequence[Listing] = ()
    """All listings; empty if the source must be asked by area."""
    faults: Sequence[str] = ()
    """Faults of listings that were left out, in words."""
    cost: CostRecord | None = None


@contextmanager
def opened_source(agent: Agent) -> Iterator[ListingSource]:
    """Yield the source of listings that a character's settings name, opened.

    Raises:
        NoListings: the city has none.
        BadInput: the file cannot be read.
        ProviderError: RentCast is asked without a key.
    """
    rent = RENT.of(agent.character)
    name = rent.listings if rent else CITY
    if name == CITY:
        if agent.city.listings is None:
            raise NoListings(
                f"{agent.city.title} has no homes for rent: set `rent: listings:` to rentcast or a JSON file"
            )
        yield ListingSource(agent.city.listings)
    elif name == RENTCAST:
        asked = agent.run.start.access
        ledger = Ledger()  # one of its own: the note on the listings has their cost
        ledger.book = agent.run.ledger.book
        access = Access(
            ledger,
            asked.cache,
            agent.run.start.id,
            Path(asked.record) if asked.record else None,
            Path(asked.replay) if asked.replay else None,
            agent.city.left_out,
        )
        with open_rentcast(access) as http:
            provider = RentCastListings(http)
            source = ListingSource(provider)
            yield source
            source.faults = tuple(provider.faults)
            spent = requests_record(ledger.take())
            source.cost = CostRecord(usd=spent.usd, requests=spent)
    else:
        add = agent.city.left_out.add
        held = read_listings(agent.source.parent / name, lambda reason, part: add(name, reason, part))
        yield ListingSource(held, held.all, held.faults)
