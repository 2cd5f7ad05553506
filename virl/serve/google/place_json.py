"""Places as JSON of Places (New), and facts and texts of places that both Places APIs give."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from math import cos, radians

from virl.errors import BadInput, NotFound
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.places import Place, Review
from virl.serve.google.options import Oddities
from virl.serve.google.pictures import Cache, PlacePhotos, photos_json
from virl.serve.google.protojson import FIELDS
from virl.serve.google.shown_places import TownClock, primary_type, types_of
from virl.serve.google.wire import GoogleStatus, Json, Refused

WHEELCHAIR: Mapping[str, bool] = {"yes": True, "designated": True, "no": False}
"""True if wheelchairs can enter, by OpenStreetMap's value of `wheelchair`; "limited" has no entry."""


def phone(place: Place) -> str | None:
    """Return a place's first phone number as it is mapped; `None` if none is known."""
    return _find_fact(place, "phone").partition(",")[0] or None


def international_phone(place: Place) -> str | None:
    """Return a place's first phone number if it begins with "+"; else, or if none is known, `None`."""
    number = phone(place)
    return number if number and number.startswith("+") else None


def website(place: Place) -> str | None:
    """Return a place's web address, `http://` added if it names no scheme; `None` if it is unknown."""
    address = _find_fact(place, "website")
    if not address:
        return None
    return address if "://" in address else f"http://{address}"


def has_step_free_entrance(place: Place) -> bool | None:
    """Return whether a wheelchair can enter a place; `None` if this is unknown or true only in part."""
    return WHEELCHAIR.get(_find_fact(place, "wheelchair"))


def serves_vegetarian(place: Place) -> bool | None:
    """Return whether a place has vegetarian or vegan dishes; `None` if this is unknown."""
    # The fact reads such as "vegan no, vegetarian only".
    diets = dict(part.rsplit(" ", 1) for part in _find_fact(place, "diet").split(", ") if " " in part)
    if {diets.get("vegetarian"), diets.get("vegan")} & {"yes", "only"}:
        return True
    return False if diets.get("vegetarian") == "no" else None


def _find_fact(place: Place, name: str) -> str:
    """Return the value of a place's fact by name, such as "phone"; empty if it is unknown."""
    return dict(place.facts).get(name, "")


LANGUAGE = "en"
ICONS = "https://maps.gstatic.com/mapfiles/place_api/icons/v2"
ICON_COLOR = "#7B9EB0"  # one for all; Google's depend on the type
PORTRAIT = "https://lh3.googleusercontent.com/a/default-user"
KEPT_PLACES = 5_000  # places whose fields are kept, about 12 kB each; chosen
MAX_REVIEWS = 5  # reviews shown of a place, as Google's
PRICES = ("FREE", "INEXPENSIVE", "MODERATE", "EXPENSIVE", "VERY_EXPENSIVE")
DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
METRES_A_DEGREE = 111_195.0  # of latitude, on a sphere of the Earth's mean radius
VIEWPORT_M = 150.0  # from the middle of a place's viewport to its edges; chosen


