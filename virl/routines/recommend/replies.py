"""What to look for on a client's behalf."""

from collections.abc import Mapping, Sequence

from pydantic import Field, ValidationInfo, field_validator

from virl.mind.replies import Reply, name_list
from virl.routines.clients.replies import check_offered


class PlaceSearch(Reply):
    """The search on a client's behalf, and how far away the place is at most."""

    place_types: tuple[str, ...] = Field(
        min_length=1, max_length=3, description="One to three of the place types offered, the best first."
    )
    walk_minutes: float | None = Field(
        gt=0,
        description="The longest walk that the wish allows, in minutes: 80 metres are one. Null if it does "
        "not say.",
    )
    max_price_level: int | None = Field(
        ge=0,
        le=4,
        description="The highest price level that suits: 1 inexpensive, 2 moderate, 3 expensive, 4 very "
        "expensive. Null if the wish does not say.",
    )

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the values that fields of the reply may take, as `Reply.offers` does."""
        return {"place_types": name_list(inputs, "place_types")}

    @field_validator("place_types")
    @classmethod
    def _are_offered(cls, place_types: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        return check_offered(place_types, info)
