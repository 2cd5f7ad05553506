"""Diego's prompts: their inputs, as the rules read them, and the replies of any mind."""

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Annotated, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from virl.clock import parse_clock, show_clock
from virl.mind.replies import Reply, number_range
from virl.routines.client import ClientTexts

Mode = Literal["any", "walking", "cycling", "transit", "driving"]
Kind = Literal["normal", "eat", "transport", "scenic", "end"]

_SIGNED = re.compile(r"[+\-\N{MINUS SIGN}]?\s*\d+(?:\.\d+)?")


def _number(value: object) -> object:
    """Return the number in a model's text, such as "+ 5", "-10%" or "$3"; any other value unchanged."""
    if not isinstance(value, str):
        return value
    text = value.strip().removesuffix("%").strip().removeprefix("$")
    if not _SIGNED.fullmatch(text):
        return value
    return round(float(text.replace("\N{MINUS SIGN}", "-").replace(" ", "")), 2)


def _as_whole(value: object) -> object:
    """Return a finite number, or text that spells one, rounded to an integer; other values unchanged."""
    number = _number(value)
    return round(number) if isinstance(number, float) and isfinite(number) else number


Clock = Annotated[str, AfterValidator(lambda text: show_clock(parse_clock(text)))]
Whole = Annotated[int, BeforeValidator(_as_whole)]
Dollars = Annotated[float, BeforeValidator(_number), Field(ge=0, le=100_000)]
Level = Annotated[int, BeforeValidator(_as_whole), Field(ge=0, le=100)]


class DayDraft(Reply):
    """The next activity of a day, as it is proposed."""

    kind: Kind = Field(
        description="normal: do something, or rest; eat: a meal; transport: only go somewhere; scenic: stop "
        "at the scenic spot given; end: the day is over and nothing more is planned."
    )
    starts: Clock = Field(
        description="When it begins, the way there behind them: HH:MM, 24 hours, not before now."
    )
    ends: Clock = Field(description="When it ends: HH:MM, 24 hours, later than `starts` and within the day.")
    place: str = Field(
        description="One of the sorts offered or the name of a place, spelt the same; empty for a meal, and "
        "to stay where the client is."
    )
    what: str = Field(
        min_length=1, description="What the client does, in a few words; of a meal, which and of what."
    )
    mode: Mode = Field(description="How to get there; any if it does not matter.")
    reason: str = Field(description="Why this suits this client now, in one sentence.")

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the allowed values of reply fields, by field path, for the inputs of a prompt."""
        kinds = get_args(Kind)
        return {"kind": kinds if inputs.get("scenic") else [kind for kind in kinds if kind != "scenic"]}

    @model_validator(mode="after")
    def _forward(self) -> Self:
        """Return the draft; raise `ValueError` unless it ends after it begins or is the end of the day."""
        if self.kind != "end" and parse_clock(self.starts) >= parse_clock(self.ends):
            raise ValueError(f"it begins at {self.starts} and ends at {self.ends}: let it end later")
        return self


class Change(Reply):
    """A change of one feeling."""

    by: Whole = Field(
        ge=-100,
        le=100,
        description="Change on the scale from 0 to 100: above 0 is more of it, below 0 less, 0 none.",
    )
    because: str = Field(description="Why, in a few words; empty for no change.")


class DayEstimate(Reply):
    """An estimate of what an activity does to somebody, and what it costs."""

    stress: Change = Field(description="How their stress changes.")
    joy: Change = Field(description="How their joy changes.")
    sadness: Change = Field(description="How their sadness changes.")
    hunger: Change = Field(description="How their hunger changes.")
    energy: Change = Field(description="How their energy changes.")
    pain: Change = Field(description="How their pain changes.")
    cost_usd: Dollars = Field(
        description="What the client spends there in dollars, the way apart; 0 if it is free."
    )


class DayVerdict(Reply):
    """A verdict on whether an activity can stay as it is."""

    fits: bool = Field(description="Whether it makes sense for this client now.")
    reason: str = Field(description="Why, in one sentence; if it does not fit, what should be different.")


class Told(Reply):
    """The news that somebody has let know about themself and the rest of their day."""

    stress: Level | None = Field(description="Stress now, 0 (none) to 100; null if nothing is said of it.")
    joy: Level | None = Field(description="Joy now, likewise.")
    sadness: Level | None = Field(description="Sadness now, likewise.")
    hunger: Level | None = Field(description="Hunger now, likewise.")
    energy: Level | None = Field(description="Energy now, likewise; low is tired.")
    pain: Level | None = Field(description="Pain now, likewise.")
    wishes: tuple[str, ...] = Field(
        max_length=10,
        description="What should hold for the rest of the day, each in a few words; may be empty.",
    )


class Amendment(Reply):
    """A change that somebody makes to one activity of a day that is proposed to them."""

    number: int = Field(ge=1, le=40, description="Of the activity, as listed.")
    drop: bool = Field(description="Whether they do not want it at all.")
    place: str = Field(description="Where instead, or which sort of place; empty to leave it as it is.")
    what: str = Field(description="What they do instead, in a few words; empty to leave it as it is.")
    starts: Clock | None = Field(description="When it begins instead, HH:MM; null to leave it as it is.")
    ends: Clock | None = Field(description="When it ends instead, HH:MM; null to leave it as it is.")


class Amendments(Reply):
    """The changes that somebody makes to a day that is proposed to them."""

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
        """Return the allowed values of reply fields, by field path, for the inputs of a prompt."""
        return {"changes.number": number_range(inputs, "activities", 1)}


class ViewRating(Reply):
    """A rating of how scenic one of several views is."""

    rating: Annotated[float, BeforeValidator(_number)] = Field(
        ge=0, le=10, description="From 0 (nobody would stop) to 10 (worth the way for its own sake)."
    )
    reason: str = Field(description="What in the view makes it so, in one sentence.")
    view: int = Field(ge=0, description="The number of the view, as given before it.")


class SceneryRatings(Reply):
    """The ratings of how scenic several views are."""

    ratings: tuple[ViewRating, ...] = Field(
        description="Every view once, in the order in which they were given."
    )

    @classmethod
    def offers(cls, inputs: Mapping[str, object]) -> Mapping[str, Sequence[str | int]]:
        """Return the allowed values of reply fields, by field path, for the inputs of a prompt."""
        return {"ratings.view": number_range(inputs, "views")}

    @field_validator("ratings")
    @classmethod
    def _are_all_there(cls, ratings: tuple[ViewRating, ...], info: ValidationInfo) -> tuple[ViewRating, ...]:
        """Return the ratings in the order of the views; raise `ValueError` unless each is rated once."""
        views = (info.context or {}).get("views")
        if isinstance(views, list | tuple) and sorted(one.view for one in ratings) != [*range(len(views))]:
            raise ValueError(f"rate each of the views 0 to {len(views) - 1} once")
        return tuple(sorted(ratings, key=lambda one: one.view))


class UngroundedActivity(Reply):
    """An activity of a day that was planned without looking anything up."""

    kind: Literal["normal", "eat", "transport", "scenic"] = Field(
        description="normal: do something; eat: a meal; transport: a way; scenic: stop for a view."
    )
    starts: Clock = Field(description="When it begins: HH:MM, 24 hours.")
    ends: Clock = Field(description="When it ends: HH:MM, 24 hours.")
    place: str = Field(description="The name of the place, or the sort of place; for transport, where to.")
    what: str = Field(description="What the client does, in a few words.")
    mode: Mode = Field(description="For transport: how; else any.")
    cost_usd: Dollars = Field(description="What it costs in dollars; 0 if it is free.")


class UngroundedDay(Reply):
    """A day that was planned without looking anything up."""

    activities: tuple[UngroundedActivity, ...] = Field(max_length=40, description="In the order of the day.")


class RuleActivity(BaseModel):
    """An activity, done or proposed, in a prompt's inputs, as rules read it."""

    kind: str
    starts: str
    ends: str
    what: str = ""
    place: str = ""
    sort: str = ""
    """Place type; empty for staying where one is, and for a journey alone."""
    mode: str = ""
    travel_minutes: int = 0
    known_usd: float | None = None
    """Known cost in US dollars; `None` if unknown."""
    cost_usd: float = 0.0

    @property
    def minutes(self) -> int:
        """Duration in minutes, without the way there."""
        return parse_clock(self.ends) - parse_clock(self.starts)


