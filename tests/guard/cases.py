"""The clients, what each is asked, and the faults that it meets."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from guard import inner
from guard.tap import KEY, SECRET, Fault, Log, Tap, tidy, words
from virl.geo.globe import LatLng
from virl.platform.city.streetview import Camera

HERE, THERE = LatLng(41.2504, -38.7570), LatLng(41.2516, -38.7570)
PLAIN = inner.Modes()
BARE = {"title": "Guard", "about": "Served here", "center": [*HERE]}
Urls = Mapping[str, str]
"""URLs by the name of the service."""
CAMERA = Camera(90.0, width=320, height=240)
BUSY = words("please wait", 429, "RESOURCE_EXHAUSTED")
FAULTS = (
    Fault("429, 2 s", 429, BUSY, {"Retry-After": "2"}),
    Fault("429", 429, BUSY),
    Fault("429, 4000 s", 429, BUSY, {"Retry-After": "4000"}),
    Fault("500", 500, b"<html><body><h1>Sorry</h1></body></html>"),
    Fault("503, 3 s", 503, b"", {"Retry-After": "3"}),
    Fault("silence", silent=True),
    Fault("half", body=None),
    Fault("noise", body=b"\x00\xff not what was asked for"),
    Fault("nothing", body=b""),
    Fault("empty object", body=b"{}"),
    Fault("empty array", body=b"[]"),
    Fault("400", 400, words("no such field", 400, "INVALID_ARGUMENT")),
    Fault("401", 401, words("who are you", 401, "UNAUTHENTICATED")),
    Fault("403", 403, words(f"not allowed for {KEY}", 403, "PERMISSION_DENIED")),
    Fault("404", 404, words("not there", 404, "NOT_FOUND")),
    Fault("moved", 302, b"", {"Location": "http://example.invalid/elsewhere"}),
)
MOST_PLACES = 3  # of the requests of a call that meet faults
LASTING = frozenset({"429", "500", "silence", "noise", "nothing"})
"""Faults that all requests of a call meet in a case of its own: the others are met once."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a client is asked."""

    ask: Callable[[Any, Any], object]
    """Given what is opened and what `prepare` gave."""
    prepare: Callable[[Any], Any] = lambda _: None
    """Asks for what the call needs, before a fault and unrecorded."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client and its stand-ins."""

    servers: Mapping[str, Callable[[], AbstractContextManager[str]]]
    """By the name of the service."""
    calls: Mapping[str, "Call"]
    city: Callable[[Urls], dict[str, object]] = lambda _: {}
    """Fields of the city file, given the URL of each service."""
    opened: Callable[..., AbstractContextManager[Any]] = inner.city
    variables: Callable[[Urls], dict[str, str]] = lambda _: {}
    modes: bool = True
    """Whether it keeps, records and replays."""


def _some_pano(city: Any) -> str:
    return str(city.streetview.nearest(HERE, 100.0).id)


def _some_place(city: Any) -> str:
    return str(city.places.nearby(HERE, 120.0)[0].id)


def _google(**options: object) -> Callable[[Urls], dict[str, object]]:
    def file(urls: Urls) -> dict[str, object]:
        corners = [[41.241, -38.764], [41.241, -38.736], [41.259, -38.736], [41.259, -38.764]]
        return BARE | {
            "provider": "google", "city": "Virlton", "district": "all", "country": "nowhere",
            "language": "en", "time_zone": "Atlantic/Azores", "polygon": corners,
            "google": {"base_url": urls["google"], "page_wait": 2.0, **options},
        }  # fmt: skip

    return file


def _open(pictures: str, maps: str = "osrm") -> Callable[[Urls], dict[str, object]]:
    def file(urls: Urls) -> dict[str, object]:
        paths = {"overpass": "/api/interpreter", "nominatim": "/search"}
        given = {f"{name}_url": url + paths.get(name, "") for name, url in urls.items()}
        parts = {
            "provider": "open",
            "streetview": pictures,
            "places": "overpass",
            "maps": maps,
            "reach_m": 100,
        }
        return BARE | parts | given

    return file


