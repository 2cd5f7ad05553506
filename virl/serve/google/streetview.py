"""Street view: the Static API with its metadata, and Map Tiles with sessions, links, tiles and thumbnails."""

import base64
import hashlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np
from cachetools import LRUCache
from fastapi import Response
from numpy.typing import NDArray

from virl.errors import NoImagery, NoStreetView, NotFound
from virl.extras import Late
from virl.geo.globe import LatLng, bearing, distance
from virl.platform.city.city import City
from virl.platform.city.streetview import MAX_FOV, MAX_RADIUS_M, MIN_FOV, Attitude, Camera, Image, Panorama
from virl.serve.google.options import WIDTHS, Oddities
from virl.serve.google.pictures import Painter, PictureCache, no_imagery
from virl.serve.google.wire import (
    Ask,
    GoogleStatus,
    Json,
    Refused,
    answer,
    invalid,
    lat_lng,
    number,
    optional_number,
    position_in,
)

cv2 = Late("cv2", extra="eyes")

COPYRIGHT = "\u00a9 Google"
MAX_SIDE = 640  # pixels, limit of Street View Static
RADIUS_M = 50.0  # default of Street View Static


@dataclass(frozen=True, slots=True)
class StaticStreetView:
    """Handlers of `/maps/api/streetview` and `/maps/api/streetview/metadata`.

    Args:
        city: what is served.
        painter: encodes pictures.
        odd: which panoramas are indoors.
    """

    city: City
    painter: Painter
    odd: Oddities

    def metadata(self, ask: Ask) -> Response:
        """Answer with the place of the panorama that a picture would be taken from."""
        try:
            found = self._panorama(ask)
        except NotFound:
            return answer({"status": "NOT_FOUND"})
        if found is None:
            return answer({"status": "ZERO_RESULTS"})
        panorama, _ = found
        dated = {} if panorama.date is None else {"date": panorama.date}
        location = {"lat": panorama.position.lat, "lng": panorama.position.lng}
        return answer(
            {
                "copyright": self.city.attribution or COPYRIGHT,
                **dated,
                "location": location,
                "pano_id": panorama.id,
                "status": "OK",
            }
        )

    def image(self, ask: Ask) -> Response:
        """Return the picture; a gray one where there is none, with 404 if `return_error_code` says so."""
        width, height = _parse_size(ask.query.get("size", ""))
        try:
            found = self._panorama(ask)
            if found is not None:
                return self.painter.picture(self._draw(ask, *found, width, height))
        except (NotFound, NoImagery):
            pass
        # Google sends a gray picture with 200 unless it is asked for the error.
        code = 404 if ask.query.get("return_error_code", "").lower() == "true" else 200
        return self.painter.picture(no_imagery(width, height), code)

    def _draw(self, ask: Ask, panorama: Panorama, wanted: LatLng | None, width: int, height: int) -> Image:
        """Return the view asked for; by default towards the position that was wanted."""
        # As Google: without a heading, a picture of a location looks towards it.
        toward = panorama.heading if wanted is None else bearing(panorama.position, wanted)
        camera = Camera(
            heading=optional_number(ask.query, "heading", -360, 360, toward),
            pitch=optional_number(ask.query, "pitch", -90, 90, 0.0),
            fov=optional_number(ask.query, "fov", MIN_FOV, MAX_FOV, 90.0),
            width=width,
            height=height,
        )
        return self.city.streetview.view(panorama.id, camera).pixels

    def _panorama(self, ask: Ask) -> tuple[Panorama, LatLng | None] | None:
        """Return the panorama asked for, and the position where one was given.

        `None` if there is none near it.
        """
        pano, location = ask.query.get("pano"), ask.query.get("location")
        if ask.query.get("source", "default") not in {"default", "outdoor"}:
            raise invalid("Invalid request. Invalid 'source' parameter.")
        if pano:
            try:
                return self.city.streetview.panorama(pano), None
            except NoStreetView:
                return None
        if not location:
            raise invalid("Invalid request. Missing the 'location' or 'pano' parameter.")
        wanted = position_in(location) or self.city.maps.geocode(location)
        radius = optional_number(ask.query, "radius", 1, 1e6, RADIUS_M)
        radius = min(radius, MAX_RADIUS_M)
        panorama = self.city.streetview.nearest(wanted, radius)
        if panorama and ask.query.get("source") == "outdoor":
            panorama = self._outdoors(panorama, wanted, radius)
        return None if panorama is None else (panorama, wanted)

    def _outdoors(self, panorama: Panorama, wanted: LatLng, radius: float) -> Panorama | None:
        """Return the panorama if it is outdoors, else one that is, a few links away."""
        seen, level = {panorama.id}, [panorama]
        while level:
            if found := [one for one in level if not self.odd.has("indoor", one.id)]:
                return min(found, key=lambda one: distance(wanted, one.position))
            linked = dict.fromkeys(link.pano_id for one in level for link in one.links)
            ahead = [self.city.streetview.panorama(name) for name in linked if name not in seen]
            seen |= linked.keys()
            level = [one for one in ahead if distance(wanted, one.position) <= radius]
        return None


