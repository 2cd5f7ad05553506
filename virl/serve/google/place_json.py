"""A place in the words of Places (New)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from virl.geo import destination
from virl.platform.city import City
from virl.platform.places import OpeningHours, Place, Review
from virl.serve.google.albums import Albums, photos_json
from virl.serve.google.fields import FIELDS
from virl.serve.google.wire import Json

LANGUAGE = "en"
MAX_REVIEWS = 5  # as Google's
PRICES = ("FREE", "INEXPENSIVE", "MODERATE", "EXPENSIVE", "VERY_EXPENSIVE")
DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
VIEWPORT_M = 150.0  # from the middle of a place's viewport to its edges; chosen


@dataclass(frozen=True, slots=True)
class PlaceWriter:
    """Writes places.

    Args:
        city: what is served.
        albums: their photos.
        max_reviews: reviews shown of a place; `None` for all.
    """

    city: City
    albums: Albums
    max_reviews: int | None

    def write(self, place: Place, wanted: Mapping[str, object]) -> Json:
        """The wanted fields of a place; those it has nothing to say of are left out."""
        whole = self.detailed(place) if _DETAILS.intersection(wanted) else place
        written = {name: write(self, whole) for name, write in WRITTEN.items() if name in wanted}
        return {name: value for name, value in written.items() if value is not None}

    def detailed(self, place: Place) -> Place:
        """A place with its hours and reviews."""
        return self.city.places.details(place.id)

    def reviews(self, place: Place) -> list[Json] | None:
        """What visitors wrote."""
        shown = place.reviews[: self.max_reviews]
        return [_review(place.id, index, review) for index, review in enumerate(shown)] or None

    def photos(self, place: Place) -> list[Json] | None:
        """Names and sizes of photos."""
        return photos_json(place.id, self.albums.sizes(place.id)) or None


def types_of(place: Place) -> list[str]:
    """All types of a place, the finest first, each once; Google ends them with what all places are."""
    return list(dict.fromkeys((*place.types, "point_of_interest", "establishment")))


WRITTEN: dict[str, Callable[[PlaceWriter, Place], object]] = {
    "name": lambda _, place: f"places/{place.id}",
    "id": lambda _, place: place.id,
    "types": lambda _, place: types_of(place),
    "primaryType": lambda _, place: place.types[0] if place.types else None,
    "formattedAddress": lambda _, place: place.address or None,
    "shortFormattedAddress": lambda _, place: place.address.partition(",")[0] or None,
    "addressComponents": lambda _, place: _components(place.address),
    "location": lambda _, place: {"latitude": place.position.lat, "longitude": place.position.lng},
    "viewport": lambda _, place: _viewport(place),
    "rating": lambda _, place: place.rating,
    "userRatingCount": lambda _, place: place.review_count or None,
    "priceLevel": lambda _, place: (
        None if place.price_level is None else f"PRICE_LEVEL_{PRICES[place.price_level]}"
    ),
    "businessStatus": lambda _, place: "OPERATIONAL" if place.is_open else "CLOSED_PERMANENTLY",
    "displayName": lambda _, place: {"text": place.name, "languageCode": LANGUAGE},
    "googleMapsUri": lambda _, place: f"https://maps.google.com/?cid={place.id}",
    "regularOpeningHours": lambda _, place: _hours(place),
    "reviews": lambda writer, place: writer.reviews(place),
    "photos": lambda writer, place: writer.photos(place),
}
KNOWN = frozenset(WRITTEN) | FIELDS.place_without_answer
_DETAILS = frozenset({"regularOpeningHours", "reviews"})


def google_day(day: int) -> int:
    """Google's number of a day: 0 is Sunday. Ours: 0 is Monday."""
    return (day + 1) % 7


def closing(hours: OpeningHours) -> tuple[int, int]:
    """The day (0 is Monday) and minute at which a stretch of opening ends."""
    return (hours.day + hours.closes // 1440) % 7, hours.closes % 1440


def clock(minute: int) -> str:
    """A time of day as Google writes it, such as `5:30 PM`."""
    hour, rest = divmod(minute % 1440, 60)
    return f"{hour % 12 or 12}:{rest:02d} {'AM' if hour < 12 else 'PM'}"


def weekday_texts(place: Place) -> list[str]:
    """Opening hours in words, from Monday on."""
    texts = []
    for day, name in enumerate(DAY_NAMES):
        spans = [
            f"{clock(span.opens)} \u2013 {clock(span.closes)}" for span in place.hours if span.day == day
        ]
        texts.append(f"{name}: {', '.join(spans) or 'Closed'}")
    return texts


def address_parts(address: str) -> list[tuple[str, list[str]]]:
    """The parts of an address such as `97 Cross Avenue, Virlton` or `Kaivokatu 1b, Helsinki`, with types."""
    parts = [part.strip() for part in address.split(",") if part.strip()]
    if not parts:
        return []
    door, _, street = parts[0].partition(" ")
    if not door.isdecimal():
        street, _, door = parts[0].rpartition(" ")
    numbered = street and door[:1].isdecimal()
    named = [(door, ["street_number"]), (street, ["route"])] if numbered else [(parts[0], ["route"])]
    return named + [(part, ["locality", "political"]) for part in parts[1:2]]


def _hours(place: Place) -> Json | None:
    if not place.hours:
        return None
    periods = []
    for span in place.hours:
        day, minute = closing(span)
        periods.append(
            {
                "open": {"day": google_day(span.day), "hour": span.opens // 60, "minute": span.opens % 60},
                "close": {"day": google_day(day), "hour": minute // 60, "minute": minute % 60},
            }
        )
    return {"periods": periods, "weekdayDescriptions": weekday_texts(place)}


def _review(place_id: str, index: int, review: Review) -> Json:
    text = {"text": review.text, "languageCode": LANGUAGE}
    return {
        "name": f"places/{place_id}/reviews/review-{index}",
        "rating": review.rating,
        "text": text,
        "originalText": text,
        "authorAttribution": {"displayName": review.author},
    }


def _components(address: str) -> list[Json] | None:
    return [
        {"longText": text, "shortText": text, "types": types, "languageCode": LANGUAGE}
        for text, types in address_parts(address)
    ] or None


def _viewport(place: Place) -> Json:
    low = destination(place.position, 225, VIEWPORT_M)
    high = destination(place.position, 45, VIEWPORT_M)
    return {
        "low": {"latitude": low.lat, "longitude": low.lng},
        "high": {"latitude": high.lat, "longitude": high.lng},
    }
