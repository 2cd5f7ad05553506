"""Homes to rent from the RentCast API."""

from shapely import Polygon

from virl.errors import BadInput
from virl.geo.globe import LatLng, distance
from virl.platform.city.city import Listing
from virl.platform.providers.http.paging import every_page
from virl.platform.providers.rentcast.http import RentCastHttp
from virl.platform.providers.rentcast.records import as_listings
from virl.platform.providers.rentcast.window import check, select_homes

METRES_PER_MILE = 1609.344
"""Metres of an international mile, exact."""
MAX_RADIUS_MILES = 100.0
"""Largest radius of a search in miles (developers.rentcast.io)."""


class RentCastListings:
    """Listings asked of the RentCast API.

    Args:
        http: the way there.
    """

    def __init__(self, http: RentCastHttp) -> None:
        self._http = http
        self.faults: list[str] = []
        """A line for each record that was left out so far."""

    def rentals(
        self, area: Polygon, price: tuple[float, float], bedrooms: int | None = None
    ) -> list[Listing]:
        """Return the homes to rent within an area, cheapest first; see `Listings.rentals`.

        RentCast is asked for the circle around the area, page by page; what lies outside is left out here.

        Raises:
            BadInput: the lowest price is above the highest, or the area is no valid polygon or wider than
                RentCast's 100 miles to any side.
            ProviderError: RentCast refuses, cannot be reached or answers nonsense, each time it was tried.
            BudgetExceeded: a request would cost more than is left.
        """
        check(area, price)
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
            "radius": f"{radius + 0.001:.3f}",
            "status": "Active",
        }
        if bedrooms is not None:
            query["bedrooms"] = str(bedrooms)
        read = as_listings(self._records(query), self._http.notes())
        self.faults += [fault for fault in read.faults if fault not in self.faults]
        return select_homes(read.listings, area, price, bedrooms)

    def _records(self, query: dict[str, str]) -> list[object]:
        """Return the records of all pages, up to the first that is not full."""
        settings = self._http.settings

        def ask(number: int) -> tuple[list[object], bool]:
            window = {"limit": str(settings.page), "offset": str(number * settings.page)}
            found = self._http.rentals(query | window)
            return found, len(found) >= settings.page

        records, more = every_page(ask, settings.most_pages)
        if more:
            self.faults.append(
                f"RentCast has more than {len(records)} listings here: the others were not asked for"
            )
        return records
