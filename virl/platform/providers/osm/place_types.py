"""OpenStreetMap's tags as Google's place types."""

from collections import Counter
from collections.abc import Mapping
from functools import cache

import yaml

from virl.platform.providers.osm.extract import Tags
from virl.resources import data_folder

FALLBACKS: Mapping[str, tuple[str, ...]] = {
    "shop": ("store",),
    "office": ("office",),
    "craft": ("workshop",),
    "healthcare": ("health",),
    "education": ("school",),
    "tourism": ("tourist_attraction",),
    "leisure": ("recreation_center",),
    "club": ("association_or_organization",),
    "amenity": ("point_of_interest",),
}
"""The types of a place whose value no table names, by its key; the first key that it has counts."""

KEYS = (
    *("amenity", "shop", "healthcare", "education", "tourism", "leisure", "office", "craft", "club"),
    *("historic", "railway", "highway", "public_transport", "emergency"),
)
"""What makes an object a place; the first one that is there says which."""

_AMENITIES_WITH_A_KITCHEN = frozenset({"restaurant", "fast_food", "cafe", "food_court"})
_SIGNPOSTS = frozenset({"board", "guidepost", "map", "route_marker", "sign", "trail_blaze"})
"""Values of `information` that are things beside the way, and no place."""

_EATEN_AT = {"fast_food": "fast_food_restaurant", "cafe": "cafe"}


@cache
def type_table() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The types of each value of each key, from `platform/osm/place_types.yaml`."""
    text = (data_folder("platform/osm") / "place_types.yaml").read_text(encoding="utf-8")
    return {
        key: {str(value): tuple(types) for value, types in values.items()}
        for key, values in yaml.safe_load(text).items()
    }


def place_types(tags: Tags, unmapped: Counter[str] | None = None) -> tuple[str, ...]:
    """The types of a place, the finest first; empty for what is no place.

    Args:
        tags: of the object.
        unmapped: counts `key=value` of what no table names.
    """
    table = type_table()
    for key in KEYS:
        value = tags.get(key, "").partition(";")[0].strip()
        if not value or value == "no" or (key == "tourism" and _is_signpost(value, tags)):
            continue
        known = table.get(key, {}).get(value)
        if known is not None:
            return _finer(key, value, tags, known)
        if key in FALLBACKS:
            if unmapped is not None:
                unmapped[f"{key}={value}"] += 1
            return (*FALLBACKS[key], "point_of_interest", "establishment")
    return ()


def _is_signpost(value: str, tags: Tags) -> bool:
    return value == "information" and tags.get("information") in _SIGNPOSTS


def _finer(key: str, value: str, tags: Tags, known: tuple[str, ...]) -> tuple[str, ...]:
    """The types with those of the kitchen or the faith before them."""
    table = type_table()
    types = list(known)
    if key == "amenity" and value in _AMENITIES_WITH_A_KITCHEN:
        first = [_EATEN_AT[value]] if value in _EATEN_AT else []
        kitchens = [table["cuisine"].get(one.strip(), ()) for one in tags.get("cuisine", "").split(";")]
        cuisine = [kind for kitchen in kitchens for kind in kitchen[:1] if kind != "restaurant"]
        types = [*cuisine[:2], *first, *known] if value == "restaurant" else [*first, *cuisine[:2], *known]
    elif value == "place_of_worship":
        types = [*table["religion"].get(tags.get("religion", ""), ()), *known]
    return tuple(dict.fromkeys((*types, "point_of_interest", "establishment"))) if types else ()
