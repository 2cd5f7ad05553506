"""Pictures as they are sent, and photos of places with the names under which they are asked for."""

import hashlib
import hmac
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from math import inf
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
from cachetools import LRUCache
from fastapi import Response

from virl.errors import NotFound
from virl.extras import Late
from virl.platform.city.city import City
from virl.platform.city.places import MeasuredPhotos
from virl.platform.city.streetview import Image
from virl.serve.city_server import end_if_client_left
from virl.serve.google.wire import ApiRequest, GoogleStatus, Json, Refused, answer, invalid, number

cv2 = Late("cv2", extra="eyes")

QUALITY = 90  # of JPEG; chosen, near what Google sends


@dataclass(frozen=True, slots=True, kw_only=True)
class Painter:
    """An encoder of pictures into responses: as PNG if `lossless`, else as JPEG."""

    lossless: bool

    def picture(self, image: Image, code: int = 200) -> Response:
        """Return a response with a picture as PNG or JPEG, and HTTP status `code`."""
        options = [] if self.lossless else [cv2.IMWRITE_JPEG_QUALITY, QUALITY]
        _, encoded = cv2.imencode(".png" if self.lossless else ".jpg", image[..., ::-1], options)
        kind = "image/png" if self.lossless else "image/jpeg"
        return Response(encoded.tobytes(), code, media_type=kind)


T = TypeVar("T")


class Cache(Generic[T]):
    """A cache of those values that were asked for last. Safe to use from several threads."""

    def __init__(self, size: float) -> None:
        """Start an empty cache of at most `size` values."""
        self._kept: LRUCache[Hashable, T] = LRUCache(size)
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value stored under a key; if there is none, make it with `make` and store it."""
        with self._lock:
            kept = self._kept.get(key)
        if kept is None:
            # Made outside the lock: others need not wait for it, and making a value twice does no harm.
            kept = make()
            with self._lock:
                self._kept[key] = kept
        return kept


def _shrink_to_fit(image: Image, max_width: int, max_height: int) -> Image:
    """Return a picture shrunk to fit these sides in pixels, its proportions kept; never enlarged."""
    height, width = image.shape[:2]
    scale = min(max_width / width, max_height / height, 1.0)
    if scale == 1.0:
        return image
    size = max(1, round(width * scale)), max(1, round(height * scale))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)


def no_imagery(width: int, height: int) -> Image:
    """Return a gray picture of this size in pixels that says there is no imagery here, as Google does."""
    image, where = np.full((height, width, 3), 228, np.uint8), (round(width * 0.12), height // 2)
    said, font = "Sorry, we have no imagery here.", cv2.FONT_HERSHEY_SIMPLEX
    cv2.putText(image, said, where, font, width / 640, (117,) * 3, 1)
    return image


MAX_PHOTOS = 10  # photos of a place at most, as Google's
NEW_SIDE, LEGACY_SIDE = 4800, 1600  # most pixels a side that may be asked for, in the new and the legacy API
FILES = "/photos"
"""Prefix of the URL paths under which photos' files are served; replies about photos link to them."""


