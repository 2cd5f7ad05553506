"""Sight down a road from afar: the boards of shops, other things, and the look of the whole."""

from collections import Counter
from dataclasses import dataclass

from virl.geo.globe import LatLng, destination
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.base import Detector
from virl.platform.perception.road_scene import RoadScene, measure_scene
from virl.platform.perception.signs import SIGN

BOARD_M = 0.95
"""Height of a board over a shop: the distance by it is within 15 % of the true one for half of the boards
in Helsinki, Triesen and Mauren."""
REACH_M = 200.0  # chosen: farther boards are a few pixels high
FAR_FOV = 24.0  # chosen: at 600 pixels a board in 200 m is nearly 7 pixels high; 22.5 misses more of them
_WIDTH, _HEIGHT = 600, 250
"""Pixels of a view far down a road; chosen: the most that Google sells as a cheap thumbnail."""
THINGS = ("parked car", "planter", "bicycle stand", "bus stop", "traffic light")
"""Things of a street that a finder is asked for beside boards; few finders know any."""


@dataclass(frozen=True, slots=True)
class SeenFront:
    """A shop front seen from afar down a road."""

    position: LatLng
    """Position by its direction and the height of its board."""
    metres: float
    """Metres from the camera."""


@dataclass(frozen=True, slots=True)
class RoadSight:
    """Sight down a road: fronts, other things and the scene; empty without a look."""

    fronts: tuple[SeenFront, ...] = ()
    things: tuple[tuple[str, int], ...] = ()
    """Other things by name, each with its number."""
    scene: RoadScene | None = None
    """The look of the whole, if it was measured."""

    @property
    def town(self) -> float:
        """The share of houses less that of green, [-1, 1]; 0 where nobody looked."""
        return self.scene.built - self.scene.green if self.scene else 0.0

    @property
    def look(self) -> str:
        """The scene and the things in words, boards left out; empty where nobody looked."""
        things = (f"{thing}: {number}" for thing, number in self.things)
        return ", ".join([str(self.scene), *things]) if self.scene else ""

    def __str__(self) -> str:
        """Return all of it in words."""
        nearest = min((front.metres for front in self.fronts), default=None)
        boards = boards_in_words(len(self.fronts), nearest)
        return f"{boards}; {self.look}" if self.look else boards


def far_camera(heading: float) -> Camera:
    """Return the camera that shows the far fronts of a road."""
    return Camera(heading, fov=FAR_FOV, width=_WIDTH, height=_HEIGHT)


def sight_in(view: View, here: LatLng, finder: Detector) -> RoadSight:
    """Return what a view shows of a road, by its pixels alone; fronts within `REACH_M`.

    Args:
        view: down a road.
        here: where its camera stands.
        finder: finds boards and calls them signs, such as `front-finder`.

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
    """Return how many boards of shops are in sight down a road, and from how far on."""
    if nearest is None:
        return "no boards of shops in sight"
    boards = "1 board" if number == 1 else f"{number} boards"
    return f"{boards} of shops in sight, from about {max(nearest, 10):.0f} m on"