NEAREST = {"nearest": Call(lambda city, _: city.streetview.nearest(HERE, 100.0))}
VIEW = {"view": Call(lambda city, pano: city.streetview.view(pano, CAMERA), _some_pano)}
PANORAMA = {"panorama": Call(lambda city, _: city.streetview.panorama("vt-01732"))}
FOUND = {
    "nearby": Call(lambda city, _: city.places.nearby(HERE, 120.0, types=("restaurant", "bank"))),
    "search": Call(lambda city, _: city.places.search("bakery", HERE)),
}
PLACES = FOUND | {
    "details": Call(lambda city, place: city.places.details(place), _some_place),
    "photos": Call(lambda city, place: city.places.photos(place, 2), _some_place),
}
GEOCODE = {"geocode": Call(lambda city, _: city.maps.geocode("91 Station Street"))}
ADDRESSES = GEOCODE | {"address_at": Call(lambda city, _: city.maps.address_at(HERE, 60.0))}
WAYS = {
    "route": Call(lambda city, _: city.maps.route([HERE, THERE])),
    "travel_times": Call(lambda city, _: city.maps.travel_times([HERE], [THERE, HERE])),
}
BOX = ("--box", "60.165,24.93,60.175,24.95")
DOWNLOADS = {
    "box": Call(lambda run, _: run("data", "osm", *BOX, "--name", "kyla")),
    "place": Call(lambda run, _: run("data", "osm", "--place", "Kylä", "--name", "kyla")),
}
OPEN_MAPS = {name: partial(inner.map_server, name) for name in ("overpass", "nominatim", "osrm")}
PANORAMAX = {"panoramax": inner.panoramax_server} | OPEN_MAPS
MAPILLARY = {"mapillary": inner.mapillary_server} | OPEN_MAPS
GOOGLE = {"google": inner.google_server}
CLIENTS = {
    "google-static": Client(GOOGLE, NEAREST | PANORAMA | VIEW, _google()),
    "google-tiles": Client(GOOGLE, VIEW, _google(imagery="tiles", zoom=1)),
    "google-places": Client(GOOGLE, PLACES, _google()),
    "google-maps": Client(GOOGLE, GEOCODE | WAYS, _google()),
    "google-legacy-places": Client(GOOGLE, PLACES, _google(api="legacy")),
    "google-legacy-maps": Client(GOOGLE, GEOCODE | WAYS, _google(api="legacy")),
    "panoramax": Client(PANORAMAX, NEAREST | VIEW, _open("panoramax")),
    "mapillary": Client(MAPILLARY, NEAREST | VIEW, _open("mapillary")),
    "overpass": Client(PANORAMAX, FOUND, _open("panoramax")),
    "nominatim": Client(PANORAMAX, ADDRESSES, _open("panoramax")),
    "osrm": Client(PANORAMAX, WAYS, _open("panoramax")),
    "valhalla": Client(PANORAMAX | {"valhalla": inner.valhalla_server}, WAYS, _open("panoramax", "valhalla")),
    "rentcast": Client(
        {"rentcast": inner.rentcast_server},
        {"rentals": Call(lambda homes, _: homes.rentals(inner.AUSTIN, (0, 5000)))},
        opened=inner.rentcast,
        variables=lambda urls: {"VIRL_RENTCAST_BASE_URL": urls["rentcast"]},
    ),
    "osm-download": Client(
        {"osm": inner.download_server},
        DOWNLOADS,
        opened=inner.command,
        variables=lambda urls: {
            "VIRL_OVERPASS_URL": f"{urls['osm']}/api/interpreter",
            "VIRL_NOMINATIM_URL": f"{urls['osm']}/search",
        },
        modes=False,
    ),
}


def record_clients(folder: Path, name: str, log: Log) -> None:
    """Record each client whose name contains `name` into a file of its own for each call."""
    chosen = [one for one in CLIENTS if name in one]
    for number, one in enumerate(chosen, 1):
        with ExitStack() as stack:
            servers = {
                service: stack.enter_context(serve()) for service, serve in CLIENTS[one].servers.items()
            }
            taps = {service: stack.enter_context(Tap(service, url, log)) for service, url in servers.items()}
            urls = {service: tap.url for service, tap in taps.items()}
            for title, call in CLIENTS[one].calls.items():
                cases = _Cases(CLIENTS[one], call, urls, log)
                (folder / f"{one}-{title}.txt").write_text(tidy("\n".join(cases.all())) + "\n")
                print(f"[{number}/{len(chosen)}] {one} {title}: {cases.count} cases", flush=True)


