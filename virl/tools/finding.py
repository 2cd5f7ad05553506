"""Tools that look things up: places, addresses, ways between them."""

from itertools import groupby, pairwise
from typing import Literal

from pydantic import Field

from virl.errors import BadInput
from virl.geo import LatLng, bearing, compass_word, distance
from virl.platform.maps import Route, TravelMode, walked_route
from virl.platform.places import Place
from virl.tools.base import Arguments, ToolResult, from_world, metres, short
from virl.tools.body import Body

MOST_REVIEWS, LONGEST_REVIEW = 5, 350
LONGEST_FACT = 120
MOST_LEGS = 15
FAR_M = 50_000.0  # the contract of `Places.nearby`


class NearbyPlaces(Arguments):
    """List shops, restaurants, parks, stations and other places around you, nearest first.

    For each: id, name, types, rating, price, distance and direction, address.
    """

    radius_m: float = Field(100.0, gt=0, le=5000, description="How far around you, in metres, up to 5000.")
    types: list[str] = Field(
        default_factory=list,
        max_length=10,
        description="Only places of one of these types, in Google's words, such as 'cafe', 'restaurant', "
        "'bakery', 'park', 'pharmacy', 'train_station'; empty for all.",
    )
    limit: int = Field(10, ge=1, le=20, description="How many at most, 1 to 20.")


class SearchPlaces(Arguments):
    """Search places by words: a name, a type or an address. Best match first, wherever in the city it is."""

    query: str = Field(
        min_length=1, max_length=200, description="Such as 'vegan bakery' or 'Harbor Library'."
    )
    limit: int = Field(5, ge=1, le=20, description="How many at most, 1 to 20.")


class PlaceDetails(Arguments):
    """Opening hours, rating, price, further facts and what visitors wrote about one place."""

    place_id: str = Field(min_length=1, description="The id of the place, as the lists of places give it.")


class Geocode(Arguments):
    """Find the position of an address in the city, and how far and in which direction it is from you."""

    address: str = Field(min_length=1, max_length=200, description="Such as '91 Station Street'.")


class Target(Arguments):
    """Where to."""

    address: str | None = Field(None, max_length=200, description="Where to: an address, or 'lat,lng'.")
    place_id: str | None = Field(None, description="Where to, instead of an address: the id of a place.")


class FindRoute(Target):
    """The shortest way from where you are to an address or a place: length, time, and its legs by compass.

    It does not move you.
    """

    mode: TravelMode = Field("walking", description="How: walking, cycling or driving.")


def nearby_places(body: Body, asked: NearbyPlaces) -> ToolResult:
    """Places around, nearest first."""
    here = body.panorama.position
    found = body.agent.city.places.nearby(here, asked.radius_m, asked.types)
    if not found:
        kinds = f" of type {short(', '.join(asked.types), 200)}" if asked.types else ""
        return ToolResult(f"No place{kinds} within {metres(asked.radius_m)}.")
    head = f"{min(len(found), asked.limit)} of {len(found)} places within {metres(asked.radius_m)}."
    return ToolResult(f"{head} {_listed(found[: asked.limit], here)}")


def search_places(body: Body, asked: SearchPlaces) -> ToolResult:
    """Places that answer words."""
    here = body.panorama.position
    found = body.agent.city.places.search(asked.query, here)[: asked.limit]
    return ToolResult(_listed(found, here) if found else "No place answers that.")


def place_details(body: Body, asked: PlaceDetails) -> ToolResult:
    """All about a place."""
    place = body.agent.city.places.details(asked.place_id)
    hours = ", ".join(map(str, place.hours)) or "unknown"
    lines = [
        _line(place, body.panorama.position),
        f"now ({body.agent.character.clock}): {_open_now(body, place)}; opening hours: {hours}",
        *(f"{name}: {short(text, LONGEST_FACT)}" for name, text in place.facts),
        *(
            f"review, {review.rating:g} of 5: {short(review.text, LONGEST_REVIEW)}"
            for review in place.reviews[:MOST_REVIEWS]
        ),
    ]
    if not place.reviews:
        lines.append("nobody has written a review")
    return ToolResult(from_world(lines))


def geocode(body: Body, asked: Geocode) -> ToolResult:
    """Where an address is."""
    there = body.agent.city.maps.geocode(asked.address)
    return ToolResult(f"{there}: {_from_here(body.panorama.position, there)}.")


def route(body: Body, asked: FindRoute) -> ToolResult:
    """A way, told in legs."""
    here = body.panorama.position
    stops = [here, target_of(body, asked)]
    maps = body.agent.city.maps
    way = walked_route(maps, stops) if asked.mode == "walking" else maps.route(stops, asked.mode)
    minutes = way.duration / 60
    return ToolResult(f"{metres(way.distance)}, {minutes:.0f} min {asked.mode}: {_legs(way)}.")


def target_of(body: Body, asked: Target) -> LatLng:
    """The position that is meant.

    Raises:
        BadInput: neither an address nor a place is given, or both are.
        NotFound: there is none.
    """
    if (asked.address is None) == (asked.place_id is None):
        raise BadInput("give either address or place_id")
    if asked.place_id is not None:
        return body.agent.city.places.details(asked.place_id).position
    return position_of(body, asked.address or "")


def position_of(body: Body, address: str) -> LatLng:
    """The position of an address, or the one that is written in degrees.

    Raises:
        NotFound: there is no such address.
    """
    return _position(address) or body.agent.city.maps.geocode(address)


def _position(text: str) -> LatLng | None:
    """The position that a text gives in degrees, if it does."""
    lat, comma, lng = text.partition(",")
    try:
        found = LatLng(float(lat), float(lng))
    except ValueError:
        return None
    return found if comma and abs(found.lat) <= 90 and abs(found.lng) <= 180 else None


def _listed(places: list[Place], here: LatLng) -> str:
    return from_world([_line(place, here) for place in places])


def _line(place: Place, here: LatLng) -> str:
    rating = f"rated {place.rating:.1f} by {place.review_count}" if place.rating is not None else "not rated"
    facts = [
        f"id {place.id}",
        short(place.name, 80),
        ", ".join(place.types[:3]).replace("_", " "),
        rating,
        *([f"price {place.price_level} of 4"] if place.price_level is not None else []),
        *([] if place.is_open else ["CLOSED FOR GOOD"]),
        _from_here(here, place.position),
        short(place.address, 80),
    ]
    return " | ".join(fact for fact in facts if fact)


def _open_now(body: Body, place: Place) -> Literal["open", "closed", "unknown"]:
    if place.is_open and not place.hours:
        return "unknown"
    return "open" if place.open_at(*body.agent.character.day_and_minute) else "closed"


def _from_here(here: LatLng, there: LatLng) -> str:
    away = distance(here, there)
    return f"{metres(away)} {compass_word(bearing(here, there))}" if away >= 1 else "here"


def _legs(way: Route) -> str:
    """The way as stretches in one compass direction each."""
    parts = [(compass_word(bearing(a, b)), distance(a, b)) for a, b in pairwise(way.path) if a != b]
    legs = [
        f"{metres(sum(length for _, length in stretch))} {toward}"
        for toward, stretch in groupby(parts, key=lambda part: part[0])
    ]
    more = f", and {len(legs) - MOST_LEGS} legs more" if len(legs) > MOST_LEGS else ""
    return (", then ".join(legs[:MOST_LEGS]) or "you are there") + more
