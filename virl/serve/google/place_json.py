"""A place in the words of Places (New), and what a map tells of it in those of both Places APIs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import cos, radians
from threading import Lock

from virl.errors import BadInput, NotFound
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.places import Place, Review
from virl.serve.google.options import Oddities
from virl.serve.google.pictures import Albums, photos_json
from virl.serve.google.protojson import FIELDS
from virl.serve.google.shown_places import TownClock, display_name, primary_type, types_of
from virl.serve.google.wire import GoogleStatus, Json, Refused

WHEELCHAIR: Mapping[str, bool] = {"yes": True, "designated": True, "no": False}
"""Google knows no place that is accessible in part."""


def phone(place: Place) -> str | None:
    """Return the first number, as it is mapped."""
    return _find_fact(place, "phone").partition(",")[0] or None


def international_phone(place: Place) -> str | None:
    """Return the first number, if its country is mapped."""
    number = phone(place)
    return number if number and number.startswith("+") else None


def website(place: Place) -> str | None:
    """Return the address of its page, with a scheme."""
    address = _find_fact(place, "website")
    if not address:
        return None
    return address if "://" in address else f"http://{address}"


def has_step_free_entrance(place: Place) -> bool | None:
    """Return whether a wheelchair gets in; `None` where nobody says, or it does in part."""
    return WHEELCHAIR.get(_find_fact(place, "wheelchair"))


def accessibility(place: Place) -> Json | None:
    """Return Google's object of what is accessible."""
    known = has_step_free_entrance(place)
    return None if known is None else {"wheelchairAccessibleEntrance": known}


def serves_vegetarian(place: Place) -> bool | None:
    """Return whether it has dishes for vegetarians; `None` where nobody says."""
    said = dict(part.rsplit(" ", 1) for part in _find_fact(place, "diet").split(", ") if " " in part)
    answers = {said.get(kind) for kind in ("vegetarian", "vegan")}
    if answers & {"yes", "only"}:
        return True
    return False if said.get("vegetarian") == "no" else None


def _find_fact(place: Place, name: str) -> str:
    """Return a fact of a place by its name; empty if unknown."""
    return dict(place.facts).get(name, "")


LANGUAGE = "en"
ICONS = "https://maps.gstatic.com/mapfiles/place_api/icons/v2"
ICON_COLOR = "#7B9EB0"  # one for all; Google's depend on the type
PORTRAIT = "https://lh3.googleusercontent.com/a/default-user"
KEPT_PLACES = 5_000  # whose fields are kept, about 12 kB each; chosen
MAX_REVIEWS = 5  # as Google's
PRICES = ("FREE", "INEXPENSIVE", "MODERATE", "EXPENSIVE", "VERY_EXPENSIVE")
DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
METRES_A_DEGREE = 111_195.0  # of latitude, on a sphere of the Earth's mean radius
VIEWPORT_M = 150.0  # from the middle of a place's viewport to its edges; chosen


