"""What Hiro's character file says of how he looks; described in `docs/reference/characters.md`."""

from typing import Literal

from virl.agent.character import CharacterField
from virl.settings.model import Settings

# As in the configuration that V-IRL was published with; here, since `virl doctor` prices them.
LOOK_FOV = 60.0
"""Horizontal field of view of each look around, in degrees."""
LOOK_RANGE = 180.0
"""Range of headings, in degrees, that the looks at a panorama cover together."""
MATCH_RADIUS_M = 20.0
"""Radius in metres around the agent in which listed places are matched with finds in its views."""


class Exploring(Settings):
    """Settings of how the explorer looks around."""

    first_look: Literal["ahead", "around"] = "ahead"
    """The look at the start: `ahead` and to both sides in three views, or all `around` in six.
    The first is as everywhere, the second as in V-IRL."""


EXPLORE: CharacterField[Exploring] = CharacterField(
    "explore", Exploring, Exploring(), "How the explorer looks around."
)
FIELDS = (EXPLORE,)
