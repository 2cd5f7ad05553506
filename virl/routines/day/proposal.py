"""A draft that has found its place, its way and its time; and one that has not."""

from dataclasses import dataclass

from virl.clock import show_clock
from virl.platform.city.places import Place
from virl.routines.day.activity import Kind, Spot
from virl.routines.day.replies import DayDraft
from virl.routines.day.town import TravelOption


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
