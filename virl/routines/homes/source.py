"""Where listings come from: the city's provider, a file of RentCast records, or the RentCast API."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from virl.agent.agent import Agent
from virl.errors import BadInput
from virl.journal.convert import requests_record
from virl.journal.records import CostRecord
from virl.money.ledger import Ledger
from virl.platform.city.city import Listing, Listings
from virl.platform.providers.provider import Access
from virl.platform.providers.rentcast.client import open_rentcast
from virl.platform.providers.rentcast.listings import RentCastListings, read_listings
from virl.routines.homes.settings import RENT

CITY, RENTCAST = "city", "rentcast"


class NoListings(BadInput):
    """The city's provider knows no homes for rent."""


@dataclass(slots=True)
class ListingSource:
    """A provider of listings, what it holds beyond an area, and what asking it has cost."""

    listings: Listings
    all: Sequence[Listing] = ()
    """Everything there is, where that is known."""
    faults: Sequence[str] = ()
    """The faults of listings that were left out."""
    cost: CostRecord | None = None


@contextmanager
def opened_source(agent: Agent) -> Iterator[ListingSource]:
    """Open the listings that a character asks for.

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
        ledger = Ledger()  # counts by itself: the note on the listings has their cost
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
