"""Street view: the Static API with its metadata, and Map Tiles with sessions, links, tiles and thumbnails."""

import base64
import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np
from fastapi import Response

from virl.errors import NoImagery, NoStreetView, NotFound
from virl.extras import Late
from virl.geo.globe import LatLng, bearing, distance
from virl.platform.city.city import City
from virl.platform.city.streetview import MAX_FOV, MAX_RADIUS_M, MIN_FOV, Attitude, Camera, Image, Panorama
from virl.serve.google.options import WIDTHS, Oddities
from virl.serve.google.pictures import Cache, Painter, no_imagery
from virl.serve.google.wire import (
    ApiRequest,
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
    """Handlers of `/maps/api/streetview` and `/maps/api/streetview/metadata`, Street View Static."""

    city: City
    painter: Painter
    odd: Oddities
    """Shares of panoramas that are indoors."""

    def metadata(self, request: ApiRequest) -> Response:
        """Return the id, position and date of the panorama that a picture would be taken from, as JSON."""
        try:
            found = self._panorama(request)
        except NotFound:
            return answer({"status": "NOT_FOUND"})
        if found is None:
            return answer({"status": "ZERO_RESULTS"})
        panorama, _ = found
        return answer(
            {
                "copyright": self.city.attribution or COPYRIGHT,
                **({} if panorama.date is None else {"date": panorama.date}),
                "location": {"lat": panorama.position.lat, "lng": panorama.position.lng},
                "pano_id": panorama.id,
                "status": "OK",
            }
        )

    def image(self, request: ApiRequest) -> Response:
        """Return a view's picture, or a gray one if there is none: 200, or 404 with `return_error_code`."""
        width, height = _parse_size(request.query.get("size", ""))
        try:
            found = self._panorama(request)
            if found is not None:
                panorama, target = found
                # As Google: without a heading, a picture of a location looks towards it.
                toward = panorama.heading if target is None else bearing(panorama.position, target)
                camera = _requested_camera(request.query, "heading", toward, width, height)
                return self.painter.picture(self.city.streetview.view(panorama.id, camera).pixels)
        except (NotFound, NoImagery):
            pass
        # Google sends a gray picture with 200 unless it is asked for the error.
        code = 404 if request.query.get("return_error_code", "").lower() == "true" else 200
        return self.painter.picture(no_imagery(width, height), code)

    def _panorama(self, request: ApiRequest) -> tuple[Panorama, LatLng | None] | None:
        """Return (panorama, position asked for; `None` if asked by id), or `None` if there is no panorama."""
        pano, location = request.query.get("pano"), request.query.get("location")
        if request.query.get("source", "default") not in {"default", "outdoor"}:
            raise invalid("Invalid request. Invalid 'source' parameter.")
        if pano:
            try:
                return self.city.streetview.panorama(pano), None
            except NoStreetView:
                return None
        if not location:
            raise invalid("Invalid request. Missing the 'location' or 'pano' parameter.")
        target = position_in(location) or self.city.maps.geocode(location)
        radius = min(optional_number(request.query, "radius", 1, 1e6, RADIUS_M), MAX_RADIUS_M)
        panorama = self.city.streetview.nearest(target, radius)
        if panorama and request.query.get("source") == "outdoor":
            panorama = self._nearest_outdoors(panorama, target, radius)
        return None if panorama is None else (panorama, target)

    def _nearest_outdoors(self, panorama: Panorama, target: LatLng, radius: float) -> Panorama | None:
        """Return the outdoor panorama fewest links away, within `radius` m of `target`; `None` if none is."""
        # Level by level along the links, so that the fewest links away comes first.
        seen, level = {panorama.id}, [panorama]
        while level:
            if found := [one for one in level if not self.odd.has("indoor", one.id)]:
                return min(found, key=lambda one: distance(target, one.position))
            linked = dict.fromkeys(link.pano_id for one in level for link in one.links)
            ahead = [self.city.streetview.panorama(name) for name in linked if name not in seen]
            seen |= linked.keys()
            level = [one for one in ahead if distance(target, one.position) <= radius]
        return None


def _requested_camera(
    query: Mapping[str, str], heading: str, toward: float, width: int, height: int
) -> Camera:
    """Return a query's camera; heading: that in the parameter named `heading`, else `toward`, in degrees."""
    return Camera(
        heading=optional_number(query, heading, -360, 360, toward),
        pitch=optional_number(query, "pitch", -90, 90, 0.0),
        fov=optional_number(query, "fov", MIN_FOV, MAX_FOV, 90.0),
        width=width,
        height=height,
    )


def _parse_size(text: str) -> tuple[int, int]:
    """Return (width, height), 16 to 640 pixels, from a text such as "640x480"; raise `Refused` otherwise."""
    found = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text)
    sides = (int(found[1]), int(found[2])) if found else (0, 0)
    if not all(16 <= side <= MAX_SIDE for side in sides):
        raise invalid(
            "The Google Maps Platform server rejected your request. Invalid 'size' parameter: "
            f"give WIDTHxHEIGHT, each from 16 to {MAX_SIDE}."
        )
    return sides


