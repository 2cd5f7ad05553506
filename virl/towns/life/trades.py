"""Trades: the sorts of places that a town has, and what is usual for each."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random

from pydantic import Field

from virl.platform.city.place_types import Words, place_table, table_file
from virl.settings.model import Settings, check_settings
from virl.towns.storage import read_table


class Trade(Settings):
    """A kind of place in made towns, such as a bakery or an Italian restaurant."""

    count: int
    """Number of places of the trade in a town."""
    types: tuple[str, ...]
    """Place types of Google, the most specific first."""
    scope: str
    """Name of the scope of review sentences that suit the trade."""
    group: str
    """Name of the `Group` of trades that it settles with."""
    hours: str
    """Name of the set of weekly patterns of opening hours."""
    width: float = 4.0
    """Least width in metres of the trade's frontage, as long as one so wide is free."""
    visitors: float
    """Median number of ratings of the trade's places."""
    attributes: dict[str, float]
    """Chance of each hidden attribute, [0, 1]; attributes with 0 or 1 are never mentioned."""
    items: Words
    """Words for what people come for, to be read after "the"."""
    blade: str
    """Word for the trade on a sign that juts out over the pavement."""
    taglines: tuple[str, ...] = ()
    """Second lines of signs whose first line does not tell the trade."""
    patterns: dict[str, tuple[str, ...]]
    """Patterns of the places' names by language, as `data/names.yaml` explains."""

    @property
    def debatable(self) -> tuple[str, ...]:
        """Attributes that differ from place to place, of which reviews therefore speak."""
        return tuple(name for name, chance in self.attributes.items() if 0 < chance < 1)


def fill_slots(text: str, slot: re.Pattern[str], words: Mapping[str, Sequence[str]], rng: Random) -> str:
    """Return a text with each slot filled by a random word that fills none before it.

    Args:
        text: sentence or pattern of a name.
        slot: pattern of a slot; its first group names the words that fit.
        words: words by that name.
        rng: source of chance.
    """
    used: set[str] = set()

    def choose_word(match: re.Match[str]) -> str:
        """Return a random unused word for a slot."""
        used.add(chosen := rng.choice([word for word in words[match[1]] if word not in used]))
        return chosen

    return slot.sub(choose_word, text)


class Group(Settings):
    """The way in which trades of one kind gather in a town."""

    centres: int
    """Number of spots that the trades gather around."""
    reach: float
    """Distance in metres from a centre within which most places settle."""
    scattered: float
    """Share of places that settle anywhere, [0, 1]."""
    busy: float
    """Pull of busy streets on the trades; negative for back streets."""


def _trades_of_types() -> dict[str, Trade]:
    """Return the trades in the table of place types, by name."""
    return {
        name: check_settings(said, Trade, source=f"{table_file()}, {place_type}, trades, {name}")
        for place_type, row in place_table().types.items()
        for name, said in row.told_trades(place_type).items()
    }


class Trades(Settings):
    """The groups, hours and trades of made towns."""

    groups: dict[str, Group]
    hours: dict[str, tuple[str, ...]]
    """Weekly patterns of opening hours as `parse_hours` reads them, by name of the set."""
    trades: dict[str, Trade] = Field(default_factory=_trades_of_types)
    """Trades by name, in the order of the rows of the table of place types."""


@cache
def trades_table() -> Trades:
    """Return the table of all trades, read once."""
    return read_table("trades", Trades)
