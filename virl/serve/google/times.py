"""The clock of a served city: what is open now, and when reviews were written."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from zoneinfo import ZoneInfo

from virl.platform.city.places import Place

REVIEWED_DAYS = 900  # reviews are at most so old; chosen, since cities do not tell when they were written


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class TownClock:
    """Time in a town.

    Args:
        zone: its IANA time zone; `None` is UTC.
        now: gives the time.
    """

    zone: str | None = None
    now: Callable[[], datetime] = _utc_now

    @property
    def local(self) -> datetime:
        """The time in the town."""
        return self.now().astimezone(ZoneInfo(self.zone) if self.zone else UTC)

    @property
    def offset_minutes(self) -> int:
        """Minutes that the town's clocks are ahead of UTC."""
        offset = self.local.utcoffset() or timedelta()
        return round(offset.total_seconds() / 60)

    def is_open(self, place: Place) -> bool:
        """Return whether a place is open now; its hours are known."""
        local = self.local
        return place.open_at(local.weekday(), local.hour * 60 + local.minute)

    def review_time(self, place_id: str, number: int) -> datetime:
        """Return the time of a review, by its place and number: always the same number of days ago."""
        drawn = blake2b(f"{place_id} {number}".encode(), digest_size=2).digest()
        days = 1 + int.from_bytes(drawn, "big") % REVIEWED_DAYS
        midnight = self.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight - timedelta(days=days)

    def ago(self, when: datetime) -> str:
        """Return the age of a time in words, such as `2 months ago`."""
        days = (self.now() - when).days
        for name, length in (("year", 365), ("month", 30), ("week", 7), ("day", 1)):
            if days >= length:
                count = days // length
                return f"{count} {name}s ago" if count > 1 else f"a {name} ago"
        return "in the last day"
