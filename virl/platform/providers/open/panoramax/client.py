"""Client of Panoramax: lists and pictures, from its STAC items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote, urljoin

from pydantic import AfterValidator, Field

from virl.platform.providers.http.replies import CamelBody, OrUnknown, PointBody, ReplyBody
from virl.platform.providers.open.cells import Cell
from virl.platform.providers.open.picture_services import (
    THIN,
    PictureServer,
    PictureService,
    PictureSettings,
    Shot,
    TileMatrix,
)
from virl.platform.providers.pictures.picture import FULL_TURN, USUAL_FOV

Moment = Annotated[datetime, AfterValidator(lambda told: told if told.tzinfo else told.replace(tzinfo=UTC))]
"""Point in time; one without a zone is in UTC, as STAC has it."""


_Pixels = Annotated[int, Field(ge=-1_000_000, le=1_000_000)]
"""Number of pixels of a side or a margin of a picture (limits chosen)."""


class _Camera(ReplyBody):
    """The camera of a picture: field of view in degrees, sensor and visible area in pixels."""

    field_of_view: float | None = Field(default=None, gt=0, le=FULL_TURN)
    sensor_array_dimensions: tuple[_Pixels, _Pixels] | None = None
    visible_area: tuple[_Pixels, _Pixels, _Pixels, _Pixels] | None = None


class _Provider(ReplyBody):
    """An author or host of a picture, with its roles."""

    name: str = ""
    roles: tuple[str, ...] = ()


class _Matrix(CamelBody):
    """The tiles of a panorama at one size: width in pixels, and number of columns and rows."""

    tile_width: float = Field(ge=16, le=8192)
    matrix_width: int = Field(ge=1, le=256)
    matrix_height: int = Field(ge=1, le=128)


class _MatrixSet(CamelBody):
    """The sizes in which a panorama has tiles."""

    tile_matrix: tuple[_Matrix, ...] = Field(min_length=1)


class _Properties(ReplyBody):
    """The metadata of a picture: time, licence, direction, camera and author."""

    datetime: Moment
    license: str = ""
    azimuth: float | None = Field(default=None, alias="view:azimuth", ge=-360, le=720)
    pitch: float | None = Field(default=None, alias="pers:pitch", ge=-90, le=90)
    roll: float | None = Field(default=None, alias="pers:roll", ge=-360, le=360)
    yaw: float | None = Field(default=None, alias="pers:yaw", ge=-360, le=360)
    camera: _Camera = Field(default=_Camera(), alias="pers:interior_orientation")
    producer: str = Field(default="", alias="geovisio:producer")
    rank: int = Field(default=0, alias="geovisio:rank_in_collection")
    exif: dict[str, Any] = Field(default_factory=dict)
    tiles: dict[str, _MatrixSet] = Field(default_factory=dict, alias="tiles:tile_matrix_sets")


class _Asset(ReplyBody):
    """The URL of a file of a picture."""

    href: str


class _Link(ReplyBody):
    """A link of a reply, with what it leads to."""

    rel: str = ""
    href: str = ""


class Item(ReplyBody):
    """One picture of a reply: a STAC item."""

    id: str = Field(min_length=1)
    geometry: PointBody
    collection: str
    properties: _Properties
    providers: tuple[_Provider, ...] = ()
    assets: dict[str, _Asset] = Field(default_factory=dict)
    asset_templates: dict[str, _Asset] = Field(default_factory=dict)


class SearchBody(ReplyBody):
    """The reply to a search for pictures."""

    features: tuple[Annotated[Item | None, OrUnknown], ...]
    """Pictures found; `None` for one that cannot be read."""
    links: tuple[_Link, ...] = ()
    number_matched: int = Field(default=0, alias="numberMatched")

    @property
    def next_page(self) -> str:
        """URL of the next page; empty where there is none."""
        return next((link.href for link in self.links if link.rel == "next"), "")


def shot_of(item: Item, server: str) -> Shot:
    """Return an item of a server, given as scheme and host, as a shot."""
    properties, camera = item.properties, item.properties.camera
    fov = camera.field_of_view
    projection = str(properties.exif.get("Xmp.GPano.ProjectionType", ""))
    whole = fov == FULL_TURN or (fov is None and (projection == "equirectangular" or bool(_tiles(item))))
    left, shown, sky = _crop_of(camera) if whole else (None, 1.0, None)
    heading = properties.azimuth
    if heading is not None:
        # A yaw that repeats the azimuth is that of the camera's own metadata.
        # No document says which way a yaw turns; taken as clockwise (assumed).
        yaw = properties.yaw or 0.0
        repeats = round(yaw) % 360 == round(heading) % 360
        heading = (heading + (0.0 if repeats else yaw)) % FULL_TURN
    if left is not None and heading is not None:
        heading = (heading + (left + shown / 2 - 0.5) * FULL_TURN) % FULL_TURN
    lng, lat = item.geometry.coordinates
    producer = next((one.name for one in item.providers if "producer" in one.roles and one.name), "")
    return Shot(
        id=item.id,
        lat=lat,
        lng=lng,
        heading=heading,
        pitch=properties.pitch or 0.0,
        roll=properties.roll or 0.0,
        fov=FULL_TURN * shown if whole else min(camera.field_of_view or USUAL_FOV, 170.0),
        left=left,
        sky=sky,
        sequence=item.collection,
        rank=properties.rank,
        taken=properties.datetime,
        author=producer or properties.producer or next((one.name for one in item.providers), ""),
        licence=properties.license,
        page=f"{server}/#focus=pic&pic={quote(item.id, safe='')}",
        sd=_href(item.assets, "sd"),
        hd=_href(item.assets, "hd"),
        tiles=_tiles(item) if whole and camera.visible_area is None else None,
    )


def _crop_of(camera: _Camera) -> tuple[float | None, float, float | None]:
    """Return a panorama's shares: (width cut off left, width shown, height cut off above); `None`: unknown.

    A share cut off is `None` where it is not known or, at the left, none is cut off on either side.
    """
    if camera.visible_area is None or camera.sensor_array_dimensions is None:
        return None, 1.0, None
    (width, height), (left, top, right, _) = camera.sensor_array_dimensions, camera.visible_area
    sky = min(max(top / height, 0.0), 1.0) if height > 0 else None
    if min(left, right) < 0 or not 0 < left + right < width:
        return None, 1.0, sky
    return left / width, (width - left - right) / width, sky


def _href(assets: Mapping[str, _Asset], name: str) -> str:
    """Return the URL of an asset; empty if there is none."""
    return assets[name].href if name in assets else ""


def _tiles(item: Item) -> TileMatrix | None:
    """Return how a panorama's picture is tiled; `None` if it has no tiles or is no whole panorama."""
    matrices = next(iter(item.properties.tiles.values()), None)
    href = _href(item.asset_templates, "tiles")
    if matrices is None or "{TileCol}" not in href or "{TileRow}" not in href:
        return None
    first = matrices.tile_matrix[0]
    if first.matrix_width != 2 * first.matrix_height:
        return None
    return TileMatrix(href=href, columns=first.matrix_width, rows=first.matrix_height, side=first.tile_width)


