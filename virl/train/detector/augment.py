"""What training does to a view: a crop at another scale, other light and weather, and a worse camera."""

import cv2
import numpy as np
from numpy.typing import NDArray

from virl.geo import Ints
from virl.platform.perception.detectors.rendered import INPUT_SIDE
from virl.platform.streetview import Image
from virl.train.detector.views import Floats, Sample

CROP = 320  # side of what the network is trained on, pixels; chosen: a crop costs 0.4 of a whole view
SCALES = (0.65, 1.35)  # of a view, over that at which the network sees it later; chosen
LEAST_SIDE, LEAST_SHARE = 5.0, 0.25
"""Things of which less is seen are neither right nor wrong to find: shorter side in pixels of the crop, and
the visible share. Chosen."""


def crop(sample: Sample, rng: np.random.Generator) -> tuple[Image, Floats, Ints, NDArray[np.bool_]]:
    """A part of a view, maybe mirrored.

    Returns:
        The picture of `CROP` by `CROP` pixels; boxes, (n, 4), and classes, (n,), of what it shows; and which
        of them count.
    """
    height, width = sample.picture.shape[:2]
    scale = INPUT_SIDE / max(height, width) * float(rng.uniform(*SCALES))
    scale = max(scale, CROP / min(height, width))
    side = round(CROP / scale)
    left, top = _corner(sample, side, (width, height), rng)
    part = sample.picture[top : top + side, left : left + side]
    picture = cv2.resize(part, (CROP, CROP), interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    whole = (sample.boxes - np.array([left, top, left, top], np.float32)) * np.float32(CROP / side)
    boxes = np.clip(whole, 0, CROP)
    area, full = _area(boxes), np.maximum(_area(whole), 1e-6)
    inside = area > 0
    sides = np.minimum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1])
    counts = (sides >= LEAST_SIDE) & (sample.shares * area / full >= LEAST_SHARE)
    if rng.random() < 0.5:
        picture = np.ascontiguousarray(picture[:, ::-1])
        boxes = np.column_stack([CROP - boxes[:, 2], boxes[:, 1], CROP - boxes[:, 0], boxes[:, 3]])
    return np.asarray(picture, np.uint8), boxes[inside], sample.classes[inside], counts[inside]


def _corner(sample: Sample, side: int, size: tuple[int, int], rng: np.random.Generator) -> tuple[int, int]:
    """Left and top of a crop: four times in five one that holds the middle of a thing."""
    room = np.array(size) - side
    at = rng.uniform(0, 1, 2) * room
    if len(sample.boxes) and rng.random() < 0.8:
        common = np.bincount(sample.classes)[sample.classes]
        box = sample.boxes[rng.choice(len(sample.boxes), p=(1 / common) / (1 / common).sum())]
        at = (box[:2] + box[2:]) / 2 - rng.uniform(0.1, 0.9, 2) * side
    left, top = np.clip(np.rint(at), 0, room).astype(int).tolist()
    return left, top


def _area(boxes: Floats) -> Floats:
    return np.asarray((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]), np.float32)


def weather(picture: Image, rng: np.random.Generator) -> Image:
    """The same picture in other light and weather, through a worse camera; a fifth stays as it is."""
    if rng.random() < 0.2:
        return picture
    x = picture.astype(np.float32)
    if rng.random() < 0.8:
        x = _light(x, rng)
    if rng.random() < 0.15:
        fog = rng.uniform(0.1, 0.55)
        x = x * (1 - fog) + np.float32(rng.uniform(150, 230)) * fog
    if rng.random() < 0.25:
        x = np.asarray(cv2.GaussianBlur(x, (0, 0), float(rng.uniform(0.4, 1.4))), np.float32)
    if rng.random() < 0.25:
        x += rng.standard_normal(x.shape[:2], np.float32)[..., None] * np.float32(rng.uniform(2, 14))
    worse = np.clip(x, 0, 255).astype(np.uint8)
    if rng.random() < 0.3:
        quality = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(30, 90))]
        worse = np.asarray(cv2.imdecode(cv2.imencode(".jpg", worse, quality)[1], cv2.IMREAD_COLOR), np.uint8)
    return worse


def _light(x: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """Another exposure, contrast, saturation and colour of the light."""
    grey = x.mean(axis=2, keepdims=True)
    x = grey + (x - grey) * np.float32(rng.uniform(0.3, 1.5))
    x = (x - 128) * np.float32(rng.uniform(0.6, 1.3)) + 128 + np.float32(rng.uniform(-25, 25))
    x = x * rng.uniform(0.85, 1.15, 3).astype(np.float32)
    curve = (np.linspace(0, 1, 256) ** rng.uniform(0.6, 1.7) * 255).astype(np.float32)
    return curve[np.clip(x, 0, 255).astype(np.uint8)]
