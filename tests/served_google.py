"""A city behind Google's wire formats: the server over a made city, and the client against it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.city.places import Places
from virl.platform.city.streetview import Image
from virl.platform.providers.google.city import open_google
from virl.platform.providers.google.city_file import GoogleOptions
from virl.platform.providers.google.client import GoogleHttp
from virl.platform.providers.google.settings import Keys, at_base_url, load_google_settings
from virl.platform.providers.http.stored_replies import Keeping, session_scope
from virl.serve.city_server import ServedCity
from virl.serve.google.options import ServeOptions
from virl.serve.google.server import serve_city

MARKER_KEY = "AIza-marker-that-must-not-leak"


@dataclass(frozen=True)
class Google:
    """The city seen through HTTP, and what the server counted."""

    city: City
    server: ServedCity
    http: GoogleHttp

    def asked(self) -> dict[str, int]:
        """Requests by endpoint since the last time."""
        requests: dict[str, int] = self.server.stats()["requests"]
        self.server.reset()
        return requests

    def reopened(self, options: GoogleOptions | None = None) -> "Google":
        """The same server and a client that remembers nothing."""
        center = self.city.center
        return Google(open_google("served", "Served", center, options, self.http), self.server, self.http)


@contextmanager
def google_over(
    city: City, options: GoogleOptions | None = None, serve: ServeOptions | None = None
) -> Iterator[Google]:
    """Serve a city and open it through the Google provider; nothing is kept on disk."""
    with (
        serve_city(city, serve or ServeOptions(lossless=True, page_delay_s=0.0)) as server,
        google_http(server.url) as http,
    ):
        yield Google(open_google("served", "Served", city.center, options, http), server, http)


def keeping(*, ledger: Ledger | None = None, session: str = "", **more: Any) -> Keeping:
    """Where replies are kept and recorded, and what they cost; nothing and without a limit by default."""
    return Keeping(ledger=ledger or Ledger(), session=session_scope(session), **more)


def google_http(url: str, key: str = MARKER_KEY, **more: Any) -> GoogleHttp:
    """A way to a server, without a cache unless one is given; see `keeping`."""
    return GoogleHttp(at_base_url(load_google_settings(), url), Keys(key), keeping(**more))


class FlatPhotos:
    """The places of a city with a small plain photo each: the server renders a photo to tell its size.

    Args:
        places: the places.
    """

    def __init__(self, places: Places) -> None:
        self._places = places
        self.nearby, self.search, self.details = places.nearby, places.search, places.details

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """One photo."""
        self._places.details(place_id)
        return [np.full((48, 64, 3), len(place_id), np.uint8)][:limit]
