"""Endpoints of the Nominatim stand-in."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastapi import Response
from starlette.types import ASGIApp

from servers.dispatch import OpenEndpoint, OpenRequest, Refusal, answer, make_server
from servers.options import MapServeOptions
from virl.errors import BadInput, NotFound
from virl.geo.globe import LatLng, distance
from virl.platform.city.city import City
from virl.platform.city.maps import ReverseMaps
from virl.platform.city.places import Place
from virl.serve.city_server import Pools, Stats
from virl.towns.places import plain

DEFAULT_PORT = 8770
LICENCE = "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright"
REVERSE_M = 100.0
"""Metres from a position to its address at most; chosen."""
AT_M = 1.0  # a place that an address was found for lies there; chosen
MOST = 40
"""Most results of a search; as the public server."""
_OSM_ID = re.compile(r"([nwr])(\d+)")
_KINDS = {"n": "node", "w": "way", "r": "relation"}
_NUMBER_FIRST = re.compile(r"(\d+\w?) (.+)")
_NUMBER_LAST = re.compile(r"(.*\D) (\d+ ?\w?)")


@dataclass(frozen=True, slots=True)
class _Hit:
    position: LatLng
    address: str
    place: Place | None = None


class NominatimApi:
    """Answers questions for addresses and positions.

    Args:
        city: whose they are.
    """

    def __init__(self, city: City) -> None:
        self._city = city

    def search(self, asked: OpenRequest) -> Response:
        """`/search`, with `q` or the parts of an address."""
        query = asked.query
        parts = [
            query[name] for name in ("amenity", "street", "city", "country", "postalcode") if query.get(name)
        ]
        text = query.get("q") or ", ".join(parts)
        if not text.strip():
            raise Refusal(400, "Nothing to search for.")
        limit = min(_number(query.get("limit", "10"), "limit"), MOST)
        box = _viewbox(query["viewbox"]) if query.get("viewbox") else None
        found = [
            one
            for one in self._matches(text)
            if not (box and query.get("bounded") == "1") or _inside(one, box)
        ]
        return answer([self._written(one, query) for one in found[: int(limit)]])

    def reverse(self, asked: OpenRequest) -> Response:
        """`/reverse` of a position."""
        query = asked.query
        here = LatLng(_number(query.get("lat", ""), "lat"), _number(query.get("lon", ""), "lon"))
        found = self._at(here)
        if found is None:
            return answer({"error": "Unable to geocode"})
        return answer(self._written(found, {"addressdetails": "1"} | dict(query)))

    def status(self, asked: OpenRequest) -> Response:
        """`/status`, as text or JSON."""
        if asked.query.get("format") != "json":
            return Response("OK", media_type="text/plain")
        told = {
            "status": 0,
            "message": "OK",
            "data_updated": "2026-01-01T00:00:00+00:00",
            "software_version": "4.5.0",
        }
        return answer(told)

    def _matches(self, text: str) -> Iterator[_Hit]:
        """The address, and then the places of this name."""
        named = [
            place
            for place in self._places(text)
            if plain(place.name) == plain(text.split(",", maxsplit=1)[0])
        ]
        try:
            position = self._city.maps.geocode(text)
        except NotFound:
            position = None
        if position and not any(distance(place.position, position) <= AT_M for place in named):
            at = self._at(position)
            yield _Hit(position, at.address if at else text)
        for place in named:
            yield _Hit(place.position, place.address, place)

    def _places(self, text: str) -> list[Place]:
        try:
            return self._city.places.search(text)
        except BadInput:  # no word to search for
            return []

    def _at(self, here: LatLng) -> _Hit | None:
        maps = self._city.maps
        if isinstance(maps, ReverseMaps):
            door = maps.address_at(here, REVERSE_M)
            return _Hit(door.position, door.text) if door else None
        near = [place for place in self._city.places.nearby(here, REVERSE_M) if place.address]
        return _Hit(near[0].position, near[0].address) if near else None

    def _written(self, found: _Hit, query: dict[str, str] | Any) -> dict[str, Any]:
        place, (lat, lng) = found.place, found.position
        kind, number = _identity(place.id if place else found.address)
        whole = ", ".join(
            part for part in (place.name if place else "", found.address, self._city.title) if part
        )
        one: dict[str, Any] = {
            "place_id": number,
            "licence": LICENCE,
            "osm_type": kind,
            "osm_id": number,
            "lat": f"{lat:.7f}",
            "lon": f"{lng:.7f}",
            "class" if query.get("format") == "json" else "category": "amenity" if place else "place",
            "type": place.types[0] if place else "house",
            "place_rank": 30,
            "importance": 0.0001,
            "addresstype": "amenity" if place else "place",
            "name": place.name if place else "",
            "display_name": whole,
            "boundingbox": [
                f"{lat - 5e-5:.7f}",
                f"{lat + 5e-5:.7f}",
                f"{lng - 5e-5:.7f}",
                f"{lng + 5e-5:.7f}",
            ],
        }
        if query.get("addressdetails") == "1":
            one["address"] = _parts(found.address)
        return one


def _parts(address: str) -> dict[str, str]:
    """An address of a town as Nominatim parts it."""
    house, _, town = address.partition(", ")
    first, last = _NUMBER_FIRST.fullmatch(house), _NUMBER_LAST.fullmatch(house)
    found = {"road": house}
    if first:
        found = {"house_number": first[1], "road": first[2]}
    elif last:
        found = {"house_number": last[2], "road": last[1]}
    return found | ({"city": town} if town else {})


def _identity(text: str) -> tuple[str, int]:
    """The kind and number of an object of OpenStreetMap; of what is none, a node of some number."""
    known = _OSM_ID.fullmatch(text)
    return (_KINDS[known[1]], int(known[2])) if known else ("node", sum(map(ord, text)) + 1)


def _number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Refusal(400, f"Parameter '{name}' must be a number.") from None


def _viewbox(text: str) -> tuple[float, ...]:
    edges = tuple(_number(part, "viewbox") for part in text.split(","))
    if len(edges) != 4:
        raise Refusal(400, "Bad parameter 'viewbox'. Expected format: x1,y1,x2,y2")
    return edges


def _inside(found: _Hit, box: tuple[float, ...]) -> bool:
    (lat, lng), (x1, y1, x2, y2) = found.position, box
    return min(x1, x2) <= lng <= max(x1, x2) and min(y1, y2) <= lat <= max(y1, y2)


def refused(refusal: Refusal) -> Response:
    """Return a refusal as Nominatim words it."""
    return answer({"error": {"code": refusal.status, "message": refusal.message}}, refusal.status)


def make_app(city: City, options: MapServeOptions, stats: Stats, pools: Pools) -> ASGIApp:
    """Return the server of a town's addresses."""
    api = NominatimApi(city)
    endpoints = [
        OpenEndpoint("search", "/search", api.search),
        OpenEndpoint("reverse", "/reverse", api.reverse),
        OpenEndpoint("status", "/status", api.status),
    ]
    return make_server("Nominatim", endpoints, refused, options, stats, pools)
