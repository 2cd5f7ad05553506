"""Homes to rent from a JSON file of RentCast records."""

from collections.abc import Sequence
from pathlib import Path

from shapely import Polygon

from virl.errors import BadInput
from virl.files.json_reading import read_json_file
from virl.platform.city.city import Listing
from virl.platform.providers.http.bodies import Notes
from virl.platform.providers.rentcast.records import as_listings
from virl.platform.providers.rentcast.window import select_homes


class FileListings:
    """The listings of a file of RentCast records.

    Args:
        listings: all that the file holds.
        faults: a line for each record that was left out.
    """

    def __init__(self, listings: Sequence[Listing], faults: Sequence[str]) -> None:
        self.all = tuple(listings)
        self.faults = tuple(faults)

    def rentals(
        self, area: Polygon, price: tuple[float, float], bedrooms: int | None = None
    ) -> list[Listing]:
        """Return the homes to rent within an area, cheapest first; see `Listings.rentals`.

        Raises:
            BadInput: the lowest price is above the highest, or the area is not a valid polygon.
        """
        return select_homes(self.all, area, price, bedrooms)


def read_listings(file: Path, notes: Notes | None = None) -> FileListings:
    """Return the listings in a file that holds an array of RentCast records.

    Args:
        file: with JSON.
        notes: takes the fields that cannot be read.

    Raises:
        BadInput: the file cannot be read, or holds no such array.
    """
    records = read_json_file(file)
    if not isinstance(records, list):
        raise BadInput(f"{file}: must contain an array of RentCast records, `[{{...}}, ...]`")
    read = as_listings(records, notes)
    return FileListings(read.listings, read.faults)
