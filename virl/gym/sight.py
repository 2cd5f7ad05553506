"""A search for a kind of place by its sign, as an environment of Gymnasium."""

from dataclasses import dataclass, field
from math import inf
from typing import Any, Self

import numpy as np
from gymnasium import spaces
from scipy.sparse.csgraph import dijkstra

from virl.errors import BadInput, UnknownName
from virl.geo.globe import Floats, Ints, bearing, distances
from virl.gym.walk import Ground, Seen, WalkEnv, WalkVectorEnv
from virl.platform.city.city import City, Truth
from virl.platform.city.places import Place
from virl.platform.city.streetview import Camera
from virl.platform.movers.discrete.environment import check_options

KINDS = ("cafe", "bar", "bakery", "pharmacy", "hair_care", "clothing_store", "supermarket", "lodging")
"""Place types that are searched for by default; chosen: shops of which a town has eight or more."""
NEAREST_M, FARTHEST_M = 15.0, 60.0
"""Least and greatest metres from a start to a place whose sign can be seen from there; chosen."""
REACHED_M = 15.0
"""Most metres to a place at which a stop succeeds, if its sign can be seen from there; chosen."""
IN_SIGHT = 0.5
"""Least share of a sign that must be visible for it to count as seen, as in the benchmark `sight`."""
_LENS = 5.0, 90.0, 640, 640
"""Pitch and field of view in degrees, width and height in pixels, of the views that decide what is seen."""
_ALL_M = 20_000.0
_DRAWS = 100  # kinds and places tried before a town is called unfit; chosen


@dataclass(frozen=True, slots=True, eq=False)
class SignSights:
    """A memory of which signs can be seen from which panoramas of a town, by its ground truth."""

    truth: Truth
    ground: Ground
    places: dict[str, tuple[Place, ...]]
    """Places with each kind as their first type, by kind."""
    _seen: dict[tuple[int, str], bool] = field(default_factory=dict)
    """True if a place's sign can be seen, by number of the panorama and id of the place."""
    _metres: dict[str, Floats] = field(default_factory=dict)
    """Metres along links from each panorama to the nearest one where a stop succeeds, by kind."""

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        """Return the same object: copies of an environment share what is known of the town."""
        return self

    def draw(self, rng: np.random.Generator, kinds: tuple[str, ...]) -> tuple[str, int]:
        """Draw (a kind, the number of a panorama 15 to 60 m from a place of it whose sign can be seen there).

        Raises:
            BadInput: the town has no such panorama.
        """
        for _ in range(_DRAWS):
            kind = kinds[int(rng.integers(len(kinds)))]
            if not self.places[kind]:
                continue
            place = self.places[kind][int(rng.integers(len(self.places[kind])))]
            metres = self.metres_to(kind)
            for node in rng.permutation(self._nodes_near(place, NEAREST_M, FARTHEST_M)):
                if 0 < metres[node] < inf and self.shows(int(node), place):
                    return kind, int(node)
        raise BadInput(f"no sign of {', '.join(kinds)} can be seen from {NEAREST_M:g} to {FARTHEST_M:g} m")

    def metres_to(self, kind: str) -> Floats:
        """Return metres along links from each panorama to the next where a stop succeeds, or infinity."""
        if kind not in self._metres:
            reached = {
                int(node)
                for place in self.places[kind]
                for node in self._nodes_near(place, 0.0, REACHED_M)
                if self.shows(int(node), place)
            }
            none = np.full(len(self.ground.panoramas), inf)
            ways = self.ground.metres.T.tocsr()
            self._metres[kind] = dijkstra(ways, indices=sorted(reached), min_only=True) if reached else none
        return self._metres[kind]

    def shows(self, node: int, place: Place) -> bool:
        """Return whether at least half of a place's sign can be seen from a panorama, by its number."""
        key = node, place.id
        if key not in self._seen:
            here = self.ground.panoramas[node]
            view = Camera(bearing(here.position, place.position), *_LENS)
            self._seen[key] = any(
                sign.place_id == place.id and sign.visible_fraction >= IN_SIGHT and not sign.on_directory
                for sign in self.truth.visible(here.id, view, kinds={"sign"})
            )
        return self._seen[key]

    def _nodes_near(self, place: Place, least: float, most: float) -> Ints:
        """Return the numbers of the panoramas between two distances, in metres, from a place."""
        lat, lng = self.ground.positions
        metres = distances(lat, lng, *place.position)
        return np.flatnonzero((metres >= least) & (metres <= most))


