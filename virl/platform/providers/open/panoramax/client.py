"""Lists and pictures of Panoramax."""

from collections.abc import Sequence
from functools import partial
from urllib.parse import quote, urljoin

from virl.platform.providers.open.cells import Cell
from virl.platform.providers.open.panoramax.items import SearchBody, shot_of
from virl.platform.providers.open.pictures import PictureServer, PictureService, PictureSettings
from virl.platform.providers.open.shots import THIN, Shot

SEARCH, IMAGES = "/api/search", "/api/pictures"
MOST_PAGES = 10
"""Most pages of a square; one with more is asked for in four parts (chosen)."""


class Panoramax:
    """A client of a Panoramax instance or of the federated catalogue.

    Args:
        server: of the API.
    """

    def __init__(self, server: PictureServer) -> None:
        self._server = server

    def shots(self, cell: Cell) -> Sequence[Shot] | None:
        """Return the pictures in a square; `None` where there are more than `MOST_PAGES` pages.

        Raises:
            ProviderError: the service fails.
        """
        page, server = self._server.settings.page, self._server.settings.base_url
        box = ",".join(f"{degrees:.7f}" for degrees in cell.degrees)
        query, url, count, shots = {"bbox": box, "limit": str(page)}, None, 0, dict[str, Shot]()
        for number in range(1, MOST_PAGES + 1):
            request = self._server.request("panoramax_search", SEARCH, query, url=url)
            found = self._server.service.read(request, SearchBody)
            count, known = count + len(found.features), len(shots)
            listed = [shot_of(item, server) for item in found.features if item]
            shots |= {shot.id: shot for shot in listed if cell.contains(shot.position)}
            if number > 1 and found.features and len(shots) == known:  # it is no page of this search
                return None if known >= THIN else list(shots.values())
            if not found.next_page or not found.features:
                is_cut = number == 1 and count >= page
                return None if is_cut or count < found.number_matched else list(shots.values())
            address = urljoin(server + SEARCH, found.next_page)
            if not address.startswith(f"{server}/"):
                return None
            query, url = query | {"page": str(number + 1)}, partial(str, address)
        return None

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
        """Return the URL of a part of a picture."""
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
