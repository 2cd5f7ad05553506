"""The ground before a camera, seen from above: what lies beside a walker, and marked crossings."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, hypot, radians, sin
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from virl.extras import Late
from virl.geo.globe import Floats
from virl.platform.city.streetview import Image, View

cv2 = Late("cv2", extra="eyes")

CAMERA_HEIGHT_M = 2.5
"""Height of the camera above the ground in metres; chosen: about that of street-view cars."""
PER_M = 10
"""Number of cells of a patch of ground in a metre; chosen."""


@dataclass(frozen=True, slots=True)
class GroundPatch:
    """A picture of the ground from above: row 0 is the farthest, columns go from left to right."""

    pixels: Image
    """Colours, shape (rows, columns, 3); black where the view does not reach."""
    seen: NDArray[np.bool_]
    """True for each cell that the view reaches, shape (rows, columns)."""
    left_m: float
    """Metres from the camera to the left edge of the first column; negative to its left."""
    far_m: float
    """Metres from the camera to the far edge of the first row."""

    def metres_right(self, column: float) -> float:
        """Return the metres that a column, in pixels, lies right of the camera; negative to its left."""
        return self.left_m + column / PER_M

    def metres_ahead(self, row: float) -> float:
        """Return the metres that a row, counted in pixels, lies ahead of the camera."""
        return self.far_m - row / PER_M


def ground_patch(
    view: View, *, aside: tuple[float, float] = (-9.0, 9.0), ahead: tuple[float, float] = (3.0, 18.0)
) -> GroundPatch:
    """Return a view's ground from above, within (least, most) metres to the right (`aside`) and `ahead`.

    Args:
        view: of any camera; one that looks down by 20 degrees shows what lies near.
        aside: (least, largest) metres to the right of the camera, negative to the left.
        ahead: (least, largest) metres ahead of the camera.
    """
    camera = view.camera
    columns, rows = round((aside[1] - aside[0]) * PER_M), round((ahead[1] - ahead[0]) * PER_M)
    x = aside[0] + (np.arange(columns) + 0.5) / PER_M
    y = ahead[1] - (np.arange(rows) + 0.5) / PER_M
    pitch = radians(camera.pitch)
    forward = (y * cos(pitch) - CAMERA_HEIGHT_M * sin(pitch))[:, None]
    up = (-y * sin(pitch) - CAMERA_HEIGHT_M * cos(pitch))[:, None]
    across = np.broadcast_to(camera.width / 2 + camera.focal * x[None] / forward, (rows, columns))
    down = np.broadcast_to(camera.height / 2 - camera.focal * up / forward, (rows, columns))
    seen = (forward > 0) & (across >= 0) & (across < camera.width) & (down >= 0) & (down < camera.height)
    # All that is seen is taken for flat ground: what stands on it is smeared away from the camera.
    pixels = cv2.remap(
        view.pixels,
        (across - 0.5).astype(np.float32),
        (down - 0.5).astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )
    pixels[~seen] = 0
    return GroundPatch(pixels.astype(np.uint8), seen, aside[0], ahead[1])


Surface = Literal["paved", "grass", "gravel"]
"""Kinds of ground that are told apart by colour."""

HALF_M = 2.0
"""Metres to each side of straight ahead whose ground counts; chosen: a car seldom hides all 4 m."""
BEFORE_M = 0.8
"""Width in metres of the strip before a spot whose colour the spot's colour is compared with; chosen."""
STEP = 9.0
"""Least difference of colour between two kinds of ground, in CIE L*a*b*; chosen on Virlbury."""
LASTS_M = 0.5
"""Least width in metres of a strip of ground: kerb stones are narrower; chosen."""
GREEN, SANDY = -6.0, 10.0
"""Largest a* of grass and least b* of gravel, in CIE L*a*b*; chosen on Virlbury and Helsinki."""


@dataclass(frozen=True, slots=True)
class Strip:
    """A strip of ground of one kind along a street."""

    near: float
    """Distance in metres from the camera to the near edge."""
    far: float | None
    """Distance in metres from the camera to the far edge; `None` where none is seen."""
    surface: Surface
    """Kind of ground."""


