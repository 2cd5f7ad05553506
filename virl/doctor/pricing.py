"""What requests will cost, found without sending one.

The provider's own client is given a ledger that lets nothing through: the request that it was about to send,
field mask and all, is named and priced by what stops it.
"""

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import cache

from virl.errors import VirlError
from virl.geo import LatLng
from virl.money.book import Service
from virl.money.ledger import Hold, Ledger
from virl.money.spending import Price
from virl.platform.city import City
from virl.platform.providers.google.city import open_google
from virl.platform.providers.google.city_file import GoogleOptions
from virl.platform.providers.google.http import Call, GoogleHttp, price_of
from virl.platform.providers.google.keys import Keys
from virl.platform.providers.google.settings import GoogleSettings
from virl.platform.providers.google.tiles import Capture
from virl.platform.providers.graph.tiling import tiles_seen
from virl.platform.providers.http.keeping import Keeping
from virl.platform.streetview import Camera

SOMEWHERE = LatLng(0.0, 0.0)
ZOOM = GoogleOptions().zoom
_GOOGLES = Capture.model_validate(
    {"panoId": "any", "lat": 0, "lng": 0, "imageWidth": 13312, "imageHeight": 6656, "tileWidth": 512}
)
"""A panorama as `docs/explanation/google.md` counts its tiles: 13312 pixels, its centre faces north."""


@dataclass(frozen=True, slots=True)
class Item:
    """Requests of one sort that a unit of work makes."""

    what: str
    endpoint: str
    """A name in `platform/providers/google.yaml`."""
    count: float
    usd: float
    """List price of one request, in dollars."""
    source: str
    """Where the count comes from."""

    def times(self, count: float) -> "Item":
        """The same for so many units."""
        return Item(self.what, self.endpoint, self.count * count, self.usd, self.source)


class PriceTags:
    """Makes items of what is done in a city of Google's.

    Args:
        settings: prices, and which generation of the APIs is asked.
    """

    def __init__(self, settings: GoogleSettings) -> None:
        self._settings = settings

    def of(self, what: str, ask: Callable[[City], object], count: float, source: str) -> Item:
        """The first request of something that is done in a city, so many times.

        Raises:
            ProviderError: `api: legacy` lacks its client library.
        """
        with closing(GoogleHttp(self._settings, Keys("unused"), Keeping(ledger=_NothingPasses()))) as http:
            try:
                ask(open_google("", "", SOMEWHERE, http=http))
            except _Stopped as stopped:
                return Item(what, stopped.endpoint, count, stopped.usd, source)
        raise AssertionError(f"{what}: nothing was asked")

    def call(self, what: str, endpoint: str, count: float, source: str) -> Item:
        """A request whose price depends on its endpoint alone."""
        return Item(what, endpoint, count, price_of(self._settings, Call(endpoint)).usd, source)


class _Stopped(VirlError):
    """A request that was about to be sent."""

    def __init__(self, endpoint: str, usd: float) -> None:
        super().__init__(f"{endpoint} would cost ${usd:.4f}")
        self.endpoint = endpoint
        self.usd = usd


class _NothingPasses(Ledger):
    """Stops every request, free ones too."""

    def hold(
        self, price: Price, request: str, service: Service = "provider", *, input_tokens: int = 0
    ) -> Hold:
        del service, input_tokens
        raise _Stopped(request, price.usd)


def tiles_of(cameras: Iterable[Camera], zoom: int = ZOOM) -> set[tuple[int, int]]:
    """The tiles of one of Google's panoramas that views through these cameras touch."""
    return {tile for camera in cameras for tile in _tiles_of_one(camera, zoom)}


@cache
def _tiles_of_one(camera: Camera, zoom: int) -> frozenset[tuple[int, int]]:
    width, height = _GOOGLES.size(zoom)
    return frozenset(tiles_seen(camera, _GOOGLES.attitude, width, height, _GOOGLES.tile))