TILE = 512  # pixels a side, as Google's
SESSION_FIELDS = ("mapType", "language", "region")
MAX_LOCATIONS = 100  # positions in one request for panorama ids
SESSION_S = 14 * 24 * 3600  # seconds that a session token is said to last; Google: about two weeks
THUMBNAIL = (600, 250)  # largest (width, height) in pixels
KEPT_STREETS = 100_000  # names of streets in memory; chosen
LEVEL_TILT = 90.0  # degrees; Google counts the tilt of a panorama from straight down
MOST_PITCH, MOST_ROLL = 12.0, 6.0  # degrees; chosen: a steep street, and a person's hand
RIM = 2  # pixels drawn around what is sampled, to mix neighbours

CropPanorama = Callable[[int, int, tuple[int, int]], Image]
"""A function (left column, top row, (width, height)) -> that crop of a level panorama; all in pixels."""


@runtime_checkable
class PanoramaParts(Protocol):
    """Street view that can give crops of whole equirectangular panoramas."""

    def panorama_part(self, pano_id: str, width: int, left: int, top: int, size: tuple[int, int]) -> Image:
        """Return the crop at pixel (left, top) of a panorama, `width` pixels wide, with north in its centre.

        Args:
            pano_id: id of the panorama.
            width: width of the whole panorama, pixels; it is half as high.
            left: first column of the crop.
            top: first row of the crop.
            size: (columns, rows) of the crop.
        """


