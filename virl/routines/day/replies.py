"""Replies to the prompts of Diego, who plans a day."""

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Annotated, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from virl.clock import parse_clock, show_clock
from virl.mind.replies import Reply, numbered

Mode = Literal["any", "walking", "cycling", "transit", "driving"]
Kind = Literal["normal", "eat", "transport", "scenic", "end"]

_SIGNED = re.compile(r"[+\-\N{MINUS SIGN}]?\s*\d+(?:\.\d+)?")


def _number(value: object) -> object:
    """A number that a model has spelt out, such as `"+ 5"` or `"-10%"`; nothing else is changed."""
    if not isinstance(value, str):
        return value
    text = value.strip().removesuffix("%").strip().removeprefix("$")
    if not _SIGNED.fullmatch(text):
        return value
    return round(float(text.replace("\N{MINUS SIGN}", "-").replace(" ", "")), 2)


def _whole(value: object) -> object:
    number = _number(value)
    return round(number) if isinstance(number, float) and isfinite(number) else number


def _clock(text: str) -> str:
    return show_clock(parse_clock(text))


Clock = Annotated[str, AfterValidator(_clock)]
Whole = Annotated[int, BeforeValidator(_whole)]
Dollars = Annotated[float, BeforeValidator(_number), Field(ge=0, le=100_000)]
Level = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=100)]


class DayDraft(Reply):
    """The next activity of a day, as it is proposed."""

    kind: Kind = Field(
        description="normal: do something; eat: a meal; transport: only go somewhere; scenic: the scenic "
        "spot offered; end: the day is over and nothing more is planned."
    )
    starts: Clock = Field(description="When it begins, HH:MM, not before the time it is now.")
    ends: Clock = Field(description="When it ends, HH:MM, after its beginning and within the day.")
    place: str = Field(
        description="Where: the name of a place offered or known, or one of the sorts offered, spelt the "
        "same; empty to stay where the client is."
    )
    what: str = Field(min_length=1, description="What the client does, in a few words.")
    mode: Mode = Field(description="How to get there; any leaves it to the travel times.")
    reason: str = Field(description="Why this suits this client now, in one sentence.")

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """As `Reply.offers`."""
        kinds = get_args(Kind)
        return {"kind": kinds if inputs.get("scenic") else [kind for kind in kinds if kind != "scenic"]}

    @model_validator(mode="after")
    def _forward(self) -> Self:
        if self.kind != "end" and parse_clock(self.starts) >= parse_clock(self.ends):
            raise ValueError(f"it begins at {self.starts} and ends at {self.ends}: let it end later")
        return self


class Change(Reply):
    """How much one feeling changes."""

    by: Whole = Field(ge=-100, le=100, description="Signed change on the scale from 0 to 100; 0 for none.")
    because: str = Field(description="Why, in a few words; empty for no change.")


class DayEstimate(Reply):
    """What an activity does to somebody, and what it costs."""

    stress: Change
    joy: Change
    sadness: Change
    hunger: Change
    energy: Change
    pain: Change
    cost_usd: Dollars = Field(description="What the client spends on it in dollars, travel apart.")


class DayVerdict(Reply):
    """Whether an activity can stay as it is."""

    fits: bool = Field(description="Whether it makes sense for this client now.")
    reason: str = Field(description="Why, in one sentence; if it does not fit, what should be different.")


class Told(Reply):
    """What somebody has let know about themself and the rest of their day."""

    stress: Level | None = Field(description="The new value, 0 to 100; null if nothing is said of it.")
    joy: Level | None = Field(description="As stress.")
    sadness: Level | None = Field(description="As stress.")
    hunger: Level | None = Field(description="As stress.")
    energy: Level | None = Field(description="As stress.")
    pain: Level | None = Field(description="As stress.")
    wishes: tuple[str, ...] = Field(
        max_length=10,
        description="What should hold for the rest of the day, each in a few words; may be empty.",
    )


class Amendment(Reply):
    """What somebody changes in one activity of a day that is proposed to them."""

    number: int = Field(ge=1, le=40, description="Of the activity, as listed.")
    drop: bool = Field(description="Whether they do not want it at all.")
    place: str = Field(description="Where instead, or which sort of place; empty to leave it as it is.")
    what: str = Field(description="What they do instead, in a few words; empty to leave it as it is.")
    starts: Clock | None = Field(description="When it begins instead, HH:MM; null to leave it as it is.")
    ends: Clock | None = Field(description="When it ends instead, HH:MM; null to leave it as it is.")


class Amendments(Reply):
    """What somebody changes in a day that is proposed to them."""

    changes: tuple[Amendment, ...] = Field(max_length=10, description="Of single activities; may be empty.")
    budget_usd: Dollars | None = Field(
        description="What they can spend on the whole day instead; null if nothing is said of it."
    )
    wishes: tuple[str, ...] = Field(
        max_length=10,
        description="What else should hold for the day, each in a few words; may be empty.",
    )

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """As `Reply.offers`."""
        return {"changes.number": numbered(inputs, "activities", 1)}


class SceneryRating(Reply):
    """How scenic a view is."""

    rating: Annotated[float, BeforeValidator(_number)] = Field(
        ge=0, le=10, description="From 0 (nobody would stop) to 10 (worth the way for its own sake)."
    )
    reason: str = Field(description="What in the view makes it so, in one sentence.")


class ViewRating(SceneryRating):
    """How scenic one of several views is."""

    view: int = Field(ge=0, description="The number of the view, as given before it.")


class SceneryRatings(Reply):
    """How scenic several views are."""

    ratings: tuple[ViewRating, ...] = Field(
        description="Every view once, in the order in which they were given."
    )

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """As `Reply.offers`."""
        return {"ratings.view": numbered(inputs, "views")}

    @field_validator("ratings")
    @classmethod
    def _are_all_there(cls, ratings: tuple[ViewRating, ...], info: ValidationInfo) -> tuple[ViewRating, ...]:
        views = (info.context or {}).get("views")
        if isinstance(views, list | tuple) and sorted(one.view for one in ratings) != [*range(len(views))]:
            raise ValueError(f"rate each of the views 0 to {len(views) - 1} once")
        return tuple(sorted(ratings, key=lambda one: one.view))


class UngroundedActivity(Reply):
    """An activity of a day that was planned without looking anything up."""

    kind: Literal["normal", "eat", "transport", "scenic"]
    starts: Clock = Field(description="HH:MM.")
    ends: Clock = Field(description="HH:MM.")
    place: str = Field(description="The name of the place, or the sort of place; for transport, where to.")
    what: str = Field(description="What the client does, in a few words.")
    mode: Mode = Field(description="For transport: how; else any.")
    cost_usd: Dollars = Field(description="What it costs in dollars.")


class UngroundedDay(Reply):
    """A day that was planned without looking anything up."""

    activities: tuple[UngroundedActivity, ...] = Field(max_length=40, description="In the order of the day.")
