"""Addresses from Nominatim: positions of addresses, and addresses of positions."""

from virl.errors import NotFound
from virl.geo import LatLng, distance
from virl.platform.maps import Address
from virl.platform.providers.http.keeping import Keeping
from virl.platform.providers.osm.box import Box
from virl.platform.providers.osm.nominatim import Nominatim
from virl.platform.providers.osm.server import MapServiceSettings

MATCHES = 1
MARGIN_M = 5_000.0  # as for Google; chosen


class NominatimAddresses:
    """Addresses of a Nominatim server.

    Args:
        settings: of the service.
        keeping: cache, recording and books.
        district: what is found farther than `MARGIN_M` from it is another town's.
        url: of its search; by default that of `VIRL_NOMINATIM_URL`, or the public server.

    Raises:
        BadInput: the URL is none.
    """

    def __init__(
        self, settings: MapServiceSettings, keeping: Keeping, district: Box, url: str | None = None
    ) -> None:
        self._nominatim = Nominatim(settings, keeping, url)
        self._around = district.grown(MARGIN_M)

    def close(self) -> None:
        """Close the connections."""
        self._nominatim.close()

    def find(self, address: str) -> LatLng:
        """Return the position of an address, a street, or a place by its name, in the district or near it.

        Raises:
            NotFound: nothing matches.
            ProviderError: the server does not answer.
        """
        south, west, north, east = self._around.degrees
        box = f"{west:.6f},{south:.6f},{east:.6f},{north:.6f}"
        found = self._nominatim.search({"q": address, "limit": str(MATCHES), "viewbox": box, "bounded": "1"})
        if not found:
            raise NotFound(
                f"no address or place matches {address!r}: write it as in 'Main Street 5, Town', or give "
                "latitude and longitude"
            )
        return found[0].position

    def nearest(self, position: LatLng, radius: float) -> Address | None:
        """Return the address nearest to a position, of those within so many metres.

        Raises:
            ProviderError: the server does not answer.
        """
        match = self._nominatim.reverse(position)
        if match is None or distance(position, match.position) > radius:
            return None
        return Address(match.written, match.position)