class Offer(BaseModel):
    """A place type in a prompt's inputs, with the number of its places within reach."""

    sort: str
    count: int


class Refusal(BaseModel):
    """A refused draft in a prompt's inputs, with the reason."""

    kind: str
    place: str
    why: str


class DraftQuestion(BaseModel):
    """Inputs of the prompt `day/draft`, as its rule reads them."""

    client: ClientTexts
    state: dict[str, float]
    now: str
    until: str
    budget_usd: float
    done: tuple[RuleActivity, ...]
    wishes: tuple[str, ...]
    offers: tuple[Offer, ...]
    scenic: str | None = None
    refused: tuple[Refusal, ...] = ()

    @property
    def minute(self) -> int:
        """Present time, in minutes after midnight."""
        return parse_clock(self.now)

    @property
    def minutes_left(self) -> int:
        """Minutes from now to the end of the day."""
        return parse_clock(self.until) - self.minute

    def since_meal(self) -> int | None:
        """Return the minutes since the last meal ended; `None` before the first."""
        meals = [parse_clock(one.ends) for one in self.done if one.kind == "eat"]
        return self.minute - max(meals) if meals else None

    def is_refused(self, kind: str, place: str = "") -> bool:
        """Return whether this round refused a draft of this kind at this place; for "eat", at any place."""
        return any(one.kind == kind and (kind == "eat" or one.place == place) for one in self.refused)


class EstimateQuestion(BaseModel):
    """Inputs of the prompt `day/estimate`, as its rule reads them."""

    client: ClientTexts
    state: dict[str, float]
    activity: RuleActivity


class AuditQuestion(BaseModel):
    """Inputs of the prompt `day/audit`, as its rule reads them."""

    client: ClientTexts
    state: dict[str, float]
    after: dict[str, float]
    done: tuple[RuleActivity, ...]
    wishes: tuple[str, ...]
    activity: RuleActivity


class TellingQuestion(BaseModel):
    """Inputs of the prompt `day/listen`, as its rule reads them."""

    said: str
    state: dict[str, float]


class NumberedActivity(RuleActivity):
    """An activity of a proposed day in a prompt's inputs, with its number from 1."""

    number: int


class AmendQuestion(BaseModel):
    """Inputs of the prompt `day/amend`, as its rule reads them."""

    said: str
    activities: tuple[NumberedActivity, ...]


class ViewShares(BaseModel):
    """Measured shares of a view's pixels that are green, sky and water, each in [0, 1]."""

    green: float
    sky: float
    water: float


class SceneryQuestion(BaseModel):
    """Inputs of the prompt `day/scenic`, as its rule reads them."""

    views: tuple[ViewShares, ...]


class UngroundedQuestion(BaseModel):
    """Inputs of the prompt `day/ungrounded`, as its rule reads them."""

    client: ClientTexts
    state: dict[str, float]
    starts: str
    until: str
    budget_usd: float