def _parse_size(text: str) -> tuple[int, int]:
    """Return (width, height), pixels, of a text such as "640x480"; refuses others."""
    found = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text)
    sides = (int(found[1]), int(found[2])) if found else (0, 0)
    if not all(16 <= side <= MAX_SIDE for side in sides):
        raise invalid(
            "The Google Maps Platform server rejected your request. Invalid 'size' parameter: "
            f"give WIDTHxHEIGHT, each from 16 to {MAX_SIDE}."
        )
    return sides


TILE = 512  # pixels, as Google's
MAX_LOCATIONS = 100  # a request of panoIds
SESSION_S = 14 * 24 * 3600  # Google: about two weeks
THUMBNAIL = (600, 250)  # most pixels, width and height
KEPT_STREETS = 100_000  # names of streets in memory; chosen
LEVEL_TILT = 90.0  # Google counts the tilt of a panorama from straight down
MOST_PITCH, MOST_ROLL = 12.0, 6.0  # degrees; chosen: a steep street, and a person's hand
RIM = 2  # pixels drawn around what is sampled, to mix neighbours

Floats = NDArray[np.float32]
PartOf = Callable[[int, int, tuple[int, int]], Image]
"""Part of a level panorama whose centre column looks north: its left column, top row, and size."""


@runtime_checkable
class PanoramaParts(Protocol):
    """A provider that can give parts of a panorama."""

    def panorama_part(self, pano_id: str, width: int, left: int, top: int, size: tuple[int, int]) -> Image:
        """Return a part of an equirectangular picture `width` pixels wide whose centre looks north.

        Args:
            pano_id: of the panorama.
            width: of the whole picture, pixels.
            left: first column.
            top: first row.
            size: columns and rows.
        """
        ...


