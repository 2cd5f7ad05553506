"""Conversion of the values that an agent handles to the records of its journal."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic_core import to_jsonable_python

from virl.geo.globe import LatLng
from virl.journal.records import (
    DetectionRecord,
    ExchangeRecord,
    PlaceRecord,
    PoseRecord,
    Purpose,
    RequestsRecord,
    ViewRecord,
)
from virl.money.book import Exchange, Spending
from virl.plain_text import whole_text
from virl.platform.city.places import Place
from virl.platform.city.streetview import Pose, View
from virl.platform.perception.base import Detection


def pose_record(pose: Pose, position: LatLng) -> PoseRecord:
    """Return the journal's record of a pose, whose panorama is at `position`."""
    return PoseRecord(
        pano_id=pose.pano_id, heading=float(pose.heading), lat=float(position.lat), lng=float(position.lng)
    )


def detection_record(detection: Detection) -> DetectionRecord:
    """Return the journal's record of a detection."""
    x0, y0, x1, y1 = (float(edge) for edge in detection.box)
    return DetectionRecord(
        label=detection.label, score=float(detection.score), box=(x0, y0, x1, y1), text=detection.text
    )


def view_record(
    view: View,
    file: str,
    *,
    purpose: Purpose = "look",
    caption: str = "",
    detections: Sequence[Detection] = (),
) -> ViewRecord:
    """Return the journal's record of a view that is kept as `file`, with its detections.

    Args:
        view: what was seen.
        file: name of the picture, as `Journal.keep_view` gave it.
        purpose: why it was taken.
        caption: a line below it.
        detections: what was found in it.
    """
    camera = view.camera
    return ViewRecord(
        file=file,
        pano_id=view.pano_id,
        heading=float(camera.heading),
        pitch=float(camera.pitch),
        fov=float(camera.fov),
        width=camera.width,
        height=camera.height,
        purpose=purpose,
        caption=caption,
        detections=tuple(detection_record(detection) for detection in detections),
    )


def exchange_record(exchange: Exchange) -> ExchangeRecord:
    """Return the journal's record of a question and its reply, as plain JSON; of pictures only sizes."""
    plain = replace(exchange, inputs=_to_plain_json(exchange.inputs), reply=_to_plain_json(exchange.reply))
    return ExchangeRecord.model_validate(plain, from_attributes=True)


def place_record(
    place: Place, *, decision: Literal["enter", "continue"], reason: str, summary: str = ""
) -> PlaceRecord:
    """Return the journal's record of a place: the decision to enter it or go on, and the reason.

    Args:
        place: that was decided about.
        decision: to enter it or go on.
        reason: of the decision.
        summary: of its reviews; empty for none.
    """
    return PlaceRecord(
        id=place.id,
        name=place.name,
        types=place.types,
        lat=float(place.position.lat),
        lng=float(place.position.lng),
        address=place.address,
        rating=place.rating,
        review_count=place.review_count,
        price_level=place.price_level,
        summary=summary,
        decision=decision,
        reason=reason,
    )


def requests_record(spending: Spending) -> RequestsRecord:
    """Return the journal's record of requests to map services: counts, bytes and US dollars."""
    return RequestsRecord.model_validate(spending, from_attributes=True)


def _to_plain_json(values: Mapping[str, object]) -> dict[str, object]:
    """Return values by name as plain JSON: whole Unicode text, infinities as text, bytes in base64."""
    data = to_jsonable_python(dict(values), fallback=_to_json_value, bytes_mode="base64")
    # Half a surrogate pair, which a model may escape, fits no UTF-8, and infinity no JSON.
    text = whole_text(json.dumps(data, ensure_ascii=False))
    plain: dict[str, object] = json.loads(text, parse_constant=str)
    return plain


def _to_json_value(value: object) -> object:
    """Return a value that JSON lacks as one that it has: a NumPy number as number, else a text."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    return str(value)
