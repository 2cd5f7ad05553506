"""Services of street-level pictures: all that one has to provide, by example.

The example is a whole service. It would stand in the folder `streetpics` beside this file, as `client.py`,
beside an `__init__.py` of one docstring:
`PICTURES` registers it under the folder's name, so that a city file may say `streetview: streetpics`. Another
package registers its own by an entry point of the group `virl.pictures`. Nothing else has to be changed, but
a licence that `platform/providers/open.yaml` lacks is added there: pictures under others are left out.

    from dataclasses import dataclass
    from typing import Annotated

    from pydantic import AwareDatetime

    from virl.platform.providers.http.replies import Latitude, Longitude, OrUnknown, ReplyBody
    from virl.platform.providers.open.picture_services import PictureServer, PictureService
    from virl.platform.providers.open.picture_services import PictureSettings, Shot

    class Photo(ReplyBody):  # a field without a default is required
        id: str
        lat: Latitude
        lng: Longitude
        compass: float | None = None
        drive: str
        number: int
        taken: AwareDatetime
        photographer: str = ""

    class Photos(ReplyBody):
        photos: tuple[Annotated[Photo | None, OrUnknown], ...]  # one that does not fit is counted

    @dataclass(frozen=True)
    class StreetPics:
        server: PictureServer

        def shots(self, cell):
            box = ",".join(map(str, cell.degrees))  # west, south, east, north
            page = self.server.settings.page
            request = self.server.request("streetpics_search", "/photos", {"bbox": box, "limit": str(page)})
            found = self.server.service.read(request, Photos).photos
            if len(found) == page:
                return None  # there may be more: the square is asked for in four parts
            listed = [
                Shot(
                    id=one.id, lat=one.lat, lng=one.lng, heading=one.compass, fov=360.0, sequence=one.drive,
                    rank=one.number, taken=one.taken, author=one.photographer, licence="CC-BY-SA-4.0",
                )
                for one in found if one
            ]
            return [shot for shot in listed if cell.contains(shot.position)]

        def picture(self, shot, part):
            return self.server.service.bytes(
                self.server.request(f"streetpics_{part}", f"/photos/{shot.id}/{part}.jpg")
            )

    PICTURES = PictureService(
        PictureSettings(
            title="StreetPics", base_url="https://streetpics.example", per_minute=60, page=500
        ),
        StreetPics,
    )

What a service with a token, refusals of its own, flat pictures or tiles says besides is below, at
`Token`, `PictureService` and `Shot`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from virl.geo.globe import LatLng
from virl.platform.providers.http.replies import Judge, usual_judge
from virl.platform.providers.http.service import Request, Service
from virl.platform.providers.http.settings import HOST, Retries, Timeouts
from virl.platform.providers.http.stored_replies import RequestName
from virl.platform.providers.open.cells import Cell
from virl.platform.providers.pictures.picture import FULL_TURN
from virl.registry import Registry, scan
from virl.settings.model import Settings

THIN = 30
"""Number of pictures below which a square's list is kept for hours only (chosen: searches miss some)."""


class PictureSettings(Settings):
    """The settings of a picture service: its server, and how fast and often it is asked."""

    title: str
    """Name of the service as people write it."""
    base_url: str = Field(pattern=HOST)
    """Scheme and host of the server."""
    per_minute: int = Field(ge=1)
    """Largest number of requests a minute."""
    concurrency: int = Field(default=4, ge=1, le=64)
    """Largest number of requests at once."""
    page: int = Field(ge=1, le=10_000)
    """Largest number of pictures in a reply; a square with more is asked for in pages or quarters."""
    keep_days: float = Field(default=30.0, gt=0)
    """Number of days that lists of pictures are kept."""
    timeouts: Timeouts = Timeouts(read=60.0, total=180.0)
    """Time limits of a request in seconds."""
    retries: Retries = Retries(longest_wait=60.0)
    """Number of further tries of a request, and the pauses before them."""