@dataclass(frozen=True, slots=True)
class PlaceWriter:
    """A writer of places as JSON of Places (New)."""

    city: City
    photos: PlacePhotos
    max_reviews: int | None
    """Most reviews shown of a place; `None` for all."""
    clock: TownClock
    cache: Cache[Json] = field(default_factory=lambda: Cache(KEPT_PLACES))
    """Fields that were written, by a place's id and the minute of the clock."""

    def write(self, place: Place, fields: Container[str]) -> Json:
        """Return those of a place's fields whose names are in `fields`, as JSON, without empty ones."""
        # For a minute only: places open and close.
        known = self.cache.get((place.id, self.clock.now().timestamp() // 60), dict)
        missing = [name for name in WRITTEN if name in fields and name not in known]
        if missing:
            # Hours, reviews and facts may cost a request to the provider.
            whole = self.city.places.details(place.id) if _DETAILS.intersection(missing) else place
            known.update((name, WRITTEN[name](self, whole)) for name in missing)
        return {name: known[name] for name in WRITTEN if name in fields and known[name] is not None}

    def reviews(self, place: Place) -> list[Json] | None:
        """Return a place's reviews as JSON, at most `max_reviews`; `None` if there are none."""
        shown = place.reviews[: self.max_reviews]
        return [
            _review_json(place.id, index, review, self.clock) for index, review in enumerate(shown)
        ] or None


def find_place(city: City, place_id: str, odd: Oddities, message: str) -> Place:
    """Return the place with an id; raise `Refused` with `message` if it is unknown or made stale.

    Args:
        city: the city that is served.
        place_id: the id of the place.
        odd: which place ids are stale.
        message: the message of the refusal.

    Raises:
        Refused: there is no such place, or its id is made stale.
    """
    try:
        if not odd.has("stale", place_id):
            return city.places.details(place_id)
    except NotFound:
        pass
    raise Refused(GoogleStatus.NOT_FOUND, message)


def search_places(city: City, text: str, near: LatLng | None) -> Sequence[Place]:
    """Return the places that match a text, best first, nearer ones preferred; empty for an unusable text.

    Args:
        city: the city that is served.
        text: the words to search for.
        near: a position near which places are preferred; `None` for none.
    """
    try:
        return city.places.search(text, near)
    except BadInput:
        return []


WRITTEN: dict[str, Callable[[PlaceWriter, Place], object]] = {
    "name": lambda _, place: f"places/{place.id}",
    "id": lambda _, place: place.id,
    "types": lambda _, place: types_of(place),
    "primaryType": lambda _, place: primary_type(place),
    "primaryTypeDisplayName": lambda _, place: (
        {"text": kind.replace("_", " ").title(), "languageCode": LANGUAGE}
        if (kind := primary_type(place))
        else None
    ),
    "formattedAddress": lambda _, place: place.address or None,
    "shortFormattedAddress": lambda _, place: place.address.partition(",")[0] or None,
    "addressComponents": lambda _, place: (
        [
            {"longText": text, "shortText": text, "types": types, "languageCode": LANGUAGE}
            for text, types in address_parts(place.address)
        ]
        or None
    ),
    "location": lambda _, place: lat_lng_json(place.position),
    "viewport": lambda _, place: box_json(*box_around(place.position)),
    "rating": lambda _, place: place.rating,
    "userRatingCount": lambda _, place: place.review_count or None,
    "priceLevel": lambda _, place: (
        None if place.price_level is None else f"PRICE_LEVEL_{PRICES[place.price_level]}"
    ),
    "businessStatus": lambda _, place: "OPERATIONAL" if place.is_open else "CLOSED_PERMANENTLY",
    "displayName": lambda _, place: {"text": place.name, "languageCode": LANGUAGE},
    "googleMapsUri": lambda _, place: f"https://maps.google.com/?cid={place.id}",
    "regularOpeningHours": lambda writer, place: _hours_json(place, writer.clock),
    "currentOpeningHours": lambda writer, place: _hours_json(place, writer.clock),
    "plusCode": lambda writer, place: {
        "globalCode": plus_code(place.position),
        "compoundCode": compound_code(place.position, writer.city.title),
    },
    "utcOffsetMinutes": lambda writer, _: writer.clock.offset_minutes,
    "timeZone": lambda writer, _: {"id": writer.clock.zone} if writer.clock.zone else None,
    "attributions": lambda writer, _: [{"provider": notice}] if (notice := writer.city.notice) else None,
    "iconMaskBaseUri": lambda _, place: f"{ICONS}/{primary_type(place) or 'generic'}_pinlet",
    "iconBackgroundColor": lambda _, __: ICON_COLOR,
    "nationalPhoneNumber": lambda _, place: phone(place),
    "internationalPhoneNumber": lambda _, place: international_phone(place),
    "websiteUri": lambda _, place: website(place),
    "accessibilityOptions": lambda _, place: (
        None if (known := has_step_free_entrance(place)) is None else {"wheelchairAccessibleEntrance": known}
    ),
    "servesVegetarianFood": lambda _, place: serves_vegetarian(place),
    "reviews": lambda writer, place: writer.reviews(place),
    "photos": lambda writer, place: photos_json(place.id, writer.photos.sizes(place.id)) or None,
}
"""The function that writes each field of Places (New), by name; it gives `None` for an unknown value."""
KNOWN = frozenset(WRITTEN) | FIELDS.place_without_answer
"""Names of all fields that a field mask of Places (New) may ask for."""
_DETAILS = frozenset(
    {
        *("regularOpeningHours", "currentOpeningHours", "reviews", "nationalPhoneNumber"),
        *("internationalPhoneNumber", "websiteUri", "accessibilityOptions", "servesVegetarianFood"),
    }
)
"""Names of fields that need a place's details, which a search leaves out."""


def author_uri(place_id: str, number: int) -> str:
    """Return a made-up address of a reviewer's page, from the place's id and the review's number."""
    return f"https://www.google.com/maps/contrib/{place_id}-{number}/reviews"


def google_day(day: int) -> int:
    """Return Google's number of a weekday, 0 for Sunday, from virl's: 0 for Monday, 7 for the next Monday."""
    return (day + 1) % 7


def periods(place: Place, time_json: Callable[[int, int], Json]) -> list[Json]:
    """Return opening periods as JSON; `time_json` writes a time from (Google's day, minute of the day)."""
    return [
        {
            "open": time_json(google_day(span.day), span.opens),
            "close": time_json(google_day(span.day + span.closes // 1440), span.closes % 1440),
        }
        for span in place.hours
    ]


def clock_text(minute: int) -> str:
    """Return a time in minutes after midnight as Google writes it, such as "5:30 PM"."""
    hour, rest = divmod(minute % 1440, 60)
    return f"{hour % 12 or 12}:{rest:02d} {'AM' if hour < 12 else 'PM'}"


def weekday_texts(place: Place) -> list[str]:
    """Return a place's opening hours as seven texts, Monday first, such as "Sunday: Closed"."""
    days: list[list[str]] = [[] for _ in DAY_NAMES]
    for span in place.hours:
        days[span.day].append(f"{clock_text(span.opens)} \u2013 {clock_text(span.closes)}")
    return [f"{name}: {', '.join(day) or 'Closed'}" for name, day in zip(DAY_NAMES, days, strict=True)]


def address_parts(address: str) -> list[tuple[str, list[str]]]:
    """Return (text, Google's types) of the number, street and town in an address, each if it is there."""
    parts = [part.strip() for part in address.split(",") if part.strip()]
    if not parts:
        return []
    door, _, street = parts[0].partition(" ")
    if not door.isdecimal():
        street, _, door = parts[0].rpartition(" ")
    numbered = street and door[:1].isdecimal()
    named = [(door, ["street_number"]), (street, ["route"])] if numbered else [(parts[0], ["route"])]
    return named + [(part, ["locality", "political"]) for part in parts[1:2]]


def _hours_json(place: Place, clock: TownClock) -> Json | None:
    """Return a place's opening hours as JSON of Places (New); `None` if they are unknown."""
    if not place.hours:
        return None

    def time_json(day: int, minute: int) -> Json:
        """Return a time of a week as JSON: Google's day, 0 for Sunday, the hour and the minute."""
        return {"day": day, "hour": minute // 60, "minute": minute % 60}

    return {
        "openNow": clock.is_open(place),
        "periods": periods(place, time_json),
        "weekdayDescriptions": weekday_texts(place),
    }


def _review_json(place_id: str, index: int, review: Review, clock: TownClock) -> Json:
    """Return a place's review number `index` as JSON of Places (New), with a made-up time of writing."""
    text = {"text": review.text, "languageCode": LANGUAGE}
    written = clock.review_time(place_id, index)
    return {
        "name": f"places/{place_id}/reviews/review-{index}",
        "rating": review.rating,
        "text": text,
        "originalText": text,
        "relativePublishTimeDescription": clock.ago(written),
        "publishTime": f"{written:%Y-%m-%dT%H:%M:%SZ}",
        "authorAttribution": {
            "displayName": review.author,
            "uri": author_uri(place_id, index),
            "photoUri": PORTRAIT,
        },
        "googleMapsUri": f"https://maps.google.com/?cid={place_id}",
    }


def box_around(position: LatLng) -> tuple[LatLng, LatLng]:
    """Return the (south-western, north-eastern) corners of a square 150 m to each side of a position."""
    up = VIEWPORT_M / METRES_A_DEGREE
    # Bounded, since a degree of longitude has no length at the poles.
    across = up / max(cos(radians(position.lat)), 0.01)
    return LatLng(position.lat - up, position.lng - across), LatLng(position.lat + up, position.lng + across)


def lat_lng_json(position: LatLng) -> Json:
    """Return a position as JSON of the new APIs, `{"latitude": ..., "longitude": ...}` in degrees."""
    return {"latitude": position.lat, "longitude": position.lng}


def box_json(low: LatLng, high: LatLng) -> Json:
    """Return a rectangle as JSON of the new APIs, from its south-western and north-eastern corners."""
    return {"low": lat_lng_json(low), "high": lat_lng_json(high)}


LETTERS = "23456789CFGHJMPQRVWX"
"""The 20 letters of plus codes, in order of value from 0 (https://github.com/google/open-location-code)."""
PAIRS, AFTER = 5, 8  # pairs of letters, and letters before the plus sign
_PARTS = 8000  # cells of a code of ten letters along one degree


def plus_code(position: LatLng) -> str:
    """Return the plus code of a position: ten digits and letters, for a cell about 14 m south to north."""
    # The North Pole belongs to the last cell south of it.
    up = min(int((position.lat + 90) * _PARTS), 180 * _PARTS - 1)
    across = int((position.lng + 180) % 360 * _PARTS)
    pairs = []
    for _ in range(PAIRS):
        pairs.append(LETTERS[up % 20] + LETTERS[across % 20])
        up, across = up // 20, across // 20
    code = "".join(reversed(pairs))
    return f"{code[:AFTER]}+{code[AFTER:]}"


def compound_code(position: LatLng, town: str) -> str:
    """Return the short plus code of a position with its town, such as `7726+W9 Helsinki`."""
    return f"{plus_code(position)[4:]} {town}"
