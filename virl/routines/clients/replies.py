"""How well something suits a client, and what every reply about one is held to."""

from pydantic import Field, ValidationInfo

from virl.mind.replies import Reply


class Rating(Reply):
    """A rating of how well something suits a client."""

    rating: float = Field(ge=0, le=10, description="0: not at all, 10: as if made for them.")
    explanation: str = Field(description="Why, in at most 50 words that name the facts used.")


def check_offered(place_types: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    """Return the place types, if all of them are among those that the prompt offered.

    Raises:
        ValueError: one is not.
    """
    known = (info.context or {}).get("place_types")
    unknown = [] if known is None else [name for name in place_types if name not in known]
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: not among the place types offered")
    return place_types
