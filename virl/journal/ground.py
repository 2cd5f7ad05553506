"""The ground under the map of a run: streets, houses, parks and water of its city."""

from collections.abc import Mapping

from virl.pages.ground import Area, MapGround, Way, WayKind, ground_of_lines
from virl.platform.city.city import City

_HIGHWAYS: Mapping[str, WayKind] = {
    **dict.fromkeys(("motorway", "trunk", "primary", "secondary", "tertiary"), "main"),
    **dict.fromkeys(("service", "living_street", "track", "road"), "lane"),
    **dict.fromkeys(("footway", "path", "pedestrian", "steps", "cycleway", "bridleway"), "footpath"),
}
"""Kind of a way by OpenStreetMap's `highway`; all others are streets."""


def ground_of(city: City | None) -> MapGround:
    """Return all that a map can draw of a city; nothing where it is not known."""
    if city is None:
        return MapGround()
    if city.inventory is None:
        return ground_of_lines(city.street_map.lines() if city.street_map else ())
    ways = [
        Way(street.line, _HIGHWAYS.get(street.kind.removesuffix("_link"), "street"), street.name)
        for street in city.inventory.streets()
    ]
    houses = [Area(house.outline, "house") for house in city.inventory.houses() if not house.base]
    greens = [Area(area.outline, area.kind) for area in city.inventory.areas()]
    return MapGround(ways, [*greens, *houses])
