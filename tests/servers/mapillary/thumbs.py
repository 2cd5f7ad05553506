"""The pictures of Mapillary, whose addresses are signed and expire."""

import hashlib
import hmac
import time
from collections import Counter
from threading import Lock

from fastapi import Response

from servers.dispatch import OpenRequest, Refusal
from servers.uploads.painting import Painting, resized
from servers.uploads.uploads import Upload, Uploads
from virl.serve.google.pictures import Painter

SIZES = {"thumb_256_url": 256, "thumb_1024_url": 1024, "thumb_2048_url": 2048, "thumb_original_url": 0}
"""Pixels wide, 0 for the whole, by the field that gives the address."""


class Thumbs:
    """Addresses and files of pictures.

    Args:
        uploads: the pictures.
        painting: draws them.
        painter: encodes them.
    """

    def __init__(self, uploads: Uploads, painting: Painting, painter: Painter) -> None:
        self._uploads = uploads
        self._painting = painting
        self._painter = painter
        self._by_id = {image_id(one): one for one in uploads.all}
        self._signed: Counter[str] = Counter()
        self._lock = Lock()

    def upload(self, name: str) -> Upload | None:
        """The picture of an id; `None` if there is none, or it was taken away."""
        found = self._by_id.get(name)
        return None if found is None or self._uploads.has("deleted", found) else found

    def address(self, upload: Upload, field: str, base_url: str) -> str:
        """A signed address; the first of a picture that is `expired` has ended already."""
        name = image_id(upload)
        with self._lock:
            self._signed[name] += 1
            is_first = self._signed[name] == 1
        ended = is_first and self._uploads.has("expired", upload)
        until = round(time.time()) + (-1 if ended else round(self._uploads.options.thumb_s))
        return f"{base_url}/thumbs/{name}/{SIZES[field]}.jpg?oe={until}&oh={self._signature(name, until)}"

    def picture(self, asked: OpenRequest) -> Response:
        """The file behind a signed address; it needs no token."""
        name, until = asked.path["image"], asked.query.get("oe", "")
        upload = self.upload(name)
        if not until.isdecimal() or asked.query.get("oh") != self._signature(name, int(until)):
            raise Refusal(403, "Bad URL hash")
        if int(until) < time.time():
            raise Refusal(403, "URL signature expired")
        if upload is None or asked.path["size"] not in {str(size) for size in SIZES.values()}:
            raise Refusal(404, "Not found")
        width = int(asked.path["size"]) or self._painting.width
        whole = self._painting.whole(upload, min(max(width, 512), self._painting.width))
        return self._painter.picture(resized(whole, width))

    def _signature(self, name: str, until: int) -> str:
        key = str(self._uploads.options.seed).encode()
        return hmac.new(key, f"{name} {until}".encode(), hashlib.sha256).hexdigest()[:32]


def image_id(upload: Upload) -> str:
    """The id of its image: a number of at most 16 digits."""
    return str(10**15 + upload.key % (9 * 10**15))
