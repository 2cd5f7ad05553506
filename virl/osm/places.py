"""Places as OpenStreetMap's tags tell them: types, facts and addresses, and those of an extract."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from math import hypot

import numpy as np
import shapely

from virl.geo.globe import LatLng
from virl.osm.extract import OsmExtract, Shapes, Tags
from virl.osm.hours import WeeklyHours, weekly_hours
from virl.osm.tags import NO_USE, is_at_ground, is_used
from virl.platform.city.place_types import place_table, types_marked, types_named
from virl.platform.city.places import Place

FACT_KEYS: Mapping[str, tuple[str, ...]] = {
    "phone": ("phone", "contact:phone"),
    "website": ("website", "contact:website", "url"),
    "cuisine": ("cuisine",),
    "wheelchair": ("wheelchair",),
}
"""Keys of tags that tell a fact about a place, by the fact's name; the first present key counts."""
DIET = "diet:"
"""Prefix of tag keys for diets, such as `diet:vegan=only`."""
LONGEST = 200
"""Largest number of characters of a fact; chosen: the longest link in three extracts has 118."""


def facts_of(tags: Tags, hours_left_out: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
    """Return (name, text) of facts about a place; `hours_left_out` are its rules of hours not held weekly."""
    facts: dict[str, str] = {}
    for name, keys in FACT_KEYS.items():
        value = next((tags[key] for key in keys if tags.get(key, "").strip()), "")
        facts[name] = " ".join(value.split()) if name == "website" else _words(value)
    diets = sorted(key for key in tags if key.startswith(DIET))
    facts["diet"] = ", ".join(f"{_words(key.removeprefix(DIET))} {_words(tags[key])}" for key in diets)
    facts["hours"] = f"incomplete without: {'; '.join(hours_left_out)}" if hours_left_out else ""
    return tuple((name, text[:LONGEST]) for name, text in facts.items() if text)


def _words(value: str) -> str:
    """Return a tag's value in plain words: `vegetarian;fine_dining` as `vegetarian, fine dining`."""
    parts = (" ".join(part.replace("_", " ").split()) for part in value.split(";"))
    return ", ".join(part for part in parts if part)


SAME_SPOT_M = 20.0
"""Largest distance in metres between objects of one name and kind that are the same place; chosen."""


def place_of(
    place_id: str, tags: Tags, types: tuple[str, ...], position: LatLng, day: date | None = None
) -> Place:
    """Return the place that a mapped object is, with its hours in the week of `day`, by default today.

    Args:
        place_id: such as `n12`.
        tags: of the object.
        types: of the place, the finest first.
        position: of the place.
        day: in the week for which its hours are read; by default today.
    """
    hours = (weekly_hours(tags["opening_hours"], day) if "opening_hours" in tags else None) or WeeklyHours()
    return Place(
        id=place_id,
        name=tags["name"].strip(),
        types=types,
        position=position,
        address=address(tags),
        is_open=not hours.is_closed,
        hours=hours.stretches,
        facts=facts_of(tags, hours.left_out),
    )


def address(tags: Tags) -> str:
    """Return street, house number and town in one line, as far as mapped; a number alone is no address."""
    street = tags.get("addr:street") or tags.get("addr:place") or ""
    house = f"{street} {tags.get('addr:housenumber', '')}".strip() if street else ""
    return ", ".join(part for part in (house, tags.get("addr:city")) if part)


@dataclass(frozen=True, slots=True)
class NamedObject:
    """A mapped object that may be the same place as another."""

    name: str
    """Name of the object, as mapped."""
    types: tuple[str, ...]
    """Types of the place, the finest first."""
    x: float
    """Metres east of a common origin."""
    y: float
    """Metres north of a common origin."""
    is_area: bool
    """True if it is mapped as an area, and not as a point."""
    shape: shapely.Geometry | None = None
    """Shape in metres of the common origin; `None` where only the middle is known."""


def first_of_each(spots: Sequence[NamedObject]) -> list[int]:
    """Return for each object the index of the first object that is the same place, which may be its own.

    Two of one name are one place if they lie at one spot, and one is the area of the other or their kinds
    agree.
    """
    kept: dict[str, list[int]] = {}
    first = []
    for index, spot in enumerate(spots):
        others = kept.setdefault(spot.name.casefold(), [])
        same = next((other for other in others if _is_same(spots[other], spot)), index)
        if same == index:
            others.append(index)
        first.append(same)
    return first


def _is_same(one: NamedObject, other: NamedObject) -> bool:
    """Return whether two objects of one name are the same place, by their distance, shapes and types."""
    is_near = hypot(one.x - other.x, one.y - other.y) <= SAME_SPOT_M
    if one.types[0] in other.types or other.types[0] in one.types:
        return is_near or any(
            area.shape is not None and bool(shapely.intersects_xy(area.shape, point.x, point.y))
            for area, point in ((one, other), (other, one))
            if area.is_area and not point.is_area
        )
    return is_near and one.is_area != other.is_area


TYPE_KEYS = (
    *("amenity", "shop", "healthcare", "education", "tourism", "leisure", "office", "craft", "club"),
    *("historic", "railway", "highway", "public_transport", "emergency"),
)
"""Keys of tags that make an object a place, the most telling first; those of the type table come after."""

_REFINING = ("cuisine", "religion")
"""Keys of tags that refine the type of a place, and alone make none."""
_ANY = "*"
"""Value in the table of place types for all values of a key that it does not list."""

_AMENITIES_WITH_A_KITCHEN = frozenset({"restaurant", "fast_food", "cafe", "food_court"})
"""Values of `amenity` for places that also get the type of their kitchen, such as a Thai restaurant."""
_SIGNPOSTS = frozenset({"board", "guidepost", "map", "route_marker", "sign", "trail_blaze"})
"""Values of `information` that are things beside the way, and no place."""

_EATEN_AT = {"fast_food": "fast_food_restaurant", "cafe": "cafe"}
"""Place type that is listed before that of the place's kitchen, by value of `amenity`."""


@cache
def type_table() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the place types, the finest first, by tag key and value; none for values that are no place."""
    found: dict[str, dict[str, tuple[str, ...]]] = {key: {} for key in (*_REFINING, *TYPE_KEYS)}
    for tag, types in {**dict.fromkeys(place_table().no_place, ()), **types_named("osm")}.items():
        key, _, value = tag.partition("=")
        if value != _ANY:
            found.setdefault(key, {})[value] = types
    return {key: dict(sorted(values.items())) for key, values in found.items()}


def place_keys() -> tuple[str, ...]:
    """Return the keys of tags that make an object a place, the most telling first."""
    return tuple(key for key in type_table() if key not in _REFINING)


def place_types(tags: Tags, unmapped: Counter[str] | None = None) -> tuple[str, ...]:
    """Return a place's types, finest first; empty for none or out of use. Tags not listed go to `unmapped`.

    That counts `key=value` of a tag for which the type table has only the key's general types.
    """
    values = type_table()
    for key in place_keys() if is_used(tags) else ():
        value = tags.get(key, "").partition(";")[0].strip()
        if not value or value == "no" or value in NO_USE:
            continue
        if (key, value) == ("tourism", "information") and tags.get("information") in _SIGNPOSTS:
            continue
        known = values[key].get(value)
        if known is not None:
            return _finer(key, value, tags, known)
        if other := types_named("osm").get(f"{key}={_ANY}"):
            if unmapped is not None:
                unmapped[f"{key}={value}"] += 1
            return (*other, "point_of_interest", "establishment")
    return ()


def _finer(key: str, value: str, tags: Tags, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return a place's types by a tag: those of its kitchen or religion, then `known`, those of the tag."""
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


_INSIDE = {"indoor", "underground"}
"""Values of the tag `location` for places inside buildings or underground."""
_NO_FRONT = (
    ("amenity", "parking_entrance"),  # the ramp to a car park
    ("leisure", "fitness_station"),  # exercise equipment in the open
)
"""Tags (key, value) of places without a shop front, though other places of their type have one."""


@dataclass(frozen=True, slots=True)
class Pois:
    """The named places of an extract, as sequences of length n."""

    ids: tuple[str, ...]
    """Id of each place, such as `n12`."""
    tags: tuple[Tags, ...]
    """Tags of each place."""
    types: tuple[tuple[str, ...], ...]
    """Types of each place, the finest first."""
    shapes: Shapes
    """Point or area of each place in metres, shape (n,)."""
    unmapped: Counter[str]
    """Number of places by tag, such as `shop=foo`, for which the table has only the key's general types."""
    again: tuple[tuple[str, str], ...] = ()
    """(id of an object, id of the place that it repeats) pairs."""

    def name(self, number: int) -> str:
        """Return the name of the place of this index, as written on its signs."""
        return self.tags[number]["name"].strip()

    def has_front(self, number: int) -> bool:
        """Return whether the place of this index can have a shop front; parks, stops and monuments cannot."""
        return has_front(self.types[number], self.tags[number])

    def is_inside(self, number: int) -> bool:
        """Return whether the place of this index is indoors, upstairs or underground."""
        tags = self.tags[number]
        on_street = is_at_ground(tags.get("level", ""))
        return not on_street or tags.get("indoor", "no") != "no" or tags.get("location") in _INSIDE


def has_front(types: Sequence[str], tags: Tags) -> bool:
    """Return whether a place with these types (finest first) and tags has a front where a sign could hang."""
    return types[0] not in types_marked("no_front") and not any(
        tags.get(key) == value for key, value in _NO_FRONT
    )


def pois_of(extract: OsmExtract) -> Pois:
    """Return all named places inside an extract's outline; of objects that are one place only the first."""
    found: list[tuple[str, Tags, Counter[str], shapely.Geometry]] = []
    spots: list[NamedObject] = []
    # Areas first: of two objects that are one place the first is kept, and an area says more.
    for objects in (extract.areas, extract.points):
        for name, own, shape in zip(objects.ids, objects.tags, objects.shapes, strict=True):
            general: Counter[str] = Counter()
            if not own.get("name", "").strip() or not (kinds := place_types(own, general)):
                continue
            middle = shapely.point_on_surface(shape)
            if shapely.intersects_xy(extract.outline, middle.x, middle.y):
                found.append((name, own, general, shape))
                is_area = objects is extract.areas
                spots.append(NamedObject(own["name"].strip(), kinds, middle.x, middle.y, is_area, shape))
    first = first_of_each(spots)
    kept = [index for index, same in enumerate(first) if index == same]
    ids, tags, unmapped, shapes = zip(*(found[one] for one in kept), strict=True) if kept else [()] * 4
    again = tuple((found[one][0], found[same][0]) for one, same in enumerate(first) if one != same)
    types = tuple(spots[one].types for one in kept)
    return Pois(ids, tags, types, np.array(shapes, object), sum(unmapped, Counter()), again)
