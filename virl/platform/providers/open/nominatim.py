"""Addresses from Nominatim: positions of addresses, and addresses of positions."""

from typing import Any

from pydantic import Field

from virl.errors import NotFound
from virl.geo import LatLng, distance
from virl.platform.maps import Address
from virl.platform.providers.http.bodies import Latitude, Longitude, ReplyBody, Wanted
from virl.platform.providers.open.services import Keeping, MapCall, MapServiceSettings, OpenService
from virl.platform.providers.osm.box import Box

MATCHES = 1
MARGIN_M = 5_000.0  # as for Google; chosen
HOUSE = 18
"""Zoom of a reverse question."""
_NOT_FOUND = 404

Addressed = dict[str, str]


class _Match(ReplyBody):
    lat: Latitude
    lon: Longitude
    display_name: str
    name: str = ""
    address: Addressed = Field(default_factory=dict)

    @property
    def position(self) -> LatLng:
        return LatLng(self.lat, self.lon)

    @property
    def written(self) -> str:
        """Street, number and town, or else the name."""
        parts = self.address
        road = parts.get("road") or parts.get("pedestrian") or parts.get("footway") or parts.get("square")
        town = parts.get("city") or parts.get("town") or parts.get("village") or ""
        house = f"{road} {parts.get('house_number', '')}".strip() if road else self.name
        return ", ".join(part for part in (house, town) if part) or self.display_name


class _Reverse(ReplyBody):
    lat: Latitude | None = None
    lon: Longitude | None = None
    display_name: str = ""
    name: str = ""
    address: Addressed = Field(default_factory=dict)
    error: Any = None


class NominatimAddresses:
    """Addresses of a Nominatim server.

    Args:
        settings: of the service.
        keeping: where replies come from and go to.
        district: what is found farther than `MARGIN_M` from it is another town's.
        url: of its search; by default that of `VIRL_NOMINATIM_URL`, or the public server.

    Raises:
        BadInput: the URL is none.
    """

    def __init__(
        self, settings: MapServiceSettings, keeping: Keeping, district: Box, url: str | None = None
    ) -> None:
        self._service = OpenService(settings, keeping, url)
        self._around = district.grown(MARGIN_M)

    def close(self) -> None:
        """Close the connections."""
        self._service.close()

    def find(self, address: str) -> LatLng:
        """The position of an address, a street, or a place by its name, in the district or near it.

        Raises:
            NotFound: nothing matches.
            ProviderError: the server does not answer.
        """
        south, west, north, east = self._around.degrees
        query = {
            "q": address,
            "format": "jsonv2",
            "limit": str(MATCHES),
            "viewbox": f"{west:.6f},{south:.6f},{east:.6f},{north:.6f}",
            "bounded": "1",
        }
        found = self._service.json(MapCall("nominatim_search", query, Wanted("array", _Match)))
        if not found:
            raise NotFound(
                f"no address or place matches {address!r}: write it as in 'Main Street 5, Town', or give "
                "latitude and longitude"
            )
        return _Match.model_validate(found[0]).position

    def nearest(self, position: LatLng, radius: float) -> Address | None:
        """The address nearest to a position, of those within so many metres.

        Raises:
            ProviderError: the server does not answer.
        """
        query = {
            "lat": f"{position.lat:.6f}",
            "lon": f"{position.lng:.6f}",
            "zoom": str(HOUSE),
            "layer": "address",
            "format": "jsonv2",
        }
        call = MapCall(
            "nominatim_reverse",
            query,
            Wanted("object", _Reverse),
            url=self._service.server.sibling("reverse"),
            path="reverse",
            answers=(200, _NOT_FOUND),  # "Unable to geocode" comes with either
        )
        reply = self._service.json(call)
        if reply.get("error") or "lat" not in reply:
            return None
        match = _Match.model_validate(reply)
        return (
            Address(match.written, match.position) if distance(position, match.position) <= radius else None
        )
