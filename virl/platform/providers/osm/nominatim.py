"""Finds a place by its name, with one request to Nominatim.

The public server allows one request a second and no bulk; a command sends one.
"""

import os
from typing import Annotated

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from virl.errors import NotFound, ProviderError
from virl.geo import LatLng
from virl.platform.providers.http.settings import Timeouts
from virl.platform.providers.osm.box import Box, square_around
from virl.platform.providers.osm.server import OsmServer, Tell

URL = "https://nominatim.openstreetmap.org/search"
VARIABLE = "VIRL_NOMINATIM_URL"
MATCHES = 5
LARGEST_MB = 1.0

_Latitude = Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False)]
_Longitude = Annotated[float, Field(ge=-180, le=180, allow_inf_nan=False)]


class Match(BaseModel):
    """A place as Nominatim gives it."""

    lat: _Latitude
    lon: _Longitude
    boundingbox: tuple[_Latitude, _Latitude, _Longitude, _Longitude]
    """South, north, west and east."""
    display_name: str
    name: str = ""
    addresstype: str = ""

    @property
    def box(self) -> Box:
        """All of it."""
        south, north, west, east = self.boundingbox
        return Box(south, west, north, east)

    @property
    def fitting_box(self) -> Box:
        """All of it, or the square around its middle if it is larger or smaller than a download."""
        own = self.box
        usual = own.south < own.north and own.west < own.east and own.fits
        return own if usual else square_around(LatLng(self.lat, self.lon))

    def __str__(self) -> str:
        return f"{self.display_name} ({self.addresstype})" if self.addresstype else self.display_name


_MATCHES = TypeAdapter(list[Match])


def find_places(name: str, tell: Tell) -> list[Match]:
    """The places of a name, the most important one first; at least one.

    Asks the server of `VIRL_NOMINATIM_URL`, by default the public one.

    Args:
        name: such as `"Vaduz"` or `"Kallio, Helsinki"`.
        tell: told before each pause.

    Raises:
        NotFound: nothing has this name.
        ProviderError: the server did not answer, refused, or answered nonsense.
    """
    url = os.environ.get(VARIABLE, "").strip() or URL
    server = OsmServer("Nominatim", url, VARIABLE, tell, timeouts=Timeouts(), max_reply_mb=LARGEST_MB)
    try:
        reply = server.ask({"q": name, "format": "jsonv2", "limit": str(MATCHES)}, remedy=ELSE).body
    finally:
        server.close()
    try:
        found = _MATCHES.validate_json(reply)
    except ValidationError:
        raise ProviderError(server.name, "the reply is not in the format of Nominatim", ELSE) from None
    if not found:
        raise NotFound(
            f"--place {name!r}: {server.name} knows no such place: write it otherwise, or give --box"
        )
    return found


ELSE = "try again later, or give --box S,W,N,E instead"
