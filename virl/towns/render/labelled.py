"""What a detector learns to find, as owners of quads: signs, boards of directories, shop doors, furniture."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from virl.geo.globe import Floats, Ints
from virl.platform.city.streetview import Box
from virl.towns.plan.town_plan import CityPlan, Furniture
from virl.towns.render.kernel import kernel
from virl.towns.render.mesh import NOBODY
from virl.towns.render.raster import GeometryBuffer
from virl.towns.render.scene import Scene
from virl.towns.render.textures import TILE_INDEX

DOOR, DIRECTORY, SIGN = "shop door", "directory", "sign"


class SeenThing(NamedTuple):
    """A labelled thing in a picture: its index, kind, box and number of pixels.

    Args:
        thing: its number in `Labels`.
        kind: what it is.
        box: of the pixels that show it.
        pixels: how many there are.
    """

    thing: int
    kind: str
    box: Box
    pixels: int


class Labels(NamedTuple):
    """The kind, position and quads of each of n things of a scene with q quads.

    Args:
        kinds: what each thing is, (n,).
        owner: the thing that each quad belongs to, `NOBODY` for none, (q,).
        members: the quads of each thing.
        xy: where each thing stands, metres, (n, 2).
    """

    kinds: tuple[str, ...]
    owner: NDArray[np.int32]
    members: list[Ints]
    xy: Floats


def label_scene(plan: CityPlan, scene: Scene, things: Sequence[Furniture]) -> Labels:
    """Return the labelled things of a plan; all lines of one directory are one thing.

    Args:
        plan: with the signs.
        scene: its quads.
        things: its furniture and crowd, in the order of their owners.
    """
    signs = plan.signs
    boards: dict[object, int] = {}
    thing_of = np.arange(len(signs) + len(things) + 1, dtype=np.int32)
    for number, sign in enumerate(signs):
        if sign.kind == DIRECTORY:
            thing_of[number] = boards.setdefault((sign.left, sign.right), number)
    kinds = [DIRECTORY if sign.kind == DIRECTORY else SIGN for sign in signs]
    kinds += [thing.kind for thing in things]
    owner = np.where(scene.owner == NOBODY, NOBODY, thing_of[scene.owner]).astype(np.int32)
    doors = np.flatnonzero(scene.texture == TILE_INDEX["shop door"])
    owner[doors] = len(kinds) + np.arange(len(doors))
    places = [
        *(((sign.left[0] + sign.right[0]) / 2, (sign.left[1] + sign.right[1]) / 2) for sign in signs),
        *((thing.x, thing.y) for thing in things),
        *(tuple(middle) for middle in scene.spheres[doors, :2].tolist()),
    ]
    kinds += [DOOR] * len(doors)
    return Labels(tuple(kinds), owner, members_of(owner, len(kinds)), np.array(places).reshape(-1, 2))


def members_of(owner: NDArray[np.int32], count: int) -> list[Ints]:
    """Return the indices of the quads of each of `count` owners."""
    order = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[order], np.arange(count + 1))
    return [order[a:b] for a, b in pairwise(bounds)]


def seen_in(drawing: GeometryBuffer, labels: Labels, min_pixels: int) -> list[SeenThing]:
    """Return the things with at least `min_pixels` pixels in a drawing, in order of their numbers.

    Args:
        drawing: with its quads drawn.
        labels: of the quads' owners.
        min_pixels: at least 1.
    """
    count = len(labels.kinds)
    pixels, bounds = np.zeros(count, np.int64), np.empty((count, 4), np.int64)
    tally(drawing.shown, labels.owner[drawing.order], pixels, bounds)
    found = []
    for thing in np.flatnonzero(pixels >= max(min_pixels, 1)).tolist():
        left, top, right, bottom = (float(edge) for edge in bounds[thing].tolist())
        box = (left, top, right + 1.0, bottom + 1.0)
        found.append(SeenThing(thing, labels.kinds[thing], box, int(pixels[thing])))
    return found


@kernel
def tally(shown: NDArray[np.int32], owner: NDArray[np.int32], counts: Ints, bounds: Ints) -> None:
    """Add to `counts` the pixels of each owner, and widen its box in `bounds` to hold them.

    Args:
        shown: place of the quad that a pixel shows, below 0 for none, (height, width).
        owner: owner of the quad at each place, below 0 for none, (m,).
        counts: zeros; receives the pixels of each owner, (k,).
        bounds: receives the first and last column and row of those that have any, as (left, top, right,
            bottom), (k, 4).
    """
    for row in range(shown.shape[0]):
        for column in range(shown.shape[1]):
            quad = shown[row, column]
            if quad < 0 or owner[quad] < 0:
                continue
            one = owner[quad]
            box = bounds[one]
            if counts[one] == 0:
                box[0], box[1], box[2] = column, row, column
            box[0], box[2], box[3] = min(box[0], column), max(box[2], column), row
            counts[one] += 1
