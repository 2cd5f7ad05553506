"""Environments of Gymnasium: an import registers `virl/Walk-v0`, `virl/Sight-v0` and `virl/StreetWalk-v0`.

`docs/reference/environments.md` describes them.
"""

from virl.extras import require

try:
    import gymnasium
except ModuleNotFoundError:
    require("gym", "gymnasium", what="an environment")
    raise

import virl.platform.movers.discrete.environment  # noqa: F401 - registers its own
from virl.gym.sight import SightEnv, SightVectorEnv
from virl.gym.walk import WalkEnv, WalkVectorEnv

__all__ = ["SightEnv", "SightVectorEnv", "WalkEnv", "WalkVectorEnv"]

gymnasium.register(
    "virl/Walk-v0",
    entry_point="virl.gym.walk:WalkEnv",
    vector_entry_point="virl.gym.walk:WalkVectorEnv",
)
gymnasium.register(
    "virl/Sight-v0",
    entry_point="virl.gym.sight:SightEnv",
    vector_entry_point="virl.gym.sight:SightVectorEnv",
)