class KeptFields:
    """Fields of places as they were written in this minute, after which another may be open.

    Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._minute = -1
        self._places: dict[str, Json] = {}

    def of(self, place_id: str, clock: TownClock) -> Json:
        """Return the fields of a place that are known."""
        minute = int(clock.now().timestamp() // 60)
        with self._lock:
            if minute != self._minute or len(self._places) > KEPT_PLACES:
                self._minute, self._places = minute, {}
            return self._places.get(place_id, {})

    def keep(self, place_id: str, fields: Json) -> None:
        """Keep them for the rest of the minute."""
        with self._lock:
            self._places[place_id] = fields


@dataclass(frozen=True, slots=True)
class PlaceWriter:
    """A writer of places.

    Args:
        city: what is served.
        albums: their photos.
        max_reviews: reviews shown of a place; `None` for all.
        clock: of the town.
        kept: what was written in this minute.
    """

    city: City
    albums: Albums
    max_reviews: int | None
    clock: TownClock
    kept: KeptFields = field(default_factory=KeptFields)

    def write(self, place: Place, wanted: Mapping[str, object]) -> Json:
        """Write the wanted fields of a place; those it has nothing to say of are left out."""
        known = self.kept.of(place.id, self.clock)
        missing = [name for name in WRITTEN if name in wanted and name not in known]
        if missing:
            whole = self.with_details(place) if _DETAILS.intersection(missing) else place
            known = known | {name: WRITTEN[name](self, whole) for name in missing}
            self.kept.keep(place.id, known)
        return {name: known[name] for name in WRITTEN if name in wanted and known[name] is not None}

    def with_details(self, place: Place) -> Place:
        """Return a place with its hours, reviews and facts."""
        return self.city.places.details(place.id)

    def reviews(self, place: Place) -> list[Json] | None:
        """Return the reviews of visitors, `None` if there are none."""
        shown = place.reviews[: self.max_reviews]
        return [
            _review_json(place.id, index, review, self.clock) for index, review in enumerate(shown)
        ] or None

    def photos(self, place: Place) -> list[Json] | None:
        """Return the names and sizes of photos."""
        return photos_json(place.id, self.albums.sizes(place.id)) or None


def found_place(city: City, place_id: str, odd: Oddities, gone: str) -> Place:
    """Return the place with an id.

    Args:
        city: that is served.
        place_id: asked for.
        odd: oddities of the data.
        gone: words of the refusal.

    Raises:
        Refused: there is none, or its id is stale; with the words `gone`.
    """
    try:
        if not odd.has("stale", place_id):
            return city.places.details(place_id)
    except NotFound:
        pass
    raise Refused(GoogleStatus.NOT_FOUND, gone)


def named_places(city: City, words: str, near: LatLng | None) -> Sequence[Place]:
    """Return the places that answer a text, the best first; none where it names nothing.

    Args:
        city: that is served.
        words: of the search.
        near: preferred position; `None` for none.
    """
    try:
        return city.places.search(words, near)
    except BadInput:
        return []


WRITTEN: dict[str, Callable[[PlaceWriter, Place], object]] = {
    "name": lambda _, place: f"places/{place.id}",
    "id": lambda _, place: place.id,
    "types": lambda _, place: types_of(place),
    "primaryType": lambda _, place: primary_type(place),
    "primaryTypeDisplayName": lambda _, place: _primary_name(place),
    "formattedAddress": lambda _, place: place.address or None,
    "shortFormattedAddress": lambda _, place: place.address.partition(",")[0] or None,
    "addressComponents": lambda _, place: _components_json(place.address),
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
    "accessibilityOptions": lambda _, place: accessibility(place),
    "servesVegetarianFood": lambda _, place: serves_vegetarian(place),
    "reviews": lambda writer, place: writer.reviews(place),
    "photos": lambda writer, place: writer.photos(place),
}
KNOWN = frozenset(WRITTEN) | FIELDS.place_without_answer
_DETAILS = frozenset(
    {
        *("regularOpeningHours", "currentOpeningHours", "reviews", "nationalPhoneNumber"),
        *("internationalPhoneNumber", "websiteUri", "accessibilityOptions", "servesVegetarianFood"),
    }
)


def author_uri(place_id: str, number: int) -> str:
    """Return the page of who wrote a review."""
    return f"https://www.google.com/maps/contrib/{place_id}-{number}/reviews"


def google_day(day: int) -> int:
    """Return Google's number of a day: 0 is Sunday. Ours: 0 is Monday."""
    return (day + 1) % 7


