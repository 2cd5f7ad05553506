"""The replies to prompts about a client: what to look for, and how well something suits them."""

from pydantic import Field, ValidationInfo, field_validator

from virl.mind.replies import Reply


class PlaceSearch(Reply):
    """What to look for on a client's behalf, and how far away at most."""

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

    @field_validator("place_types")
    @classmethod
    def _are_offered(cls, place_types: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        return _offered(place_types, info)


class Rating(Reply):
    """How well something suits a client."""

    rating: float = Field(ge=0, le=10, description="0: not at all, 10: as if made for them.")
    explanation: str = Field(description="Why, in at most 50 words that name the facts used.")


class HomeWant(Reply):
    """A sort of place that a client wants near their home, or far from it."""

    place_type: str
    importance: int = Field(ge=1, le=3, description="1: nice to have, 2: wanted, 3: a must.")
    near: bool = Field(description="True if it should be near, false if it should be far away.")


class HomeWants(Reply):
    """The sorts of places that matter to a client who looks for a home."""

    wants: tuple[HomeWant, ...] = Field(max_length=10, description="Each place type once; may be empty.")

    @field_validator("wants")
    @classmethod
    def _are_offered(cls, wants: tuple[HomeWant, ...], info: ValidationInfo) -> tuple[HomeWant, ...]:
        names = _offered(tuple(want.place_type for want in wants), info)
        if len(set(names)) < len(names):
            raise ValueError("a place type stands twice")
        return wants


def _offered(place_types: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    offered = (info.context or {}).get("place_types")
    unknown = [] if offered is None else [name for name in place_types if name not in offered]
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: not among the place types offered")
    return place_types
