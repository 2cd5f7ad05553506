"""Places, positions and rectangles as JSON of the legacy APIs."""

from collections.abc import Iterable

from virl.geo.globe import LatLng
from virl.platform.city.places import Place, Review
from virl.serve.google.place_json import (
    ICON_COLOR,
    ICONS,
    LANGUAGE,
    PORTRAIT,
    address_parts,
    author_uri,
    box_around,
    compound_code,
    has_step_free_entrance,
    international_phone,
    periods,
    phone,
    plus_code,
    serves_vegetarian,
    website,
    weekday_texts,
)
from virl.serve.google.shown_places import ALWAYS, TownClock
from virl.serve.google.wire import Json


def point(position: LatLng) -> Json:
    """Return a position as JSON of the legacy APIs, `{"lat": ..., "lng": ...}` in degrees."""
    return {"lat": position.lat, "lng": position.lng}


def bounds(positions: Iterable[LatLng]) -> Json:
    """Return the smallest north-up rectangle around positions, as JSON with two corners."""
    lats, lngs = zip(*positions, strict=True)
    return {
        "northeast": point(LatLng(max(lats), max(lngs))),
        "southwest": point(LatLng(min(lats), min(lngs))),
    }


def viewport(position: LatLng) -> Json:
    """Return, as JSON, the square around a position that a map shows: 150 m to each side."""
    return bounds(box_around(position))


def components(address: str) -> list[Json]:
    """Return the number, street and town of an address as JSON, each with Google's types."""
    return [{"long_name": text, "short_name": text, "types": types} for text, types in address_parts(address)]


def plus_codes(position: LatLng, town: str) -> Json:
    """Return a position's plus codes as JSON: the global one, and the short one with the name of its town."""
    return {"compound_code": compound_code(position, town), "global_code": plus_code(position)}


def legacy_types(place: Place) -> list[str]:
    """Return all types of a place, as in the legacy APIs: each once, the finest first and `ALWAYS` last."""
    return list(dict.fromkeys((*place.types, *ALWAYS)))


def legacy_place(
    place: Place, address: str, photos: list[Json], max_reviews: int | None, clock: TownClock, town: str
) -> Json:
    """Return a place as legacy JSON, its address in field `address`; `max_reviews` `None` gives all reviews.

    Args:
        place: the place, with its details.
        address: "vicinity" or "formatted_address".
        photos: its photos as JSON.
        max_reviews: reviews that are shown; `None` for all.
        clock: the town's clock.
        town: the town's name.
    """
    kind = place.types[0] if place.types else "generic"
    written: Json = {
        "business_status": "OPERATIONAL" if place.is_open else "CLOSED_PERMANENTLY",
        "address_components": components(place.address),
        address: place.address,
        "geometry": {"location": point(place.position), "viewport": viewport(place.position)},
        "name": place.name,
        "icon": f"{ICONS}/{kind}-71.png",
        "icon_background_color": ICON_COLOR,
        "icon_mask_base_uri": f"{ICONS}/{kind}_pinlet",
        "opening_hours": _hours_json(place, clock),
        "current_opening_hours": _hours_json(place, clock),
        "plus_code": plus_codes(place.position, town),
        "utc_offset": clock.offset_minutes,
        "photos": photos,
        "place_id": place.id,
        "price_level": place.price_level,
        "rating": place.rating,
        "reference": place.id,
        "reviews": [
            _review_json(place.id, number, review, clock)
            for number, review in enumerate(place.reviews[:max_reviews])
        ],
        "scope": "GOOGLE",
        "types": legacy_types(place),
        "url": f"https://maps.google.com/?cid={place.id}",
        "user_ratings_total": place.review_count or None,
        "formatted_phone_number": phone(place),
        "international_phone_number": international_phone(place),
        "website": website(place),
        "wheelchair_accessible_entrance": has_step_free_entrance(place),
        "serves_vegetarian_food": serves_vegetarian(place),
    }
    return {name: value for name, value in written.items() if value not in (None, [])}


def _hours_json(place: Place, clock: TownClock) -> Json | None:
    """Return a place's opening hours as JSON of the legacy API; `None` if they are unknown."""
    if not place.hours:
        return None

    def point(day: int, minute: int) -> Json:
        """Return a time of a week as JSON: Google's day, 0 for Sunday, and the time such as "0930"."""
        return {"day": day, "time": f"{minute // 60:02d}{minute % 60:02d}"}

    shown = {"periods": periods(place, point), "weekday_text": weekday_texts(place)}
    return {"open_now": clock.is_open(place), **shown}


def _review_json(place_id: str, number: int, review: Review, clock: TownClock) -> Json:
    """Return review `number` of a place as JSON of the legacy API, with a made-up time of writing."""
    written = clock.review_time(place_id, number)
    return {
        "author_name": review.author,
        "author_url": author_uri(place_id, number),
        "language": LANGUAGE,
        "original_language": LANGUAGE,
        "profile_photo_url": PORTRAIT,
        "rating": int(review.rating) if review.rating.is_integer() else review.rating,
        "relative_time_description": clock.ago(written),
        "text": review.text,
        "time": int(written.timestamp()),
        "translated": False,
    }
