"""What a client wants near their home."""

from pydantic import Field, ValidationInfo, field_validator

from virl.mind.replies import Reply
from virl.routines.clients.replies import offered


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
        names = offered(tuple(want.place_type for want in wants), info)
        if len(set(names)) < len(names):
            raise ValueError("a place type stands twice")
        return wants
