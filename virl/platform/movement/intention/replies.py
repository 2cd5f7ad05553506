"""What is asked at a crossing: which road to take."""

from collections.abc import Mapping, Sequence

from pydantic import Field, ValidationInfo, field_validator

from virl.mind.replies import Reply


class RoadChoice(Reply):
    """Which road to take at a crossing."""

    index: int = Field(ge=0, description="The number of the road chosen, as given before its description.")
    reason: str = Field(description="What is seen that decided it, in one sentence.")

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """As `Reply.offers`."""
        roads = inputs.get("roads")
        return {"index": [road["index"] for road in roads]} if isinstance(roads, list | tuple) else {}

    @field_validator("index")
    @classmethod
    def _is_a_road(cls, index: int, info: ValidationInfo) -> int:
        roads = (info.context or {}).get("roads")
        numbers = None if roads is None else [road["index"] for road in roads]
        if numbers is not None and index not in numbers:
            raise ValueError(f"{index} is not the number of a road: there is {', '.join(map(str, numbers))}")
        return index
