"""OpenStreetMap's tags as Google's place types."""

from collections import Counter
from collections.abc import Mapping
from functools import cache

from virl.osm.extract import Tags
from virl.osm.lifecycle import NO_USE, is_used
from virl.platform.city.place_types import place_table, types_named

KEYS = (
    *("amenity", "shop", "healthcare", "education", "tourism", "leisure", "office", "craft", "club"),
    *("historic", "railway", "highway", "public_transport", "emergency"),
)
"""Keys that make an object a place, before the other keys of the table, in their order."""

_REFINING = ("cuisine", "religion")
"""Keys that refine the type of a place."""
_ANY = "*"
"""Value in the table that stands for all values without types of their own."""

_AMENITIES_WITH_A_KITCHEN = frozenset({"restaurant", "fast_food", "cafe", "food_court"})
_SIGNPOSTS = frozenset({"board", "guidepost", "map", "route_marker", "sign", "trail_blaze"})
"""Values of `information` that are things beside the way, and no place."""

_EATEN_AT = {"fast_food": "fast_food_restaurant", "cafe": "cafe"}


@cache
def type_table() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the place types by key and value; empty for values that are no place."""
    found: dict[str, dict[str, tuple[str, ...]]] = {key: {} for key in (*_REFINING, *KEYS)}
    for tag, types in {**dict.fromkeys(place_table().no_place, ()), **types_named("osm")}.items():
        key, _, value = tag.partition("=")
        if value != _ANY:
            found.setdefault(key, {})[value] = types
    return {key: dict(sorted(values.items())) for key, values in found.items()}


def place_keys() -> tuple[str, ...]:
    """Return the keys that make an object a place; the first one that is there says which."""
    return tuple(key for key in type_table() if key not in _REFINING)


def place_types(tags: Tags, unmapped: Counter[str] | None = None) -> tuple[str, ...]:
    """Return the types of a place, the finest first; empty for an object that is none or out of use.

    Args:
        tags: of the object.
        unmapped: counts `key=value` of what no table names.
    """
    values = type_table()
    for key in place_keys() if is_used(tags) else ():
        value = tags.get(key, "").partition(";")[0].strip()
        if not value or value == "no" or value in NO_USE or (key == "tourism" and _is_signpost(value, tags)):
            continue
        known = values[key].get(value)
        if known is not None:
            return _finer(key, value, tags, known)
        if other := types_named("osm").get(f"{key}={_ANY}"):
            if unmapped is not None:
                unmapped[f"{key}={value}"] += 1
            return (*other, "point_of_interest", "establishment")
    return ()


def _is_signpost(value: str, tags: Tags) -> bool:
    """Return whether an object is a sign or board beside the way."""
    return value == "information" and tags.get("information") in _SIGNPOSTS


def _finer(key: str, value: str, tags: Tags, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the types, with those of its kitchen or faith first."""
    values = type_table()
    types = list(known)
    if key == "amenity" and value in _AMENITIES_WITH_A_KITCHEN:
        first = [_EATEN_AT[value]] if value in _EATEN_AT else []
        kitchens = [values["cuisine"].get(one.strip(), ()) for one in tags.get("cuisine", "").split(";")]
        cuisine = [kind for kitchen in kitchens for kind in kitchen[:1] if kind != "restaurant"]
        types = [*cuisine[:2], *first, *known] if value == "restaurant" else [*first, *cuisine[:2], *known]
    elif value == "place_of_worship":
        types = [*values["religion"].get(tags.get("religion", ""), ()), *known]
    return tuple(dict.fromkeys((*types, "point_of_interest", "establishment"))) if types else ()
