"""Lists and pictures of Panoramax."""

from collections.abc import Sequence
from urllib.parse import quote

from virl.platform.providers.open.cells import Cell
from virl.platform.providers.open.panoramax.items import SearchBody, shots_of
from virl.platform.providers.open.pictures import PictureServer, PictureService, PictureSettings
from virl.platform.providers.open.shots import Shot

SEARCH, IMAGES = "/api/search", "/api/pictures"


class Panoramax:
    """The STAC API of an instance, or of the federated catalogue.

    Args:
        server: of the API.
    """

    def __init__(self, server: PictureServer) -> None:
        self._server = server

    def shots(self, cell: Cell) -> Sequence[Shot] | None:
        """Return the pictures in a square; `None` where the reply is full, so that more may be left out.

        A search has no pages.

        Raises:
            ProviderError: the service fails.
        """
        page = self._server.settings.page
        box = ",".join(f"{degrees:.7f}" for degrees in cell.degrees)
        request = self._server.request("panoramax_search", SEARCH, {"bbox": box, "limit": str(page)})
        found = self._server.service.read(request, SearchBody)
        if len(found.features) >= page:
            return None
        return [shot for shot in shots_of(found) if cell.contains(shot.position)]

    def picture(self, shot: Shot, part: str) -> bytes:
        """Return a picture as a JPEG file.

        Args:
            shot: which.
            part: `sd`, `hd`, or `tile-COLUMN-ROW`.

        Raises:
            ProviderError: the service fails, or has the picture no more (status 404).
        """
        path = f"{IMAGES}/{quote(shot.id, safe='')}/{part}"
        address = self._address(shot, part)
        endpoint = f"panoramax_{part.partition('-')[0]}"
        return self._server.service.bytes(self._server.request(endpoint, path, url=lambda: address))

    def _address(self, shot: Shot, part: str) -> str:
        kind, _, tile = part.partition("-")
        if kind == "tile" and shot.tiles:
            column, _, row = tile.partition("-")
            return shot.tiles.href.replace("{TileCol}", column).replace("{TileRow}", row)
        own = {"sd": shot.sd, "hd": shot.hd}[kind]
        return own or f"{self._server.settings.base_url}{IMAGES}/{quote(shot.id, safe='')}/{kind}.jpg"


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