@dataclass(frozen=True, slots=True)
class TileStreetView:
    """Handlers of Street View in Map Tiles: `/v1/createSession` and `/v1/streetview/...`."""

    city: City
    painter: Painter
    cache: Cache[Image]
    """Tiles that were drawn before."""
    max_zoom: int
    """Zoom level of the widest pictures served, 0 to 5."""
    seed: int
    """Key that session tokens are signed with."""
    odd: Oddities
    """Shares of panoramas that are indoors or tilted, and of links that are missing."""
    streets: Cache[str] = field(default_factory=lambda: Cache(KEPT_STREETS))
    """Street names by the ids of panoramas that were asked for."""

    def create_session(self, request: ApiRequest) -> Response:
        """Return a new session token, its expiry in Unix seconds and the size of tiles, as JSON.

        Raises:
            Refused: a field is missing, or `mapType` is unknown.
        """
        for name in SESSION_FIELDS:
            if not isinstance(request.body.get(name), str) or not request.body[name]:
                raise invalid(f"Missing or invalid required field: {name}.")
        if request.body["mapType"] not in {"roadmap", "satellite", "terrain", "streetview"}:
            raise invalid(f"Invalid value at 'map_type': \"{request.body['mapType']}\".")
        return answer(
            {
                "session": self._token({name: request.body[name] for name in SESSION_FIELDS}),
                "expiry": str(int(time.time()) + SESSION_S),
                "tileWidth": TILE,
                "tileHeight": TILE,
                "imageFormat": "jpeg",
            }
        )

    def pano_ids(self, request: ApiRequest) -> Response:
        """Return, as JSON, the id of the panorama nearest to each location, empty where there is none.

        Raises:
            Refused: there is no location, or there are too many.
        """
        self._check_session(request)
        locations = request.body.get("locations")
        if not isinstance(locations, list) or not locations:
            raise invalid("Invalid value at 'locations': give at least one location.")
        if len(locations) > MAX_LOCATIONS:
            raise invalid(f"Invalid value at 'locations': at most {MAX_LOCATIONS} are allowed.")
        radius = number(str(request.body.get("radius", RADIUS_M)), "radius", 0, 50_000) or RADIUS_M
        positions = [lat_lng(place, "locations", "lat", "lng") for place in locations]
        found = [self._nearest(position, radius) for position in positions]
        return answer({"panoIds": ["" if panorama is None else panorama.id for panorama in found]})

    def metadata(self, request: ApiRequest) -> Response:
        """Return a panorama's metadata as JSON, with its links, streets and camera attitude."""
        self._check_session(request)
        return answer(self.metadata_json(request))

    def metadata_json(self, request: ApiRequest) -> Json:
        """Return as JSON the metadata of the panorama named by `panoId`, or nearest to `lat` and `lng`."""
        panorama = self._panorama(request)
        links = tuple(link for link in panorama.links if self.odd.is_linked(panorama.id, link.pano_id))
        panorama = replace(panorama, links=links)
        streets = {link.pano_id: self._street(link.pano_id) for link in panorama.links}
        attitude = attitude_of(panorama, self.odd)
        width = WIDTHS[self.max_zoom]
        return _panorama_json(panorama, width, streets, self._street(panorama.id)) | {
            "imageryType": "indoor" if self.odd.has("indoor", panorama.id) else "outdoor",
            "tilt": LEVEL_TILT + attitude.pitch,
            "roll": attitude.roll,
        }

    def tile(self, request: ApiRequest) -> Response:
        """Return tile (`x`, `y`) of a panorama at zoom `z`, whose centre column faces the panorama's heading.

        Raises:
            Refused: the panorama has no such tile.
        """
        self._check_session(request)
        zoom = int(number(request.path["z"], "z", 0, len(WIDTHS) - 1))
        width = WIDTHS[zoom]
        # The narrowest panorama, 512 pixels wide, is a single tile, half as high as others.
        x = int(number(request.path["x"], "x", 0, max(width // TILE, 1) - 1))
        y = int(number(request.path["y"], "y", 0, max(width // 2 // TILE, 1) - 1))
        panorama = self._panorama(request)
        if zoom > self.max_zoom:
            raise Refused(GoogleStatus.NOT_FOUND, f"This panorama has no tiles at zoom level {zoom}.")
        key = (panorama.id, zoom, x, y)
        return self.painter.picture(self.cache.get(key, lambda: self._draw_tile(panorama, width, x, y)))

    def thumbnail(self, request: ApiRequest) -> Response:
        """Return a view of a panorama as a picture of at most 600 x 250 pixels."""
        self._check_session(request)
        panorama = self._panorama(request)
        width, height = (
            int(optional_number(request.query, side, 16, most, most))
            for side, most in zip(("width", "height"), THUMBNAIL, strict=True)
        )
        camera = _requested_camera(request.query, "yaw", panorama.heading, width, height)
        return self.painter.picture(self.city.streetview.view(panorama.id, camera).pixels)

    def _draw_tile(self, panorama: Panorama, width: int, x: int, y: int) -> Image:
        """Return tile (x, y) of a panorama `width` pixels wide, tilted as its camera was held."""
        provider = self.city.streetview
        if not isinstance(provider, PanoramaParts):
            raise Refused(GoogleStatus.NOT_FOUND, "This city has no whole panoramas.")
        size, attitude = (min(TILE, width), min(TILE, width // 2)), attitude_of(panorama, self.odd)
        if attitude.is_level:
            # A provider's centre column looks north, Google's to the panorama's heading.
            left = (round(panorama.heading / 360 * width) + x * TILE) % width
            return provider.panorama_part(panorama.id, width, left, y * TILE, size)

        level = partial(provider.panorama_part, panorama.id, width)
        return tilted_part(level, attitude, width, x * TILE, y * TILE, size)

    def _panorama(self, request: ApiRequest) -> Panorama:
        """Return the panorama that a request names by id or position; raise `Refused` if there is none."""
        if pano_id := request.query.get("panoId"):
            try:
                return self.city.streetview.panorama(pano_id)
            except NoStreetView:
                raise Refused(GoogleStatus.NOT_FOUND, "The requested panorama was not found.") from None
        if not ("lat" in request.query and "lng" in request.query):
            raise invalid("Missing required parameter: panoId, or lat and lng.")
        lat, lng = (
            number(request.query[name], name, -most, most) for name, most in (("lat", 90), ("lng", 180))
        )
        radius = optional_number(request.query, "radius", 1, 50_000, RADIUS_M)
        found = self._nearest(LatLng(lat, lng), radius)
        if found is None:
            raise Refused(GoogleStatus.NOT_FOUND, "No panorama was found near the requested location.")
        return found

    def _nearest(self, position: LatLng, radius: float) -> Panorama | None:
        """Return the panorama nearest to a position within `radius` metres; `None` if there is none."""
        return self.city.streetview.nearest(position, min(max(radius, 1.0), MAX_RADIUS_M))

    def _street(self, pano_id: str) -> str:
        """Return the street of the address nearest to a panorama, within 60 m; empty if there is none."""

        def find() -> str:
            """Return the street as the city's places tell it."""
            near = self.city.places.nearby(self.city.streetview.panorama(pano_id).position, STREET_M)
            return street_of(near[0].address) if near else ""

        return self.streets.get(pano_id, find)

    def _check_session(self, request: ApiRequest) -> None:
        """Raise `Refused` for a request without a valid session token for Street View."""
        token = request.query.get("session", "")
        if not token:
            raise invalid("Missing required parameter: session.")
        try:
            session = json.loads(base64.urlsafe_b64decode(token.partition(".")[0]))
            is_ours = token == self._token(session)
        except ValueError:
            is_ours = False
        if not is_ours:
            raise invalid("The session token is invalid or has expired.")
        if session["mapType"] != "streetview":
            raise invalid("The session token is not of mapType streetview.")

    def _token(self, session: Json) -> str:
        """Return the signed token of a session, given its map type, language and region by name."""
        text = base64.urlsafe_b64encode(json.dumps(session, sort_keys=True).encode())
        mark = hashlib.blake2b(text, digest_size=12, key=str(self.seed).encode())
        return f"{text.decode()}.{mark.hexdigest()}"


STREET_M = 60.0  # an address farther off says nothing of a panorama's street; chosen


def street_of(address: str) -> str:
    """Return the street in an address: "Cross Avenue" of "97 Cross Avenue, Virlton"."""
    head = address.partition(",")[0]
    first, _, rest = head.partition(" ")
    return rest if first.isdecimal() else head


def _panorama_json(panorama: Panorama, width: int, streets: dict[str, str], street: str) -> Json:
    """Return a panorama `width` pixels wide as JSON; `streets`: names by the ids of linked panoramas."""
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
    """Return a panorama's attitude: level, or if made `tilted` up to 12 degrees of pitch and 6 of roll."""
    if not odd.has("tilted", panorama.id):
        return Attitude(panorama.heading)
    pitch, roll = (2 * odd.draw(f"{axis} of tilted", panorama.id) - 1 for axis in ("pitch", "roll"))
    return Attitude(panorama.heading, round(pitch * MOST_PITCH, 2), round(roll * MOST_ROLL, 2))


def tilted_part(
    crop: CropPanorama, attitude: Attitude, width: int, left: int, top: int, size: tuple[int, int]
) -> Image:
    """Return the crop at pixel (left, top) of a tilted camera's panorama, sampled from level ones by `crop`.

    Args:
        crop: draws crops of the level panorama, whose centre column looks north.
        attitude: heading, pitch and roll of the camera.
        width: width of the whole panorama, pixels.
        left: the first column of the crop.
        top: the first row of the crop.
        size: (columns, rows) of the crop.
    """
    turn = (((np.arange(left, left + size[0]) + 0.5) / width - 0.5) * 2 * np.pi).astype(np.float32)
    lift = ((0.5 - (np.arange(top, top + size[1]) + 0.5) / (width // 2)) * np.pi).astype(np.float32)[:, None]
    up = np.broadcast_to(np.sin(lift), (size[1], size[0]))
    east, rise, north = attitude.in_world(np.cos(lift) * np.sin(turn), up, np.cos(lift) * np.cos(turn))
    # The columns and rows at which the level panorama shows what the crop's pixels look at.
    columns = ((np.arctan2(east, north) / (2 * np.pi) + 0.5) * width - 0.5).astype(np.float32)
    rows = (0.5 - np.arctan2(rise, np.hypot(east, north)) / np.pi) * (width // 2) - 0.5
    rows = rows.astype(np.float32)
    # Columns run around: they are counted from the part's middle, so that the seam does not cut it.
    middle = columns[size[1] // 2, size[0] // 2]
    offsets = (columns - middle + width / 2) % width - width / 2
    first_column, last_column = int(np.floor(offsets.min())) - RIM, int(np.ceil(offsets.max())) + RIM
    first, last = max(int(np.floor(rows.min())) - RIM, 0), min(int(np.ceil(rows.max())) + RIM, width // 2 - 1)
    start = int(np.floor(middle))
    # A part that holds a pole takes in every heading, and so the whole width.
    if last_column - first_column >= width:
        start, first_column, last_column = 0, 0, width - 1
        offsets, middle = columns, np.float32(0)
    level = crop((start + first_column) % width, first, (last_column - first_column + 1, last - first + 1))
    across = offsets + np.float32(middle - start - first_column)
    seen = cv2.remap(
        level, across, rows - np.float32(first), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(seen, np.uint8)
