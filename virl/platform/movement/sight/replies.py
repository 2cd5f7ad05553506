"""What is asked on a search by sight: what is looked for, and which way to take."""

from collections.abc import Mapping, Sequence

from pydantic import Field, ValidationInfo, field_validator

from virl.mind.replies import Reply, named
from virl.platform.movement.intention.replies import RoadChoice


class Sought(Reply):
    """What somebody looks for, as signs would show it."""

    name: str = Field(description="The name of the place as its sign would show it; empty if none is told.")
    kinds: tuple[str, ...] = Field(
        max_length=8,
        description="Place types offered, one of which the place has; for a wish, those that serve it.",
    )
    beside: tuple[str, ...] = Field(
        max_length=4, description="Place types offered of what stands right beside it, as far as it is told."
    )

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """As `Reply.offers`."""
        kinds = named(inputs, "kinds")
        return {"kinds": kinds, "beside": kinds}

    @field_validator("kinds", "beside")
    @classmethod
    def _are_offered(cls, kinds: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        offered = (info.context or {}).get("kinds")
        if offered is not None and (unknown := sorted(set(kinds) - set(offered))):
            raise ValueError(f"not among the place types offered: {', '.join(unknown)}")
        return kinds


class VerbalizedChoice(RoadChoice):
    """Which way to take, after the way was put into words (AgentNav, arXiv 2512.15933)."""

    goal_is: str = Field(description="Where in the city the goal lies, as far as you can tell.")
    here_is: str = Field(description="Where in the city you are now, as far as you can tell.")
    way_there: str = Field(description="The way from here to the goal in words: streets and directions.")
    remember: str = Field(
        description="What to know at the next junctions, in at most 80 words; replaces what you remembered."
    )