def strips_beside(patch: GroundPatch) -> tuple[Strip, ...]:
    """Return the strips of ground from the camera outwards, in a patch that looks across a street."""
    middle = -patch.left_m * PER_M
    half = HALF_M * PER_M
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
    edges = _strip_edges(colours)
    near = patch.metres_ahead(len(patch.pixels) - first)
    bounds = [0, *edges, len(colours)]
    found = []
    for begin, end in itertools.pairwise(bounds):
        far = near + end / PER_M if end < len(colours) else None
        found.append(Strip(near + begin / PER_M, far, _surface(colours[begin:end])))
    return tuple(found)


def _strip_edges(colours: Floats) -> list[int]:
    """Return the rows at which another kind of ground begins, by the L*a*b* colour of each row, (n, 3)."""
    before, lasts = round(BEFORE_M * PER_M), round(LASTS_M * PER_M)
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
    """Return the kind of ground by the median of its L*a*b* colours, shape (n, 3)."""
    _, a, b = np.median(colours, axis=0)
    if a < GREEN:
        return "grass"
    return "gravel" if b > SANDY else "paved"


AROUND_M = 3.0
"""Side in metres of the square around a cell over whose mean grey paint stands out; chosen."""
LIGHTER = 18
"""Least number of grey levels, of 255, by which paint outshines its surroundings; chosen on Virlbury."""
GREYEST = 45
"""Largest difference between the channels of a pixel of paint, of 255, since paint has no colour; chosen."""
STRIPE_M, STRIPE_LENGTH_M = (0.2, 1.0), (1.2, 6.0)
"""(least, largest) width and length in metres of a stripe; chosen: 0.4 to 0.7 by 2.5 to 4 m are laid."""
FILLED = 0.6
"""Least share of its smallest rectangle that a stripe covers, [0, 1]; chosen."""
BETWEEN_M = (0.55, 1.7)
"""(least, largest) distance in metres from the middle of a stripe to that of the next; chosen."""
SHIFTED_M = 1.0
"""Largest shift in metres of a stripe along the road to the next; chosen: some crossings are slanted."""
TURNED_DEG = 18.0
"""Largest angle in degrees between two neighbouring stripes; chosen."""
DARKER = 0.75
"""Largest grey of the road between two stripes, as a share of the stripes' grey; chosen on Helsinki."""
LEAST_STRIPES = 3
"""Least number of stripes of a marked crossing."""


@dataclass(frozen=True, slots=True)
class Zebra:
    """A marked crossing, as a camera sees it."""

    aside: float
    """Metres that the crossing's middle lies right of the camera; negative to its left."""
    ahead: float
    """Metres that the crossing's middle lies ahead of the camera."""
    turn: float
    """Direction of the stripes, along the crossed road, degrees clockwise from straight ahead, [0, 180)."""
    stripes: int
    """Number of stripes of paint that are seen."""


@dataclass(frozen=True, slots=True)
class _Stripe:
    """A stripe of paint in a patch of ground."""

    aside: float
    """Metres that the stripe's middle lies right of the camera; negative to its left."""
    ahead: float
    """Metres that the stripe's middle lies ahead of the camera."""
    turn: float
    """Direction of the stripe's long side, degrees clockwise from straight ahead, [0, 180)."""
    column: float
    """Column of the patch at the stripe's middle."""
    row: float
    """Row of the patch at the stripe's middle."""


def find_zebras(patch: GroundPatch) -> list[Zebra]:
    """Return the marked crossings in a patch, of any direction, the nearest to the camera first."""
    groups: list[list[_Stripe]] = []
    grey: Image = cv2.blur(cv2.cvtColor(patch.pixels, cv2.COLOR_RGB2GRAY), (3, 3)).astype(np.uint8)
    for stripe in _stripes(patch):
        # A stripe may join groups that were apart until now.
        beside = [group for group in groups if any(_are_neighbours(stripe, other, grey) for other in group)]
        groups = [group for group in groups if group not in beside]
        groups.append([stripe, *(one for group in beside for one in group)])
    found = [_to_zebra(group) for group in groups if len(group) >= LEAST_STRIPES]
    return sorted(found, key=lambda zebra: hypot(zebra.aside, zebra.ahead))


