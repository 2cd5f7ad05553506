"""A city whose places and listings say hostile things, and whoever asks a beacon that no page should ask."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from zlib import crc32

from virl.platform.city.city import City
from virl.platform.city.places import Place, Places


class HostilePlaces:
    """The places of a city; each text of theirs has a hostile one added, so that all places use all of them.

    Args:
        places: the places.
        texts: hostile ones.
    """

    def __init__(self, places: Places, texts: Sequence[str]) -> None:
        self._places, self._texts = places, texts
        self.photos = places.photos

    def nearby(self, *values: Any, **more: Any) -> list[Place]:
        return [self._hostile(place) for place in self._places.nearby(*values, **more)]

    def search(self, *values: Any, **more: Any) -> list[Place]:
        return [self._hostile(place) for place in self._places.search(*values, **more)]

    def details(self, place_id: str) -> Place:
        return self._hostile(self._places.details(place_id))

    def _hostile(self, place: Place) -> Place:
        first = crc32(place.id.encode())

        def text(turn: int) -> str:
            return self._texts[(first + turn) % len(self._texts)]

        return replace(
            place,
            name=f"{place.name} {text(0)}",
            address=f"{place.address} {text(1)}",
            types=(*place.types, text(2)),
            reviews=tuple(
                replace(review, text=f"{text(3 + number)} {review.text}", author=text(number))
                for number, review in enumerate(place.reviews)
            ),
        )


class HostileListings:
    """The homes of a city, likewise."""

    def __init__(self, listings: Any, texts: Sequence[str]) -> None:
        self._listings, self._texts = listings, texts

    def rentals(self, *values: Any, **more: Any) -> list[Any]:
        return [
            replace(home, address=f"{home.address} {self._texts[number % len(self._texts)]}")
            for number, home in enumerate(self._listings.rentals(*values, **more))
        ]


def hostile(city: City, texts: Sequence[str]) -> City:
    """A city with such places and homes."""
    listings = city.listings and HostileListings(city.listings, texts)
    return replace(city, places=HostilePlaces(city.places, texts), listings=listings)


class Beacon:
    """A server on this machine that notes who asks it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        beacon = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                beacon.asked.append(self.path)
                self.send_response(200)
                self.end_headers()

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def listening(self) -> Iterator["Beacon"]:
        thread = threading.Thread(target=self._server.serve_forever)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()
