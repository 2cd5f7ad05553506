"""The activities of a day, proposed and done: what each costs and changes, and how far the day has come."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import Field

from virl.clock import show_clock
from virl.files.json_reading import JsonRecord
from virl.geo.globe import LatLng
from virl.platform.city.place_types import sort_of
from virl.platform.city.places import Place
from virl.routines.client import Client
from virl.routines.day.replies import DayEstimate
from virl.routines.day.settings import FEELINGS, Day, Mode

Kind = Literal["normal", "eat", "transport", "scenic"]
"""Kind of an activity; `normal` is anything but a meal, a way or the stop at the scenic spot."""


class Spot(JsonRecord):
    """The location of an activity: a place, an address, or where the client happens to be."""

    lat: float
    """Latitude, WGS84 degrees."""
    lng: float
    """Longitude, WGS84 degrees."""
    name: str = ""
    """Name of the place, or the address; empty for staying where one is."""
    id: str | None = None
    """The provider's id of the place; `None` for an address."""
    sort: str = ""
    """Place type, such as `museum`; empty for an address."""
    address: str = ""
    """Address of the place; empty if unknown or if `name` is the address."""

    @property
    def position(self) -> LatLng:
        """Latitude and longitude of the spot."""
        return LatLng(self.lat, self.lng)

    @classmethod
    def of(cls, place: Place) -> "Spot":
        """Return the location of a place with its name, id, type and address."""
        return cls(
            lat=float(place.position.lat),
            lng=float(place.position.lng),
            name=place.name,
            id=place.id,
            sort=sort_of(place.types),
            address=place.address,
        )


class Activity(JsonRecord):
    """An activity with its times in minutes after midnight, its effects on feelings, and its cost."""

    kind: Kind
    """Kind of the activity; `transport` for a journey."""
    starts: int
    """Beginning, in minutes after midnight."""
    ends: int
    """End, in minutes after midnight."""
    what: str
    """Sentence fragment on what the client does, such as "Enjoy the view"."""
    reason: str
    """Sentence on why the activity is in the day."""
    spot: Spot
    """Place of the activity; for a journey, its destination."""
    mode: Mode | None = None
    """Travel mode of a journey; `None` for other activities."""
    cost_usd: float = 0.0
    """Cost of this activity alone, US dollars; a visit's is without the way."""
    changes: dict[str, int] = Field(default_factory=dict)
    """Signed changes of the client's feelings in points, by the feeling's name."""
    because: dict[str, str] = Field(default_factory=dict)
    """Reasons for the changes of feelings, by the feeling's name."""
    state: dict[str, float]
    """The client's feelings after the activity, each in [0, 100]."""
    budget_usd: float
    """US dollars left after the activity."""
    fallback: bool = False
    """True if the activity replaces drafts that were refused."""

    @property
    def time(self) -> str:
        """The start and end as text, such as `09:00-10:30`."""
        return f"{show_clock(self.starts)}-{show_clock(self.ends)}"

    def to_prompt(self) -> dict[str, object]:
        """Return the activity as prompt input: `kind`, times as HH:MM, `what`, place name and type."""
        return {
            "kind": self.kind,
            "starts": show_clock(self.starts),
            "ends": show_clock(self.ends),
            "what": self.what,
            "place": self.spot.name,
            "sort": self.spot.sort,
        }


@dataclass(frozen=True, slots=True)
class DayProgress:
    """The client's situation between two activities: time, location, feelings and money."""

    now: int
    """The time, minutes after midnight."""
    here: Spot
    """Location of the client."""
    state: Mapping[str, float]
    """The client's feelings by name, each in [0, 100]."""
    budget_usd: float
    """US dollars left to spend."""
    done: tuple[Activity, ...] = ()
    """Activities and journeys so far, in order."""
    wishes: tuple[str, ...] = ()
    """The client's wishes for the rest of the day, as told so far."""
    scenic_id: str | None = None
    """Id of the scenic spot's place, which is reserved for it; `None` without one."""
    refused_ids: frozenset[str] = frozenset()
    """Ids of places that the client refuses, or has an appointment at."""

    def advance(self, activities: Sequence[Activity]) -> "DayProgress":
        """Return the situation after at least one further activity, in order."""
        last = activities[-1]
        return replace(
            self,
            now=last.ends,
            here=last.spot,
            state=last.state,
            budget_usd=last.budget_usd,
            done=(*self.done, *activities),
        )

    def location_name(self) -> str:
        """Return the name of where the client is, as the last activity there named it; may be empty."""
        names = (one.spot.name for one in reversed(self.done) if one.spot.position == self.here.position)
        return next(filter(None, names), self.here.name)

    def excluded_ids(self) -> set[str]:
        """Return the ids of places not to propose: those visited or refused, and the scenic spot's."""
        visited = {one.spot.id for one in self.done if one.spot.id and one.kind != "transport"}
        return visited | self.refused_ids | ({self.scenic_id} if self.scenic_id else set())


