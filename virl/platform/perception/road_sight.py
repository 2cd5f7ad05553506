"""Sight down a road from afar: the boards of shops, other things, and the look of the whole in numbers."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import atan2, degrees, radians, tan

import numpy as np
from numpy.typing import NDArray

from virl.extras import Late
from virl.geo.globe import LatLng, destination
from virl.platform.city.streetview import Camera, Image, View
from virl.platform.perception.base import Detector
from virl.platform.perception.ground import CAMERA_HEIGHT_M
from virl.platform.perception.images import pixels_of
from virl.platform.perception.signs import SIGN

cv2 = Late("cv2", extra="eyes")

Mask = NDArray[np.bool_]
"""Booleans, one for each pixel, shape (height, width)."""

_LOWEST, _HIGHEST = -6.0, 3.0
"""Pitches in degrees between which ground floors down a street stand, seen from a camera at 2.5 m."""
_SATURATED, _LIT = 110, 60
"""Saturation and value, of 255, above which a pixel is strongly coloured."""
_GREENERY, _SKY = (70, 170), (195, 235)
"""(least, largest) hues in degrees of leaves and grass, and of blue sky."""
_SKY_LIT = 150
"""Value, of 255, above which a blue pixel is sky."""
_EXCESS_GREEN = 0.12
"""Least excess of green of leaves and grass, (2g - r - b) / (r + g + b) (Woebbecke et al., 1995).
Chosen: a house in pale green has less."""
_PALE, _WHITE = 28, 215
"""Largest saturation and least value, of 255, of clouds."""
_EDGE = (80, 160)
"""Lower and upper threshold of Canny's detector of edges."""
_WIDTH_AT_M = (40.0, 45.0, 50.0, 55.0, 60.0)
"""Metres ahead at which a road's width is measured; chosen: the nearest ground in a far view is at 30 m."""
_ALIKE = 18.0
"""Largest difference in a CIELAB channel, of 255, between colours of one kind of ground."""
_GREY, _DARK = 14.0, 50.0
"""Largest difference of paving's a and b from grey, and its least lightness, in CIELAB channels of 255."""
_GAP = 31
"""Width in pixels of gaps in paving that are closed; chosen: that of a zebra's stripe at 30 m."""

HOUSES = {0.75: "houses close by", 0.35: "some houses", 0.1: "few houses", 0.0: "hardly any house"}
"""Words for the houses on a road, by the least share, [0, 1], of built pixels above the horizon; chosen."""
GREEN = {0.25: "much vegetation", 0.05: "some vegetation", 0.0: "hardly any vegetation"}
"""Words for a road's vegetation, by the least share, [0, 1], of green pixels in the view; chosen."""
COLOURFUL = 0.04
"""Least share, [0, 1], of strongly coloured pixels in ground floors that are called colourful; chosen."""


@dataclass(frozen=True, slots=True)
class RoadScene:
    """The look of a road in a view down it, measured from pixels alone."""

    sky: float
    """Share of the pixels above the horizon that are sky, [0, 1]."""
    green: float
    """Share of the view's pixels that are leaves or grass, [0, 1]."""
    built: float
    """Share above the horizon that is neither sky nor green, [0, 1]: more where houses are high and close."""
    colourful: float
    """Share of the ground floors' pixels with strong colours, [0, 1]: fronts, goods, people, cars."""
    detail: float
    """Share of the ground floors' pixels that are edges, [0, 1]: more where the street is full."""
    width_m: float | None = None
    """Width of the paving 40 to 60 m ahead, in metres; `None` where there is none in sight."""

    def __str__(self) -> str:
        """Return the scene in words, each with its number."""
        told = [
            f"{_word(self.built, HOUSES)} (above the horizon {self.built:.0%} built, {self.sky:.0%} sky)",
            f"{_word(self.green, GREEN)} ({self.green:.0%})",
        ]
        if self.colourful >= COLOURFUL:
            told.append(f"colourful ground floors ({self.colourful:.0%})")
        told.append(f"paved {self.width_m:.0f} m wide" if self.width_m else "no paved road in sight")
        return ", ".join(told)


