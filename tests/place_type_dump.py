"""Writes all that virl knows of place types as JSON, to be compared before and after a change of the table.

From the root of a checkout:

    python tests/place_type_dump.py > before.json

What virl goes through keeps its order; what it only looks up is sorted.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any

from pydantic import BaseModel

from virl.datasets.collect.questions import load_intentions
from virl.mind.lexicon import load_lexicon
from virl.osm.places import TYPE_KEYS, type_table
from virl.platform.city.place_types import (
    Mark,
    by_type,
    more_words,
    types_20,
    types_96,
    types_marked,
    types_named,
)
from virl.platform.perception.lexicons.sign_lexicon import LexiconSettings
from virl.platform.providers.google import places
from virl.platform.providers.open.overture import _wider_types
from virl.resources import data_folder
from virl.routines.day.wish_rules import day_book
from virl.serve.google.shown_places import TYPES
from virl.settings.model import load_settings
from virl.towns.life.trades import Trade, trades_table

MARKS: Mapping[str, Mark] = {
    "general": "general", "landmarks": "landmark", "outdoors": "outdoors", "common": "common"
}  # fmt: skip
LETTERED = ("blade", "taglines", "patterns")


def dump() -> dict[str, Any]:
    """Return everything that is keyed by a place type, by its source."""
    lexicon, book = load_lexicon(), day_book()
    signs = load_settings(data_folder("platform/models") / "sign-lexicon.yaml", LexiconSettings)
    trades, like, items = trades_table().trades, by_type("like"), by_type("like_items")
    marks = {name: types_marked(mark) for name, mark in MARKS.items()}
    others = {key: types for key in TYPE_KEYS if (types := types_named("osm").get(f"{key}=*"))}
    return {
        "V-IRL": {"96": types_96(), "20": types_20(), "10": types_20()[:10]},
        "marks": marks,
        "OpenStreetMap": {key: _in_order(values) for key, values in type_table().items()},
        "OpenStreetMap, any other value": _sorted(others),
        "OpenStreetMap, wider types": _sorted(_wider_types()),
        "no front": types_marked("no_front"),
        "Overture": _sorted(types_named("overture")),
        "Google, client": _by_field(places.type_table()),
        "Google, server": _by_field(TYPES),
        "trades": [[name, _some(trade, LETTERED, but=True)] for name, trade in trades.items()],
        "names of places": [[name, _some(trade, LETTERED)] for name, trade in trades.items()],
        "invented life": {
            "like": _sorted({kind: trade for kind, trade in like.items() if kind not in items}),
            "general": _sorted({kind: {"like": like[kind], "items": items[kind]} for kind in items}),
        },
        "rules, words": _in_order(lexicon.place_types),
        "rules, needs": _in_order(lexicon.needs),
        "rules, kinds": lexicon.kinds,
        "rules, near homes": _sorted(lexicon.near_home),
        "rules, related": [_sorted(lexicon.related), _sorted(lexicon.also_counts)],
        "rules, wishes": [[group, _in_order(types)] for group, types in load_intentions().groups.items()],
        "rules, pastimes": {"pastimes": _in_order(book.pastimes), "snacks": book.snacks},
        "rules, usual hours": _sorted(by_type("open")),
        "signs": _in_order(signs.words),
        "signs, made words": _in_order(more_words("sign-words").types),
    }


def _by_field(table: object) -> dict[str, object]:
    return {field.name: _sorted(getattr(table, field.name)) for field in fields(table)}  # type: ignore[arg-type]


def _some(trade: Trade, names: Collection[str], *, but: bool = False) -> dict[str, object]:
    return {name: value for name, value in trade if (name in names) != but}


def _in_order(values: Mapping[str, Any]) -> list[list[Any]]:
    return [[key, value] for key, value in values.items()]


def _sorted(values: Collection[str]) -> object:
    return dict(sorted(values.items())) if isinstance(values, Mapping) else sorted(values)


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return dict(value) if isinstance(value, Mapping) else str(value)


if __name__ == "__main__":
    print(json.dumps(dump(), default=_plain, ensure_ascii=False, indent=1))
