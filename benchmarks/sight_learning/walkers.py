"""Walkers in `virl/Sight-v0`: at random, without eyes, and along the shortest way."""

from collections.abc import Callable
from typing import Any

import numpy as np

from virl.errors import UnknownName
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
"""Names of the walkers."""


def open_policy(name: str, env: SightEnv, seed: int) -> Policy:
    """Return the policy of a walker for one episode.

    Args:
        name: one of `WALKERS`.
        env: environment in which the episode is walked; only `oracle` looks into it.
        seed: seed of all that the policy draws.

    Raises:
        UnknownName: there is no such walker.
    """
    check_walker(name)
    if name == "random":
        return _random(np.random.default_rng(seed))
    if name == "blind":
        return _blind()
    return _oracle(env)


def check_walker(name: str) -> None:
    """Raise `UnknownName` unless a name is a walker's."""
    if name not in WALKERS:
        raise UnknownName("walker", name, list(WALKERS))


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
