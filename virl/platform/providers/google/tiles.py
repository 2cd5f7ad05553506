"""Client of Map Tiles: the metadata of panoramas, and panoramas put together from tiles.

Metadata and sessions are free of charge; a tile costs as much as a batch of 100 relocations. A view therefore
fetches only the tiles that it touches, and the tiles of a panorama are kept for its next view.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from math import ceil, log2
from threading import Lock
from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from virl.errors import BadInput, NoImagery, NoStreetView, ProviderError
from virl.geo.globe import LatLng, normalize_heading
from virl.platform.city.streetview import Attitude, Camera, Image
from virl.platform.providers.google.client import Call, GoogleHttp
from virl.platform.providers.google.static import fetch_view
from virl.platform.providers.http.replies import CamelBody, Latitude, Longitude, OrUnknown, picture
from virl.platform.providers.http.service import Request
from virl.platform.providers.pictures.projection import Tile, TiledPanorama

SERVICE = "Map Tiles API"
THUMBNAIL = (600, 250)
"""Largest (width, height) of a thumbnail, pixels (page "Street View Tiles")."""
BATCH = 100
"""Largest number of positions of a request for ids of panoramas."""
DENIED = "PERMISSION_DENIED"
"""Code of Google's refusal to a key that may not use an API."""
MARGIN_S = 60.0
"""Seconds before the end of a session at which it is renewed; chosen."""
MOST_LINKS = 100
"""Largest number of links read of a panorama; chosen: ten times the largest crossing."""
LARGEST = 65_536
"""Largest side of a panorama in pixels; chosen: four times Google's largest."""
LARGEST_TILE = 1024
"""Largest side of a tile in pixels; Google's have 512."""
LEVEL_TILT = 90.0
"""Tilt in degrees of a level panorama, which Google counts from straight down."""

_SESSION = {"mapType": "streetview", "language": "en-US", "region": "US"}
"""JSON that asks for a session; language and region are required, and change no picture."""

GotT = TypeVar("GotT")


Heading = Annotated[float, AfterValidator(normalize_heading)]
"""Heading in degrees, [0, 360)."""


class CaptureLink(CamelBody):
    """A link of a panorama in a reply: the neighbour, and the heading to it where told."""

    pano_id: str = Field(min_length=1)
    """Id of the neighbour."""
    heading: Annotated[Heading | None, OrUnknown] = None
    """Heading to the neighbour in degrees; `None` where not given."""


class Capture(CamelBody):
    """The metadata of a panorama in Map Tiles; its links have no distances."""

    id: str = Field(alias="panoId", min_length=1)
    lat: Latitude
    lng: Longitude
    heading: Annotated[Heading | None, OrUnknown] = 0.0
    """Heading of the middle column of its tiles, degrees, [0, 360); `None` where unreadable."""
    date: str | None = None
    links: tuple[CaptureLink, ...] = Field((), max_length=MOST_LINKS)
    width: int = Field(alias="imageWidth", ge=1, le=LARGEST)
    """Width of the largest picture, pixels."""
    height: int = Field(alias="imageHeight", ge=1, le=LARGEST)
    """Height of the largest picture, pixels."""
    tile: int = Field(alias="tileWidth", ge=1, le=LARGEST_TILE)
    """Side of a square tile, pixels."""
    imagery_type: str = ""
    tilt: float = Field(LEVEL_TILT, ge=0, le=180)
    """Tilt of the picture's centre, degrees from straight down; 90 is level."""
    roll: float = Field(0.0, ge=-360, le=360)
    """Roll of the camera to the right in degrees; that Google counts it so is an assumption."""
    copyright: str = ""
    """Name to credit: Google, or a photographer."""
    report_problem_link: str = ""
    """URL of a page for complaints about the panorama."""

    @field_validator("links")
    @classmethod
    def _lead_elsewhere(cls, told: tuple[CaptureLink, ...], info: ValidationInfo) -> tuple[CaptureLink, ...]:
        """Return the links, those to the panorama itself left out and reported."""
        own = info.data.get("id")
        if info.context and any(one.pano_id == own for one in told):
            info.context(f"links: one leads to its own panorama (in {own})", own)
        return tuple(one for one in told if one.pano_id != own)

    @property
    def position(self) -> LatLng:
        """Position of the camera."""
        return LatLng(self.lat, self.lng)

    @property
    def indoor(self) -> bool:
        """Return whether the panorama was taken indoors."""
        return self.imagery_type.casefold() == "indoor"

    @property
    def attitude(self) -> Attitude:
        """Attitude of the camera; its heading is 0 where none is known."""
        return Attitude(self.heading or 0.0, self.tilt - LEVEL_TILT, self.roll)

    @property
    def largest_zoom(self) -> int:
        """Zoom level of the largest picture; at level 0 the whole picture fits on one tile."""
        return ceil(log2(max(self.width / self.tile, 1.0)))

    def size(self, zoom: int) -> tuple[int, int]:
        """Return (width, height) in pixels at a zoom level, each twice that of the level below."""
        scale = 2 ** (self.largest_zoom - zoom)
        return round(self.width / scale), round(self.height / scale)


class _Session(CamelBody):
    """A session of Map Tiles, with the time at which it ends."""

    session: str
    expiry: float
    """Time at which the session ends, seconds since 1970."""


class _PanoIds(CamelBody):
    """The reply to a request for ids of panoramas."""

    pano_ids: tuple[Annotated[str | None, OrUnknown], ...] | None = None
    """Ids by position, empty for one without panorama; `None` where no position has one."""


