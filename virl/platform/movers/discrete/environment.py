"""Gymnasium environments of episodes on a navigation graph: one walker, or thousands at once.

Both need the extra `gym`, and share their spaces, rewards and ends:

- **Actions**: `Discrete(5)`, the numbers of `ACTIONS`. Those that are not possible are validated, as
  everywhere; `info["action_mask"]` says which are carried out as asked.
- **Observations**: a `Dict` of `node` (its number), `heading` (sine and cosine), `arrived` (whether the last
  action moved, which tells at crossings), `links` (sine and cosine of the turn to each link, clockwise from
  the heading, filled up with zeros), `link_mask` (which of them are there), and `episode`: its number in
  `episodes`, by which a learner looks up the instruction, encoded once, instead of reading it at every step.
- **Reward**: 1 at the end of an episode within one link of the target, so that the mean return is task
  completion; with `shaping`, also that much for each link that an action gets nearer to the target.
- **Ends**: terminated by a stop, truncated by the limit of actions.
- **Info**: `panorama` (id), `distance` (links to the target, -1 where no way leads there), `action_mask`,
  after a step `carried` (the number of the action that was carried out), and with one walker, after a reset,
  `instruction` and `episode_id`.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from virl.errors import BadInput, UnknownName
from virl.extras import require
from virl.geo.globe import Floats, Ints
from virl.platform.city.graph import InstructionEpisode, NavigationGraph
from virl.platform.movers.discrete.actions import MAX_ACTIONS, VELMA, Action, Rules, WalkState
from virl.platform.movers.discrete.table import ACTIONS, Walker, WalkerBatch
from virl.platform.movers.discrete.task import Observation, WalkTask, build_task
from virl.platform.providers.graph.touchdown import Dataset

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ModuleNotFoundError:
    require("gym", "gymnasium", what="an environment")
    raise

_STOP = ACTIONS.index(Action.STOP)


class StreetWalkEnv(gymnasium.Env[dict[str, Any], np.int64]):
    """A Gymnasium environment of one walker that follows instructions over a street graph.

    Args:
        graph: street graph of the episodes.
        episodes: episodes to draw from.
        dataset: data set whose rules of starting they follow.
        rules: effects of actions.
        max_actions: largest number of actions, the opening of Map2seq episodes included.
        shaping: reward for each link that an action gets nearer to the target.

    Raises:
        BadInput: there are no episodes.
        NoStreetView: the graph does not have the start or the target of an episode.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        graph: NavigationGraph,
        episodes: Sequence[InstructionEpisode],
        dataset: Dataset = "touchdown",
        rules: Rules = VELMA,
        *,
        max_actions: int = MAX_ACTIONS,
        shaping: float = 0.0,
    ) -> None:
        """Build the task of the episodes; `shaping` is the reward for each link nearer to the target."""
        self.task = build_task(graph, episodes, dataset, rules)
        self.observation_space = _observation_space(self.task)
        self.action_space = spaces.Discrete(len(ACTIONS))
        self._max_actions, self._shaping = max_actions, shaping
        self._walker = Walker(self.task.table, self.task.table.state(int(self.task.start[0])))
        self._episode, self._taken = 0, self.task.taken

    @property
    def state(self) -> WalkState:
        """State of the walker for an oracle: node, heading and the node before."""
        return self._walker.state

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin episode number `options["episode"]`, else one drawn at random; return (observation, info).

        Raises:
            BadInput: `options["episode"]` is no number of an episode, or there is another option.
        """
        check_options(options, ("episode",))
        super().reset(seed=seed)
        count = len(self.task.episodes)
        chosen = (options or {}).get("episode")
        self._episode = int(self.np_random.integers(count)) if chosen is None else int(chosen)
        if not 0 <= self._episode < count:
            raise BadInput(f"no episode {self._episode}: choose one from 0 to {count - 1}")
        self._walker.number, self._taken = int(self.task.start[self._episode]), self.task.taken
        episode = self.task.episodes[self._episode]
        return self._observe(), self._info() | {
            "instruction": episode.instruction,
            "episode_id": episode.id,
        }

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take an action by number; return (observation, reward, terminated, truncated, info).

        The reward is 1 for an end near the target, plus any shaping.

        Raises:
            BadInput: the number is not in the action space.
        """
        check_action(self.action_space, action)
        before = self._distance()
        carried = self._walker.step(ACTIONS[action])
        self._taken += 1
        terminated = carried is Action.STOP
        truncated = not terminated and self._taken >= self._max_actions
        near = (terminated or truncated) and self.task.is_near(self._walker.number, self._episode)
        reward = float(near) + self._shaping * (before - self._distance())
        info = self._info() | {"carried": ACTIONS.index(carried)}
        return self._observe(), reward, terminated, truncated, info

    def _observe(self) -> Observation:
        """Return the observation of the walker in its present state and episode."""
        return self.task.observe(self._walker.number, self._episode)

    def _distance(self) -> int:
        """Return the number of links from the walker to its target; `NO_WAY` if no way leads there."""
        node = self.task.table.node[self._walker.number]
        return int(self.task.hops(self._episode, node))

    def _info(self) -> dict[str, Any]:
        """Return the info of a step: panorama id, distance in links to the target, and action mask."""
        table, number = self.task.table, self._walker.number
        return {
            "panorama": table.graph.ids[table.node[number]],
            "distance": self._distance(),
            # A copy: what a caller does to it must not change the task.
            "action_mask": self.task.possible[number].copy(),
        }


