"""Images by box, by sequence and by id, as Mapillary's Graph API gives them."""

from collections.abc import Mapping
from math import radians, tan
from typing import Any

import numpy as np
from fastapi import Response
from scipy.spatial.transform import Rotation

from servers.dispatch import OpenRequest, Refusal, answer
from servers.mapillary.thumbs import SIZES, Thumbs, image_id
from servers.uploads.uploads import AUTHORS, FLAT_FOV, Upload, Uploads
from virl.platform.city.streetview import Attitude

MOST = 2000
"""Greatest and default number of images of a box."""
LARGEST_BOX = 0.01
"""Square degrees; a box must be smaller."""
TOO_MUCH = "Please reduce the amount of data you're asking for, then retry your request"
NO_SUCH = "Unsupported get request. Object with ID '{}' does not exist"
BAD_TOKEN = "Invalid OAuth access token - Cannot parse access token"  # noqa: S105  # what the service says
FOCAL = 0.5 / tan(radians(FLAT_FOV / 2))
"""Focal length of flat pictures, as a share of their width."""


class GraphApi:
    """Handlers of images.

    Args:
        uploads: the pictures.
        thumbs: signs their addresses.
    """

    def __init__(self, uploads: Uploads, thumbs: Thumbs) -> None:
        self._uploads = uploads
        self._thumbs = thumbs
        self._by_sequence = {sequence_id(one[0]): one for one in uploads.sequences.values()}

    def images(self, asked: OpenRequest) -> Response:
        """Images by their ids, or in a box: in no order; a full answer is cut off."""
        _check_token(asked)
        if "image_ids" in asked.query:
            named = [self._thumbs.upload(name) for name in asked.query["image_ids"].split(",")]
            return answer({"data": [self._fields(one, asked) for one in named if one]})
        west, south, east, north = _box(asked.query.get("bbox", ""))
        if (east - west) * (north - south) >= LARGEST_BOX:
            raise Refusal(400, "Invalid parameter: bbox must be smaller than 0.01 degrees square", 100)
        limit = _limit(asked.query.get("limit", str(MOST)))
        found = self._uploads.within(west, south, east, north)
        if len(found) > self._uploads.options.most:
            raise Refusal(500, TOO_MUCH, 1)
        if asked.query.get("is_pano") == "true":
            found = [one for one in found if not one.flat]
        data = [self._fields(one, asked) for one in sorted(found, key=image_id)[:limit]]
        return answer({"data": data})

    def image_ids(self, asked: OpenRequest) -> Response:
        """The ids of a sequence, in order of capture."""
        _check_token(asked)
        sequence = self._by_sequence.get(asked.query.get("sequence_id", ""), [])
        return answer({"data": [{"id": image_id(one)} for one in sequence]})

    def image(self, asked: OpenRequest) -> Response:
        """One image."""
        _check_token(asked)
        upload = self._thumbs.upload(asked.path["image"])
        if upload is None:
            raise Refusal(400, NO_SUCH.format(asked.path["image"]), 100)
        return answer(self._fields(upload, asked))

    def _fields(self, upload: Upload, asked: OpenRequest) -> dict[str, Any]:
        """The id, and what else was asked for."""
        wanted = [name for name in asked.query.get("fields", "").split(",") if name]
        known = _facts(upload, self._uploads.options.width)
        signed = {name for name in wanted if name in SIZES}
        told = {name: known[name] for name in wanted if name in known}
        addresses = {name: self._thumbs.address(upload, name, asked.base_url) for name in signed}
        return {"id": image_id(upload), **told, **addresses}


def sequence_id(upload: Upload) -> str:
    """Return the id of its sequence."""
    return f"{upload.drive:032x}"[:22]


def rotation_of(held: Attitude) -> tuple[float, float, float]:
    """Return the rotation vector of an attitude: the inverse of the client's `attitude_of`."""
    axes = np.eye(3, dtype=np.float32)
    right, up, forward = (
        np.array([east, north, rise], float).ravel()
        for east, rise, north in (held.in_world(*axis.reshape(3, 1)) for axis in axes)
    )
    x, y, z = Rotation.from_matrix(np.stack([right, -up, forward])).as_rotvec().tolist()
    return x, y, z


def refused(refusal: Refusal) -> Response:
    """Return a refusal as the Graph API words it."""
    kind = "OAuthException" if refusal.code else "GraphMethodException"
    error = {
        "message": refusal.message,
        "type": kind,
        "code": refusal.code or (4 if refusal.status == 429 else 2),
        "fbtrace_id": "made",
    }
    return answer({"error": error}, refusal.status)


def _facts(upload: Upload, width: int) -> Mapping[str, Any]:
    told = Attitude(upload.heading, upload.held.pitch, upload.held.roll)
    if upload.flat:
        told = Attitude(upload.heading)
    point = {"type": "Point", "coordinates": [upload.position.lng, upload.position.lat]}
    return {
        "geometry": point,
        "computed_geometry": point,
        "compass_angle": upload.heading,
        "computed_compass_angle": upload.heading,
        "computed_rotation": list(rotation_of(told)),
        "camera_type": "perspective" if upload.flat else "spherical",
        "camera_parameters": [FOCAL, 0.0, 0.0] if upload.flat else [],
        "is_pano": not upload.flat,
        "captured_at": round(upload.taken.timestamp() * 1000),
        "sequence": sequence_id(upload),
        "creator": {"id": str(100 + upload.author), "username": AUTHORS[upload.author]},
        "make": "Made",
        "model": "Up",
        "width": 1280 if upload.flat else width,
        "height": 960 if upload.flat else width // 2,
        "merge_cc": "1",
    }


def _check_token(asked: OpenRequest) -> None:
    """Any token will do, as long as there is one."""
    scheme, _, token = asked.headers.get("authorization", "").partition(" ")
    if not asked.query.get("access_token") and not (scheme == "OAuth" and token.strip()):
        raise Refusal(401, BAD_TOKEN, 190)


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= MOST):
        raise Refusal(400, f"Invalid parameter: limit must be from 1 to {MOST}", 100)
    return int(text)


def _box(text: str) -> tuple[float, float, float, float]:
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        raise Refusal(400, "Invalid parameter: bbox must be minLon,minLat,maxLon,maxLat", 100) from None
    if not (-180 <= west <= east <= 180 and -90 <= south <= north <= 90):
        raise Refusal(400, "Invalid parameter: bbox is out of range", 100)
    return west, south, east, north
