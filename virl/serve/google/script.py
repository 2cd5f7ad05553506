"""`/maps/api/js` and what it fetches: enough of the Maps JavaScript API for a street-view page."""

from dataclasses import dataclass
from pathlib import Path

from fastapi import Response

from virl.serve.google.static import StaticStreetView
from virl.serve.google.tiles import TileStreetView
from virl.serve.google.wire import Ask, answer

SCRIPT = Path(__file__).with_name("maps.js")


@dataclass(frozen=True, slots=True)
class MapsScript:
    """Handlers of the script and of the two requests that it makes."""

    static: StaticStreetView
    tiles: TileStreetView

    def script(self, _: Ask) -> Response:
        """The script; it finds its key and callback in its own address."""
        return Response(SCRIPT.read_bytes(), media_type="text/javascript; charset=UTF-8")

    def panorama(self, ask: Ask) -> Response:
        """A panorama by `panoId`, or the one nearest to `lat` and `lng`."""
        return answer(self.tiles.described(ask))

    def view(self, ask: Ask) -> Response:
        """What the panorama of the page shows."""
        return self.static.image(ask)
