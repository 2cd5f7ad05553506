"""The activities of a day, proposed and done: what each costs and changes, and the client's standing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, ConfigDict

from virl.clock import show_clock
from virl.geo.globe import LatLng
from virl.platform.city.place_types import sort_of
from virl.platform.city.places import Place
from virl.routines.client import Client
from virl.routines.day.replies import DayDraft, DayEstimate
from virl.routines.day.settings import FEELINGS, Day, Mode

Kind = Literal["normal", "eat", "transport", "scenic"]
WORST: Mapping[str, float] = {
    "stress": 100.0,
    "joy": 0.0,
    "sadness": 100.0,
    "hunger": 100.0,
    "energy": 0.0,
    "pain": 100.0,
}
"""The end of each scale where it is worst."""


class _Part(BaseModel):
    """Base of what the notes of a day are read back as: nothing unknown, no infinite number."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Spot(_Part):
    """The place where something is done; WGS84 degrees."""

    lat: float
    lng: float
    name: str = ""
    """The name of the place or the address; empty for those who stay where they are."""
    id: str | None = None
    """The identifier of the place, as the provider knows it."""
    sort: str = ""
    """Place type."""
    address: str = ""

    @property
    def position(self) -> LatLng:
        """The position of the spot."""
        return LatLng(self.lat, self.lng)

    @classmethod
    def of(cls, place: Place) -> "Spot":
        """Return the spot of a place."""
        return cls(
            lat=float(place.position.lat),
            lng=float(place.position.lng),
            name=place.name,
            id=place.id,
            sort=sort_of(place.types),
            address=place.address,
        )


class Activity(_Part):
    """Something done, from minute to minute after midnight, with what it does and costs."""

    kind: Kind
    starts: int
    ends: int
    what: str
    reason: str
    spot: Spot
    """The spot of the activity; for transport, its end."""
    mode: Mode | None = None
    """The travel mode; `None` unless the activity is transport."""
    cost_usd: float = 0.0
    changes: dict[str, int] = {}
    """Signed, by feeling."""
    because: dict[str, str] = {}
    """The reason for each feeling that changes."""
    state: dict[str, float]
    """The client's feelings afterwards, each in [0, 100]."""
    budget_usd: float
    """The dollars left afterwards."""
    fallback: bool = False
    """True if the activity took the place of drafts that would not do."""

    @property
    def time(self) -> str:
        """Such as `09:00-10:30`."""
        return f"{show_clock(self.starts)}-{show_clock(self.ends)}"

    def to_prompt(self) -> dict[str, object]:
        """Return the activity as prompts take it."""
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
    """The client's situation between two activities."""

    now: int
    """Minutes after midnight."""
    here: Spot
    state: Mapping[str, float]
    budget_usd: float
    done: tuple[Activity, ...] = ()
    wishes: tuple[str, ...] = ()
    """The client's wishes so far, for the rest of the day."""
    scenic_id: str | None = None
    """The identifier of the place with the scenic spot, which is kept for it."""
    set_apart: frozenset[str] = frozenset()
    """Ids of places that the client does not want, or has an appointment at."""

    def advance(self, activities: Sequence[Activity]) -> "DayProgress":
        """Return the client's situation after some more activities."""
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
        """Return the name of where the client is."""
        names = (one.spot.name for one in reversed(self.done) if one.spot.position == self.here.position)
        return next(filter(None, names), self.here.name)

    def excluded_ids(self) -> set[str]:
        """Return ids of the places that are not proposed: where something was done, and the scenic spot's."""
        visited = {one.spot.id for one in self.done if one.spot.id and one.kind != "transport"}
        return visited | self.set_apart | ({self.scenic_id} if self.scenic_id else set())


def clamp_feelings(state: Mapping[str, float], changes: Mapping[str, int]) -> dict[str, float]:
    """Return a state after some changes, each feeling held in [0, 100]."""
    return {name: min(max(value + changes.get(name, 0), 0.0), 100.0) for name, value in state.items()}


@dataclass(frozen=True, slots=True)
class TravelOption:
    """A way to get somewhere."""

    mode: Mode
    minutes: int
    usd: float
    words: str = ""
    """The legs of a journey by public transport."""
    leaves: int | None = None
    """The minute after midnight at which it has to be begun; `None` for any time."""
    on_foot: int = 0
    """Minutes of it that are walked."""


