"""Place types: the table `platform/place-types.yaml`, a row for each type, and words for them by language."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from virl.files.stores import collector_paused
from virl.resources import data_folder
from virl.settings.model import Settings, check_settings, load_settings

Words = Annotated[
    tuple[str, ...],
    BeforeValidator(
        lambda words: tuple(word.strip() for word in words.split(",")) if isinstance(words, str) else words
    ),
]
"""Tuple of texts, which a file may also write as one text with commas."""


class TypeWords(Settings):
    """The words that mean one place type, by ISO 639-1 code of their language."""

    weight: float = Field(default=1.0, gt=0, le=1)
    """Factor, (0, 1], on the score of the words; below 1 where they also name streets and quarters."""
    names: dict[str, Words]
    """Words by language that say outright what the place is."""
    hints: dict[str, Words] = Field(default_factory=dict)
    """Words by language for what the place sells or does."""


class MoreWords(Settings):
    """Words that supplement a lexicon, where it has no entry of its own."""

    compounding: tuple[str, ...] = ()
    """ISO 639-1 codes of languages whose words also count as the last part of a longer word."""
    types: dict[str, TypeWords]
    """Words by place type."""


def words_of(types: Mapping[str, TypeWords]) -> Iterator[tuple[str, str, str, bool]]:
    """Yield (type, language, word, True for a name of the type or False for a hint) for all words."""
    for place_type, words in types.items():
        # Names come last: of equal words, a caller that keeps the last one keeps the name.
        for group, are_names in ((words.hints, False), (words.names, True)):
            for language, of_language in group.items():
                for word in of_language:
                    yield place_type, language, word, are_names


@cache
def more_words(name: str) -> MoreWords:
    """Return the words of the file `platform/words/NAME.yaml`.

    Raises:
        BadInput: there is no such file, or it does not fit.
    """
    return load_settings(data_folder("platform/words") / f"{name}.yaml", MoreWords)


ModelT = TypeVar("ModelT", bound=BaseModel)

Mark = Literal[
    "virl96",
    "finer",
    "busy",
    "says_nothing",
    "coarse",
    "general",
    "outdoors",
    "landmark",
    "no_front",
    "snack",
    "common",
]
"""Mark of a place type in the table, such as "outdoors"; the head of `place-types.yaml` explains each."""


SHARED_BY_TRADES = ("types", "scope", "group", "hours", "width", "visitors")
"""Fields that further trades (sorts of business) of a place type take from its first trade if not stated."""


class PlaceType(Settings):
    """A row of the table of place types; the head of `place-types.yaml` explains the fields."""

    google: Literal["A", "B"] | None = None
    old: str = ""
    new: str = ""
    marks: frozenset[Mark] = frozenset()
    virl20: int | None = Field(default=None, ge=1)
    osm: Words = ()
    overture: Words = ()
    name_ends: str = ""
    asked_as: Words = ()
    asked_too: Words = ()
    fine: Words = ()
    like: str = ""
    like_items: Words = ()
    open: str = ""
    words: Words = ()
    needs: Words = ()
    related: Words = ()
    counts: Words = ()
    near_home: Words = ()
    wish: dict[str, str] = Field(default_factory=dict, max_length=1)
    pastime: dict[str, Any] = Field(default_factory=dict)
    signs: TypeWords | None = None
    trade: dict[str, Any] = Field(default_factory=dict)
    trades: dict[str, dict[str, Any]] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _in_a_table_of_google(cls, row: object) -> object:
        """Return a row with `google` set to "A" if its marks say that the type is in Google's Table A."""
        if not isinstance(row, dict) or not isinstance(marks := row.get("marks"), list):
            return row
        return {"google": "A", **row} if "virl96" in marks or "finer" in marks else row

    @property
    def wider(self) -> tuple[str, ...]:
        """Wider place types named with the row's first OpenStreetMap tag; empty for a row without tags."""
        return _names_in(self.osm[0])[1:] if self.osm else ()

    def told_trades(self, name: str) -> dict[str, dict[str, Any]]:
        """Return {trade: its fields} for the type `name` of this row; fields not stated get usual values."""
        trades = ({name: self.trade} if self.trade else {}) | self.trades
        first = next(iter(trades.values()), {})
        usual = {"types": (name, *self.wider)} | {key: first[key] for key in SHARED_BY_TRADES if key in first}
        return {
            trade: {"hours": trade, "blade": trade.replace("_", " ").capitalize(), **usual, **said}
            for trade, said in trades.items()
        }


