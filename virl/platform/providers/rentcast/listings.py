"""Homes to rent from the RentCast API, or from a JSON file of its records."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, ValidationError
from shapely import Polygon, intersects_xy

from virl.errors import BadInput
from virl.files.json_reading import read_json_file
from virl.geo.globe import LatLng, distance
from virl.platform.city.city import Listing
from virl.platform.providers.http.replies import Notes, ReplyBody
from virl.platform.providers.rentcast.client import RECORDS, RentCastHttp

T = TypeVar("T")


def every_page(ask: Callable[[int], tuple[Sequence[T], bool]], most: int) -> tuple[list[T], bool]:
    """Return (items of up to `most` pages, True if more may follow); `ask` gives a page by number, from 0.

    The function `ask` takes the number of a page, from 0, and returns (its items, True if there may be more).
    """
    items: list[T] = []
    for number in range(most):
        page, more = ask(number)
        items += page
        if not more:
            return items, False
    return items, True


SQUARE_METRES_PER_SQUARE_FOOT = 0.3048**2
"""Area in square metres of one square foot, exact."""
NAME_LENGTH = 80
"""Number of characters to which an address is cut in the line about a faulty record (chosen)."""


class _ListingRecord(ReplyBody):
    """A record of RentCast, as far as its fields are read."""

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
class FileListings:
    """Homes to rent, read from records of RentCast."""

    all: Sequence[Listing]
    """Listings that could be read, in the order of their records."""
    faults: Sequence[str]
    """A line for each record that was left out."""

    def rentals(
        self, area: Polygon, price: tuple[float, float], bedrooms: int | None = None
    ) -> list[Listing]:
        """Return homes in an area at (least, most) dollars a month, of `bedrooms` if given, cheapest first.

        Raises:
            BadInput: the lowest price is above the highest, or the area is not a valid polygon.
        """
        return _select_homes(self.all, area, price, bedrooms)


def as_listings(records: Iterable[Any], notes: Notes | None = None) -> FileListings:
    """Return the listings in RentCast's records, and why others are left out; `notes` counts unread fields.

    What RentCast leaves out of size and age stays unknown, and so does what cannot be read. Square feet
    become square metres. Of two records with the same id, the first counts.
    """
    listings: dict[str, Listing] = {}
    faults = []
    for number, record in enumerate(records, start=1):
        address = record.get("formattedAddress") if isinstance(record, dict) else None
        name = f"{address}"[:NAME_LENGTH] if address else f"record {number}"
        try:
            read = _ListingRecord.model_validate(record, context=notes)
        except ValidationError as fault:
            faults.append(f"{name}: {_first_fault(fault)}")
            continue
        if read.id in listings:
            faults.append(f"{name}: is repeated")
            continue
        feet = read.squareFootage
        listings[read.id] = Listing(
            id=read.id,
            address=read.formattedAddress,
            position=LatLng(read.latitude, read.longitude),
            price=read.price,
            property_type=read.propertyType,
            bedrooms=read.bedrooms,
            bathrooms=read.bathrooms,
            area=None if feet is None else feet * SQUARE_METRES_PER_SQUARE_FOOT,
            year_built=read.yearBuilt,
        )
    return FileListings(tuple(listings.values()), tuple(faults))


def _first_fault(fault: ValidationError) -> str:
    """Return the first fault of a record in words, with its field, such as "price is missing"."""
    first = fault.errors()[0]
    name = ".".join(map(str, first["loc"]))
    if first["type"] == "missing" or first.get("input") is None:
        return f"{name} is missing"
    return f"{name}: {first['msg']}" if name else "is no JSON object"


def _select_homes(
    listings: Iterable[Listing], area: Polygon, price: tuple[float, float], bedrooms: int | None
) -> list[Listing]:
    """Return listings in an area, at (least, most) dollars a month, of `bedrooms` if given, cheapest first.

    The polygon's x is the longitude in degrees. `None` bedrooms takes any number, unknown ones too.
    """
    _check(area, price)
    lowest, highest = price
    found = [
        one
        for one in listings
        if lowest <= one.price <= highest
        and bedrooms in {None, one.bedrooms}
        and intersects_xy(area, one.position.lng, one.position.lat)
    ]
    return sorted(found, key=lambda one: (one.price, one.id))


def _check(area: Polygon, price: tuple[float, float]) -> None:
    """Raise `BadInput` for an area that is no valid polygon, or rents (least, most) in the wrong order."""
    lowest, highest = price
    if not lowest <= highest:
        raise BadInput(f"price {lowest}-{highest}: give the lowest rent first, then the highest")
    if area.is_empty or not area.is_valid:
        raise BadInput("area: not a polygon; give its corners as (longitude, latitude), in order")


METRES_PER_MILE = 1609.344
"""Length in metres of an international mile, exact."""
MAX_RADIUS_MILES = 100.0
"""Largest radius of a search in miles (developers.rentcast.io)."""


@dataclass(frozen=True)
class RentCastListings:
    """Homes to rent, asked of the RentCast API."""

    http: RentCastHttp
    """Client of the API."""
    faults: list[str] = field(default_factory=list)
    """A line for each record that was left out so far, and for each area of which not all was asked for."""

    def rentals(
        self, area: Polygon, price: tuple[float, float], bedrooms: int | None = None
    ) -> list[Listing]:
        """Return homes in an area at (least, most) dollars a month, of `bedrooms` if given, cheapest first.

        RentCast is asked for the circle around the area, page by page; what lies outside is left out here.

        Raises:
            BadInput: the lowest price is above the highest, or the area is no valid polygon or wider than
                RentCast's 100 miles to any side.
            ProviderError: RentCast refuses, cannot be reached or answers nonsense, each time it was tried.
            BudgetExceeded: a request would cost more than is left.
        """
        _check(area, price)
        west, south, east, north = area.bounds
        center = LatLng((south + north) / 2, (west + east) / 2)
        corners = area.exterior.coords
        radius = max(distance(center, LatLng(lat, lng)) for lng, lat, *_ in corners) / METRES_PER_MILE
        if radius > MAX_RADIUS_MILES:
            raise BadInput(
                f"area: reaches {radius:.0f} miles from its centre, and RentCast searches "
                f"{MAX_RADIUS_MILES:.0f} miles: use a smaller area"
            )
        query = {
            "latitude": f"{center.lat:.6f}",
            "longitude": f"{center.lng:.6f}",
            # Rounded up, so that no corner of the area lies outside.
            "radius": f"{radius + 0.001:.3f}",
            "status": "Active",
        }
        if bedrooms is not None:
            query["bedrooms"] = str(bedrooms)
        read = as_listings(self._records(query), self.http.notes(RECORDS))
        self.faults.extend(fault for fault in read.faults if fault not in self.faults)
        return _select_homes(read.all, area, price, bedrooms)

    def _records(self, query: dict[str, str]) -> list[object]:
        """Return the records of up to `most_pages` pages; add a line to `faults` if there may be more."""
        settings = self.http.settings

        def ask(number: int) -> tuple[list[object], bool]:
            """Return (records of a page, True if the page is full) by the page's number."""
            window = {"limit": str(settings.page), "offset": str(number * settings.page)}
            page = self.http.rentals(query | window)
            return page, len(page) >= settings.page

        records, more = every_page(ask, settings.most_pages)
        if more:
            self.faults.append(
                f"RentCast has more than {len(records)} listings here: the others were not asked for"
            )
        return records


def read_listings(file: Path, notes: Notes | None = None) -> FileListings:
    """Return the listings in a JSON file of RentCast records; `notes` counts fields that cannot be read.

    Raises:
        BadInput: the file cannot be read, or holds no such array.
    """
    records = read_json_file(file)
    if not isinstance(records, list):
        raise BadInput(f"{file}: must contain an array of RentCast records, `[{{...}}, ...]`")
    return as_listings(records, notes)
