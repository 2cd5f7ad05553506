"""Tools about routes: positions of addresses, routes, travel times."""

from itertools import groupby, pairwise
from math import isfinite
from typing import Annotated

from pydantic import Field

from virl.agent.tool import ToolData, tool
from virl.errors import BadInput
from virl.geo.globe import LatLng, bearing, compass_word, distance
from virl.platform.city.maps import TravelMode, walked_route
from virl.tools.base import Away, Metres, Position, ToolResult, away_to, metres, short, tell_data
from virl.tools.body import Body

MOST_LEGS = 15  # legs of a route that are told
MOST_TARGETS = 20  # targets of one call for travel times


Address = Annotated[str | None, Field(max_length=200, description="Where to: an address, or 'lat,lng'.")]
PlaceId = Annotated[str | None, Field(description="Where to, instead of an address: the id of a place.")]
Mode = Annotated[TravelMode, Field(description="How: walking, cycling or driving.")]


class AddressFound(ToolData):
    """The position of an address."""

    position: Position
    away: Away

    def __str__(self) -> str:
        """Return the position, and its distance and direction, as text."""
        return f"{self.position}: {self.away}."


class RouteStretch(ToolData):
    """A stretch of a route in one compass direction."""

    distance_m: Metres
    toward: str
    """Compass direction of the stretch."""

    def __str__(self) -> str:
        """Return the stretch as text, such as "80 m north"."""
        return f"{metres(self.distance_m)} {self.toward}"


class RouteLegs(ToolData):
    """A route as a model is told it."""

    distance_m: Metres
    minutes: int
    mode: TravelMode
    legs: tuple[RouteStretch, ...]
    """The first legs of the route, at most `MOST_LEGS`; empty if the target is here."""
    more_legs: int = 0
    """Number of further legs that are not listed."""

    def __str__(self) -> str:
        """Return length, minutes, mode and legs in one sentence."""
        legs = ", then ".join(map(str, self.legs)) or "you are there"
        more = f", and {self.more_legs} legs more" if self.more_legs else ""
        return f"{metres(self.distance_m)}, {self.minutes} min {self.mode}: {legs}{more}."


class TravelTime(ToolData):
    """The time that a way takes."""

    target: str
    minutes: int | None
    """Minutes of the way; `None` if no way leads there."""

    def __str__(self) -> str:
        """Return the target with its minutes, or "no way"."""
        return f"{self.target}: {'no way' if self.minutes is None else f'{self.minutes} min'}"


class TimesFromHere(ToolData):
    """Times to several targets, soonest first."""

    mode: TravelMode
    times: tuple[TravelTime, ...]

    def __str__(self) -> str:
        """Return the mode of travel, and a line for each target."""
        return f"From here, {self.mode}:\n" + "\n".join(map(str, self.times))


@tool("Position of an address")
def geocode(
    body: Body,
    address: str = Field(min_length=1, max_length=200, description="Such as '91 Station Street'."),
) -> ToolResult[AddressFound]:
    """Find the position of an address in the city, and how far and in which direction it is from you."""
    there = body.agent.city.maps.geocode(address)
    return tell_data(AddressFound(position=there, away=away_to(body.panorama.position, there)))


@tool("Route", schema="FindRoute")
def route(
    body: Body, address: Address = None, place_id: PlaceId = None, mode: Mode = "walking"
) -> ToolResult[RouteLegs]:
    """Find the shortest way from here to an address or a place: length, time, and its legs by compass.

    It does not move you.
    """
    stops = [body.panorama.position, target_of(body, address, place_id)]
    maps = body.agent.city.maps
    way = walked_route(maps, stops) if mode == "walking" else maps.route(stops, mode)
    parts = [(compass_word(bearing(a, b)), distance(a, b)) for a, b in pairwise(way.path) if a != b]
    legs = tuple(
        RouteStretch(distance_m=sum(length for _, length in stretch), toward=toward)
        for toward, stretch in groupby(parts, key=lambda part: part[0])
    )
    return tell_data(
        RouteLegs(
            distance_m=way.distance,
            minutes=round(way.duration / 60),
            mode=mode,
            legs=legs[:MOST_LEGS],
            more_legs=max(len(legs) - MOST_LEGS, 0),
        )
    )


@tool("Travel times")
def travel_times(
    body: Body,
    addresses: list[str] = Field(
        default_factory=list,
        max_length=MOST_TARGETS,
        description=f"Where to: addresses, or 'lat,lng'; with place_ids up to {MOST_TARGETS}.",
    ),
    place_ids: list[str] = Field(
        default_factory=list, max_length=MOST_TARGETS, description="Where to: ids of places."
    ),
    mode: Mode = "walking",
) -> ToolResult[TimesFromHere]:
    """Return how long the ways take from where you are to several addresses and places, soonest first."""
    names = [*addresses, *place_ids]
    if not 0 < len(names) <= MOST_TARGETS:
        raise BadInput(f"give 1 to {MOST_TARGETS} addresses and place_ids")
    city = body.agent.city
    targets = [position_of(body, address) for address in addresses]
    targets += [city.places.details(place_id).position for place_id in place_ids]
    [seconds] = city.maps.travel_times([body.panorama.position], targets, mode)
    times = tuple(
        TravelTime(target=short(name, 80), minutes=round(time / 60) if isfinite(time) else None)
        for time, name in sorted(zip(map(float, seconds), names, strict=True))
    )
    city.left_out.add_unreached(mode, [time.target for time in times if time.minutes is None])
    return tell_data(TimesFromHere(mode=mode, times=times))


def target_of(body: Body, address: str | None, place_id: str | None) -> LatLng:
    """Return the position of the address or place that a call names.

    Args:
        body: the body of the agent that calls.
        address: an address, or "lat,lng"; `None` if a place is given.
        place_id: the id of a place; `None` if an address is given.

    Raises:
        BadInput: neither an address nor a place is given, or both are.
        NotFound: there is no such address or place.
    """
    if (address is None) == (place_id is None):
        raise BadInput("give either address or place_id")
    if place_id is not None:
        return body.agent.city.places.details(place_id).position
    return position_of(body, address or "")


def position_of(body: Body, address: str) -> LatLng:
    """Return the position of an address in the agent's city, or of a text "lat,lng" in degrees.

    Raises:
        NotFound: there is no such address.
    """
    lat, comma, lng = address.partition(",")
    try:
        written = LatLng(float(lat), float(lng))
    except ValueError:
        written = None
    if written and comma and abs(written.lat) <= 90 and abs(written.lng) <= 180:
        return written
    return body.agent.city.maps.geocode(address)
