"""Views of towns with what they show: drawn by another process while the training runs, and kept in files.

View k depends on the seed and on k alone, so a training sees the same views whenever they are drawn.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, degrees, hypot
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import NamedTemporaryFile

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.perf.detector.towns import Scenery, open_ground
from virl.errors import BadInput
from virl.geo.globe import Ints
from virl.platform.city.streetview import Image
from virl.platform.perception.detectors.rendered import CLASSES
from virl.towns.render.lens import Lens, aim_lens

SIDE = 640
"""Pixels along a view's side, as most of virl's agents look."""
BLOCK = 160
"""Number of views of one town before the next town is opened. Chosen."""
QUALITY = 95  # of the JPEG in which a view is kept; chosen
MIN_PIXELS = 12  # a thing that shows fewer pixels is not there; as the truth's default
AIMED = 0.65
"""Share of views that are aimed at a thing whose kind is drawn first, for rare kinds. Chosen."""
NEAREST_M, FARTHEST_M = 4.0, 45.0  # of such a thing; chosen
WAIT_S = 0.2
"""Seconds between two looks for a view that another process draws."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Sample:
    """A view with the n things of `CLASSES` that it shows."""

    picture: Image
    boxes: Floats
    """Boxes of the things, (left, top, right, bottom) in pixels, shape (n, 4)."""
    classes: Ints
    """Indices of the things' classes in `CLASSES`, shape (n,)."""
    shares: Floats
    """Visible share of each thing, [0, 1], shape (n,)."""
    metres: Floats
    """Metres from the camera to each thing, shape (n,)."""


def draw_view(ground: Scenery, rng: np.random.Generator) -> Sample:
    """Return a view of a town from a random position, height and angle."""
    return look(ground, _random_lens(ground, rng))


def look(ground: Scenery, lens: Lens) -> Sample:
    """Return the view of a camera in a town, with the things of `CLASSES` in it."""
    picture, found = ground.renderer.render_labelled(lens, MIN_PIXELS)
    found = [(seen, share) for seen, share in found if _class_of(seen.kind) in CLASSES]
    xy = ground.renderer.labels.xy[[seen.thing for seen, _ in found]]
    return Sample(
        picture,
        np.array([seen.box for seen, _ in found], np.float32).reshape(-1, 4),
        np.array([CLASSES.index(_class_of(seen.kind)) for seen, _ in found], np.int64),
        np.array([share for _, share in found], np.float32),
        np.linalg.norm(xy - lens.eye[:2], axis=1).astype(np.float32),
    )


def _class_of(kind: str) -> str:
    """Return the class that a kind of thing is found as: a car in traffic looks like a parked one."""
    return "parked car" if kind == "car" else kind


def _random_lens(ground: Scenery, rng: np.random.Generator) -> Lens:
    """Return a random camera in a town, mostly aimed at a thing."""
    fov = float(rng.choice([90.0, rng.uniform(55, 105), rng.uniform(25, 50)], p=[0.35, 0.45, 0.2]))
    pitch = float(np.clip(rng.normal(2.0, 7.0), -25, 30))
    camera, heading = ground.cameras[rng.integers(len(ground.cameras))], float(rng.uniform(0, 360))
    if rng.random() < AIMED:
        camera, heading = _aim_at_thing(ground, rng, fov) or (camera, heading)
    x, y = (camera + rng.uniform(-0.8, 0.8, 2)).tolist()
    lens = aim_lens(x, y, heading, pitch, fov, (SIDE, SIDE))
    height = float(rng.uniform(1.5, 3.2)) if rng.random() < 0.5 else float(lens.eye[2])
    return lens._replace(eye=np.array([x, y, height]))


def _aim_at_thing(ground: Scenery, rng: np.random.Generator, fov: float) -> tuple[Floats, float] | None:
    """Return (position of a camera near a random thing, heading to it); `None` if none is near."""
    labels = ground.renderer.labels
    kinds = np.array(labels.kinds)
    kind = rng.choice(sorted(set(labels.kinds) & set(CLASSES)))
    place = labels.xy[rng.choice(np.flatnonzero(kinds == kind))]
    away = np.linalg.norm(ground.cameras - place, axis=1)
    near = np.flatnonzero((away > NEAREST_M) & (away < FARTHEST_M))
    if not len(near):
        return None
    camera = ground.cameras[rng.choice(near)]
    east, north = (place - camera).tolist()
    return camera, degrees(atan2(east, north)) + float(rng.uniform(-0.4, 0.4)) * fov if hypot(
        east, north
    ) else 0.0


class Views:
    """The views of a training, in files that another process draws while the `with` block runs."""

    def __init__(self, folder: Path, towns: Sequence[str], seed: int, count: int) -> None:
        """Prepare `count` views of the towns in `folder`, drawn by `seed`; draws nothing yet."""
        self._folder, self._towns, self._seed, self._count = folder, tuple(towns), seed, count
        self._drawing: BaseProcess | None = None

    def __enter__(self) -> "Views":
        """Start the process that draws the views."""
        self._folder.mkdir(parents=True, exist_ok=True)
        work = get_context("spawn").Process(
            target=draw_views, args=(self._folder, self._towns, self._seed, self._count), daemon=True
        )
        work.start()
        self._drawing = work
        return self

    def __exit__(self, *_: object) -> None:
        """End the process that draws the views."""
        if self._drawing:
            self._drawing.terminate()
            self._drawing.join()

    def __len__(self) -> int:
        """Return the number of views that there will be."""
        return self._count

    def __getitem__(self, number: int) -> Sample:
        """Return the view with this number, from 0; waits until it is drawn.

        Raises:
            BadInput: the process that draws has ended, and the view is not there.
        """
        path = _file(self._folder, number)
        while not path.exists():
            if self._drawing and not self._drawing.is_alive() and not path.exists():
                raise BadInput(f"{self._folder}: view {number} was not drawn: see the error above")
            time.sleep(WAIT_S)
        return read_sample(path)


def draw_views(folder: Path, towns: Sequence[str], seed: int, count: int) -> None:
    """Draw those of the first `count` views of a seed that are missing in a folder, in order.

    Args:
        folder: where they are kept.
        towns: to draw from.
        seed: same seed, same views.
        count: number of views in all.
    """
    ground, town = None, ""
    for number in range(count):
        if _file(folder, number).exists():
            continue
        wanted = towns[number // BLOCK % len(towns)]
        if ground is None or wanted != town:
            ground, town = open_ground(wanted), wanted
        _write(draw_view(ground, np.random.default_rng((seed, number))), _file(folder, number))


def read_sample(path: Path) -> Sample:
    """Return the view in a file."""
    with np.load(path) as kept:
        picture = np.asarray(cv2.imdecode(kept["picture"], cv2.IMREAD_COLOR), np.uint8)[..., ::-1]
        return Sample(
            np.ascontiguousarray(picture), kept["boxes"], kept["classes"], kept["shares"], kept["metres"]
        )


def _write(sample: Sample, path: Path) -> None:
    """Write a view to a file, whole or not at all."""
    bgr = cv2.cvtColor(sample.picture, cv2.COLOR_RGB2BGR)
    _, jpeg = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    with NamedTemporaryFile(dir=path.parent, delete=False) as file:
        np.savez(
            file,
            picture=jpeg,
            boxes=sample.boxes,
            classes=sample.classes,
            shares=sample.shares,
            metres=sample.metres,
        )
    Path(file.name).replace(path)


def _file(folder: Path, number: int) -> Path:
    """Return the path of the view with this number."""
    return folder / f"{number:06d}.npz"
