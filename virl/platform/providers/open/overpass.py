"""Places by an Overpass server, and the queries for them."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Annotated

from pydantic import Field

from virl.errors import NotFound, ProviderError
from virl.geo.globe import LatLng, LocalFrame
from virl.osm.box import Box
from virl.osm.names import other_names
from virl.osm.places import NamedObject, first_of_each, place_keys, place_of, place_types, type_table
from virl.osm.tags import is_there
from virl.platform.city.places import Place
from virl.platform.providers.http.osm_servers import MapServiceSettings
from virl.platform.providers.http.overpass import Overpass
from virl.platform.providers.http.replies import MUST_FIT, Latitude, Longitude, ReplyBody
from virl.platform.providers.http.stored_replies import Keeping
from virl.platform.providers.open.places import FoundPlace

QUERY_S = 60
"""Largest time in seconds that the server may work on a query; counts against the caller's share; chosen."""
QUERY_MB = 256
"""Largest memory in megabytes that the server may use for a query; chosen."""
LINES = ("highway", "railway", "public_transport")
"""Tag keys whose ways are mostly streets and tracks; only ways whose value names a place are asked for."""

_KIND_OF_LETTER = {"n": "node", "w": "way", "r": "relation"}
"""Overpass' kind of object for each letter of ids."""
_ID = re.compile(r"([nwr])(\d{1,18})")
"""Pattern of the id of an object, such as `n12`."""
_HEAD = f"[out:json][timeout:{QUERY_S}][maxsize:{QUERY_MB * 1_000_000}]"
"""Settings at the start of each query, in Overpass QL."""


def places_within(box: Box) -> str:
    """Return the query in Overpass QL for all named places in a box, areas with their middle."""

    def any_of(keys: Sequence[str]) -> str:
        """Return the filter, in Overpass QL, for objects with a tag of any of these keys."""
        return f'~"^({"|".join(keys)})$"~"."'

    area = ",".join(f"{degrees:.7f}" for degrees in box.degrees)
    areas = f"[{any_of([key for key in place_keys() if key not in LINES])}]"
    lines = "".join(f'way["name"]["{key}"~"^({"|".join(type_table()[key])})$"];' for key in LINES)
    return (
        f'{_HEAD}[bbox:{area}];(node["name"][{any_of(place_keys())}];way["name"]{areas};{lines}'
        f'relation["type"="multipolygon"]["name"];);out center;'
    )


_MOST_SPLITS = 3
"""Largest number of times that a tile is split into four, so at most 64 boxes; chosen."""
_LETTER_OF_KIND = {"node": "n", "way": "w", "relation": "r"}
"""Letter of ids for each of Overpass' kinds of object."""


class _Middle(ReplyBody):
    """The middle of an area, degrees."""

    lat: Latitude
    lon: Longitude


class _Element(ReplyBody):
    """An object of a reply: kind, id, position and tags."""

    type: str
    id: Annotated[int, MUST_FIT]
    lat: Latitude | None = None
    lon: Longitude | None = None
    center: _Middle | None = None
    nodes: tuple[int, ...] = ()
    tags: dict[str, str] = Field(default_factory=dict)

    @property
    def position(self) -> LatLng | None:
        """Position of a point, or middle of an area; `None` without either."""
        if self.center:
            return LatLng(self.center.lat, self.center.lon)
        return None if self.lat is None or self.lon is None else LatLng(self.lat, self.lon)

    @property
    def is_line(self) -> bool:
        """Return whether the object is a way that does not close."""
        return self.type == "way" and (len(self.nodes) < 4 or self.nodes[0] != self.nodes[-1])


class _Elements(ReplyBody):
    """The reply to a query: objects, a remark on faults, and the date of the data."""

    elements: tuple[_Element, ...]
    remark: str = ""
    osm3s: dict[str, str] = Field(default_factory=dict)


class OverpassPlaces:
    """A source of places by an Overpass server, as an extract would give them.

    Args:
        settings: URL, pace and policy of the service.
        keeping: cache, recording and ledger.
        url: URL of the interpreter; by default that of `VIRL_OVERPASS_URL`, or the public server.
        day: day for which opening hours and dates are read; by default today.

    Raises:
        BadInput: the URL is none.
    """

    def __init__(
        self, settings: MapServiceSettings, keeping: Keeping, url: str | None = None, day: date | None = None
    ) -> None:
        """Make the source of places as they are on a day, by default today; nothing is asked yet."""
        self._day = day or date.today()  # noqa: DTZ011 - the day of who asks
        self._overpass = Overpass(settings, keeping, url)
        self.close = self._overpass.close

    def places_within(self, box: Box) -> Sequence[FoundPlace]:
        """Return the places of a box; too large a box is asked for in four parts."""
        return self._ask_box(box, _MOST_SPLITS)

    def find_one(self, place_id: str) -> FoundPlace:
        """Return the place with this id; raise `NotFound` without one."""
        found: list[FoundPlace] = []
        if parts := _ID.fullmatch(place_id):
            query = f"{_HEAD};{_KIND_OF_LETTER[parts[1]]}({parts[2]});out center;"
            found = _read_places(self._overpass.read(query, _Elements), self._day)
        if not found:
            raise NotFound(f"no place has the id {place_id!r}: use one from a nearby or text search")
        return found[0]

    def _ask_box(self, box: Box, splits: int) -> list[FoundPlace]:
        """Return the places of a box, which may be split into four up to `splits` times."""
        try:
            return _read_places(self._overpass.read(places_within(box), _Elements), self._day)
        except ProviderError as fault:
            if fault.verdict != "smaller" or not splits:
                raise
        south, west, north, east = box.degrees
        lat, lng = box.middle
        quarters = [
            Box(low, left, high, right)
            for low, high in ((south, lat), (lat, north))
            for left, right in ((west, lng), (lng, east))
        ]
        every = [found for part in quarters for found in self._ask_box(part, splits - 1)]
        return list({found.place.id: found for found in every}.values())


def _read_places(reply: _Elements, day: date) -> list[FoundPlace]:
    """Return the places of a reply as they are on a day, each once: an area replaces a point in it."""
    data_day = reply.osm3s.get("timestamp_osm_base", "")[:10] or day.isoformat()
    found = [
        (element, place)
        # Areas come first: a point of the same name in one of them is then the one left out.
        for element in sorted(reply.elements, key=lambda one: one.type == "node")
        if is_there(element.tags, data_day) and (place := _to_place(element, day))
    ]
    if not found:
        return []
    frame = LocalFrame(found[0][1].position)
    spots = [
        NamedObject(place.name, place.types, *frame.point(place.position), is_area=element.type != "node")
        for element, place in found
    ]
    return [
        FoundPlace(place, other_names(element.tags))
        for index, ((element, place), first) in enumerate(zip(found, first_of_each(spots), strict=True))
        if index == first
    ]


def _to_place(element: _Element, day: date) -> Place | None:
    """Return an object as a place on a day; `None` if it has no name, type or position, or is a line."""
    tags, position = element.tags, element.position
    types = place_types(tags)
    letter = _LETTER_OF_KIND.get(element.type)
    if not (tags.get("name", "").strip() and types and position and letter) or element.is_line:
        return None
    return place_of(f"{letter}{element.id}", tags, types, position, day)
