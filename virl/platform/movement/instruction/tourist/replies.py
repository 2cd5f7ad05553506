"""The replies of a tourist who follows directions."""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from pydantic import Field, ValidationInfo, field_validator, model_validator

from virl.mind.replies import Reply, named, numbered

Direction = Literal[
    "front",
    "front right",
    "right",
    "rear right",
    "rear",
    "rear left",
    "left",
    "front left",
    "north",
    "northeast",
    "east",
    "southeast",
    "south",
    "southwest",
    "west",
    "northwest",
]
"""Eight directions as seen by the walker, and the eight of the compass."""
AS_SEEN = get_args(Direction)[:8]


class LandmarkNames(Reply):
    """The landmarks that directions name."""

    names: tuple[str, ...] = Field(
        max_length=20, description="As they are written in the directions, in their order, each once."
    )

    @field_validator("names")
    @classmethod
    def _stand_there(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        text = (info.context or {}).get("directions")
        for name in names:
            if (
                isinstance(text, str)
                and " ".join(name.split()).casefold() not in " ".join(text.split()).casefold()
            ):
                raise ValueError(f"{name!r} does not stand in the directions")
        return tuple(dict.fromkeys(filter(None, (" ".join(name.split()) for name in names))))


class LandmarksRead(Reply):
    """The landmarks whose signs were read in a view."""

    names: tuple[str, ...] = Field(
        max_length=20, description="Names among the landmarks looked for; empty if none was read."
    )

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """As `Reply.offers`."""
        return {"names": named(inputs, "names")}

    @field_validator("names")
    @classmethod
    def _are_looked_for(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        known = (info.context or {}).get("names")
        for name in names:
            if known is not None and name not in known:
                raise ValueError(f"{name!r} is none of the landmarks looked for")
        return tuple(dict.fromkeys(names))


class WalkAction(Reply):
    """The next action of one who follows directions."""

    action: Literal["forward", "turn", "stop", "lost"] = Field(
        description="Walk on, turn and walk on that way, stop at the destination, or admit being lost."
    )
    direction: Direction | None = Field(
        default=None, description="Where to turn to, one of the ways told; null unless the action is turn."
    )
    sentence: int = Field(ge=1, description="The number of the sentence that is being carried out.")
    reason: str = Field(description="Why, in one sentence.")

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """As `Reply.offers`."""
        here = inputs.get("here")
        ways = named(here, "ways") if isinstance(here, dict) else []
        return {"sentence": numbered(inputs, "sentences", 1), "direction": ways or AS_SEEN}

    @field_validator("sentence")
    @classmethod
    def _is_there(cls, sentence: int, info: ValidationInfo) -> int:
        sentences = (info.context or {}).get("sentences")
        if sentences is not None and sentence > len(sentences):
            raise ValueError(f"there are {len(sentences)} sentences, no number {sentence}")
        return sentence

    @model_validator(mode="after")
    def _turns_somewhere(self) -> "WalkAction":
        if (self.action == "turn") != (self.direction is not None):
            raise ValueError("a direction goes with turn, and with turn alone")
        return self