@dataclass(frozen=True, slots=True)
class TileStreetView:
    """Handlers of `/v1/createSession` and `/v1/streetview/...`.

    Args:
        city: what is served.
        painter: encodes pictures.
        cache: tiles.
        max_zoom: the widest zoom level served, 0 to 5.
        seed: session tokens depend on it.
        odd: which panoramas are indoors or tilted, and which links are missing.
        streets: of panoramas that were asked for.
    """

    city: City
    painter: Painter
    cache: PictureCache
    max_zoom: int
    seed: int
    odd: Oddities
    streets: LRUCache[str, str] = field(default_factory=lambda: LRUCache(KEPT_STREETS))

    def create_session(self, ask: Ask) -> Response:
        """Return a session token.

        Raises:
            Refused: a field is missing or has a value that is not known.
        """
        for name in ("mapType", "language", "region"):
            if not isinstance(ask.body.get(name), str) or not ask.body[name]:
                raise invalid(f"Missing or invalid required field: {name}.")
        if ask.body["mapType"] not in {"roadmap", "satellite", "terrain", "streetview"}:
            raise invalid(f"Invalid value at 'map_type': \"{ask.body['mapType']}\".")
        about = {name: ask.body[name] for name in ("mapType", "language", "region")}
        return answer(
            {
                "session": self._token(about),
                "expiry": str(int(time.time()) + SESSION_S),
                "tileWidth": TILE,
                "tileHeight": TILE,
                "imageFormat": "jpeg",
            }
        )

    def pano_ids(self, ask: Ask) -> Response:
        """Return the panorama nearest to each location; an empty id where there is none.

        Raises:
            Refused: there is no location, or there are too many.
        """
        self._check_session(ask)
        locations = ask.body.get("locations")
        if not isinstance(locations, list) or not locations:
            raise invalid("Invalid value at 'locations': give at least one location.")
        if len(locations) > MAX_LOCATIONS:
            raise invalid(f"Invalid value at 'locations': at most {MAX_LOCATIONS} are allowed.")
        radius = number(str(ask.body.get("radius", RADIUS_M)), "radius", 0, 50_000) or RADIUS_M
        wanted = [lat_lng(place, "locations", "lat", "lng") for place in locations]
        found = [self._nearest(place, radius) for place in wanted]
        return answer({"panoIds": ["" if panorama is None else panorama.id for panorama in found]})

    def metadata(self, ask: Ask) -> Response:
        """Return all about a panorama, with the ways on from it."""
        self._check_session(ask)
        return answer(self.metadata_json(ask))

    def metadata_json(self, ask: Ask) -> Json:
        """Return the panorama with the `panoId`, or the one nearest to `lat` and `lng`, as metadata."""
        panorama = self._panorama(ask)
        links = tuple(link for link in panorama.links if self.odd.is_linked(panorama.id, link.pano_id))
        panorama = replace(panorama, links=links)
        streets = {link.pano_id: self._street(link.pano_id) for link in panorama.links}
        held = attitude_of(panorama, self.odd)
        return panorama_json(panorama, self._width, streets, self._street(panorama.id)) | {
            "imageryType": "indoor" if self.odd.has("indoor", panorama.id) else "outdoor",
            "tilt": LEVEL_TILT + held.pitch,
            "roll": held.roll,
        }

    def tile(self, ask: Ask) -> Response:
        """Return one tile of the equirectangular picture; its centre looks to the panorama's heading.

        Raises:
            Refused: the panorama has no such tile.
        """
        self._check_session(ask)
        zoom = int(number(ask.path["z"], "z", 0, len(WIDTHS) - 1))
        width = WIDTHS[zoom]
        x = int(number(ask.path["x"], "x", 0, max(width // TILE, 1) - 1))
        y = int(number(ask.path["y"], "y", 0, max(width // 2 // TILE, 1) - 1))
        panorama = self._panorama(ask)
        if zoom > self.max_zoom:
            raise Refused(GoogleStatus.NOT_FOUND, f"This panorama has no tiles at zoom level {zoom}.")
        key = (panorama.id, zoom, x, y)
        return self.painter.picture(self.cache.get(key, lambda: self._part(panorama, width, x, y)))

    def thumbnail(self, ask: Ask) -> Response:
        """Return a small view."""
        self._check_session(ask)
        panorama = self._panorama(ask)
        camera = Camera(
            heading=optional_number(ask.query, "yaw", -360, 360, panorama.heading),
            pitch=optional_number(ask.query, "pitch", -90, 90, 0.0),
            fov=optional_number(ask.query, "fov", MIN_FOV, MAX_FOV, 90.0),
            width=int(optional_number(ask.query, "width", 16, THUMBNAIL[0], THUMBNAIL[0])),
            height=int(optional_number(ask.query, "height", 16, THUMBNAIL[1], THUMBNAIL[1])),
        )
        return self.painter.picture(self.city.streetview.view(panorama.id, camera).pixels)

    @property
    def _width(self) -> int:
        """Width of a whole panorama, pixels."""
        return WIDTHS[self.max_zoom]

    def _part(self, panorama: Panorama, width: int, x: int, y: int) -> Image:
        """Return the tile (x, y) of a panorama `width` pixels wide, tilted as its camera was held."""
        provider = self.city.streetview
        if not isinstance(provider, PanoramaParts):
            raise Refused(GoogleStatus.NOT_FOUND, "This city has no whole panoramas.")
        size, held = (min(TILE, width), min(TILE, width // 2)), attitude_of(panorama, self.odd)
        if held.is_level:
            # A provider's centre column looks north, Google's to the panorama's heading.
            left = (round(panorama.heading / 360 * width) + x * TILE) % width
            return provider.panorama_part(panorama.id, width, left, y * TILE, size)

        def level(left: int, top: int, size: tuple[int, int]) -> Image:
            return provider.panorama_part(panorama.id, width, left, top, size)

        return tilted_part(level, held, width, x * TILE, y * TILE, size)

    def _panorama(self, ask: Ask) -> Panorama:
        """Return the panorama of an id or near a position; refuses if there is none."""
        if pano_id := ask.query.get("panoId"):
            try:
                return self.city.streetview.panorama(pano_id)
            except NoStreetView:
                raise Refused(GoogleStatus.NOT_FOUND, "The requested panorama was not found.") from None
        if not ("lat" in ask.query and "lng" in ask.query):
            raise invalid("Missing required parameter: panoId, or lat and lng.")
        wanted = LatLng(number(ask.query["lat"], "lat", -90, 90), number(ask.query["lng"], "lng", -180, 180))
        found = self._nearest(wanted, optional_number(ask.query, "radius", 1, 50_000, RADIUS_M))
        if found is None:
            raise Refused(GoogleStatus.NOT_FOUND, "No panorama was found near the requested location.")
        return found

    def _nearest(self, wanted: LatLng, radius: float) -> Panorama | None:
        """Return the nearest panorama within so many metres; None if there is none."""
        return self.city.streetview.nearest(wanted, min(max(radius, 1.0), MAX_RADIUS_M))

    def _street(self, pano_id: str) -> str:
        """Return the street that a panorama stands on, by the nearest address; may be empty."""
        known = self.streets.get(pano_id)
        if known is None:
            position = self.city.streetview.panorama(pano_id).position
            near = self.city.places.nearby(position, STREET_M)
            known = self.streets[pano_id] = street_of(near[0].address) if near else ""
        return known

    def _check_session(self, ask: Ask) -> None:
        """Refuse a request without a valid session of Street View."""
        token = ask.query.get("session", "")
        if not token:
            raise invalid("Missing required parameter: session.")
        try:
            about = json.loads(base64.urlsafe_b64decode(token.partition(".")[0]))
            is_ours = token == self._token(about)
        except ValueError:
            is_ours = False
        if not is_ours:
            raise invalid("The session token is invalid or has expired.")
        if about["mapType"] != "streetview":
            raise invalid("The session token is not of mapType streetview.")

    def _token(self, about: Json) -> str:
        """Return the signed token of a session."""
        text = base64.urlsafe_b64encode(json.dumps(about, sort_keys=True).encode())
        mark = hashlib.blake2b(text, digest_size=12, key=str(self.seed).encode())
        return f"{text.decode()}.{mark.hexdigest()}"


STREET_M = 60.0  # an address farther off says nothing of a panorama's street; chosen


def street_of(address: str) -> str:
    """Return the street of an address such as `97 Cross Avenue, Virlton`."""
    head = address.partition(",")[0]
    first, _, rest = head.partition(" ")
    return rest if first.isdecimal() else head


def panorama_json(panorama: Panorama, width: int, streets: dict[str, str], street: str) -> Json:
    """Return a panorama as Map Tiles gives it.

    Args:
        panorama: which.
        width: pixels of its widest picture.
        streets: the street that each link leads to.
        street: the one that it stands on.
    """
    links = [
        {"panoId": link.pano_id, "heading": link.heading, "text": streets[link.pano_id]}
        for link in panorama.links
    ]
    named = {"longName": street, "shortName": street, "types": ["route"]}
    return {
        "panoId": panorama.id,
        "lat": panorama.position.lat,
        "lng": panorama.position.lng,
        "originalLat": panorama.position.lat,
        "originalLng": panorama.position.lng,
        "originalElevationAboveEgm96": 0.0,
        "heading": panorama.heading,
        "imageHeight": width // 2,
        "imageWidth": width,
        "tileHeight": TILE,
        "tileWidth": TILE,
        "copyright": COPYRIGHT,
        "date": panorama.date or "",
        "addressComponents": [named] if street else [],
        "links": links,
    }


def attitude_of(panorama: Panorama, odd: Oddities) -> Attitude:
    """Return the attitude of a panorama: level, but for those that are `tilted`."""
    if not odd.has("tilted", panorama.id):
        return Attitude(panorama.heading)
    pitch, roll = (2 * odd.draw(f"{axis} of tilted", panorama.id) - 1 for axis in ("pitch", "roll"))
    return Attitude(panorama.heading, round(pitch * MOST_PITCH, 2), round(roll * MOST_ROLL, 2))


def tilted_part(
    part_of: PartOf, held: Attitude, width: int, left: int, top: int, size: tuple[int, int]
) -> Image:
    """Return a part of a panorama that was held so; its centre column is the middle of what the camera faced.

    Args:
        part_of: draws the level panorama.
        held: how the camera was held.
        width: pixels of the whole panorama.
        left: its column at which the part begins.
        top: its row at which the part begins.
        size: columns and rows of the part.
    """
    columns, rows = _level_points(held, width, left, top, size)
    # Columns run around: they are counted from the part's middle, so that the seam does not cut it.
    middle = columns[size[1] // 2, size[0] // 2]
    aside = (columns - middle + width / 2) % width - width / 2
    west, east = int(np.floor(aside.min())) - RIM, int(np.ceil(aside.max())) + RIM
    first, last = max(int(np.floor(rows.min())) - RIM, 0), min(int(np.ceil(rows.max())) + RIM, width // 2 - 1)
    start = int(np.floor(middle))
    # A part that holds a pole takes in every heading, and so the whole width.
    if east - west >= width:
        start, west, east = 0, 0, width - 1
        aside, middle = columns, np.float32(0)
    level = part_of((start + west) % width, first, (east - west + 1, last - first + 1))
    across = aside + np.float32(middle - start - west)
    seen = cv2.remap(
        level, across, rows - np.float32(first), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(seen, np.uint8)


def _level_points(
    held: Attitude, width: int, left: int, top: int, size: tuple[int, int]
) -> tuple[Floats, Floats]:
    """Return columns and rows in the level panorama, whose centre column looks north, of a part's pixels."""
    turn = (((np.arange(left, left + size[0]) + 0.5) / width - 0.5) * 2 * np.pi).astype(np.float32)
    lift = ((0.5 - (np.arange(top, top + size[1]) + 0.5) / (width // 2)) * np.pi).astype(np.float32)[:, None]
    up = np.broadcast_to(np.sin(lift), (size[1], size[0]))
    east, rise, north = held.in_world(np.cos(lift) * np.sin(turn), up, np.cos(lift) * np.cos(turn))
    columns = (np.arctan2(east, north) / (2 * np.pi) + 0.5) * width - 0.5
    rows = (0.5 - np.arctan2(rise, np.hypot(east, north)) / np.pi) * (width // 2) - 0.5
    return columns.astype(np.float32), rows.astype(np.float32)
