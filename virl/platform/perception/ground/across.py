"""What lies beside a walker: road up to the kerb, then a pavement, then something else."""

import itertools
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

from virl.geo.globe import Floats
from virl.platform.perception.ground.plane import GroundPatch

Surface = Literal["paved", "grass", "gravel"]
"""Kinds of ground."""

HALF_M = 2.0  # of the street that is looked at to each side of straight across; chosen: longer than most cars
BEFORE_M = 0.8  # of ground that the next is compared with; chosen
STEP = 9.0  # in CIE L*a*b*, between two kinds of ground; chosen on Virlbury
LASTS_M = 0.5  # a kind of ground is so wide or wider: kerb stones are not; chosen
GREEN, SANDY = -6.0, 10.0  # a* below, b* above; chosen on Virlbury and Helsinki


@dataclass(frozen=True, slots=True)
class Strip:
    """Ground of one kind along a street."""

    near: float
    """Metres from the camera to the near edge."""
    far: float | None
    """Metres from the camera to the far edge; `None` where none is seen."""
    surface: Surface


def strips_beside(patch: GroundPatch) -> tuple[Strip, ...]:
    """Return the strips of ground from the camera outwards, in a patch that looks across the street.

    The first is what the camera stands over.
    """
    middle = -patch.left_m * patch.per_m
    half = HALF_M * patch.per_m
    low, high = max(0, round(middle - half)), min(patch.pixels.shape[1], round(middle + half))
    band = patch.pixels[::-1, low:high].astype(np.float32) / 255
    lab = cv2.cvtColor(np.ascontiguousarray(band), cv2.COLOR_RGB2LAB).astype(float)
    seen = patch.seen[::-1, low:high]
    enough = seen.mean(axis=1) > 0.5
    first = int(np.argmax(enough))
    last = first + int(np.argmin(np.append(enough[first:], np.False_)))
    colours = np.array([np.median(lab[row][seen[row]], axis=0) for row in range(first, last)])
    if not len(colours):
        return ()
    edges = _edges(colours, patch.per_m)
    near = patch.metres_ahead(len(patch.pixels) - first)
    bounds = [0, *edges, len(colours)]
    found = []
    for begin, end in itertools.pairwise(bounds):
        far = near + end / patch.per_m if end < len(colours) else None
        found.append(Strip(near + begin / patch.per_m, far, _surface(colours[begin:end])))
    return tuple(found)


def _edges(colours: Floats, per_m: int) -> list[int]:
    """Return the rows at which another kind of ground begins."""
    before, lasts = round(BEFORE_M * per_m), round(LASTS_M * per_m)
    edges: list[int] = []
    since = 0
    for at in range(lasts, len(colours) - lasts + 1):
        if at - since < lasts:
            continue
        known = np.median(colours[max(at - before, since) : at], axis=0)
        if (np.linalg.norm(colours[at : at + lasts] - known, axis=1) > STEP).all():
            edges.append(at)
            since = at
    return edges


def _surface(colours: Floats) -> Surface:
    """Return the kind of ground by its median colour."""
    _, a, b = np.median(colours, axis=0)
    if a < GREEN:
        return "grass"
    return "gravel" if b > SANDY else "paved"