SEARCH, IMAGES = "/api/search", "/api/pictures"
"""Paths of the search for pictures, and of the pictures' files."""
MOST_PAGES = 10
"""Largest number of pages of a square; one with more is asked for in four parts (chosen)."""


@dataclass(frozen=True, slots=True)
class Panoramax:
    """A client of a Panoramax instance or of the federated catalogue."""

    server: PictureServer
    """Server of the API."""

    def shots(self, cell: Cell) -> Sequence[Shot] | None:
        """Return the pictures in a square; `None` where not all could be listed in `MOST_PAGES` pages."""
        page, server = self.server.settings.page, self.server.settings.base_url
        box = ",".join(f"{degrees:.7f}" for degrees in cell.degrees)
        query, url, count, shots = {"bbox": box, "limit": str(page)}, None, 0, dict[str, Shot]()
        for number in range(1, MOST_PAGES + 1):
            request = self.server.request("panoramax_search", SEARCH, query, url=url)
            found = self.server.service.read(request, SearchBody)
            count, known = count + len(found.features), len(shots)
            listed = [shot_of(item, server) for item in found.features if item]
            shots |= {shot.id: shot for shot in listed if cell.contains(shot.position)}
            if number > 1 and found.features and len(shots) == known:  # it is no page of this search
                return None if known >= THIN else list(shots.values())
            if not found.next_page or not found.features:
                # A full first page that names no next one may be cut by a server without pages.
                is_cut = number == 1 and count >= page
                return None if is_cut or count < found.number_matched else list(shots.values())
            address = urljoin(server + SEARCH, found.next_page)
            # A page on another host is not trusted: the square is asked for in parts.
            if not address.startswith(f"{server}/"):
                return None
            query, url = query | {"page": str(number + 1)}, partial(str, address)
        return None

    def picture(self, shot: Shot, part: str) -> bytes:
        """Return a part of a picture, `sd`, `hd`, or `tile-COLUMN-ROW`, as a JPEG file.

        Raises:
            ProviderError: the service fails, or has the picture no more (status 404).
        """
        path = f"{IMAGES}/{quote(shot.id, safe='')}"
        kind, _, tile = part.partition("-")
        if kind == "tile" and shot.tiles:
            column, _, row = tile.partition("-")
            address = shot.tiles.href.replace("{TileCol}", column).replace("{TileRow}", row)
        else:
            own = {"sd": shot.sd, "hd": shot.hd}[kind]
            address = own or f"{self.server.settings.base_url}{path}/{kind}.jpg"
        request = self.server.request(f"panoramax_{kind}", f"{path}/{part}", url=lambda: address)
        return self.server.service.bytes(request)


PICTURES = PictureService(
    PictureSettings(
        title="Panoramax",
        base_url="https://api.panoramax.xyz",  # the federated catalogue
        per_minute=300,  # chosen: no limit is published
        page=2000,  # of 10,000 that a server allows; about 10 MB (chosen)
    ),
    Panoramax,
    a_step="14 tiles and 0.7 MB a step of Hiro",  # measured: docs/how-to/open-imagery.md
)
