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
"""Radius in metres in which places are looked up for what a look found."""


class Exploring(Settings):
    """Settings of how the explorer looks around."""

    first_look: Literal["ahead", "around"] = "ahead"
    """The view at the start: `ahead` and to both sides in three views, as everywhere, or all `around` in six,
    as in V-IRL."""


EXPLORE: CharacterField[Exploring] = CharacterField(
    "explore", Exploring, Exploring(), "How the explorer looks around."
)
FIELDS = (EXPLORE,)
