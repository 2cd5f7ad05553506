"""What a day is planned for: the section `day:` of a character file.

Described in `docs/reference/characters.md`.
"""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from virl.agent.character import CharacterField
from virl.agent.user import State, unknown_state
from virl.clock import Time, parse_clock
from virl.routines.client import CLIENT
from virl.settings.model import Settings

FEELINGS = ("stress", "joy", "sadness", "hunger", "energy", "pain")
"""Names of the feelings of mind and body (V-IRL's interoceptive state), each from 0 (none) to 100."""
UNKNOWN = 50.0  # V-IRL's value of what nobody has told

Mode = Literal["walking", "cycling", "transit", "driving"]


def _check_state(state: dict[str, float]) -> dict[str, float]:
    """Return the feelings unchanged; raise `ValueError` for an unknown name or a value outside [0, 100]."""
    if fault := unknown_state(dict(sorted(state.items())), FEELINGS):
        raise ValueError(fault)
    return state


Feelings = Annotated[State, AfterValidator(_check_state)]


class Day(Settings):
    """A day of a client, as Diego plans it."""

    state: Feelings = Field(default_factory=dict)
    """The client's feelings in the morning; what is left out is 50."""
    budget_usd: float = Field(default=100.0, ge=0, le=100_000)
    """Dollars that the client can spend, travel included."""
    starts: Time = "09:00"
    ends: Time = "21:00"
    activities: int = Field(default=12, ge=1, le=40)
    """Most activities in the day, journeys not counted."""
    revisions: int = Field(default=3, ge=0, le=10)
    """Most times that a refused activity is drafted anew before free time on the spot takes its place."""
    scenic: bool | str = True
    """True to look for a scenic spot, or the name of the park to look in."""
    modes: tuple[Mode, ...] = Field(default=("walking", "cycling", "transit", "driving"), min_length=1)
    """The client's means of getting about; `transit` where the maps know it, `driving` is a taxi."""
    reach_m: float = Field(default=1500.0, gt=0, le=20_000)
    """The farthest that a place may lie from where the client is; metres, as the crow flies."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        """Return the day unchanged; raise `ValueError` unless it ends after it starts."""
        if parse_clock(self.starts) >= parse_clock(self.ends):
            raise ValueError(f"the day starts at {self.starts} and ends at {self.ends}: let it end later")
        return self

    @property
    def minutes(self) -> tuple[int, int]:
        """Start and end as minutes after midnight."""
        return parse_clock(self.starts), parse_clock(self.ends)

    @property
    def feelings(self) -> dict[str, float]:
        """All feelings in the morning, each in [0, 100]; those not set are 50."""
        return {name: float(self.state.get(name, UNKNOWN)) for name in FEELINGS}


DAY: CharacterField[Day | None] = CharacterField("day", Day | None, None, "The client's day that is planned.")
FIELDS = (CLIENT, DAY)
