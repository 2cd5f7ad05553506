"""A walk to a goal by sight, as an environment of Gymnasium."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from math import cos, inf, radians, sin
from typing import Any, Self

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from virl.errors import BadInput
from virl.geo.globe import Floats, Ints, LatLng, LocalFrame, normalize_heading, signed_float_turn
from virl.platform.city.city import City
from virl.platform.city.interchange import held_street_map
from virl.platform.city.locate import locate
from virl.platform.city.streetview import Camera, Image, Panorama, relocate
from virl.platform.movers.discrete.environment import check_action, check_options
from virl.platform.providers.cities import open_city
from virl.towns.streetview import OfflineStreetView

FORWARD, LEFT, RIGHT, STOP = range(4)
TURN_DEG = 30.0  # R2R's
"""Degrees by which an action turns."""
AHEAD_DEG = 45.0  # links farther to the side are not ahead; chosen
"""Most degrees between the heading and a link that can be walked forward."""
ARRIVE_M = 25.0  # of a goal, along links; chosen: about two panoramas
"""Most metres along links from the goal at which a stop succeeds."""
FARTHEST_M = 100_000.0
"""Bound in metres of the goal's coordinates in the space of observations."""
SIZE, RENDERED = (128, 96), (640, 480)
"""Width and height in pixels of what is seen by default, and of what `render` returns."""

Spot = str | LatLng
"""A start or goal, given as an address or a position."""
Seen = dict[str, Any]
"""An observation: arrays and numbers by name, such as `pixels`."""
DRAWS = 100  # goals tried before a range of distances is called impossible; chosen