@dataclass(slots=True)
class PlacePhotos:
    """The photos of a city's places, and the handlers that serve them at several paths.

    A photo is asked for at the API, which redirects to a file that needs no key, as Google does. On a server
    with a key of its own, the address of a file is signed with it, so that nobody else can make one up.
    """

    city: City
    painter: Painter
    cache: Cache[Image]
    key: str | None = field(default=None, repr=False)
    _sizes: Cache[list[tuple[int, int]]] = field(default_factory=lambda: Cache(inf))

    def sizes(self, place_id: str) -> list[tuple[int, int]]:
        """Return the (width, height) of each photo of a place in pixels; measured once, then kept."""

        def measure() -> list[tuple[int, int]]:
            """Return the sizes as the city's places tell them, else those of the photos themselves."""
            places = self.city.places
            if isinstance(places, MeasuredPhotos):
                return list(places.photo_sizes(place_id, MAX_PHOTOS))
            end_if_client_left()  # photos have to be fetched to be measured
            return [photo.shape[1::-1] for photo in places.photos(place_id, MAX_PHOTOS)]

        return self._sizes.get(place_id, measure)

    def media(self, request: ApiRequest) -> Response:
        """Answer `/v1/places/{place}/photos/{photo}/media`: the photo's address, as JSON or as a redirect."""
        width, height = _size_limits(request.query, "maxWidthPx", "maxHeightPx", NEW_SIDE)
        place, photo = request.path["place"], request.path["photo"]
        self._find_photo(place, photo)
        uri = self._uri(request, place, photo, width, height)
        if request.query.get("skipHttpRedirect", "").lower() == "true":
            return answer({"name": f"places/{place}/photos/{photo}/media", "photoUri": uri})
        return Response(status_code=302, headers={"Location": uri})

    def legacy(self, request: ApiRequest) -> Response:
        """Answer `/maps/api/place/photo` with a redirect to the photo's file.

        Raises:
            Refused: the reference is missing.
        """
        width, height = _size_limits(request.query, "maxwidth", "maxheight", LEGACY_SIDE)
        reference = request.query.get("photo_reference") or request.query.get("photoreference") or ""
        place, _, photo = reference.rpartition(".")
        if not place:
            raise invalid("Invalid request. Missing or invalid 'photo_reference' parameter.")
        self._find_photo(place, photo)
        uri = self._uri(request, place, photo, width, height)
        return Response(status_code=302, headers={"Location": uri})

    def file(self, request: ApiRequest) -> Response:
        """Return a photo shrunk to the size in its address; raise `Refused` if its signature is wrong.

        Raises:
            Refused: this server did not give out the address.
        """
        width, height = _size_limits(request.query, "w", "h", NEW_SIDE)
        place, photo = request.path["place"], request.path["photo"]
        signature = self._signature(place, photo, width, height)
        if not hmac.compare_digest(signature.encode(), request.query.get("signature", "").encode()):
            raise Refused(GoogleStatus.WRONG_KEY, "The address of this photo is not one that the API gave.")
        return self.painter.picture(_shrink_to_fit(self._find_photo(place, photo), width, height))

    def _uri(self, request: ApiRequest, place: str, photo: str, width: int, height: int) -> str:
        """Return the URL of a photo's file at a size in pixels, signed if the server has a key."""
        signature = self._signature(place, photo, width, height)
        signed = f"&signature={signature}" if signature else ""
        return f"{request.base_url}{FILES}/{place}/{photo}?w={width}&h={height}{signed}"

    def _signature(self, place: str, photo: str, width: int, height: int) -> str:
        """Return the signature of a photo's address, in hex; empty on a server without a key of its own."""
        if self.key is None:
            return ""
        named = f"{place}/{photo}/{width}/{height}"
        return hmac.new(self.key.encode(), named.encode(), hashlib.sha256).hexdigest()

    def _find_photo(self, place: str, name: str) -> Image:
        """Return a place's photo by its name, such as "photo-3"; raise `Refused` if there is none."""
        number_text = name.removeprefix("photo-")
        try:
            index = int(number_text) if number_text.isascii() and number_text.isdecimal() else MAX_PHOTOS
            if index < len(self.sizes(place)):
                return self.cache.get(
                    (place, index), lambda: self.city.places.photos(place, MAX_PHOTOS)[index]
                )
        except NotFound:
            pass
        raise Refused(GoogleStatus.NOT_FOUND, "The requested photo was not found.")


def photo_name(index: int) -> str:
    """Return the name of a place's photo by its index from 0, such as "photo-3"."""
    return f"photo-{index}"


def photos_json(place_id: str, sizes: list[tuple[int, int]]) -> list[Json]:
    """Return a place's photos as JSON of Places (New); `sizes` are their (width, height) in pixels."""
    return [
        {
            "name": f"places/{place_id}/photos/{photo_name(index)}",
            "widthPx": width,
            "heightPx": height,
            "authorAttributions": [],
        }
        for index, (width, height) in enumerate(sizes)
    ]


def legacy_photos_json(place_id: str, sizes: list[tuple[int, int]]) -> list[Json]:
    """Return a place's photos as JSON of the legacy API; `sizes` are their (width, height) in pixels."""
    return [
        {
            "height": height,
            "width": width,
            "html_attributions": [],
            "photo_reference": f"{place_id}.{photo_name(index)}",
        }
        for index, (width, height) in enumerate(sizes)
    ]


def _size_limits(query: Mapping[str, str], width: str, height: str, most: int) -> tuple[int, int]:
    """Return the (width, height) limits from a query's parameters of these names; `most` for one left out.

    A side that is left out may have `most` pixels; if both are, `Refused` is raised.
    """
    if not query.get(width) and not query.get(height):
        raise invalid(f"Either {height} or {width} must be given, as a number between 1 and {most}.")
    sides = [int(number(query[name], name, 1, most)) if query.get(name) else most for name in (width, height)]
    return sides[0], sides[1]
