"""What the prompts of Diego are asked with, as the rules read it."""

from pydantic import BaseModel, ConfigDict

from virl.clock import parse_clock


class Question(BaseModel):
    """Base: frozen, further inputs are left aside."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Somebody(Question):
    """The client."""

    name: str
    background: str
    intention: str

    @property
    def words(self) -> str:
        """All that is told of them."""
        return f"{self.background}\n{self.intention}"


class Doing(Question):
    """An activity, done or proposed."""

    kind: str
    starts: str
    ends: str
    what: str = ""
    place: str = ""
    sort: str = ""
    """Place type; empty where the client stays or only goes somewhere."""
    mode: str = ""
    travel_minutes: int = 0
    known_usd: float | None = None
    """The known cost in dollars."""
    cost_usd: float = 0.0

    @property
    def minutes(self) -> int:
        """The minutes it takes, travel apart."""
        return parse_clock(self.ends) - parse_clock(self.starts)


class Offer(Question):
    """A sort of place there is within reach."""

    sort: str
    count: int


class Refusal(Question):
    """A draft that did not do, and why."""

    kind: str
    place: str
    why: str


class DraftQuestion(Question):
    """Inputs of `day/draft`."""

    client: Somebody
    state: dict[str, float]
    now: str
    until: str
    budget_usd: float
    done: tuple[Doing, ...]
    wishes: tuple[str, ...]
    offers: tuple[Offer, ...]
    scenic: str | None = None
    refused: tuple[Refusal, ...] = ()

    @property
    def minute(self) -> int:
        """The time it is."""
        return parse_clock(self.now)

    @property
    def minutes_left(self) -> int:
        """Minutes until the day ends."""
        return parse_clock(self.until) - self.minute

    def since_meal(self) -> int | None:
        """Return the minutes since the last meal ended; `None` without one."""
        meals = [parse_clock(one.ends) for one in self.done if one.kind == "eat"]
        return self.minute - max(meals) if meals else None

    def is_refused(self, kind: str, place: str = "") -> bool:
        """Return whether a draft of this kind and place was refused just now."""
        return any(one.kind == kind and (kind == "eat" or one.place == place) for one in self.refused)


class EstimateQuestion(Question):
    """Inputs of `day/estimate`."""

    client: Somebody
    state: dict[str, float]
    activity: Doing


class AuditQuestion(Question):
    """Inputs of `day/audit`."""

    client: Somebody
    state: dict[str, float]
    after: dict[str, float]
    done: tuple[Doing, ...]
    wishes: tuple[str, ...]
    activity: Doing


class TellingQuestion(Question):
    """Inputs of `day/listen`."""

    said: str
    state: dict[str, float]


class NumberedDoing(Doing):
    """An activity of a proposed day."""

    number: int


class AmendQuestion(Question):
    """Inputs of `day/amend`."""

    said: str
    activities: tuple[NumberedDoing, ...]


class ViewShares(BaseModel):
    """The measured shares of a view: parts of the picture, in [0, 1]."""

    green: float
    sky: float
    water: float


class SceneryQuestion(Question):
    """Inputs of `day/scenic`."""

    views: tuple[ViewShares, ...]


class UngroundedQuestion(Question):
    """Inputs of `day/ungrounded`."""

    client: Somebody
    state: dict[str, float]
    starts: str
    until: str
    budget_usd: float