class WalkEnv(gymnasium.Env[dict[str, Any], np.int64]):
    """A Gymnasium environment of a walk to a goal by sight: `gymnasium.make("virl/Walk-v0")`.

    Actions are 0 forward along the link nearest to the heading (within 45 degrees, else nothing moves), 1 and
    2 a turn of 30 degrees to the left and right, and 3 stop. `docs/reference/environments.md` describes
    observations, rewards and `info`.

    Args:
        city: its name, its file, or a city that is open; it must be held whole, as made cities and towns of
            OpenStreetMap are.
        start: an address, the name of a place or a position; `None` draws one in each episode.
        goal: likewise.
        within: least and greatest metres of a drawn walk.
        size: width and height of what is seen, pixels in [16, 2048].
        fov: of the camera, horizontal degrees in [10, 120].
        max_steps: actions after which an episode is truncated.
        shaping: reward for each metre nearer to the goal.
        render_mode: `"rgb_array"` or `None`.

    Raises:
        BadInput: a value is out of its range, or the city is asked over a network.
        NotFound: there is no such place.
        NoStreetView: there is no panorama near it.
    """

    arrive_m = ARRIVE_M
    """Most metres along links from the goal at which a stop succeeds."""
    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012 - as declared

    def __init__(
        self,
        city: str | City = "virlton",
        *,
        start: Spot | None = None,
        goal: Spot | None = None,
        within: tuple[float, float] = (50.0, 400.0),
        size: tuple[int, int] = SIZE,
        fov: float = 90.0,
        max_steps: int = 200,
        shaping: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        """Open the city; `within`: metres of drawn walks, `shaping`: reward for each metre nearer."""
        if max_steps < 1:
            raise BadInput(f"max_steps {max_steps}: must be 1 or more")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise BadInput(f"unknown render mode {render_mode!r}: choose 'rgb_array' or None")
        self.render_mode = render_mode
        self._opened = open_city(city) if isinstance(city, str) else None
        self.city: City = self._opened or city  # type: ignore[assignment] # of the two, one is a city
        self.ground: Ground = ground_of(self.city)
        self._camera = Camera(0.0, fov=fov, width=size[0], height=size[1])
        self.size = size
        self._within, self._max_steps, self._shaping = within, max_steps, shaping
        self.action_space = spaces.Discrete(4)
        self.observation_space = spaces.Dict(
            {
                "goal": spaces.Box(-FARTHEST_M, FARTHEST_M, (2,), np.float32),
                "heading": spaces.Box(-1.0, 1.0, (2,), np.float32),
                "pixels": spaces.Box(0, 255, (size[1], size[0], 3), np.uint8),
            }
        )
        self._fixed = self._numbers({"start": start, "goal": goal})
        self._taken, self._goal = 0, 0
        self._left = np.zeros(0)
        self._from_goal: tuple[Floats, Floats] = np.zeros(0), np.zeros(0)
        """Metres (east, north) from the goal to each panorama, once an episode has begun."""
        self.stand(0, 0.0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Start an episode; return (observation, info). Start and goal are drawn unless given as options.

        Args:
            seed: of all that is drawn.
            options: `start` and `goal` of this episode.

        Raises:
            BadInput: no walk of the length asked for is possible, or there is no such option.
            NotFound: there is no such place.
            NoStreetView: there is no panorama near it.
        """
        info = self.begin(seed, options)
        return self._observe(), info

    def begin(self, seed: int | None = None, options: dict[str, Any] | None = None) -> dict[str, Any]:
        """Start an episode as `reset` does, without drawing what is seen; return its info."""
        super().reset(seed=seed)
        here = self._draw(options)
        links = self.ground.panoramas[here].links
        self.stand(here, links[int(self.np_random.integers(len(links)))].heading if links else 0.0)
        self._taken = 0
        return self._info()

    def _draw(self, options: dict[str, Any] | None) -> int:
        """Draw start and goal of an episode, unless given; return the number of the start's panorama."""
        check_options(options, ("start", "goal"))
        given = self._numbers(options or {})
        fixed = {name: given[name] if given[name] is not None else self._fixed[name] for name in given}
        start, goal = self.ground.draw(self.np_random, fixed["start"], fixed["goal"], self._within)
        if goal != self._goal or not len(self._left):
            self._goal, self._left = goal, self.ground.metres_to(goal)
            self._from_goal = LocalFrame(self._end.position).to_metres(*self.ground.positions)
        return start

    def step(self, action: np.int64) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Take action 0 ahead, 1 left, 2 right, 3 stop; return (seen, reward, terminated, truncated, info).

        Raises:
            BadInput: it is none of the action space.
            ResetNeeded: no episode has begun.
        """
        reward, terminated, truncated, info = self.move(action)
        return self._observe(), reward, terminated, truncated, info

    def move(self, action: np.int64) -> tuple[float, bool, bool, dict[str, Any]]:
        """Take an action as `step` does, but draw no pixels; return reward, terminated, truncated and info.

        Raises:
            BadInput: it is none of the action space.
            ResetNeeded: no episode has begun.
        """
        if not len(self._left):
            raise ResetNeeded("no episode has begun: call reset() before step()")
        check_action(self.action_space, action)
        before = self._metres
        self._taken += 1
        if action == FORWARD and self._ahead:
            self.stand(self.ground.number[self._ahead.pano_id], self._ahead.heading)
        elif action in (LEFT, RIGHT):
            turn = TURN_DEG if action == RIGHT else -TURN_DEG
            self.stand(self._here, normalize_heading(self._heading + turn))
        terminated = bool(action == STOP)
        truncated = not terminated and self._taken >= self._max_steps
        nearer = before - self._metres if self._metres < inf and before < inf else 0.0
        reward = float(terminated and self._metres <= self.arrive_m) + self._shaping * nearer
        return reward, terminated, truncated, self._info()

    def render(self) -> Image | None:
        """Return the view ahead, 640 x 480 pixels; `None` without a render mode."""
        return draw_views(self.city, [self.view(RENDERED)])[0] if self.render_mode else None

    def close(self) -> None:
        """Close the city, if this environment opened it."""
        if self._opened is not None:
            self._opened.close()

    @property
    def _panorama(self) -> Panorama:
        """Panorama at which the walker stands."""
        return self.ground.panoramas[self._here]

    @property
    def _metres(self) -> float:
        """Metres along links from the walker to the goal; infinite if there is no way."""
        return float(self._left[self._here])

    def stand(self, here: int, heading: float) -> None:
        """Stand at the panorama with a number, and face a heading in degrees."""
        self._here, self._heading = here, heading
        turns = [abs(signed_float_turn(heading, link.heading)) for link in self._panorama.links]
        least = min(turns, default=inf)
        self._ahead = self._panorama.links[turns.index(least)] if least <= AHEAD_DEG else None
        """Link nearest to the heading; `None` if none is within 45 degrees."""

    def _numbers(self, spots: dict[str, Any]) -> dict[str, int | None]:
        """Return the numbers of the start's and goal's panoramas, by name; `None` for one not given."""
        return {name: self._number(spots.get(name), name) for name in ("start", "goal")}

    def _number(self, spot: Spot | None, name: str) -> int | None:
        """Return the number of the panorama nearest to a start or goal; `None` if it is not given."""
        if spot is None:
            return None
        position = locate(self.city, spot)[1] if isinstance(spot, str) else LatLng(*spot)
        return self.ground.number[relocate(self.city.streetview, position, f"the {name}").id]

    def view(self, size: tuple[int, int]) -> tuple[str, Camera]:
        """Return the panorama's id and the camera of what the walker sees, `size` pixels wide and high."""
        return self._panorama.id, replace(self._camera, heading=self._heading, width=size[0], height=size[1])

    def senses(self) -> Seen:
        """Return what is observed but for pixels: goal as metres (ahead, right), heading as (sin, cos)."""
        angle = radians(self._heading)
        east, north = -float(self._from_goal[0][self._here]), -float(self._from_goal[1][self._here])
        ahead, right = north * cos(angle) + east * sin(angle), east * cos(angle) - north * sin(angle)
        return {
            "goal": np.array([ahead, right], np.float32),
            "heading": np.array([sin(angle), cos(angle)], np.float32),
        }

    def _observe(self) -> Seen:
        """Return the observation."""
        return self.senses() | {"pixels": draw_views(self.city, [self.view(self.size)])[0]}

    @property
    def _end(self) -> Panorama:
        """Panorama at the goal."""
        return self.ground.panoramas[self._goal]

    def _info(self) -> dict[str, Any]:
        """Return a step's info: ids, positions, heading in degrees, metres to the goal (-1: no way)."""
        return {
            "panorama": self._panorama.id,
            "position": np.array(self._panorama.position),
            "heading": self._heading,
            "distance": self._metres if self._metres < inf else -1.0,
            "goal": self._end.id,
            "goal_position": np.array(self._end.position),
            "can_go_forward": self._ahead is not None,
        }


def draw_views(city: City, views: Sequence[tuple[str, Camera]]) -> list[Image]:
    """Return the pixels of a city's views, each given as the id of its panorama and its camera."""
    if isinstance(city.streetview, OfflineStreetView):
        return city.streetview.draw_views(views)
    return [np.array(city.streetview.view(*view).pixels, np.uint8) for view in views]


class WalkVectorEnv(VectorEnv[dict[str, Any], np.ndarray, np.ndarray]):
    """A Gymnasium environment of many walkers in one city, whose views are drawn by all cores at once.

    `gymnasium.make_vec("virl/Walk-v0", num_envs=16)` makes it. Each walker sees what a `WalkEnv` shows that
    is reset with the same seed. One whose episode has ended begins another at the next step, whose action is
    not taken (Gymnasium's `NEXT_STEP`).

    Args:
        num_envs: number of walkers.
        options: arguments of `WalkEnv`, the same for all.

    Raises:
        BadInput: a value is out of its range, or the city is asked over a network.
        NotFound: there is no such place.
        NoStreetView: there is no panorama near it.
    """

    walker: type[WalkEnv] = WalkEnv
    """Class of the single environments."""
    metadata: dict[str, Any] = WalkEnv.metadata | {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, num_envs: int = 1, **options: Any) -> None:
        """Make `num_envs` walkers in one city; `options` are arguments of the single environment."""
        if num_envs < 1:
            raise BadInput(f"num_envs {num_envs}: must be 1 or more")
        first = self.walker(**options)
        self._size = first.size
        self._walkers = [first, *(deepcopy(first) for _ in range(num_envs - 1))]
        self.num_envs, self.render_mode = num_envs, first.render_mode
        self.single_observation_space, self.single_action_space = first.observation_space, first.action_space
        self.observation_space = batch_space(first.observation_space, num_envs)
        self.action_space = batch_space(first.action_space, num_envs)
        self._has_ended = np.zeros(num_envs, bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Start an episode of each walker; return (observations, infos).

        Args:
            seed: of the first walker, the next having the next; or one of each.
            options: `start` and `goal` of all these episodes.

        Raises:
            BadInput: there are not as many seeds as walkers, or a walker cannot begin.
            NotFound: there is no such place.
            NoStreetView: there is no panorama near it.
        """
        seeds = [seed + number for number in range(self.num_envs)] if isinstance(seed, int) else seed
        if seeds is not None and len(seeds) != self.num_envs:
            raise BadInput(f"{len(seeds)} seeds for {self.num_envs} walkers: give one for each")
        infos: dict[str, Any] = {}
        for number, walker in enumerate(self._walkers):
            info = walker.begin(None if seeds is None else seeds[number], options)
            infos = self._add_info(infos, info, number)
        self._has_ended[:] = False
        return self._observe(), infos

    def step(self, actions: np.ndarray) -> tuple[Seen, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Take each walker's action, (walkers,); return observations, rewards, terminated, truncated, info.

        Raises:
            BadInput: there are not as many actions as walkers, or one is none of the action space.
            ResetNeeded: no episode has begun.
        """
        if len(actions) != self.num_envs:
            raise BadInput(f"{len(actions)} actions for {self.num_envs} walkers: give one for each")
        rewards, ends = np.zeros(self.num_envs), np.zeros((2, self.num_envs), bool)
        infos: dict[str, Any] = {}
        for number, (walker, action) in enumerate(zip(self._walkers, actions, strict=True)):
            if self._has_ended[number]:
                info = walker.begin()
            else:
                rewards[number], *ends[:, number], info = walker.move(action)
            infos = self._add_info(infos, info, number)
        self._has_ended = ends[0] | ends[1]
        return self._observe(), rewards, ends[0], ends[1], infos

    def render(self) -> tuple[Image, ...] | None:
        """Return the view ahead of each walker, 640 x 480 pixels; `None` without a render mode."""
        return tuple(self._draw(RENDERED)) if self.render_mode else None

    def close_extras(self, **_: Any) -> None:
        """Close the city, if this environment opened it."""
        self._walkers[0].close()

    def _observe(self) -> Seen:
        """Return the observations of all walkers, stacked by name."""
        senses = [walker.senses() for walker in self._walkers]
        stacked = {name: np.stack([one[name] for one in senses]) for name in senses[0]}
        return stacked | {"pixels": np.stack(self._draw(self._size))}

    def _draw(self, size: tuple[int, int]) -> list[Image]:
        """Return what each walker sees as a picture of this width and height in pixels."""
        return draw_views(self._walkers[0].city, [walker.view(size) for walker in self._walkers])


@dataclass(frozen=True, slots=True)
class Ground:
    """A city's street graph: its panoramas, and the metres between linked ones."""

    panoramas: tuple[Panorama, ...]
    number: dict[str, int]
    """The number of each panorama, by its id."""
    metres: csr_array
    """Metres from panorama to panorama along one link, sparse, shape (n, n)."""
    positions: Floats
    """Latitudes and longitudes of the panoramas in degrees, shape (2, n)."""

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        """Return the same object: it never changes, and copies of an environment share it."""
        return self

    def metres_to(self, goal: int) -> Floats:
        """Return metres along links from each panorama to the goal, shape (n,); infinite without a way."""
        return self._lengths_from(self.metres.T.tocsr(), goal)

    def draw(
        self, rng: np.random.Generator, start: int | None, goal: int | None, within: tuple[float, float]
    ) -> tuple[int, int]:
        """Draw panorama numbers (start, goal), `within` (least, most) metres apart; given ones stay.

        Args:
            rng: source of chance.
            start: number of a panorama; `None` to draw one.
            goal: number of a panorama; `None` to draw one.
            within: least and most metres along links.

        Raises:
            BadInput: no panoramas are so far apart.
        """
        if start is not None and goal is not None:
            return start, goal
        for _ in range(DRAWS if goal is None and start is None else 1):
            if start is not None:
                fit = self._nodes_between(self._lengths_from(self.metres, start), within)
                if len(fit):
                    return start, int(rng.choice(fit))
            else:
                end = int(rng.integers(len(self.panoramas))) if goal is None else goal
                fit = self._nodes_between(self.metres_to(end), within)
                if len(fit):
                    return int(rng.choice(fit)), end
        raise BadInput(f"no walk of {within[0]:g} to {within[1]:g} m is possible: change `within`")

    @staticmethod
    def _nodes_between(metres: Floats, within: tuple[float, float]) -> Ints:
        """Return the numbers of panoramas whose metres are within a range."""
        return np.flatnonzero((metres >= within[0]) & (metres <= within[1]))

    @staticmethod
    def _lengths_from(metres: csr_array, start: int) -> Floats:
        """Return shortest metres by links from a panorama to each, shape (n,); infinity if out of reach."""
        found: Floats = dijkstra(metres, indices=start)
        return found


def ground_of(city: City) -> Ground:
    """Return the street graph of a city kept in memory; raise `BadInput` for one asked over a network.

    Raises:
        BadInput: the city is asked over a network.
    """
    panoramas = tuple(city.streetview.panorama(name) for name in held_street_map(city).panorama_ids())
    number = {panorama.id: index for index, panorama in enumerate(panoramas)}
    links = {
        (start, number[link.pano_id]): link.distance
        for start, panorama in enumerate(panoramas)
        for link in panorama.links
    }
    ends = np.array(list(links), np.int64).reshape(-1, 2)
    size = len(panoramas), len(panoramas)
    metres = csr_array((list(links.values()), (ends[:, 0], ends[:, 1])), shape=size)
    positions = np.array([panorama.position for panorama in panoramas]).reshape(-1, 2).T
    return Ground(panoramas, number, metres, positions)