def measure_scene(view: View) -> RoadScene:
    """Return the look of a road, measured in a level or nearly level view down it."""
    pixels = np.ascontiguousarray(pixels_of(view))
    hue, saturation, value = _hsv(pixels)
    red, green_, blue_ = np.moveaxis(pixels.astype(np.float32), 2, 0)
    green = 2 * green_ - red - blue_ > _EXCESS_GREEN * (red + green_ + blue_ + 1)
    horizon = _row(view.camera, 0.0)
    blue = _hue_within(hue, _SKY) & (value > _SKY_LIT)
    sky = (blue | ((saturation < _PALE) & (value > _WHITE))) & ~green
    # Sky hangs together with the top of the picture: white walls and cars do not.
    _, parts = cv2.connectedComponents(sky.astype(np.uint8))
    sky = (sky & np.isin(parts, np.unique(parts[0][sky[0]])))[:horizon]
    built = ~sky & ~green[:horizon]
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    edges = cv2.Canny(grey, *_EDGE)[_row(view.camera, _HIGHEST) : _row(view.camera, _LOWEST)] > 0
    return RoadScene(
        sky=_share(sky),
        green=_share(green),
        built=_share(built),
        colourful=colourful_share(view),
        detail=_share(edges),
        width_m=_paved_width(pixels, view.camera),
    )


def colourful_share(view: View) -> float:
    """Return the share of the ground-floor rows of a view that is strongly coloured, [0, 1].

    Greenery and sky are left out. Shops paint their fronts and hang out awnings; houses seldom do. Of two
    roads in made cities (seeds 2 and 3; fov 60), one with five shops or more within 100 m and one with one or
    none, the first has the larger share 94 times in 100.
    """
    band = pixels_of(view)[_row(view.camera, _HIGHEST) : _row(view.camera, _LOWEST)]
    if not band.size:
        return 0.0
    hue, saturation, value = _hsv(np.ascontiguousarray(band))
    sky = _hue_within(hue, _SKY) & (value > _SKY_LIT)
    return _share((saturation > _SATURATED) & (value > _LIT) & ~_hue_within(hue, _GREENERY) & ~sky)


def _hsv(pixels: Image) -> tuple[NDArray[np.float32], Image, Image]:
    """Return (hue in degrees, saturation, value) of RGB pixels, the latter two in [0, 255]."""
    hue, saturation, value = cv2.split(cv2.cvtColor(pixels, cv2.COLOR_RGB2HSV_FULL))
    return hue.astype(np.float32) * np.float32(360 / 256), saturation.astype(np.uint8), value.astype(np.uint8)


def _hue_within(hue: NDArray[np.float32], degrees: tuple[float, float]) -> Mask:
    """Return a mask of the pixels whose hue lies between two, all in degrees."""
    return (hue > degrees[0]) & (hue < degrees[1])


def _row(camera: Camera, pitch: float) -> int:
    """Return the row of a camera's view at a pitch, degrees above the horizon, clipped to the view."""
    row = round(camera.height / 2 - camera.focal * tan(radians(pitch - camera.pitch)))
    return min(max(row, 0), camera.height)


def _share(mask: Mask) -> float:
    """Return the share of a mask's pixels that are True, [0, 1]; 0 for an empty mask."""
    return float(mask.mean()) if mask.size else 0.0