class TileMatrix(BaseModel):
    """The tiles of a panorama: URL pattern, number and size."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    href: str
    """URL pattern of a tile, with `{TileCol}` and `{TileRow}`."""
    columns: int = Field(ge=1, le=256)
    """Number of columns of tiles."""
    rows: int = Field(ge=1, le=128)
    """Number of rows of tiles."""
    side: float = Field(ge=16, le=8192)
    """Width of a column in pixels of the picture; tiles are as wide, rounded down."""


class Shot(BaseModel):
    """One shared picture as its service describes it, without pixels and URLs that expire."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    id: str
    """Id that the service gives the picture."""
    lat: float = Field(ge=-90, le=90)
    """Latitude in degrees."""
    lng: float = Field(ge=-180, le=180)
    """Longitude in degrees."""
    heading: float | None = None
    """Heading of the middle column, degrees clockwise from north; `None` where not told."""
    pitch: float = 0.0
    """Elevation of the picture's middle above the horizon, degrees."""
    roll: float = 0.0
    """Lean of the camera to the right, degrees."""
    fov: float = Field(gt=0, le=FULL_TURN)
    """Horizontal field of view in degrees; 360 for a whole panorama."""
    sky: float | None = Field(default=None, ge=0, le=1)
    """Share of a panorama's height cut off above the picture, [0, 1]; `None`: as much as below it."""
    left: float | None = Field(default=None, ge=0, lt=1)
    """Share of a full turn cut off to the left of a part of a panorama; `None` for other pictures."""
    sequence: str
    """Id of the drive or walk on which the picture was taken."""
    rank: int
    """Number that orders the pictures of a sequence."""
    taken: AwareDatetime
    """Time at which the picture was taken."""
    author: str = ""
    """Name of the author; empty where not told."""
    licence: str = ""
    """SPDX identifier of the licence; empty where not told."""
    page: str = ""
    """URL of the page that shows the picture, for its credit."""
    sd: str = ""
    """URL of the picture, 2048 pixels wide; empty where it has to be asked for."""
    hd: str = ""
    """URL of the picture in full size; empty where it has to be asked for."""
    tiles: TileMatrix | None = None
    """Tiles of a whole panorama; `None` where it has none."""

    @property
    def position(self) -> LatLng:
        """Position at which the picture was taken."""
        return LatLng(self.lat, self.lng)


class PictureClient(Protocol):
    """A client of a picture service, which lists and fetches pictures."""

    def shots(self, cell: Cell) -> Sequence[Shot] | None:
        """Return the pictures in a square; `None` where there are too many for one reply.

        Raises:
            ProviderError: the service fails.
        """
        ...

    def picture(self, shot: Shot, part: str) -> bytes:
        """Return the JPEG file of a part of a picture: `sd`, `hd`, or `tile-COLUMN-ROW` if it has tiles.

        Raises:
            ProviderError: the service fails, or has it no more (status 403, 404 or 410).
        """
        ...


@dataclass(frozen=True, slots=True)
class Token:
    """The token in the header `Authorization` that a service requires."""

    variable: str
    """Name of the environment variable with the token."""
    scheme: str
    """Word before the token in the header, such as `"Bearer "`."""
    source: str
    """Address of the page where users get a token."""


@dataclass(frozen=True, slots=True)
class PictureServer:
    """A server of pictures: its settings, and the HTTP client that asks it."""

    settings: PictureSettings
    """Settings of the service, for this server."""
    service: Service
    """HTTP client with key, pace and retries."""

    def request(
        self,
        endpoint: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        url: Callable[[], str] | None = None,
        is_recorded: bool = True,
    ) -> Request:
        """Return a request to the server, or to a URL that the server gave.

        Args:
            endpoint: name of the request's kind in counts and recordings, such as `"panoramax_search"`.
            path: path of the URL, with a slash at its start.
            query: fields of the URL's query.
            url: function to the whole URL before each try, where it is another host's or does not last;
                `path` and `query` only name the request then.
            is_recorded: True if the reply may be recorded.
        """
        fields = dict(query or {})
        name = RequestName(endpoint, json.dumps({"path": path, "query": fields}, sort_keys=True))
        address = url or self.settings.base_url + path
        return Request(name, address, query={} if url else fields, is_recorded=is_recorded)


@dataclass(frozen=True, slots=True)
class PictureService:
    """The code of a picture service: its settings, its client, and its judge of refusals."""

    settings: PictureSettings
    """Settings for the service's own server."""
    client: Callable[[PictureServer], PictureClient]
    """Function from a server to the client of it."""
    judge: Judge = field(default=usual_judge)
    """Function (expected body, reply) to the good reply or its fault."""
    token: Token | None = None
    """Token that is required; `None` for a service without."""
    a_step: str = "1 picture a step of Hiro"
    """Number of pictures that one step of an agent fetches, in words."""


PICTURES: Registry[PictureService] = Registry(
    kind="service of pictures",
    group="virl.pictures",
    expected=PictureService,
    builtin=partial(scan, "virl.platform.providers.open", "client", "PICTURES"),
)
"""Picture services of virl and of other packages, by name."""
