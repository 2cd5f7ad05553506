"""The typed replies that prompts ask for; a prompt's front matter names one of them."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Reply(BaseModel):
    """Base of all replies: immutable, nothing beside the fields named."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PlaceType(Reply):
    """Which sort of place would fulfil an intention."""

    place_type: str = Field(description="One of the place types offered, spelt the same.")


class RoadChoice(Reply):
    """Which road to take at a crossing."""

    index: int = Field(ge=0, description="The number of the road chosen, as given before its description.")
    reason: str = Field(description="Why this road, in one sentence.")


class PlaceSummary(Reply):
    """What visitors say of a place."""

    summary: str = Field(description="At most 80 words.")


class PlaceDecision(Reply):
    """Whether to enter a place or go on."""

    action: Literal["enter", "continue"] = Field(description="Enter this place, or continue to explore.")
    reason: str = Field(description="Why, in one or two sentences.")
