"""Noticing that one is lost, from the walk alone."""

from collections import Counter
from collections.abc import Sequence

from virl.platform.streetview import Pose

CIRCLES = 2
"""How often one may come to the same place and face the same way, before that is going in circles. Chosen."""

TURNS_IN_A_ROW = 5
"""So many turns one after the other are a walker who does not know where to go (V-IRL's published code)."""


def astray(poses: Sequence[Pose], actions: Sequence[str]) -> str | None:
    """Why a walker who came this way should think that they are lost; `None` if nothing speaks for it.

    Args:
        poses: where the walk went, the present pose included.
        actions: what was done so far.
    """
    here = poses[-1]
    facings = Counter((pose.pano_id, round(pose.heading / 45.0) % 8) for pose in poses)
    if facings[here.pano_id, round(here.heading / 45.0) % 8] > CIRCLES:
        return "I am going in circles: I have walked here before, the same way"
    if len(actions) >= TURNS_IN_A_ROW and all(action == "turn" for action in actions[-TURNS_IN_A_ROW:]):
        return f"I have done nothing but turn, {TURNS_IN_A_ROW} times"
    return None