@dataclass(frozen=True, slots=True)
class ScenicSpot:
    """The best view that was found."""

    spot: Spot
    """The spot of the park, at the panorama."""
    rating: float
    """0 to 10."""
    reason: str
    seen: int
    """Views that were rated."""

    @property
    def description(self) -> str:
        """The spot in words, as prompts take it."""
        return f"{self.spot.name}: a view rated {self.rating:g} of 10. {self.reason}"


@dataclass(frozen=True, slots=True)
class DayPlan:
    """A day that was planned."""

    client: Client
    day: Day
    start: Spot
    activities: tuple[Activity, ...]
    scenic: ScenicSpot | None
    said: tuple[str, ...]
    """The client's wishes on the way, for the rest of the day."""
    amendments: tuple[str, ...]
    """The client's words on proposed days, with the changes made and those that could not be."""
    ended: str
    """The reason why the day ends there."""
    seconds: Mapping[tuple[LatLng, LatLng, Mode], float] = field(default_factory=dict)
    """The seconds of ways that were asked for: a check need not pay for them again."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A draft that has found its place and time."""

    kind: Kind
    what: str
    reason: str
    starts: int
    """Minutes after midnight."""
    ends: int
    spot: Spot
    way: TravelOption | None = None
    """The way there, right before; `None` where the client is there."""
    place: Place | None = None
    """The place with its details."""
    usd: float | None = None
    """The known cost of the visit, in dollars; `None` where nothing tells."""

    @property
    def leaves(self) -> int:
        """The minute at which the client sets out: in time, or by the timetable."""
        if self.way and self.way.leaves is not None:
            return self.way.leaves
        return self.starts - (self.way.minutes if self.way else 0)

    def to_prompt(self) -> dict[str, object]:
        """Return the proposal as prompts take it; transport alone has the times of the way."""
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
    """A draft that could not stay."""

    kind: str
    place: str
    why: str
    place_id: str | None = None
    """The identifier of the place that the draft had found."""

    @classmethod
    def of(cls, draft: DayDraft, why: str, found: Proposal | None = None) -> "RefusedDraft":
        """Return the record of a refused draft: the reason, and the place it had found.

        Args:
            draft: of the mind.
            why: it was refused.
            found: what came of it; `None` where nothing did.
        """
        return cls(draft.kind, draft.place, why, found.spot.id if found else None)

    def to_prompt(self) -> dict[str, str]:
        """Return the refused draft as prompts take it."""
        return {"kind": self.kind, "place": self.place, "why": self.why}


HOW: Mapping[str, str] = MappingProxyType(
    {
        "walking": "Walk",
        "cycling": "Cycle",
        "transit": "Take public transport",
        "driving": "Take a taxi",
    }
)


def cost_of(proposal: Proposal, estimate: DayEstimate) -> float:
    """Return dollars without the way: what is known, or the estimate if that is more or nothing is known."""
    if proposal.usd is None:
        return estimate.cost_usd
    return max(proposal.usd, estimate.cost_usd) if proposal.spot.name else proposal.usd


def changes_of(estimate: DayEstimate) -> dict[str, int]:
    """Return the signed changes by feeling."""
    return {name: getattr(estimate, name).by for name in FEELINGS}


def activities_of(
    proposal: Proposal, estimate: DayEstimate, standing: DayProgress, *, fallback: bool
) -> list[Activity]:
    """Return the way, if there is one, and what it leads to.

    Args:
        proposal: what is done.
        estimate: what it does.
        standing: where the client is before.
        fallback: whether it takes the place of drafts that would not do.
    """
    changes = changes_of(estimate)
    after = clamp_feelings(standing.state, changes)
    because = {name: getattr(estimate, name).because for name, by in changes.items() if by}
    done = [one] if (one := _way_activity(proposal, standing)) else []
    if proposal.kind == "transport":
        return [
            one.model_copy(update={"changes": changes, "because": because, "state": after}) for one in done
        ]
    cost = round(cost_of(proposal, estimate), 2)
    left = done[-1].budget_usd if done else standing.budget_usd
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


def _way_activity(proposal: Proposal, standing: DayProgress) -> Activity | None:
    """Return the way to a proposal as an activity of its own; None if there is no way."""
    way = proposal.way
    if way is None:
        return None
    return Activity(
        kind="transport",
        starts=proposal.leaves,
        ends=proposal.leaves + way.minutes,
        what=f"{HOW[way.mode]} to {proposal.spot.name or 'there'}",
        reason=f"It takes {way.minutes} minutes{f': {way.words}' if way.words else ''}.",
        spot=proposal.spot,
        mode=way.mode,
        cost_usd=way.usd,
        state=dict(standing.state),
        budget_usd=max(round(standing.budget_usd - way.usd, 2), 0.0),
    )
