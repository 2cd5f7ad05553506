"""RentCast's records as listings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field, ValidationError

from virl.geo.globe import LatLng
from virl.platform.city.city import Listing
from virl.platform.providers.http.bodies import Notes, ReplyBody

SQUARE_METRES_PER_SQUARE_FOOT = 0.3048**2
"""Square metres of a square foot, exact."""
NAME_LENGTH = 80
"""Characters of an address in a fault at most (chosen)."""


class _ListingRecord(ReplyBody):
    """A record of RentCast, with the fields that are read."""

    id: str = Field(min_length=1)
    formattedAddress: str = Field(min_length=1)  # noqa: N815 - RentCast's names
    latitude: float = Field(ge=-90, le=90)
    longitude: float = Field(ge=-180, le=180)
    price: float = Field(gt=0)
    propertyType: str = Field(min_length=1)  # noqa: N815
    bedrooms: int | None = Field(default=None, ge=0)
    bathrooms: float | None = Field(default=None, ge=0)
    squareFootage: float | None = Field(default=None, gt=0)  # noqa: N815
    yearBuilt: int | None = Field(default=None, ge=1000, le=3000)  # noqa: N815


@dataclass(frozen=True, slots=True)
class Records:
    """Listings, and a line for each record that is none."""

    listings: Sequence[Listing]
    faults: Sequence[str]
    """A line for each record that was left out."""


def as_listings(records: Iterable[Any], notes: Notes | None = None) -> Records:
    """Return the listings in records; a record without a required field is named and left out.

    What RentCast leaves out of size and age stays unknown, and so does what cannot be read. Square feet
    become square metres. Of two records with the same id, the first counts.

    Args:
        records: as RentCast gives them.
        notes: takes the fields that cannot be read.
    """
    listings: dict[str, Listing] = {}
    faults = []
    for number, record in enumerate(records, start=1):
        try:
            read = _ListingRecord.model_validate(record, context=notes)
        except ValidationError as fault:
            faults.append(f"{_name(record, number)}: {_first_fault(fault)}")
            continue
        if read.id in listings:
            faults.append(f"{_name(record, number)}: is repeated")
            continue
        listings[read.id] = _to_listing(read)
    return Records(tuple(listings.values()), tuple(faults))


def _to_listing(read: _ListingRecord) -> Listing:
    """Return a record as a listing, its floor in square metres."""
    return Listing(
        id=read.id,
        address=read.formattedAddress,
        position=LatLng(read.latitude, read.longitude),
        price=read.price,
        property_type=read.propertyType,
        bedrooms=read.bedrooms,
        bathrooms=read.bathrooms,
        area=None if read.squareFootage is None else read.squareFootage * SQUARE_METRES_PER_SQUARE_FOOT,
        year_built=read.yearBuilt,
    )


def _name(record: object, number: int) -> str:
    """Return the address of a record, or else its number, for a fault."""
    address = record.get("formattedAddress") if isinstance(record, dict) else None
    return f"{address}"[:NAME_LENGTH] if address else f"record {number}"


def _first_fault(fault: ValidationError) -> str:
    """Return the first fault of a record in words."""
    first = fault.errors()[0]
    field = ".".join(map(str, first["loc"]))
    if first["type"] == "missing" or first.get("input") is None:
        return f"{field} is missing"
    return f"{field}: {first['msg']}" if field else "is no JSON object"
