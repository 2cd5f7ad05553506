"""Reading of requests: numbers, positions, texts and areas."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from virl.geo.globe import LatLng, distance
from virl.serve.google.wire import Json, invalid


def number(text: str, name: str, low: float, high: float) -> float:
    """Return a number from a parameter.

    Args:
        text: of the parameter.
        name: of the parameter.
        low: least.
        high: most.

    Raises:
        Refused: it is none, or outside [low, high].
    """
    try:
        value = float(text) if text.isascii() else math.nan
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        raise invalid(
            f"Invalid request. Invalid '{name}' parameter: it must be between {low:g} and {high:g}."
        )
    return value


def optional_number(query: Mapping[str, str], name: str, low: float, high: float, default: float) -> float:
    """Return a number from a parameter that may be left out.

    Args:
        query: of the request.
        name: of the parameter.
        low: least.
        high: most.
        default: where it is left out.
    """
    return number(query[name], name, low, high) if query.get(name) else default


def position_in(text: str) -> LatLng | None:
    """Return the position that a text such as `41.25,-38.75` names, or `None` if it is an address."""
    found = re.fullmatch(
        r"\s*(-?\d+(?:\.\d*)?(?:e-?\d+)?)\s*,\s*(-?\d+(?:\.\d*)?(?:e-?\d+)?)\s*", text, re.ASCII
    )
    if not found:
        return None
    return LatLng(number(found[1], "lat", -90, 90), number(found[2], "lng", -180, 180))


def position(text: str, name: str = "location") -> LatLng:
    """Return a position from a parameter.

    Raises:
        Refused: it is none.
    """
    found = position_in(text)
    if found is None:
        raise invalid(f"Invalid request. Invalid '{name}' parameter.")
    return found


def lat_lng(message: Any, name: str, lat: str = "latitude", lng: str = "longitude") -> LatLng:
    """Return a position from a message such as `{"latitude": 1, "longitude": 2}`; a field left out is 0.

    Args:
        message: of the request.
        name: of the message, for errors.
        lat: name of its field.
        lng: name of its field.

    Raises:
        Refused: it is no such message.
    """
    if not isinstance(message, dict):
        raise invalid(f"Invalid value at '{name}': a position is missing.")
    values = [message.get(lat, 0.0), message.get(lng, 0.0)]
    if not all(isinstance(value, int | float) for value in values):
        raise invalid(f"Invalid value at '{name}': {lat} and {lng} must be numbers.")
    return LatLng(
        number(str(values[0]), f"{name}.{lat}", -90, 90), number(str(values[1]), f"{name}.{lng}", -180, 180)
    )


def message_in(body: Json, name: str) -> Json:
    """Return a message inside a message; empty where it is left out.

    Raises:
        Refused: the field holds something else.
    """
    found = body.get(name, {})
    if not isinstance(found, dict):
        raise invalid(f"Invalid value at '{name}': it must be a message.")
    return found


def texts_in(body: Json, name: str, most: int) -> list[str]:
    """Return a list of texts inside a message; empty where it is left out.

    Args:
        body: of the request.
        name: of the field.
        most: texts.

    Raises:
        Refused: the field holds something else, or too many.
    """
    found = body.get(name, [])
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise invalid(f"Invalid value at '{name}': it must be a list of texts.")
    if len(found) > most:
        raise invalid(f"Invalid value at '{name}': at most {most} are allowed.")
    return found


MAX_RADIUS_M = 50_000.0


@dataclass(frozen=True, slots=True)
class Circle:
    """All within `radius` metres of `middle`."""

    middle: LatLng
    radius: float

    def holds(self, position: LatLng) -> bool:
        """Return whether a position is inside."""
        return distance(self.middle, position) <= self.radius

    @property
    def reach(self) -> float:
        """Metres from the middle to the farthest point."""
        return self.radius


@dataclass(frozen=True, slots=True)
class Rectangle:
    """All between two corners, the south-western and the north-eastern one."""

    low: LatLng
    high: LatLng

    @property
    def middle(self) -> LatLng:
        """Halfway between the corners."""
        return LatLng((self.low.lat + self.high.lat) / 2, (self.low.lng + self.high.lng) / 2)

    @property
    def reach(self) -> float:
        """Metres from the middle to the farthest point; at most as far as a search reaches."""
        return min(max(distance(self.middle, self.low), distance(self.middle, self.high)), MAX_RADIUS_M)

    def holds(self, position: LatLng) -> bool:
        """Return whether a position is inside."""
        return self.low.lat <= position.lat <= self.high.lat and self.low.lng <= position.lng <= self.high.lng


def area_in(body: Json, name: str) -> Circle | Rectangle | None:
    """Return the area in a field of a request; `None` where it is left out.

    Raises:
        Refused: it is no area.
    """
    area = message_in(body, name)
    if not area:
        return None
    if "circle" in area:
        return circle_in(area, name)
    box = message_in(area, "rectangle")
    low, high = (lat_lng(box.get(corner), f"{name}.rectangle.{corner}") for corner in ("low", "high"))
    if low.lat > high.lat:
        raise invalid(f"Invalid value at '{name}.rectangle': low.latitude is above high.latitude.")
    return Rectangle(low, high)


def circle_in(area: Json, name: str) -> Circle:
    """Return the circle in a message; its radius is above 0, up to 50,000 m.

    Raises:
        Refused: there is none, or it is not within these limits.
    """
    circle = message_in(area, "circle")
    if not circle:
        raise invalid(f"{name}.circle is a required field.")
    middle = lat_lng(circle.get("center"), f"{name}.circle.center")
    radius = number(str(circle.get("radius", 0)), f"{name}.circle.radius", 0, MAX_RADIUS_M)
    if radius == 0:
        raise invalid(f"{name}.circle.radius must be greater than 0.")
    return Circle(middle, radius)
