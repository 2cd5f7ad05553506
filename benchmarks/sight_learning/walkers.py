"""Walkers in `virl/Sight-v0`: at random, without eyes, along the shortest way, and learned."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from virl.errors import BadInput, UnknownName
from virl.extras import require
from virl.geo.globe import signed_turn
from virl.gym.sight import SightEnv
from virl.gym.walk import AHEAD_DEG, FORWARD, LEFT, RIGHT, STOP, Seen
from virl.registry import one_line

Policy = Callable[[Seen, dict[str, Any]], int]
"""Function from an observation and the info of a step to the next action."""
STOP_SHARE = 0.1
"""Probability with which `random` stops at each action; the best of 0.05, 0.1 and 0.2 in Virlstead."""
BLIND_STEPS = 3
"""Number of panoramas that `blind` walks before it stops; the best of 1 to 8 in Virlstead."""
WALKERS = ("random", "blind", "oracle")
"""Walkers that need no file; any other name is the path of a learned policy, which ends in `.zip`."""


def open_policy(name: str, env: SightEnv, seed: int) -> Policy:
    """Return the policy of a walker for one episode.

    Args:
        name: one of `WALKERS`, or the path of a policy that `benchmarks.sight_learning.train` wrote.
        env: environment in which the episode is walked; only `oracle` looks into it.
        seed: seed of all that the policy draws.

    Raises:
        UnknownName: there is no such walker.
        BadInput: the file is no policy.
        ModelUnavailable: Stable-Baselines3 is not installed.
    """
    check_walker(name)
    rng = np.random.default_rng(seed)
    if name == "random":
        return _random(rng)
    if name == "blind":
        return _blind()
    return _oracle(env) if name == "oracle" else _learned(Path(name), rng)


def check_walker(name: str) -> None:
    """Raise `UnknownName` unless a name is a walker's or the path of a policy file."""
    if name not in WALKERS and not Path(name).is_file():
        raise UnknownName("walker", name, [*WALKERS, "a policy file (.zip)"])


def _random(rng: np.random.Generator) -> Policy:
    """Return the policy that draws its actions."""
    return lambda _seen, _info: STOP if rng.random() < STOP_SHARE else int(rng.integers(STOP))


def _blind() -> Policy:
    """Return the policy that goes straight on without looking, turns where it cannot, and stops soon."""
    walked = 0

    def act(_seen: Seen, info: dict[str, Any]) -> int:
        nonlocal walked
        if walked == BLIND_STEPS:
            return STOP
        walked += info["can_go_forward"]
        return FORWARD if info["can_go_forward"] else RIGHT

    return act


def _oracle(env: SightEnv) -> Policy:
    """Return the policy that takes a shortest way to a success, and stops there."""

    def act(_seen: Seen, info: dict[str, Any]) -> int:
        if info["distance"] == 0:
            return STOP
        links = env.city.streetview.panorama(info["panorama"]).links
        turns = [signed_turn(info["heading"], link.heading) for link in links]
        best = int(np.argmin([link.distance + env.metres_from(link.pano_id) for link in links]))
        nearest = int(np.argmin(np.abs(turns)))
        if nearest == best and abs(turns[best]) <= AHEAD_DEG:
            return FORWARD
        return RIGHT if turns[best] > 0 else LEFT

    return act


def _learned(file: Path, rng: np.random.Generator) -> Policy:
    """Return the policy of a file, which draws each action by its probability.

    Raises:
        BadInput: the file is no policy.
        ModelUnavailable: Stable-Baselines3 is not installed.
    """
    policy = _load_policy(file, file.stat().st_mtime_ns)

    def act(seen: Seen, _info: dict[str, Any]) -> int:
        shares = policy.get_distribution(policy.obs_to_tensor(seen)[0]).distribution.probs
        likely = shares.detach().cpu().numpy()[0].astype(float)
        return int(rng.choice(len(likely), p=likely / likely.sum()))

    return act


@lru_cache(maxsize=4)
def _load_policy(file: Path, _changed_ns: int) -> Any:
    """Return the policy network of a file, loaded once unless the file changes; raises as `_learned`."""
    require("learn", "stable_baselines3", what="a learned walker")
    from stable_baselines3 import PPO  # noqa: PLC0415 - of an extra, and brings in torch

    try:
        return PPO.load(file, device="cpu").policy
    except (ValueError, KeyError, OSError, AttributeError) as fault:
        raise BadInput(f"{file}: no policy of `benchmarks.sight_learning.train`: {one_line(fault)}") from None