class StreetWalkVectorEnv(VectorEnv[dict[str, Any], Ints, np.ndarray]):
    """A Gymnasium environment of many walkers on one graph, each in an episode of its own.

    An episode that ended begins anew, with another, at the next step, whose action is not carried out
    (Gymnasium's `NEXT_STEP`). `num_envs` is the number of walkers; the other arguments, and the errors that
    are raised, are those of `StreetWalkEnv`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as Gymnasium declares it
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        graph: NavigationGraph,
        episodes: Sequence[InstructionEpisode],
        num_envs: int,
        dataset: Dataset = "touchdown",
        rules: Rules = VELMA,
        *,
        max_actions: int = MAX_ACTIONS,
        shaping: float = 0.0,
    ) -> None:
        """Build the task of the episodes; `shaping` is the reward for each link nearer to the target."""
        self.task = build_task(graph, episodes, dataset, rules)
        self.num_envs = num_envs
        self.single_observation_space = _observation_space(self.task)
        self.single_action_space = spaces.Discrete(len(ACTIONS))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._max_actions, self._shaping = max_actions, shaping
        self._ids = np.array(graph.ids, object)
        self._walkers = WalkerBatch(self.task.table, np.zeros(num_envs, np.int64))
        self._episode = np.zeros(num_envs, np.int64)
        self._taken = np.zeros(num_envs, np.int64)
        self._ended = np.zeros(num_envs, bool)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode for each walker, `options["episodes"]` or random ones; return (observation, info).

        Raises:
            BadInput: `options["episodes"]` are not as many numbers of episodes as there are walkers, or
                there is another option.
        """
        check_options(options, ("episodes",))
        super().reset(seed=seed)
        chosen = (options or {}).get("episodes")
        episodes = self._draw_episodes(self.num_envs) if chosen is None else np.asarray(chosen, np.int64)
        count = len(self.task.episodes)
        if episodes.shape != (self.num_envs,) or not 0 <= episodes.min() <= episodes.max() < count:
            raise BadInput(f"give {self.num_envs} episode numbers from 0 to {count - 1}")
        self._begin(np.ones(self.num_envs, bool), episodes)
        return self._observe(), self._info(self._distance())

    def step(
        self, actions: Ints
    ) -> tuple[Observation, Floats, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take an action number for each walker; return (observation, rewards, terminated, truncated, info).

        Raises:
            BadInput: there are not as many actions as walkers, or one is no number of an action.
        """
        fresh, before = self._ended, self._distance()
        carried = self._walkers.step(actions)
        self._taken += 1
        terminated = carried == _STOP
        truncated = ~terminated & (self._taken >= self._max_actions)
        # Those that begin anew took no action: what the table says of theirs does not count.
        terminated, truncated = terminated & ~fresh, truncated & ~fresh
        self._begin(fresh, self._draw_episodes(int(fresh.sum())))
        distance = self._distance()
        rewards = np.where(fresh, 0.0, self._shaping * (before - distance))
        self._ended = terminated | truncated
        ended = np.flatnonzero(self._ended)
        rewards[ended] += self.task.is_near(self._walkers.numbers[ended], self._episode[ended])
        info = self._info(distance)
        info["carried"], info["_carried"] = np.where(fresh, 0, carried.astype(np.int64)), ~fresh
        return self._observe(), rewards, terminated, truncated, info

    def _begin(self, which: NDArray[np.bool_], episodes: Ints) -> None:
        """Put the walkers that the mask `which` selects at the starts of `episodes`, a number for each."""
        self._episode[which] = episodes
        self._walkers.numbers[which] = self.task.start[episodes]
        self._taken[which] = self.task.taken
        self._ended = self._ended & ~which

    def _draw_episodes(self, count: int) -> Ints:
        """Return numbers of episodes drawn at random, shape (count,)."""
        return self.np_random.integers(len(self.task.episodes), size=count)

    def _observe(self) -> Observation:
        """Return the observations of all walkers in their present states and episodes."""
        return self.task.observe(self._walkers.numbers, self._episode)

    def _distance(self) -> NDArray[np.int32]:
        """Return the number of links from each walker to its target; `NO_WAY` if no way leads there."""
        return self.task.hops(self._episode, self.task.table.node[self._walkers.numbers])

    def _info(self, distance: NDArray[np.int32]) -> dict[str, Any]:
        """Return the info of a step for all walkers, with the distance in links of each to its target."""
        numbers = self._walkers.numbers
        everyone = {
            f"_{key}": np.ones(self.num_envs, bool) for key in ("panorama", "distance", "action_mask")
        }
        return everyone | {
            "panorama": self._ids[self.task.table.node[numbers]],
            "distance": distance.astype(np.int64),
            "action_mask": self.task.possible[numbers],
        }


def check_action(space: spaces.Space[Any], action: object) -> None:
    """Raise `BadInput` for an action that a space does not contain.

    Raises:
        BadInput: the space does not contain the action.
    """
    if not space.contains(action):
        raise BadInput(f"{action!r} is no action: choose one of {space}")


def check_options(options: dict[str, Any] | None, known: Collection[str]) -> None:
    """Raise `UnknownName` for an option of a reset that an environment does not have.

    Raises:
        UnknownName: an option is not among the known ones.
    """
    for name in options or {}:
        if name not in known:
            raise UnknownName("reset option", name, known)


def _observation_space(task: WalkTask) -> spaces.Dict:
    """Return the Gymnasium space of the observations of a task."""
    degree = task.is_link.shape[1]
    return spaces.Dict(
        {
            "arrived": spaces.Discrete(2),
            "episode": spaces.Discrete(len(task.episodes)),
            "heading": spaces.Box(-1.0, 1.0, (2,), np.float32),
            "link_mask": spaces.MultiBinary(degree),
            "links": spaces.Box(-1.0, 1.0, (degree, 2), np.float32),
            "node": spaces.Discrete(len(task.table.graph)),
        }
    )


gymnasium.register(
    "virl/StreetWalk-v0",
    entry_point=f"{__name__}:StreetWalkEnv",
    vector_entry_point=f"{__name__}:StreetWalkVectorEnv",
)
