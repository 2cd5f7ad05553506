"""The activities of a day, and where a client stands between two of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict

from virl.clock import show_clock
from virl.geo.globe import LatLng
from virl.platform.city.place_types import sort_of
from virl.platform.city.places import Place
from virl.routines.day.settings import Mode

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
