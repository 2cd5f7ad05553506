"""Asks Panoramax which pictures there are, and for the pictures."""

from collections.abc import Sequence
from urllib.parse import quote

from virl.json_reading import read_json
from virl.platform.providers.http.bodies import Wanted, read_body
from virl.platform.providers.open.cells import Cell
from virl.platform.providers.open.http import Ask, OpenHttp
from virl.platform.providers.open.panoramax.items import SearchBody, shots_of
from virl.platform.providers.open.shots import Shot

SEARCH, PICTURES = "/api/search", "/api/pictures"


class Panoramax:
    """The STAC API of an instance, or of the federated catalogue.

    Args:
        http: the way to it.
    """

    def __init__(self, http: OpenHttp) -> None:
        self.http = http

    def shots(self, cell: Cell) -> Sequence[Shot] | None:
        """The pictures in a square; `None` where the reply is full, so that more may be left out.

        A search has no pages.

        Raises:
            ProviderError: the service fails.
        """
        page = self.http.settings.page
        box = ",".join(f"{degrees:.7f}" for degrees in cell.degrees)
        ask = Ask("panoramax_search", SEARCH, {"bbox": box, "limit": str(page)})
        reply = read_json(self.http.body(ask, Wanted("object", SearchBody)))
        found = read_body(SearchBody, reply, self.http.settings.title)
        if len(found.features) >= page:
            return None
        return [shot for shot in shots_of(found) if cell.contains(shot.position)]

    def picture(self, shot: Shot, part: str) -> bytes:
        """A picture as a JPEG file.

        Args:
            shot: which.
            part: `sd`, `hd`, or `tile-COLUMN-ROW`.

        Raises:
            ProviderError: the service fails, or has the picture no more (status 404).
        """
        address = self._address(shot, part)
        endpoint = f"panoramax_{part.partition('-')[0]}"
        ask = Ask(endpoint, f"{PICTURES}/{quote(shot.id, safe='')}/{part}", url=lambda: address)
        return self.http.body(ask, Wanted("image"))

    def _address(self, shot: Shot, part: str) -> str:
        kind, _, tile = part.partition("-")
        if kind == "tile" and shot.tiles:
            column, _, row = tile.partition("-")
            return shot.tiles.href.replace("{TileCol}", column).replace("{TileRow}", row)
        own = {"sd": shot.sd, "hd": shot.hd}[kind]
        return own or f"{self.http.settings.base_url}{PICTURES}/{quote(shot.id, safe='')}/{kind}.jpg"
