"""Trades: the sorts of places that a town has, and what is usual for each."""

from functools import cache

from virl.platform.providers.offline.tables import read_table
from virl.settings.model import Settings


class Trade(Settings):
    """One sort of place, such as a bakery or an Italian restaurant."""

    count: int
    """How many a town has."""
    types: tuple[str, ...]
    """Google's place types, the most specific first."""
    scope: str
    """Which wordings of reviews suit it."""
    group: str
    """Which `Group` it settles with."""
    hours: str
    """Which weekly patterns it keeps."""
    width: float = 4.0
    """Least width of its frontage, in metres."""
    visitors: float
    """Median of its review counts."""
    attributes: dict[str, float]
    """Chance of each hidden attribute, [0, 1]; 0 and 1 go without saying."""
    items: tuple[str, ...]
    """What people come for, to be read after "the"."""

    @property
    def debatable(self) -> tuple[str, ...]:
        """The attributes that differ from place to place, which reviews therefore speak of."""
        return tuple(name for name, chance in self.attributes.items() if 0 < chance < 1)


class Group(Settings):
    """How trades of one kind gather."""

    centres: int
    """How many spots they gather around."""
    reach: float
    """Metres from a centre within which most settle."""
    scattered: float
    """Share that settles anywhere, [0, 1]."""
    busy: float
    """How much they want a busy street; negative for back streets."""


class Trades(Settings):
    """The table `data/trades.yaml`."""

    groups: dict[str, Group]
    hours: dict[str, tuple[str, ...]]
    """Weekly patterns as read by `parse_hours`."""
    trades: dict[str, Trade]


@cache
def trades_table() -> Trades:
    """All trades."""
    return read_table("trades", Trades)
