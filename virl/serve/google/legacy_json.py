"""A place, a position and a stretch in the words of the legacy APIs."""

from collections.abc import Iterable

from virl.geo import LatLng, destination
from virl.platform.places import Place
from virl.serve.google.place_json import (
    LANGUAGE,
    VIEWPORT_M,
    address_parts,
    closing,
    google_day,
    types_of,
    weekday_texts,
)
from virl.serve.google.wire import Json


def point(position: LatLng) -> Json:
    """A position."""
    return {"lat": position.lat, "lng": position.lng}


def bounds(positions: Iterable[LatLng]) -> Json:
    """The smallest upright rectangle around positions."""
    lats, lngs = zip(*positions, strict=True)
    return {
        "northeast": point(LatLng(max(lats), max(lngs))),
        "southwest": point(LatLng(min(lats), min(lngs))),
    }


def around(position: LatLng) -> Json:
    """The viewport of one position."""
    return bounds(destination(position, heading, VIEWPORT_M) for heading in (45, 225))


def components(address: str) -> list[Json]:
    """The parts of an address."""
    return [{"long_name": text, "short_name": text, "types": types} for text, types in address_parts(address)]


def legacy_place(place: Place, address: str, photos: list[Json], max_reviews: int | None) -> Json:
    """A place; `address` is the name of the field that holds its address."""
    written: Json = {
        "business_status": "OPERATIONAL" if place.is_open else "CLOSED_PERMANENTLY",
        "address_components": components(place.address),
        address: place.address,
        "geometry": {"location": point(place.position), "viewport": around(place.position)},
        "name": place.name,
        "opening_hours": _hours(place),
        "photos": photos,
        "place_id": place.id,
        "price_level": place.price_level,
        "rating": place.rating,
        "reference": place.id,
        "reviews": _reviews(place, max_reviews),
        "scope": "GOOGLE",
        "types": types_of(place),
        "url": f"https://maps.google.com/?cid={place.id}",
        "user_ratings_total": place.review_count or None,
    }
    return {name: value for name, value in written.items() if value not in (None, [])}


def _hours(place: Place) -> Json | None:
    if not place.hours:
        return None
    periods = []
    for span in place.hours:
        day, minute = closing(span)
        opens = {"day": google_day(span.day), "time": _time(span.opens)}
        periods.append({"open": opens, "close": {"day": google_day(day), "time": _time(minute)}})
    return {"periods": periods, "weekday_text": weekday_texts(place)}


def _time(minute: int) -> str:
    return f"{minute // 60:02d}{minute % 60:02d}"


def _reviews(place: Place, most: int | None) -> list[Json]:
    return [
        {"author_name": review.author, "language": LANGUAGE, "rating": review.rating, "text": review.text}
        for review in place.reviews[:most]
    ]
