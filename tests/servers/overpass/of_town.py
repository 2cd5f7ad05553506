"""Elements of a made town: its places and streets, as if somebody had mapped them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby

from servers.overpass.elements import Elements, OsmNode, OsmWay
from virl.errors import BadInput
from virl.osm.place_types import place_keys, type_table
from virl.platform.city.city import City
from virl.platform.city.places import OpeningHours, Place

DATE = "2026-01-01T00:00:00Z"  # made towns do not change
MORE: Mapping[str, Mapping[str, str]] = {
    "meal_takeaway": {"amenity": "fast_food", "takeaway": "only"},
    "meal_delivery": {"amenity": "fast_food", "delivery": "only"},
}
"""Tags of types that no tag of the table gives."""
_DAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")


def elements_of_town(city: City) -> Elements:
    """The places of a town as nodes, and its streets as ways.

    Raises:
        BadInput: the city does not know all its places and streets at once.
    """
    if city.inventory is None:
        raise BadInput(f"{city.name} cannot be served: choose a made city or an OpenStreetMap extract")
    places = city.inventory.places()
    nodes = {
        number: OsmNode(number, *place.position, tags_of(place)) for number, place in enumerate(places, 1)
    }
    corners: dict[tuple[float, float], int] = {}
    ways: dict[int, OsmWay] = {}
    for number, street in enumerate(city.inventory.streets(), 1):
        spots = [(round(lat, 7), round(lng, 7)) for lat, lng in street.line]
        for spot in spots:
            if spot not in corners:
                corners[spot] = len(nodes) + 1
                nodes[len(nodes) + 1] = OsmNode(len(nodes) + 1, *spot)
        tags = {"highway": street.kind or "residential"} | ({"name": street.name} if street.name else {})
        ways[number] = OsmWay(number, [corners[spot] for spot in spots], tags)
    return Elements(nodes, ways, {}, DATE)


def tags_of(place: Place) -> dict[str, str]:
    """The tags that a mapper would give a place. Its ratings and reviews have none."""
    tags = {"name": place.name, **_tags_of_type(place.types[0])}
    if place.address:
        tags["addr:place"] = place.address
    if place.hours:
        tags["opening_hours"] = hours_text(place.hours)
    if not place.is_open:
        tags = {f"disused:{key}" if key in place_keys() else key: value for key, value in tags.items()}
    return tags


def hours_text(hours: Sequence[OpeningHours]) -> str:
    """Opening hours as OpenStreetMap writes them, such as `Mo 07:00-12:00,13:00-18:00, Sa 18:00-26:00`.

    Commas between the days: after a semicolon a day begins anew, without the night before.
    """
    days = groupby(sorted(hours, key=lambda one: (one.day, one.opens)), key=lambda one: one.day)
    return ", ".join(f"{_DAYS[day]} {','.join(_span(one) for one in spans)}" for day, spans in days)


def _span(one: OpeningHours) -> str:
    return f"{one.opens // 60:02d}:{one.opens % 60:02d}-{one.closes // 60:02d}:{one.closes % 60:02d}"


def _tags_of_type(kind: str) -> Mapping[str, str]:
    return _by_type().get(kind) or MORE.get(kind, {"amenity": kind})


@cache
def _by_type() -> Mapping[str, Mapping[str, str]]:
    """The tags that give each type: as the finest one, where any do."""
    found: dict[str, Mapping[str, str]] = {}
    every = list(_tagged())
    for rank in range(max(len(types) for types, _ in every)):
        for types, tags in every:
            if rank < len(types):
                found.setdefault(types[rank], tags)
    return found


def _tagged() -> Iterator[tuple[Sequence[str], Mapping[str, str]]]:
    table = type_table()
    for key in place_keys():
        for value, types in table.get(key, {}).items():
            yield types, {key: value}
    for value, types in table["cuisine"].items():
        yield types[:1], {"amenity": "restaurant", "cuisine": value}
    for value, types in table["religion"].items():
        yield types[:1], {"amenity": "place_of_worship", "religion": value}
