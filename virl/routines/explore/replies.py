"""What an explorer asks: which kind of place, what reviews say, and whether to enter."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from virl.mind.replies import Reply, name_list


class PlaceType(Reply):
    """The sort of place that would fulfil an intention."""

    place_type: str = Field(description="One of the place types offered, spelt the same.")

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the values that fields of the reply may take, as `Reply.offers` does."""
        return {"place_type": name_list(inputs, "place_types")}

    @field_validator("place_type")
    @classmethod
    def _is_offered(cls, place_type: str, info: ValidationInfo) -> str:
        """Refuse a place type that was not offered."""
        offered = (info.context or {}).get("place_types")
        if offered is not None and place_type not in offered:
            raise ValueError(f"{place_type!r} is not among the place types offered")
        return place_type


class PlaceSummary(Reply):
    """A summary of what visitors say of a place."""

    summary: str = Field(
        description="What visitors say, in at most 80 words; that there are no reviews, if so."
    )


class PlaceDecision(Reply):
    """A decision to enter a place or go on."""

    action: Literal["enter", "continue"] = Field(description="Enter this place, or continue to explore.")
    reason: str = Field(description="Why, in one or two sentences that name the facts used.")
