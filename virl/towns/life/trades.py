"""Trades: the sorts of places that a town has, and what is usual for each."""

from functools import cache

from pydantic import Field

from virl.platform.city.place_types import Words, place_table, table_file
from virl.settings.model import Settings, check_settings
from virl.towns.storage import read_table


class Trade(Settings):
    """One sort of place, such as a bakery or an Italian restaurant."""

    count: int
    """The number of them in a town."""
    types: tuple[str, ...]
    """Google's place types, the most specific first."""
    scope: str
    """The name of the wordings of reviews that suit it."""
    group: str
    """The name of the `Group` that it settles with."""
    hours: str
    """The name of the weekly patterns that it keeps."""
    width: float = 4.0
    """Least width of its frontage, in metres."""
    visitors: float
    """Median of its review counts."""
    attributes: dict[str, float]
    """Chance of each hidden attribute, [0, 1]; 0 and 1 go without saying."""
    items: Words
    """The things that people come for, to be read after "the"."""
    blade: str
    """A word for it on a sign that juts out."""
    taglines: tuple[str, ...] = ()
    """Second lines of signs whose first does not tell the trade."""
    patterns: dict[str, tuple[str, ...]]
    """Patterns of its names by language, as `data/names.yaml` says."""

    @property
    def debatable(self) -> tuple[str, ...]:
        """The attributes that differ from place to place, which reviews therefore speak of."""
        return tuple(name for name, chance in self.attributes.items() if 0 < chance < 1)


class Group(Settings):
    """The way in which trades of one kind gather."""

    centres: int
    """The number of spots they gather around."""
    reach: float
    """Metres from a centre within which most settle."""
    scattered: float
    """Share that settles anywhere, [0, 1]."""
    busy: float
    """The pull of a busy street on them; negative for back streets."""


def _trades_of_types() -> dict[str, Trade]:
    """Return the trades in the table of place types, by name."""
    return {
        name: check_settings(said, Trade, source=f"{table_file()}, {place_type}, trades, {name}")
        for place_type, row in place_table().types.items()
        for name, said in row.told_trades(place_type).items()
    }


class Trades(Settings):
    """The table `data/trades.yaml`, and the trades."""

    groups: dict[str, Group]
    hours: dict[str, tuple[str, ...]]
    """Weekly patterns as read by `parse_hours`."""
    trades: dict[str, Trade] = Field(default_factory=_trades_of_types)
    """Those of the table of place types, in the order of its rows."""


@cache
def trades_table() -> Trades:
    """Return all trades."""
    return read_table("trades", Trades)
