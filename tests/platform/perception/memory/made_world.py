"""Things on a flat street, and the exact boxes that they have in views."""

from dataclasses import dataclass
from math import atan, atan2, cos, degrees, hypot, radians, sin
from pathlib import Path

import numpy as np

from virl.geo.globe import LatLng, LocalFrame
from virl.platform.city.streetview import Box, Camera, Image, View
from virl.platform.perception.active import Sighting
from virl.platform.perception.memory import MemorySettings, Rules, Seen, VisualMemory, memory_settings

ORIGIN = LatLng(51.5, -0.12)
CAMERA_M = 2.5
SIZE = 160  # pixels; boxes are not rounded to them


@dataclass(frozen=True)
class Thing:
    x: float
    y: float
    width: float = 0.6
    height: float = 1.0
    label: str = "trash bin"


def settings(**rules: bool) -> MemorySettings:
    """The defaults, without a matcher unless asked for."""
    return memory_settings().model_copy(update={"rules": Rules(**({"features": False} | rules))})


def at(x: float, y: float, origin: LatLng = ORIGIN) -> LatLng:
    return LocalFrame(origin).position(x, y)


def pixel(camera: Camera, heading: float, pitch: float) -> tuple[float, float]:
    """Where the ray at a heading and pitch meets the picture: `Camera.direction` the other way round."""
    turn, up, tilt = radians(heading - camera.heading), radians(pitch), radians(camera.pitch)
    right, ahead, rise = sin(turn) * cos(up), cos(turn) * cos(up), sin(up)
    forward = ahead * cos(tilt) + rise * sin(tilt)
    upward = rise * cos(tilt) - ahead * sin(tilt)
    return (
        camera.width / 2 + camera.focal * right / forward,
        camera.height / 2 - camera.focal * upward / forward,
    )


def exact_box(thing: Thing, x: float, y: float, camera: Camera, *, hidden: float = 0.0) -> Box:
    """The box of a thing seen from a point; the lowest `hidden` share of it is covered."""
    away = hypot(thing.x - x, thing.y - y)
    heading = degrees(atan2(thing.x - x, thing.y - y))
    half = degrees(atan(thing.width / 2 / away))
    foot = degrees(atan((hidden * thing.height - CAMERA_M) / away))
    top = degrees(atan((thing.height - CAMERA_M) / away))
    middle = (foot + top) / 2
    left, right = pixel(camera, heading - half, middle)[0], pixel(camera, heading + half, middle)[0]
    return (left, pixel(camera, heading, top)[1], right, pixel(camera, heading, foot)[1])


def camera_to(thing: Thing, x: float, y: float, fov: float = 40.0) -> Camera:
    """A camera aimed at a thing; its picture is a portrait, so that a near one's foot is in it."""
    heading = degrees(atan2(thing.x - x, thing.y - y))
    pitch = -degrees(atan((CAMERA_M - thing.height / 2) / hypot(thing.x - x, thing.y - y)))
    return Camera(heading, pitch, fov, SIZE, SIZE)


def jittered(box: Box, share: float, rng: np.random.Generator) -> Box:
    """Each edge moved by a normal error, as a share of the box's size."""
    wide, high = box[2] - box[0], box[3] - box[1]
    noise = share * rng.normal(size=4).clip(-2.5, 2.5)
    return (
        box[0] + noise[0] * wide,
        box[1] + noise[1] * high,
        box[2] + noise[2] * wide,
        box[3] + noise[3] * high,
    )


def sighting(
    thing: Thing,
    x: float,
    y: float,
    *,
    camera: Camera | None = None,
    pano_id: str = "",
    score: float = 0.8,
    jitter: float = 0.0,
    rng: np.random.Generator | None = None,
    pixels: Image | None = None,
    origin: LatLng = ORIGIN,
) -> Sighting:
    """A thing seen from a point."""
    camera = camera or camera_to(thing, x, y)
    box = exact_box(thing, x, y, camera)
    if jitter and rng is not None:
        box = jittered(box, jitter, rng)
    if pixels is None:
        pixels = np.full((camera.height, camera.width, 3), 90, np.uint8)
    view = View(pano_id or f"p{x:g},{y:g}", camera, pixels)
    return Sighting(thing.label, score, view, box, at(x, y, origin))


def seen(one: Sighting, number: int = 0) -> Seen:
    """A sighting as the memory keeps it, without its pictures."""
    return Seen(
        number, one.label, one.score, one.view.pano_id, one.view.camera, one.position, one.box, "", ""
    )


def walk(
    memory: VisualMemory,
    things: list[Thing],
    points: list[tuple[float, float]],
    *,
    reach: float = 25.0,
    jitter: float = 0.0,
    rng: np.random.Generator | None = None,
) -> dict[str, set[int]]:
    """Look from each point at all things within reach; the numbers of the things that each object is of."""
    owners: dict[str, set[int]] = {}
    for x, y in points:
        near = [i for i, thing in enumerate(things) if hypot(thing.x - x, thing.y - y) <= reach]
        verdicts = memory.add([sighting(things[i], x, y, jitter=jitter, rng=rng) for i in near])
        for i, verdict in zip(near, verdicts, strict=True):
            owners.setdefault(verdict.object_id, set()).add(i)
    return owners


def open_memory(folder: Path, **rules: bool) -> VisualMemory:
    return VisualMemory.open(folder, settings(**rules))


def metres(position: LatLng) -> tuple[float, float]:
    return LocalFrame(ORIGIN).point(position)


STREET_THINGS = [Thing(5.0, 4.0), Thing(-5.0, 13.0), Thing(5.0, 16.5), Thing(5.0, 33.0), Thing(-5.0, 41.0)]
