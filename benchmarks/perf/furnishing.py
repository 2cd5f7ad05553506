"""What agents need in a town that is served in Google's formats: boxes for a detector, homes, a small region.

Boxes are drawn from the truth of the served city, as a person would draw them into panoramas; `write_boxes`
keeps them, and the detector `recorded` repeats them.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from math import atan, atan2, degrees, hypot, radians, tan
from pathlib import Path

import numpy as np

from virl.geo import LatLng, LocalFrame, destination
from virl.platform.city import City
from virl.platform.perception.base import Detection
from virl.platform.perception.detectors.recorded import write_boxes
from virl.platform.streetview import Camera, View

THINGS = {"trash bin": (0.5, 1.0), "bench": (1.5, 0.85)}
"""What is recorded: metres wide and high."""
REGION, HOMES, DETECTOR = "square.txt", "homes.json", "recorded.yaml"
"""Files that `furnish` writes."""
CAMERA_M = 2.5
SEEN_M = 15.0
"""So far away, things are seen."""
REGION_M = 35.0
"""From the middle of the region to its corners."""
COUNT = 8
"""Homes."""

_CAMERA = Camera(0.0)


def furnish(folder: Path, city: City, middle: LatLng, street: str, recorded_m: float) -> None:
    """Write the files.

    Args:
        folder: where.
        city: whose truth is told.
        middle: of the region and the homes.
        street: in which the homes are said to lie.
        recorded_m: from the middle, within which panoramas have boxes, if only of nothing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    corners = [destination(middle, heading, REGION_M) for heading in (45.0, 135.0, 225.0, 315.0)]
    (folder / REGION).write_text("".join(f"{one.lat}, {one.lng}\n" for one in corners))
    homes = [
        _home(number, destination(middle, 36.0 * number, 25.0 * number), street) for number in range(COUNT)
    ]
    (folder / HOMES).write_text(json.dumps(homes))
    boxes = folder / "boxes.jsonl"
    looks = "first_look: 0.55\nsecond_look: 0.65\n"
    model = f"kind: recorded\nboxes: {boxes}\nmin_score: 0.0\n{looks}min_seen: 0.3\nmax_overlap: 0.5\n"
    (folder / DETECTOR).write_text(model)
    write_boxes(boxes, _seen_from_everywhere(city, middle, recorded_m))


def _home(number: int, position: LatLng, street: str) -> dict[str, object]:
    """A listing as RentCast words it; some tell not everything."""
    rooms = {} if number % 4 == 3 else {"bedrooms": number % 3, "bathrooms": 1}
    return {
        "id": f"home-{number}",
        "formattedAddress": f"{street} {2 * number + 1}",
        "latitude": position.lat,
        "longitude": position.lng,
        "propertyType": "Apartment",
        "squareFootage": 400 + 50 * number,
        "status": "Active",
        "price": 900 + 90 * number,
        **rooms,
    }


def _seen_from_everywhere(
    city: City, middle: LatLng, recorded_m: float
) -> Iterator[tuple[View, list[Detection]]]:
    """What stands around each panorama, as someone would have drawn boxes into its pictures."""
    assert city.truth  # noqa: S101 - who serves a town knows its truth
    assert city.street_map  # noqa: S101
    frame, nothing = LocalFrame(middle), np.zeros((1, 1, 3), np.uint8)
    things = [(thing, frame.point(thing.position)) for thing in city.truth.things(set(THINGS))]
    for pano_id in city.street_map.panorama_ids():
        stood = frame.point(city.streetview.panorama(pano_id).position)
        if hypot(*stood) > recorded_m:
            continue
        yield View(pano_id, _CAMERA, nothing), []
        for thing, (x, y) in things:
            east, north = x - stood[0], y - stood[1]
            if 2.0 < hypot(east, north) <= SEEN_M:
                yield _drawn(View(pano_id, _CAMERA, nothing), thing.kind, east, north)


def _drawn(view: View, kind: str, east: float, north: float) -> tuple[View, list[Detection]]:
    """A thing in the middle of a view of its own: standing on level ground, nothing before it."""
    far, (wide, high) = hypot(east, north), THINGS[kind]
    low, top = (degrees(atan((up - CAMERA_M) / far)) for up in (0.0, high))
    camera = Camera(degrees(atan2(east, north)), (low + top) / 2, 60.0)
    half_high = camera.focal * tan(radians((top - low) / 2))
    half_wide = camera.focal * wide / 2 / far
    middle = camera.width / 2
    box = (middle - half_wide, middle - half_high, middle + half_wide, middle + half_high)
    return replace(view, camera=camera), [Detection(kind, 0.9, box)]
