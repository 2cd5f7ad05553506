"""What a client wants near their home."""

from collections.abc import Mapping, Sequence

from pydantic import Field, ValidationInfo, field_validator

from virl.mind.replies import Reply, name_list, number_range
from virl.routines.clients.replies import check_offered


class HomeRating(Reply):
    """A rating of how well one of several homes suits a client."""

    home: int = Field(ge=0, description="The number of the home, as given with it.")
    rating: float = Field(ge=0, le=10, description="0: not at all, 10: as if made for them.")
    explanation: str = Field(description="Why, in at most 50 words that name the facts used.")


class HomeRatings(Reply):
    """The ratings of how well several homes suit a client."""

    ratings: tuple[HomeRating, ...] = Field(
        description="Every home once, in the order in which they were given."
    )

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the values that fields of the reply may take, as `Reply.offers` does."""
        return {"ratings.home": number_range(inputs, "homes")}

    @field_validator("ratings")
    @classmethod
    def _are_all_there(cls, ratings: tuple[HomeRating, ...], info: ValidationInfo) -> tuple[HomeRating, ...]:
        """Refuse ratings that do not rate each home once; return them in the order of the homes."""
        homes = (info.context or {}).get("homes")
        if isinstance(homes, list | tuple) and sorted(one.home for one in ratings) != [*range(len(homes))]:
            raise ValueError(f"rate each of the homes 0 to {len(homes) - 1} once")
        return tuple(sorted(ratings, key=lambda one: one.home))


class HomeWant(Reply):
    """A sort of place that a client wants near their home, or far from it."""

    place_type: str = Field(description="One of the place types offered, spelt the same.")
    importance: int = Field(ge=1, le=3, description="1: nice to have, 2: wanted, 3: a must.")
    near: bool = Field(description="True if it should be near, false if it should be far away.")


class HomeWants(Reply):
    """The sorts of places that matter to a client who looks for a home."""

    wants: tuple[HomeWant, ...] = Field(max_length=10, description="Each place type once; may be empty.")

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the values that fields of the reply may take, as `Reply.offers` does."""
        return {"wants.place_type": name_list(inputs, "place_types")}

    @field_validator("wants")
    @classmethod
    def _are_offered(cls, wants: tuple[HomeWant, ...], info: ValidationInfo) -> tuple[HomeWant, ...]:
        """Refuse wants whose place type was not offered or stands twice."""
        names = check_offered(tuple(want.place_type for want in wants), info)
        if len(set(names)) < len(names):
            raise ValueError("a place type stands twice")
        return wants
