"""Areas of requests: circles and rectangles."""

from dataclasses import dataclass

from virl.geo import LatLng, distance
from virl.serve.google.reading import lat_lng, message_in, number
from virl.serve.google.wire import Json, invalid

MAX_RADIUS_M = 50_000.0


@dataclass(frozen=True, slots=True)
class Circle:
    """All within `radius` metres of `middle`."""

    middle: LatLng
    radius: float

    def holds(self, position: LatLng) -> bool:
        """Whether a position is inside."""
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
        """Whether a position is inside."""
        return self.low.lat <= position.lat <= self.high.lat and self.low.lng <= position.lng <= self.high.lng


def area_in(body: Json, name: str) -> Circle | Rectangle | None:
    """The area in a field of a request; `None` where it is left out.

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
    """The circle in a message; its radius is above 0, up to 50,000 m.

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
