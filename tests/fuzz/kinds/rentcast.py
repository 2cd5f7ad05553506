"""RentCast: replies over a socket, and files of its records."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rentcast_server import record
from scripted_google import Behaviour, ScriptedGoogle
from shapely import box

from fuzz.mutate import mutate_http, mutate_json
from fuzz.session import Kind
from virl.platform.providers.http.keys import ApiKey
from virl.platform.providers.http.service import Pace
from virl.platform.providers.rentcast.client import (
    KEY_HEADER,
    KEY_VARIABLE,
    RentCastHttp,
    load_rentcast_settings,
)
from virl.platform.providers.rentcast.listings import RentCastListings, read_listings

AREA, PRICE = box(-97.01, 29.99, -96.99, 30.01), (1000.0, 2000.0)


@contextmanager
def rentcast_kinds(folder: Path) -> Iterator[list[Kind]]:
    """The kinds; files are written into a folder."""
    records = json.dumps([record(number) for number in range(3)]).encode()
    reply = b"HTTP/1.1 200 OK\r\n\r\n" + records
    damaged = [b""]
    with ScriptedGoogle([lambda _: Behaviour(damaged[0])]) as server:
        settings = load_rentcast_settings()
        retries = settings.retries.model_copy(update={"further": 1})
        changes = {
            "base_url": server.url,
            "retries": retries,
            "per_minute": 10**6,
            "most_pages": 3,
            "page": 3,
        }
        with RentCastHttp(
            settings.model_copy(update=changes),
            ApiKey("a-key-of-letters", KEY_VARIABLE, KEY_HEADER),
            pace=Pace(sleep=lambda _: None),
        ) as http:

            def ask(data: bytes) -> None:
                damaged[0] = data
                RentCastListings(http).rentals(AREA, PRICE)
                server.requests.clear()

            def read(data: bytes) -> None:
                file = folder / "homes.json"
                file.write_bytes(data)
                read_listings(file).rentals(AREA, PRICE)

            yield [
                Kind("rentcast-http", [reply], ask, mutate_http, 4),
                Kind("rentcast-file", [records], read, mutate_json, 6),
            ]