def _paved_width(pixels: Image, camera: Camera) -> float | None:
    """Return the metres of width of the paving of a road in a view; `None` if there is none in sight."""
    lab = cv2.cvtColor(pixels, cv2.COLOR_RGB2LAB).astype(np.float32)
    middle, near = camera.width // 2, camera.width // 20
    feet = np.median(lab[-camera.height // 20 :, middle - near : middle + near].reshape(-1, 3), axis=0)
    if feet[0] < _DARK or np.abs(feet[1:] - 128.0).max() > _GREY:
        return None
    widths = []
    for metres in _WIDTH_AT_M:
        row = _row(camera, -degrees(atan2(CAMERA_HEIGHT_M, metres)))
        if row < camera.height:
            alike = (np.abs(lab[row] - feet).max(axis=1) < _ALIKE).astype(np.uint8)[None]
            alike = cv2.morphologyEx(alike, cv2.MORPH_CLOSE, np.ones((1, _GAP), np.uint8))[0]
            ends = np.flatnonzero(np.diff(alike.astype(np.int8), prepend=0, append=0))
            widths += [float((ends[1::2] - ends[::2]).max(initial=0)) * metres / camera.focal]
    width = float(np.median(widths)) if widths else 0.0
    return width if width >= 1.0 else None


def _word(share: float, words: Mapping[float, str]) -> str:
    """Return the words for a share, [0, 1], by the least share of each, from the highest share down."""
    return next(word for least, word in words.items() if share >= least)


BOARD_M = 0.95
"""Assumed height in metres of a board over a shop, from which its distance is estimated.
The estimate is within 15 % of the truth for half of the boards in Helsinki, Triesen and Mauren."""
REACH_M = 200.0
"""Largest estimated distance in metres of a board that counts; chosen: farther ones are a few pixels high."""
FAR_FOV = 24.0  # chosen: at 600 pixels a board in 200 m is nearly 7 pixels high; 22.5 misses more of them
"""Horizontal field of view in degrees of a view far down a road."""
_WIDTH, _HEIGHT = 600, 250
"""Size in pixels of a view far down a road; chosen: the largest cheap thumbnail of Google."""
THINGS = ("parked car", "planter", "bicycle stand", "bus stop", "traffic light")
"""Labels of street objects asked for beside boards; `front-finder` may find them in drawn cities only."""


@dataclass(frozen=True, slots=True)
class SeenFront:
    """A shop front seen from afar down a road."""

    position: LatLng
    """Position, estimated from the direction and the height of the front's board."""
    metres: float
    """Estimated distance from the camera in metres."""


@dataclass(frozen=True, slots=True)
class RoadSight:
    """The shop fronts, other objects and look of a road in a view down it; empty where nobody looked."""

    fronts: tuple[SeenFront, ...] = ()
    """Shop fronts in sight."""
    things: tuple[tuple[str, int], ...] = ()
    """(label, number) of each kind of other object in sight."""
    scene: RoadScene | None = None
    """Look of the road; `None` if nobody looked."""

    @property
    def town(self) -> float:
        """Share of houses less share of green, [-1, 1]: more is more like a town; 0 where nobody looked."""
        return self.scene.built - self.scene.green if self.scene else 0.0

    @property
    def look(self) -> str:
        """Look of the road and its objects but for shop fronts, in words; empty where nobody looked."""
        things = (f"{thing}: {number}" for thing, number in self.things)
        return ", ".join([str(self.scene), *things]) if self.scene else ""

    def __str__(self) -> str:
        """Return in words the boards, the look of the road and the other objects in sight."""
        nearest = min((front.metres for front in self.fronts), default=None)
        boards = boards_in_words(len(self.fronts), nearest)
        return f"{boards}; {self.look}" if self.look else boards


def far_camera(heading: float) -> Camera:
    """Return the narrow camera that looks far down a road whose `heading` is in degrees from north."""
    return Camera(heading, fov=FAR_FOV, width=_WIDTH, height=_HEIGHT)


def sight_in(view: View, here: LatLng, finder: Detector) -> RoadSight:
    """Return the shop fronts within `REACH_M` metres, other objects and look of the road in a view.

    Args:
        view: down a road.
        here: position of its camera.
        finder: detector that labels boards as signs, such as `front-finder`.

    Raises:
        ModelUnavailable: the finder's model is missing.
    """
    fronts = []
    [found] = finder.detect([view], [SIGN, *THINGS])
    for board in (one for one in found if one.label == SIGN):
        left, top, right, bottom = board.box
        metres = BOARD_M * view.camera.focal / max(bottom - top, 1.0)
        if metres <= REACH_M:
            heading, _ = view.camera.direction((left + right) / 2, (top + bottom) / 2)
            fronts.append(SeenFront(destination(here, heading, metres), metres))
    things = Counter(one.label for one in found if one.label != SIGN)
    return RoadSight(tuple(fronts), tuple(sorted(things.items())), measure_scene(view))


def boards_in_words(number: int, nearest: float | None) -> str:
    """Return in words how many shop boards are in sight and how many metres off the `nearest` is, if any."""
    if nearest is None:
        return "no boards of shops in sight"
    boards = "1 board" if number == 1 else f"{number} boards"
    return f"{boards} of shops in sight, from about {max(nearest, 10):.0f} m on"