@dataclass(slots=True)
class _Cases:
    """All cases of one call of a client."""

    client: Client
    call: Call
    urls: Urls
    log: Log
    count: int = 0

    def all(self) -> Iterator[str]:
        yield from self._case("well")
        firsts = list({head: number for number, head in reversed([*enumerate(self.log.heads)])}.values())
        for at in sorted(firsts)[:MOST_PLACES]:
            for fault in FAULTS:
                yield from self._case(f"{fault.name} at request {at}", fault=fault, at=at)
        for fault in FAULTS:
            if fault.name in LASTING:
                yield from self._case(f"{fault.name} at all requests", fault=fault)
        if not self.client.modes:
            return
        yield from self._case("no budget", inner.Modes(limit_usd=0.0001))
        with _scratch() as kept:
            yield from self._case("kept, first", inner.Modes(cache="ttl"), home=kept)
            yield from self._case("kept, again", inner.Modes(cache="ttl"), home=kept)
        with _scratch() as kept, _scratch() as other:
            yield from self._case("recorded", inner.Modes(record=kept / "replies"), home=kept)
            files = sorted(file.relative_to(kept) for file in (kept / "replies").rglob("*.json"))
            yield from (f"recorded {file}" for file in files)
            yield from self._case("replayed", inner.Modes(replay=kept / "replies"), home=other)

    def _case(
        self,
        title: str,
        modes: inner.Modes = PLAIN,
        *,
        fault: Fault | None = None,
        at: int | None = None,
        home: Path | None = None,
    ) -> Iterator[str]:
        """Ask once, and give the lines about it."""
        self.count += 1
        with _scratch() as own, _environment(home or own, self.client.variables(self.urls)):
            file = own / "guard.yaml"
            file.write_text(json.dumps(self.client.city(self.urls)))
            money = inner.Money(own / "spending.jsonl", modes.limit_usd)
            self.log.fault = None
            answer = "nothing"
            try:
                with self.client.opened(file, money, modes) as opened:
                    ready = self.call.prepare(opened)
                    self._begin(fault, at)
                    answer = shown(self.call.ask(opened, ready))
            except Exception as error:  # noqa: BLE001 - whatever is raised is recorded
                answer = f"{type(error).__name__}\nwords: {error}"
            found = [f"== {title}", *self.log.lines, f"= {answer}", *money.lines()]
            yield from (
                line.replace(str(home or own), "SCRATCH").replace(str(own), "SCRATCH") for line in found
            )

    def _begin(self, fault: Fault | None, at: int | None) -> None:
        """Forget what was asked for `prepare`."""
        self.log.lines.clear()
        self.log.heads.clear()
        self.log.fault, self.log.at = fault, at


@contextmanager
def _scratch() -> Iterator[Path]:
    folder = Path(mkdtemp())
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def _environment(home: Path, more: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    keys = {"GOOGLE_MAPS_API_KEY": KEY, "GOOGLE_MAPS_SIGNING_SECRET": SECRET, "RENTCAST_API_KEY": KEY}
    own = {"VIRL_CACHE": str(home / "cache"), "VIRL_DATA": str(home / "data"), "MAPILLARY_ACCESS_TOKEN": KEY}
    os.environ.update(keys | own | more)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def shown(value: object) -> str:
    """Return a short text that changes wherever a value does."""
    if isinstance(value, str) and value.startswith("exit status"):
        status, _, rest = value.partition("\n")
        return f"{status}\n" + "\n".join(f"words: {line}" for line in rest.splitlines())
    text = _flat(value)
    return f"{type(value).__name__} {hashlib.sha256(tidy(text).encode()).hexdigest()[:16]} {text[:300]}"


def _flat(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"array{value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:16]}"
    if is_dataclass(value) and not isinstance(value, type):
        told = (f"{one.name}={_flat(getattr(value, one.name))}" for one in fields(value))
        return f"{type(value).__name__}({', '.join(told)})"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return f"[{', '.join(map(_flat, value))}]"
    return repr(value)