def clamp_feelings(state: Mapping[str, float], changes: Mapping[str, int]) -> dict[str, float]:
    """Return feelings by name after signed changes in points, each limited to [0, 100]."""
    return {name: min(max(value + changes.get(name, 0), 0.0), 100.0) for name, value in state.items()}


@dataclass(frozen=True, slots=True)
class TravelOption:
    """A way that the client could take to a place."""

    mode: Mode
    """Travel mode; `driving` is a taxi."""
    minutes: int
    """Duration in minutes."""
    usd: float
    """Cost for one person, US dollars."""
    words: str = ""
    """Legs of a journey by public transport, in words; empty for other ways."""
    leaves: int | None = None
    """Minute after midnight at which the way begins; `None` for any time."""
    on_foot: int = 0
    """Minutes of the way that are walked."""


@dataclass(frozen=True, slots=True)
class ScenicSpot:
    """The best view found in and beside parks."""

    spot: Spot
    """Place of the panorama, with the park's name."""
    rating: float
    """Rating of the view, 0 to 10."""
    reason: str
    """Sentence on what in the view earned the rating."""
    seen: int
    """Number of views that were rated."""

    @property
    def description(self) -> str:
        """The scenic spot in words, for prompts."""
        return f"{self.spot.name}: a view rated {self.rating:g} of 10. {self.reason}"


@dataclass(frozen=True, slots=True)
class DayPlan:
    """A planned day: activities, and how the plan came about."""

    client: Client
    """The person for whom the day is planned."""
    day: Day
    """Settings of the day: hours, budget and travel modes, as last changed by the client."""
    start: Spot
    """Start of the day."""
    activities: tuple[Activity, ...]
    """Activities and journeys, in order."""
    scenic: ScenicSpot | None
    """Best view found in or beside a park; `None` if none was looked for or found."""
    said: tuple[str, ...]
    """Wishes that the client told during planning, for the rest of the day."""
    amendments: tuple[str, ...]
    """The client's words on proposed days, with the changes made and those that were impossible."""
    ended: str
    """Reason why the day ends after its last activity."""
    seconds: Mapping[tuple[LatLng, LatLng, Mode], float] = field(default_factory=dict)
    """Seconds of each way asked for, by (start, destination, mode), so that checks need not pay again."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """An activity drafted by the mind, with the real place, times and way found for it."""

    kind: Kind
    """Kind of the activity; `transport` for a journey alone."""
    what: str
    """Sentence fragment on what the client does, as drafted."""
    reason: str
    """Sentence on why it suits the client, as drafted."""
    starts: int
    """Beginning after the way, in minutes after midnight."""
    ends: int
    """End, in minutes after midnight; equal to `starts` for a journey alone."""
    spot: Spot
    """Location of the activity; unnamed for staying where the client is."""
    way: TravelOption | None = None
    """The way there, right before; `None` if the client is there."""
    place: Place | None = None
    """The place with its details; `None` without one."""
    usd: float | None = None
    """Known cost of the visit, US dollars; `None` if unknown."""

    @property
    def leaves(self) -> int:
        """The minute after midnight at which the client sets out; fixed by a timetable, else just in time."""
        if self.way and self.way.leaves is not None:
            return self.way.leaves
        return self.starts - (self.way.minutes if self.way else 0)

    def to_prompt(self) -> dict[str, object]:
        """Return the proposal as prompt input, times as HH:MM; a journey alone starts when its way does."""
        only_a_way = self.kind == "transport"
        return {
            "kind": self.kind,
            "starts": show_clock(self.leaves if only_a_way else self.starts),
            "ends": show_clock(self.ends),
            "what": self.what,
            "place": self.spot.name,
            "sort": self.spot.sort,
            "mode": self.way.mode if self.way else "",
            "travel_minutes": self.way.minutes if self.way and not only_a_way else 0,
            "known_usd": self.usd,
        }


@dataclass(frozen=True, slots=True)
class RefusedDraft:
    """A draft of an activity that was refused, with the reason."""

    kind: str
    """Kind of the drafted activity."""
    place: str
    """Place name or type as drafted; may be empty."""
    why: str
    """Sentences on why it was refused."""
    place_id: str | None = None
    """Id of the place found for the draft; `None` if none was."""

    def to_prompt(self) -> dict[str, str]:
        """Return the refused draft as prompt input: `kind`, `place` and `why`."""
        return {"kind": self.kind, "place": self.place, "why": self.why}


_WAY_VERBS = {
    "walking": "Walk",
    "cycling": "Cycle",
    "transit": "Take public transport",
    "driving": "Take a taxi",
}
"""Beginning of a journey's sentence, by travel mode."""