def periods(place: Place, point: Callable[[int, int], Json]) -> list[Json]:
    """Return the stretches of opening; `point` writes a time by Google's day and the minute."""
    return [
        {
            "open": point(google_day(span.day), span.opens),
            "close": point(google_day(span.day + span.closes // 1440), span.closes % 1440),
        }
        for span in place.hours
    ]


def clock(minute: int) -> str:
    """Return a time of day as Google writes it, such as `5:30 PM`."""
    hour, rest = divmod(minute % 1440, 60)
    return f"{hour % 12 or 12}:{rest:02d} {'AM' if hour < 12 else 'PM'}"


def weekday_texts(place: Place) -> list[str]:
    """Return the opening hours in words, from Monday on."""
    texts = []
    for day, name in enumerate(DAY_NAMES):
        spans = [
            f"{clock(span.opens)} \u2013 {clock(span.closes)}" for span in place.hours if span.day == day
        ]
        texts.append(f"{name}: {', '.join(spans) or 'Closed'}")
    return texts


def address_parts(address: str) -> list[tuple[str, list[str]]]:
    """Return the parts of an address such as `97 Cross Avenue, Virlton`, with their types."""
    parts = [part.strip() for part in address.split(",") if part.strip()]
    if not parts:
        return []
    door, _, street = parts[0].partition(" ")
    if not door.isdecimal():
        street, _, door = parts[0].rpartition(" ")
    numbered = street and door[:1].isdecimal()
    named = [(door, ["street_number"]), (street, ["route"])] if numbered else [(parts[0], ["route"])]
    return named + [(part, ["locality", "political"]) for part in parts[1:2]]


def _primary_name(place: Place) -> Json | None:
    """Return the name of a place's primary type as JSON; None without one."""
    kind = primary_type(place)
    return None if kind is None else {"text": display_name(kind), "languageCode": LANGUAGE}


def _hours_json(place: Place, clock: TownClock) -> Json | None:
    """Return the opening hours of a place as JSON; None if they are unknown."""
    if not place.hours:
        return None

    def point(day: int, minute: int) -> Json:
        return {"day": day, "hour": minute // 60, "minute": minute % 60}

    return {
        "openNow": clock.is_open(place),
        "periods": periods(place, point),
        "weekdayDescriptions": weekday_texts(place),
    }


def _review_json(place_id: str, index: int, review: Review, clock: TownClock) -> Json:
    """Return a review as JSON; its time is made up by its place and number."""
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


def _components_json(address: str) -> list[Json] | None:
    """Return the parts of an address as JSON; None if there are none."""
    return [
        {"longText": text, "shortText": text, "types": types, "languageCode": LANGUAGE}
        for text, types in address_parts(address)
    ] or None


def box_around(position: LatLng) -> tuple[LatLng, LatLng]:
    """Return the south-western and the north-eastern corner of the viewport of one position."""
    up = VIEWPORT_M / METRES_A_DEGREE
    across = up / max(cos(radians(position.lat)), 0.01)
    return LatLng(position.lat - up, position.lng - across), LatLng(position.lat + up, position.lng + across)


def lat_lng_json(position: LatLng) -> Json:
    """Return a position as Places (New) and the Routes API have it."""
    return {"latitude": position.lat, "longitude": position.lng}


def box_json(low: LatLng, high: LatLng) -> Json:
    """Return a viewport between two corners, the south-western and the north-eastern one."""
    return {"low": lat_lng_json(low), "high": lat_lng_json(high)}


LETTERS = "23456789CFGHJMPQRVWX"
"""Letters of plus codes: positions as short texts (https://github.com/google/open-location-code)."""
PAIRS, AFTER = 5, 8  # pairs of letters, and letters before the plus sign
_PARTS = 8000  # of a degree: the side of a code of ten letters


def plus_code(position: LatLng) -> str:
    """Return the code of ten letters, such as `8G6M7726+W9`: about 14 m wide."""
    up = min(int((position.lat + 90) * _PARTS), 180 * _PARTS - 1)
    across = int((position.lng + 180) % 360 * _PARTS)
    pairs = []
    for _ in range(PAIRS):
        pairs.append(LETTERS[up % 20] + LETTERS[across % 20])
        up, across = up // 20, across // 20
    code = "".join(reversed(pairs))
    return f"{code[:AFTER]}+{code[AFTER:]}"


def compound_code(position: LatLng, town: str) -> str:
    """Return the code as it is said within a town, such as `7726+W9 Helsinki`."""
    return f"{plus_code(position)[4:]} {town}"
