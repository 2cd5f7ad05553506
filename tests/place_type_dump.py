"""Writes all that virl knows of place types as JSON, to be compared before and after a change of the table.

From the root of a checkout:

    python tests/place_type_dump.py > before.json

What virl goes through keeps its order; what it only looks up is sorted.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel

from virl.bench.metrics.places import TYPES_10, TYPES_20
from virl.datasets.collect.rules import load_intentions
from virl.mind.lexicon import load_lexicon
from virl.platform.movement.sight.neighbours import COMMON
from virl.platform.movement.sight.wishes import load_wish_phrases
from virl.platform.perception.lexicon import LexiconSettings
from virl.platform.place_types import _GENERAL, TYPES_96
from virl.platform.places import LANDMARKS, OUTDOORS
from virl.platform.providers.google import vocabulary
from virl.platform.providers.offline.life.naming import _names
from virl.platform.providers.offline.life.trades import trades_table
from virl.platform.providers.open.overture.types import _wider, overture_types
from virl.platform.providers.osm.invented import _table
from virl.platform.providers.osm.place_types import FALLBACKS, type_table
from virl.platform.providers.osm.pois import _no_front
from virl.platform.type_words import more_words
from virl.resources import data_folder
from virl.routines.day.pastimes import day_book
from virl.serve.google.place_types import TYPES
from virl.settings.model import load_settings


def dump() -> dict[str, Any]:
    """Return everything that is keyed by a place type, by its source."""
    lexicon, book = load_lexicon(), day_book()
    signs = load_settings(data_folder("platform/models") / "sign-lexicon.yaml", LexiconSettings)
    hours = {kind: one.open for one in load_wish_phrases().usual_hours for kind in one.kinds}
    return {
        "V-IRL": {"96": TYPES_96, "20": TYPES_20, "10": TYPES_10},
        "marks": {"general": _GENERAL, "landmarks": LANDMARKS, "outdoors": OUTDOORS, "common": COMMON},
        "OpenStreetMap": {key: _in_order(values) for key, values in type_table().items()},
        "OpenStreetMap, any other value": _sorted(FALLBACKS),
        "OpenStreetMap, wider types": _sorted(_wider()),
        "no front": _no_front().types,
        "Overture": _sorted(overture_types()),
        "Google, client": {key: _sorted(value) for key, value in vocabulary.type_table()},
        "Google, server": {key: _sorted(value) for key, value in TYPES},
        "trades": _in_order(trades_table().trades),
        "names of places": _in_order(_names().places),
        "invented life": {"like": _sorted(_table().like), "general": _sorted(_table().general)},
        "rules, words": _in_order(lexicon.place_types),
        "rules, needs": _in_order(lexicon.needs),
        "rules, kinds": lexicon.kinds,
        "rules, near homes": _sorted(lexicon.homes.near),
        "rules, related": [_sorted(lexicon.related), _sorted(lexicon.also_counts)],
        "rules, wishes": [[group, _in_order(types)] for group, types in load_intentions().groups.items()],
        "rules, pastimes": {"pastimes": _in_order(book.pastimes), "snacks": book.snacks},
        "rules, usual hours": _sorted(hours),
        "signs": _in_order(signs.types),
        "signs, made words": _in_order(more_words("sign-words").types),
    }


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