class PlaceTypes(Settings):
    """The table of place types that comes with virl."""

    types: dict[str, PlaceType]
    """Rows of the table by place type."""
    no_place: Words
    """Tags of OpenStreetMap on objects that are no place."""
    orders: dict[str, Words]
    """Place types to be listed first, in order, by the field of `PlaceType` that the order is for."""


def table_file() -> Path:
    """Return the path of the table of place types."""
    return data_folder("platform") / "place-types.yaml"


@cache
def place_table() -> PlaceTypes:
    """Return the table of place types that comes with virl, read once.

    Raises:
        BadInput: it is broken; names line and field.
    """
    with collector_paused():  # the table is many small objects; this halves the time to read it
        return load_settings(table_file(), PlaceTypes)


@cache
def by_type(field: str) -> Mapping[str, Any]:
    """Return the values of a field of `PlaceType` by type, in order; types with an empty one are left out."""
    table = place_table()
    names = dict.fromkeys((*table.orders.get(field, ()), *table.types))
    return {name: said for name in names if (said := getattr(table.types[name], field))}


def by_type_as(field: str, model: type[ModelT]) -> dict[str, ModelT]:
    """Return the values of a field of `PlaceType` as objects of a pydantic model, by type.

    Raises:
        BadInput: a row does not fit; names the table, the type and the field.
    """
    return {
        name: check_settings(said, model, source=f"{table_file()}, {name}, {field}")
        for name, said in by_type(field).items()
    }


@cache
def types_marked(mark: Mark) -> frozenset[str]:
    """Return the names of the place types that bear a mark, such as "outdoors", in the table."""
    return frozenset(name for name, marks in by_type("marks").items() if mark in marks)


def types_96() -> frozenset[str]:
    """Return the 96 place types of Google's Table 1, the options of V-IRL's recognition (section 5.2)."""
    return types_marked("virl96")


@cache
def types_20() -> tuple[str, ...]:
    """Return the 20 types of V-IRL's place localization (section 5.1), in the order of its settings."""
    numbers = by_type("virl20")
    return tuple(sorted(numbers, key=lambda name: numbers[name]))


@cache
def types_named(field: Literal["osm", "overture"]) -> Mapping[str, tuple[str, ...]]:
    """Return, by OpenStreetMap tag or Overture category, the place types it stands for, the finest first."""
    found: dict[str, tuple[str, ...]] = {}
    for place_type, names in by_type(field).items():
        for name in names:
            own, *more = _names_in(name)
            found[own] = (place_type, *more)
    return found


def _names_in(written: str) -> tuple[str, ...]:
    """Return the parts of an entry such as `shop=wine + liquor_store + store`: the tag, then place types."""
    return tuple(part.strip() for part in written.split(" + "))


def sort_of(types: Sequence[str]) -> str:
    """Return the coarse type that a place counts as, from its types, the most specific first; may be empty.

    A ramen restaurant counts as a restaurant, a bookshop that also sells gifts as a bookshop, and a hotel
    with a restaurant as lodging. A general type counts only if no other fits. A place without any coarse type
    counts as its first type, and one without types as nothing, `""`.
    """
    coarse = [kind for kind in types if kind in types_96() or kind in types_marked("coarse")]
    plain = [kind for kind in coarse if kind not in types_marked("general")]
    return next(iter([*plain, *coarse, *types]), "")