def _to_zebra(stripes: Sequence[_Stripe]) -> Zebra:
    """Return the marked crossing that some stripes form together."""
    # The middle of its ends: stripes that are missing in between do not move it.
    aside = [stripe.aside for stripe in stripes]
    ahead = [stripe.ahead for stripe in stripes]
    turns = [stripe.turn for stripe in stripes]
    # Doubled angles have a period of a whole circle, so that their mean is that of directions without an end.
    doubled = np.exp(2j * np.radians(turns)).sum()
    turn = float(np.degrees(np.angle(doubled)) / 2 % 180.0)
    return Zebra((min(aside) + max(aside)) / 2, (min(ahead) + max(ahead)) / 2, turn, len(stripes))


def _stripes(patch: GroundPatch) -> list[_Stripe]:
    """Return the areas of paint in a patch that have the size and shape of a crossing's stripe."""
    outlines, _ = cv2.findContours(_paint(patch), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    found = []
    for outline in outlines:
        (column, row), (width, height), turn = cv2.minAreaRect(outline)
        # Outlines run through the middles of cells: a rectangle is half a cell larger on each side.
        wide, long = sorted(((width + 1) / PER_M, (height + 1) / PER_M))
        if (
            not (STRIPE_M[0] <= wide <= STRIPE_M[1] and STRIPE_LENGTH_M[0] <= long <= STRIPE_LENGTH_M[1])
            or wide > 0.75 * long
        ):
            continue
        # Half of the cells on an outline lie outside the area that it encloses.
        if cv2.contourArea(outline) + len(outline) / 2 < FILLED * (width + 1) * (height + 1):
            continue
        lies = turn if height > width else turn + 90.0
        found.append(
            _Stripe(
                patch.metres_right(column + 0.5), patch.metres_ahead(row + 0.5), lies % 180.0, column, row
            )
        )
    return found


def _are_neighbours(one: _Stripe, other: _Stripe, grey: Image) -> bool:
    """Return whether two stripes lie side by side with bare road between, by the patch's `grey` picture."""
    turned = abs((one.turn - other.turn + 90.0) % 180.0 - 90.0)
    if turned > TURNED_DEG:
        return False
    lies = radians(one.turn)
    aside, ahead = other.aside - one.aside, other.ahead - one.ahead
    along = aside * sin(lies) + ahead * cos(lies)
    across = aside * cos(lies) - ahead * sin(lies)
    if not (BETWEEN_M[0] <= abs(across) <= BETWEEN_M[1] and abs(along) <= SHIFTED_M):
        return False
    # Of a slanted crossing, the point between two middles is still road.
    between = grey[round((one.row + other.row) / 2), round((one.column + other.column) / 2)]
    lightest = min(grey[round(stripe.row), round(stripe.column)] for stripe in (one, other))
    return bool(between < DARKER * lightest)


def _paint(patch: GroundPatch) -> NDArray[np.uint8]:
    """Return a mask of a patch, (rows, columns): 1 where a cell is grey and lighter than those around."""
    grey = cv2.cvtColor(patch.pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    size = 2 * round(AROUND_M * PER_M / 2) + 1
    shown = patch.seen.astype(np.float32)
    # Cells that no view shows count in no mean.
    share = np.maximum(cv2.boxFilter(shown, -1, (size, size)), 1e-6)
    mean = cv2.boxFilter(grey * shown, -1, (size, size)) / share
    channels = patch.pixels.astype(np.int16)
    colour = channels.max(axis=2) - channels.min(axis=2)
    paint: NDArray[np.uint8] = ((grey > mean + LIGHTER) & (colour < GREYEST) & patch.seen).astype(np.uint8)
    return paint
