"""What Hiro's character file says of how he looks; described in `docs/reference/characters.md`."""

from typing import Literal

from virl.agent.character import CharacterField
from virl.settings.model import Settings


class Exploring(Settings):
    """Settings of how the explorer looks around."""

    first_look: Literal["ahead", "around"] = "ahead"
    """The view at the start: `ahead` and to both sides in three views, as everywhere, or all `around` in six,
    as in V-IRL."""


EXPLORE: CharacterField[Exploring] = CharacterField(
    "explore", Exploring, Exploring(), "How the explorer looks around."
)
FIELDS = (EXPLORE,)