class SightEnv(WalkEnv):
    """A Gymnasium environment of a search for a kind of place: `gymnasium.make("virl/Sight-v0")`.

    An episode begins 15 to 60 m from a place of that kind whose sign can be seen from there. The walker sees
    pixels and is told the kind; no observation has a coordinate. Actions are those of `virl/Walk-v0`. A stop
    succeeds within 15 m of a place of that kind, of any, whose sign can be seen from there.

    Args:
        city: its name, its file, or a city that is open; one that virl draws, since its truth decides.
        kinds: place types that are searched for, one drawn in each episode.
        size: width and height of what is seen, pixels in [16, 2048].
        fov: of the camera, horizontal degrees in [10, 120].
        max_steps: actions after which an episode is truncated.
        shaping: reward for each metre nearer to the nearest success.
        render_mode: `"rgb_array"` or `None`.

    Raises:
        BadInput: a value is out of its range, the city has no ground truth, or no place of a kind.
    """

    arrive_m = 0.0
    """Most metres that `metres_from` may be for a stop to succeed: 0, as only panoramas in sight count."""

    def __init__(
        self,
        city: str | City = "virlton",
        *,
        kinds: tuple[str, ...] = KINDS,
        size: tuple[int, int] = (84, 84),
        fov: float = 90.0,
        max_steps: int = 40,
        shaping: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        """Open the city and find its places; `fov` in degrees, `shaping`: reward for each metre nearer."""
        super().__init__(
            city, size=size, fov=fov, max_steps=max_steps, shaping=shaping, render_mode=render_mode
        )
        self.kinds, self.kind = tuple(kinds), ""
        self.sights = _sights_in(self.city, self.ground, self.kinds)
        pixels = spaces.Box(0, 255, (size[1], size[0], 3), np.uint8)
        self.observation_space = spaces.Dict({"kind": spaces.Discrete(len(self.kinds)), "pixels": pixels})

    def metres_from(self, pano_id: str) -> float:
        """Return metres along links from a panorama to the next where a stop succeeds, or infinity."""
        return float(self._left[self.ground.number[pano_id]])

    def _draw(self, options: dict[str, Any] | None) -> int:
        """Draw the kind of an episode, unless given, and its start; return the start's number."""
        check_options(options, ("kind",))
        kinds = self.kinds if not options else (options["kind"],)
        if unknown := set(kinds) - set(self.kinds):
            raise UnknownName("kind of place", unknown.pop(), list(self.kinds))
        self.kind, start = self.sights.draw(self.np_random, kinds)
        self._left = self.sights.metres_to(self.kind)
        return start

    def senses(self) -> Seen:
        """Return what is observed but for pixels: the kind's number among `kinds`."""
        return {"kind": np.int64(self.kinds.index(self.kind))}

    def _info(self) -> dict[str, Any]:
        """Return a step's info: kind, panorama, position, heading in degrees, metres to walk (-1: no way)."""
        return {"kind": self.kind} | {
            name: value for name, value in super()._info().items() if not name.startswith("goal")
        }


class SightVectorEnv(WalkVectorEnv):
    """A Gymnasium environment of many searches in one town: `gymnasium.make_vec("virl/Sight-v0", 16)`."""

    walker = SightEnv


def _sights_in(city: City, ground: Ground, kinds: tuple[str, ...]) -> SignSights:
    """Return a town's places of some kinds with a memory of where their signs are seen.

    Raises:
        BadInput: the city has no ground truth, or no place of any of the kinds.
    """
    if city.truth is None:
        raise BadInput(f"{city.title} has no ground truth: choose a town that virl draws, such as virlton")
    every = sorted(city.places.nearby(city.center, _ALL_M), key=lambda place: place.id)
    places = {kind: tuple(one for one in every if one.types[:1] == (kind,)) for kind in kinds}
    if not any(places.values()):
        raise BadInput(
            f"{city.title} has no place of the kinds {', '.join(kinds) or '(none)'}: change `kinds`"
        )
    return SignSights(city.truth, ground, places)
