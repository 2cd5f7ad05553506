"""Walkers in `virl/Sight-v0`: at random, without eyes, along the shortest way, and as one has learned."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from virl.errors import BadInput, UnknownName
from virl.extras import module, require
from virl.geo.globe import signed_turn
from virl.gym.sight import SightEnv
from virl.gym.walk import AHEAD_DEG, FORWARD, LEFT, RIGHT, STOP, Seen

Policy = Callable[[Seen, dict[str, Any]], int]
"""Function from an observation and the info of a step to the next action."""
STOP_SHARE = 0.05
"""Probability with which `random` stops at each action; the best of 0.05, 0.1 and 0.2 in Virlstead."""
BLIND_STEPS = 3
"""Number of panoramas that `blind` walks before it stops; the best of 1 to 8 in Virlstead."""
WALKERS = ("random", "blind", "oracle")
"""Names of the walkers that need no file."""
LEARNED = ".zip"
"""Ending of the name of a file that holds a learned policy."""


def open_policy(name: str, env: SightEnv, seed: int) -> Policy:
    """Return the policy of a walker for one episode.

    Args:
        name: one of `WALKERS`, or the path of a policy that `train` has saved.
        env: environment in which the episode is walked; only `oracle` looks into it.
        seed: seed of all that the policy draws.

    Raises:
        BadInput: the file is none of a policy, or its pictures are of another size.
        ModelUnavailable: stable-baselines3 is not installed.
        UnknownName: there is no such walker.
    """
    check_walker(name)
    if name.endswith(LEARNED):
        return _open_learned(name, env, np.random.default_rng(seed))
    if name == "random":
        return _random(np.random.default_rng(seed))
    if name == "blind":
        return _blind()
    return _oracle(env)


def check_walker(name: str) -> None:
    """Raise an error unless a name is a walker's, or the path of a file.

    Raises:
        BadInput: there is no such file.
        ModelUnavailable: stable-baselines3 is not installed.
        UnknownName: there is no such walker.
    """
    if name.endswith(LEARNED):
        require("learn", "stable_baselines3", what=name)
        if not Path(name).is_file():
            raise BadInput(f"{name}: no such file: give the policy.zip that training wrote")
    elif name not in WALKERS:
        raise UnknownName("walker", name, [*WALKERS, f"FILE{LEARNED}"])


@cache
def _load_policy(file: str) -> Any:
    """Return the policy in a file, once read, as stable-baselines3 has it.

    Raises:
        BadInput: the file is none of a policy.
    """
    try:
        return module("stable_baselines3", extra="learn").PPO.load(file, device="cpu").policy
    except (ValueError, KeyError, OSError, AttributeError) as fault:
        raise BadInput(f"{file}: no policy can be read: give the policy.zip that training wrote") from fault


def _open_learned(file: str, env: SightEnv, rng: np.random.Generator) -> Policy:
    """Return the policy that draws actions by the probabilities of a learned one.

    Raises:
        BadInput: the file is none of a policy, or its pictures are of another size.
    """
    policy = _load_policy(file)
    side = policy.observation_space["pixels"].shape[-1]
    if side != env.size[0]:
        raise BadInput(f"{file}: learned from pictures of {side} x {side}: give --pixels {side}")

    def act(seen: Seen, _info: dict[str, Any]) -> int:
        batch, _ = policy.obs_to_tensor(seen)
        shares = policy.get_distribution(batch).distribution.probs.detach().numpy()[0].astype(float)
        return int(rng.choice(len(shares), p=shares / shares.sum()))

    return act


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