def cost_of(proposal: Proposal, estimate: DayEstimate) -> float:
    """Return the cost of a proposal without its way, US dollars: the higher of known cost and estimate."""
    if proposal.usd is None:
        return estimate.cost_usd
    # What is done on the spot, without a named place, is free, whatever the mind estimates.
    return max(proposal.usd, estimate.cost_usd) if proposal.spot.name else proposal.usd


def changes_of(estimate: DayEstimate) -> dict[str, int]:
    """Return the signed changes of an estimate by feeling, in points."""
    return {name: getattr(estimate, name).by for name in FEELINGS}


def changes_in_words(changes: Mapping[str, float]) -> str:
    """Return signed changes of feelings, in points by name, as "more joy (8)"; empty for no change."""
    return ", ".join(
        f"{'more' if by > 0 else 'less'} {name} ({abs(by):.0f})" for name, by in changes.items() if by
    )


def activities_of(
    proposal: Proposal, estimate: DayEstimate, progress: DayProgress, *, fallback: bool
) -> list[Activity]:
    """Return a proposal as activities: its way, if any, and itself; `fallback`: it replaces refused drafts.

    Args:
        proposal: what is done, when and where.
        estimate: its changes of feelings and its cost.
        progress: the client's situation before it.
        fallback: whether it replaces drafts that were all refused.
    """
    changes = changes_of(estimate)
    after = clamp_feelings(progress.state, changes)
    because = {name: getattr(estimate, name).because for name, by in changes.items() if by}
    done = [one] if (one := _way_activity(proposal, progress)) else []
    if proposal.kind == "transport":
        return [
            one.model_copy(update={"changes": changes, "because": because, "state": after}) for one in done
        ]
    cost = round(cost_of(proposal, estimate), 2)
    left = done[-1].budget_usd if done else progress.budget_usd
    visit = Activity(
        kind=proposal.kind,
        starts=proposal.starts,
        ends=proposal.ends,
        what=proposal.what,
        reason=proposal.reason,
        spot=proposal.spot,
        cost_usd=cost,
        changes=changes,
        because=because,
        state=after,
        budget_usd=max(round(left - cost, 2), 0.0),
        fallback=fallback,
    )
    return [*done, visit]


def _way_activity(proposal: Proposal, progress: DayProgress) -> Activity | None:
    """Return the way to a proposal as an activity of its own; `None` if the client is there already."""
    way = proposal.way
    if way is None:
        return None
    return Activity(
        kind="transport",
        starts=proposal.leaves,
        ends=proposal.leaves + way.minutes,
        what=f"{_WAY_VERBS[way.mode]} to {proposal.spot.name or 'there'}",
        reason=f"It takes {way.minutes} minutes{f': {way.words}' if way.words else ''}.",
        spot=proposal.spot,
        mode=way.mode,
        cost_usd=way.usd,
        state=dict(progress.state),
        budget_usd=max(round(progress.budget_usd - way.usd, 2), 0.0),
    )