class PanoramaTiles:
    """A client of Map Tiles' street view: ids, metadata, tiles and thumbnails."""

    def __init__(self, http: GoogleHttp) -> None:
        """Make the client; a session of Map Tiles begins with its first request."""
        self._http = http
        self._session = ""
        self._ends = 0.0
        self._lock = Lock()

    def are_allowed(self) -> bool:
        """Return whether the key may use Map Tiles; a session is asked for, free of charge.

        Raises:
            ProviderError: Google cannot be asked, or does not know the key.
        """
        try:
            self._signed_in(Call("tiles_metadata"))
        except ProviderError as fault:
            if fault.code == DENIED:
                return False
            raise
        return True

    def pano_ids(self, positions: Sequence[LatLng], radius: float) -> list[str | None]:
        """Return the id of the panorama nearest to each position within `radius` metres, `None` without one.

        One paid request for each 100 positions.

        Raises:
            ProviderError: a reply has another number of ids than were asked for.
        """
        found: list[str | None] = []
        for first in range(0, len(positions), BATCH):
            batch = positions[first : first + BATCH]
            locations = [{"lat": position.lat, "lng": position.lng} for position in batch]
            call = Call("tiles_pano_ids", body={"locations": locations, "radius": radius})
            ids = self._send_in_session(call, lambda request: self._http.read(request, _PanoIds)).pano_ids
            if ids is not None and len(ids) != len(batch):
                reason = f"virl asked for the ids of {len(batch)} positions and got {len(ids)}"
                raise ProviderError(SERVICE, reason, "try again")
            found += [pano_id or None for pano_id in ids or ("",) * len(batch)]
        return found

    def capture(self, pano_id: str) -> Capture:
        """Return the metadata of a panorama.

        Raises:
            NoStreetView: there is none of this id.
        """
        try:
            call = Call("tiles_metadata", query={"panoId": pano_id})
            return self._send_in_session(call, lambda request: self._http.read(request, Capture))
        except ProviderError as fault:
            # Status 400 is a malformed id, unless it is about the session.
            if fault.status == 404 or (fault.status == 400 and not _blames_session(fault)):
                raise NoStreetView(f"no panorama has the id {pano_id!r}") from None
            raise

    def tile(self, capture: Capture, zoom: int, tile: Tile) -> Image:
        """Return the pixels of one tile of a panorama at a zoom level.

        Args:
            capture: metadata of the panorama.
            zoom: zoom level, 0 for the smallest picture.
            tile: (column, row) of the tile, from 0.

        Raises:
            NoImagery: the panorama has no such tile.
        """
        path = f"{zoom}/{tile[0]}/{tile[1]}"
        try:
            data = self._send_in_session(Call("tiles_tile", path, {"panoId": capture.id}), self._http.bytes)
        except ProviderError as fault:
            if fault.status == 404:
                raise NoImagery(f"no picture of panorama {capture.id!r}: it has no tile {path}") from None
            raise
        return picture(data, SERVICE)

    def thumbnail(self, pano_id: str, camera: Camera) -> Image:
        """Return the view through a camera of at most `THUMBNAIL` pixels.

        Raises:
            NoImagery: there is no such panorama, or no picture of it.
        """
        query = {
            "panoId": pano_id,
            "width": str(camera.width),
            "height": str(camera.height),
            "yaw": repr(float(camera.heading)),
            "pitch": repr(float(camera.pitch)),
            "fov": repr(float(camera.fov)),
        }
        call = Call("tiles_thumbnail", query=query)
        return fetch_view(
            lambda: self._send_in_session(call, self._http.bytes),
            pano_id,
            camera,
            SERVICE,
            "set `thumbnails: false`",
        )

    def _send_in_session(self, call: Call, send: Callable[[Request], GotT]) -> GotT:
        """Return the result of a call, sent again in a new session if the session is refused."""
        signed_in = self._signed_in(call)
        try:
            return send(signed_in)
        except ProviderError as fault:
            if not _blames_session(fault):
                raise
        self._ends = 0.0
        return send(self._signed_in(call))

    def _signed_in(self, call: Call) -> Request:
        """Return the request of a call in the current session, which is renewed near its end."""
        with self._lock:
            # One thread renews the session, and those that wait for the lock find it new.
            if time.time() > self._ends - MARGIN_S:
                read = self._http.read(self._http.request(Call("tiles_session", body=_SESSION)), _Session)
                self._session, self._ends = read.session, read.expiry
            signed_in = Call(call.endpoint, call.path, {**call.query, "session": self._session}, call.body)
        return self._http.request(signed_in)


def _blames_session(fault: ProviderError) -> bool:
    """Return whether an error says that the session is invalid."""
    return fault.status in (400, 401, 403) and "session" in fault.reason.lower()


def mosaic(tiles: PanoramaTiles, capture: Capture, zoom: int) -> TiledPanorama:
    """Return a panorama whose tiles, of level `zoom` or the largest there is, are fetched only when needed.

    Args:
        tiles: client that fetches tiles.
        capture: metadata of the panorama.
        zoom: largest zoom level; 3 is 3328 pixels wide for Google's own panoramas.

    Raises:
        NoImagery: the panorama does not show the whole sphere, or its heading is not known.
    """
    if capture.heading is None:
        raise NoImagery(f"no picture of panorama {capture.id!r}: its heading is not known")
    level = min(zoom, capture.largest_zoom)
    size, side = capture.size(level), capture.tile
    grid = ceil(size[0] / side), ceil(size[1] / side)
    try:
        return TiledPanorama(size, side, grid, capture.attitude, partial(tiles.tile, capture, level))
    except BadInput as fault:
        raise NoImagery(f"no whole picture of panorama {capture.id!r}: {fault}") from None
