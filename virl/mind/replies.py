"""The typed replies that prompts ask for; a prompt's front matter names one of them.

A reply is validated with the prompt's inputs as context, so that it can only choose what was offered.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator


class Reply(BaseModel):
    """Base of all replies: immutable, nothing beside the fields named."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Text(Reply):
    """Plain text, as the model wrote it; it may be empty. Models are asked for it without a schema."""

    text: str


class PlaceType(Reply):
    """Which sort of place would fulfil an intention."""

    place_type: str = Field(description="One of the place types offered, spelt the same.")

    @field_validator("place_type")
    @classmethod
    def _is_offered(cls, place_type: str, info: ValidationInfo) -> str:
        offered = (info.context or {}).get("place_types")
        if offered is not None and place_type not in offered:
            raise ValueError(f"{place_type!r} is not among the place types offered")
        return place_type


class RoadChoice(Reply):
    """Which road to take at a crossing."""

    index: int = Field(ge=0, description="The number of the road chosen, as given before its description.")
    reason: str = Field(description="Why this road, in one sentence.")

    @field_validator("index")
    @classmethod
    def _is_a_road(cls, index: int, info: ValidationInfo) -> int:
        roads = (info.context or {}).get("roads")
        numbers = None if roads is None else [road["index"] for road in roads]
        if numbers is not None and index not in numbers:
            raise ValueError(f"{index} is not the number of a road: there is {', '.join(map(str, numbers))}")
        return index


class PlaceSummary(Reply):
    """What visitors say of a place."""

    summary: str = Field(description="At most 80 words.")


class PlaceDecision(Reply):
    """Whether to enter a place or go on."""

    action: Literal["enter", "continue"] = Field(description="Enter this place, or continue to explore.")
    reason: str = Field(description="Why, in one or two sentences.")
