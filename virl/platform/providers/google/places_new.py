"""Client of Places API (New): each request with the field mask that a `Place` needs, and no more."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Annotated

from pydantic import Field

from virl.errors import ProviderError
from virl.geo.globe import LatLng, destination, distance
from virl.platform.city.places import Place, Review
from virl.platform.city.streetview import Image
from virl.platform.providers.google.city_file import GoogleOptions
from virl.platform.providers.google.client import Call, GoogleHttp
from virl.platform.providers.google.nearby import MOST, NearbyResult, PlaceKinds
from virl.platform.providers.google.places import (
    MOST_LISTED,
    MOST_RATINGS,
    NOT_OPEN,
    PAGES,
    PHOTO_SIDE,
    HoursBody,
    WeekPoint,
    asked_types,
    no_place,
    normal_types,
    type_table,
)
from virl.platform.providers.http.replies import (
    MUST_FIT,
    CamelBody,
    Latitude,
    Longitude,
    OrUnknown,
    ShapeT,
    picture,
)

SERVICE = "Places API (New)"
KEPT_SEARCHES = 512
"""Number of nearby searches whose results are kept in memory, even with `--cache off`; chosen: 10 MB."""
MOST_TYPES = 50
"""Largest number of types of a nearby search."""
NEAR_M = 5_000.0
"""Radius in metres around a position where a text search looks first; chosen: a part of a town."""

_LISTED = (
    "id,displayName,types,primaryType,location,formattedAddress,"
    "rating,userRatingCount,priceLevel,priceRange,businessStatus"
)
"""Field mask of places in a list."""
_DETAILED = (
    f"{_LISTED},regularOpeningHours,reviews,accessibilityOptions,websiteUri,"
    "internationalPhoneNumber,nationalPhoneNumber,servesVegetarianFood"
)
"""Field mask of places with hours and reviews."""
_PRICES = {
    "PRICE_LEVEL_FREE": 0,
    "PRICE_LEVEL_INEXPENSIVE": 1,
    "PRICE_LEVEL_MODERATE": 2,
    "PRICE_LEVEL_EXPENSIVE": 3,
    "PRICE_LEVEL_VERY_EXPENSIVE": 4,
}
"""Price level, 0 to 4, by Google's word for it."""
PRICE_CUTS = {"USD": (10, 30, 60), "EUR": (10, 30, 60), "GBP": (8, 24, 48)}
"""Prices for one person from which on price levels 2, 3 and 4 are given, by currency.
Chosen, in dollars as Yelp has its levels. Another currency has no levels."""
_YES_NO = {True: "yes", False: "no", None: ""}
"""Words for facts that are true, false or not known."""
LONGEST = 200
"""Number of characters to which the text of a fact is cut, as in facts of maps."""


class NewPlaces:
    """A client of Places API (New)."""

    def __init__(self, http: GoogleHttp, options: GoogleOptions | None = None) -> None:
        """Make the client; the options say its language and how many pages a text search asks for."""
        options = options or GoogleOptions()
        self._http = http
        self._pages = options.search_pages
        self._language = {"languageCode": options.language} if options.language else {}
        self._nearest = lru_cache(maxsize=KEPT_SEARCHES)(self._ask_nearest)

    tells_nearest = True
    """True, as replies list the nearest places first."""

    def places_within(self, center: LatLng, radius: float, kinds: PlaceKinds) -> NearbyResult:
        """Return the 20 nearest places within `radius` metres; a request for each 50 types."""
        asked = asked_types(kinds.only)
        if not kinds.only:
            return self._nearest(center, radius, (), tuple(sorted(kinds.but)), in_full=kinds.in_full)
        # Tuples, since a search is remembered by its arguments.
        parts = [
            self._nearest(center, radius, tuple(asked[first : first + MOST_TYPES]), in_full=kinds.in_full)
            for first in range(0, len(asked), MOST_TYPES)
        ]
        places = [place for part in parts for place in part.places]
        return NearbyResult(places, min((part.complete for part in parts), default=radius))

    def halves(self, kinds: PlaceKinds) -> tuple[PlaceKinds, ...]:
        """Return the place types as two parts for separate requests; empty for a single type."""
        half = type_table().half
        if not kinds.only:
            return (replace(kinds, only=half), replace(kinds, but=half))
        names = sorted(kinds.only, key=lambda name: (name not in half, name))
        middle = sum(name in half for name in names)
        middle = middle if 0 < middle < len(names) else len(names) // 2
        parts = (frozenset(names[:middle]), frozenset(names[middle:]))
        return tuple(replace(kinds, only=part) for part in parts) if all(parts) else ()

    def _ask_nearest(
        self, center: LatLng, radius: float, asked: Sequence[str], but: Sequence[str] = (), *, in_full: bool
    ) -> NearbyResult:
        """Return the 20 nearest places within `radius` metres, of types `asked` (empty: all) except `but`."""
        body: dict[str, object] = {
            "locationRestriction": {"circle": _circle(center, radius)},
            "rankPreference": "DISTANCE",
            "maxResultCount": MOST,
            **self._language,
        }
        if asked:
            body["includedTypes"] = list(asked)
        if but:
            body["excludedTypes"] = list(but)
        fields = _mask(_DETAILED if in_full else _LISTED)
        found = self._http.read(self._http.request(Call("places_nearby", body=body, fields=fields)), _Found)
        places = found.read
        # A list that is not full has all places of the circle.
        if len(found.places) < MOST:
            return NearbyResult(places, radius)
        return NearbyResult(places, max((distance(center, place.position) for place in places), default=0.0))

    def search_text(self, query: str, near: LatLng) -> list[Place]:
        """Return the places that answer a text, best first; one request for each 20."""
        body: dict[str, object] = {
            "textQuery": query,
            "pageSize": MOST,
            "locationBias": {"circle": _circle(near, NEAR_M)},
            **self._language,
        }
        places, _ = self._pages_of(body, _LISTED)
        return places

    def nearby_rated(
        self, center: LatLng, radius: float, kind: str, least: float, max_price_level: int | None
    ) -> NearbyResult:
        """Return a type's places of `least` or more stars, with reviews, in the square around a circle."""
        # Google refuses PRICE_LEVEL_FREE here
        prices = [name for name, level in _PRICES.items() if 0 < level <= (max_price_level or 0)]
        body: dict[str, object] = {
            "textQuery": kind.replace("_", " "),
            "includedType": kind,
            "strictTypeFiltering": True,
            "minRating": least,
            "pageSize": MOST,
            "locationRestriction": {"rectangle": _square(center, radius)},
            **({} if max_price_level is None else {"priceLevels": prices}),
            **self._language,
        }
        places, told_all = self._pages_of(body, _DETAILED)
        return NearbyResult(places, radius if told_all else 0.0)

    def _pages_of(self, body: dict[str, object], fields: str) -> tuple[list[Place], bool]:
        """Return (places of a text search's pages, True if there are no more); one request for each page."""
        places: list[Place] = []
        token, count = "", 0
        for _ in range(self._pages):
            paged = {**body, "pageToken": token} if token else body
            call = Call("places_text", body=paged, fields=f"{_mask(fields)},nextPageToken")
            found = self._http.read(self._http.request(call), _Found)
            places += found.read
            count += len(found.places)
            token = found.next_page_token
            if not token:
                return places, count < MOST * PAGES
        return places, False

    def place(self, place_id: str) -> Place:
        """Return a place with hours and reviews; one request."""
        return self._details(place_id, _DETAILED, _Place).place

    def pictures(self, place_id: str, limit: int) -> Iterator[Image]:
        """Yield up to `limit` photos of a place; one cheap request for all names, one for each photo."""
        photos = self._details(place_id, "id,photos", Album).photos[:limit]
        query = {"maxWidthPx": str(PHOTO_SIDE), "maxHeightPx": str(PHOTO_SIDE)}
        calls = [Call("places_photo", f"{photo.name}/media", query) for photo in photos]
        return (picture(self._http.bytes(self._http.request(call)), SERVICE) for call in calls)

    def _details(self, place_id: str, fields: str, shape: type[ShapeT]) -> ShapeT:
        """Return some fields of a place as a model; raise `NotFound` for an unknown id."""
        query = {name: text for name, text in self._language.items() if "reviews" in fields}
        # A slash would lead to another endpoint than that of details.
        if "/" in place_id:
            raise no_place(place_id)
        try:
            return self._http.read(
                self._http.request(Call("places_details", place_id, query, fields=fields)), shape
            )
        except ProviderError as fault:
            if fault.code == "NOT_FOUND" or (fault.code == "INVALID_ARGUMENT" and "ID" in fault.reason):
                raise no_place(place_id) from None
            raise


class _Position(CamelBody):
    """A position of a reply, degrees."""

    latitude: Latitude
    longitude: Longitude


class _Text(CamelBody):
    """A text of a reply, without its language."""

    text: str = ""


class _Point(WeekPoint):
    """A time of the week at which a place opens or closes; zeros may be left out of a reply."""

    day: Annotated[int, MUST_FIT] = Field(0, ge=0, le=6)
    hour: Annotated[int, MUST_FIT] = Field(0, ge=0, le=24)
    minute: Annotated[int, MUST_FIT] = Field(0, ge=0, le=59)

    @property
    def of_week(self) -> tuple[int, int]:
        """Time as (day, 0 for Sunday; minutes after midnight)."""
        return self.day, self.hour * 60 + self.minute


class _Author(CamelBody):
    """The author of a review."""

    display_name: str = ""


class _Review(CamelBody):
    """A review of a place: stars, text and author."""

    rating: float = Field(ge=0, le=5)
    text: _Text | None = None
    original_text: _Text | None = None
    author_attribution: _Author = _Author()


class _Money(CamelBody):
    """An amount of money in whole units of a currency."""

    currency_code: str
    units: Annotated[int, MUST_FIT] = Field(0, ge=0, lt=2**63)


class _PriceRange(CamelBody):
    """The range of amounts that most people spend at a place."""

    start_price: _Money
    end_price: Annotated[_Money | None, MUST_FIT] = None

    def __str__(self) -> str:
        """Return the range as text, such as `USD 10 to 20`, or `USD 100 or more`."""
        low, high = self.start_price, self.end_price
        return f"{low.currency_code} {low.units}" + (f" to {high.units}" if high else " or more")

    @property
    def level(self) -> int | None:
        """Price level, 1 to 4, of the middle of the range; `None` in a currency without `PRICE_CUTS`."""
        low, high = self.start_price, self.end_price
        cuts = PRICE_CUTS.get(low.currency_code)
        return 1 + bisect_right(cuts, (low.units + (high or low).units) / 2) if cuts else None


class _Accessibility(CamelBody):
    """The wheelchair access of a place."""

    wheelchair_accessible_entrance: bool | None = None


class _Place(CamelBody):
    """A place of a reply of Places (New)."""

    id: str = Field(min_length=1)
    display_name: _Text
    types: tuple[str, ...] = Field((), max_length=MOST_LISTED)
    primary_type: str | None = None
    location: _Position
    formatted_address: str = ""
    rating: float | None = Field(None, ge=0, le=5)
    user_rating_count: int = Field(0, ge=0, le=MOST_RATINGS)
    price_level: str | None = None
    price_range: _PriceRange | None = None
    accessibility_options: _Accessibility = _Accessibility()
    website_uri: str = ""
    international_phone_number: str = ""
    national_phone_number: str = ""
    serves_vegetarian_food: bool | None = None
    business_status: str | None = None
    regular_opening_hours: HoursBody[_Point] = HoursBody()
    reviews: tuple[_Review, ...] = Field((), max_length=MOST_LISTED)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """(name, text) of facts, under the names that maps use, in a fixed order."""
        entrance, prices = self.accessibility_options.wheelchair_accessible_entrance, self.price_range
        told = {
            "phone": self.international_phone_number or self.national_phone_number,
            "website": self.website_uri,
            "wheelchair": _YES_NO[entrance],
            "diet": f"vegetarian {_YES_NO[self.serves_vegetarian_food]}".removesuffix("vegetarian "),
            "price range": str(prices) if prices else "",
            "price level": "derived from the price range"
            if self.price_level not in _PRICES and prices and prices.level
            else "",
        }
        return tuple((name, text[:LONGEST]) for name, text in told.items() if text)

    @property
    def place(self) -> Place:
        """This place of a reply as a `Place`."""
        derived = self.price_range.level if self.price_range else None
        return Place(
            id=self.id,
            name=self.display_name.text,
            types=normal_types(self.types, self.primary_type),
            position=LatLng(self.location.latitude, self.location.longitude),
            address=self.formatted_address,
            rating=self.rating or None,
            review_count=self.user_rating_count,
            price_level=_PRICES.get(self.price_level or "", derived),
            facts=self.facts,
            is_open=self.business_status not in NOT_OPEN,
            hours=self.regular_opening_hours.hours,
            reviews=tuple(
                Review(
                    one.rating,
                    (one.text or one.original_text or _Text()).text,
                    one.author_attribution.display_name,
                )
                for one in self.reviews
            ),
        )


class _Found(CamelBody):
    """The reply of a nearby or text search."""

    places: tuple[Annotated[_Place | None, OrUnknown], ...] = Field((), max_length=MOST_LISTED)
    """Places found; `None` for one that cannot be read."""
    next_page_token: str = ""

    @property
    def read(self) -> list[Place]:
        """Places of the reply that could be read, as `Place` objects."""
        return [one.place for one in self.places if one]


class _Photo(CamelBody):
    """The resource name of a photo."""

    name: str = Field(min_length=1)


class Album(CamelBody):
    """References to the photos of a place."""

    photos: tuple[_Photo, ...] = Field((), max_length=MOST_LISTED)


def _mask(fields: str) -> str:
    """Return the field mask of a search from that of a place: `places.id` for `id`, and so forth."""
    return ",".join(f"places.{field}" for field in fields.split(","))


def _circle(center: LatLng, radius: float) -> dict[str, object]:
    """Return the JSON of a circle with a centre and a radius in metres."""
    return {"center": {"latitude": center.lat, "longitude": center.lng}, "radius": radius}


def _square(center: LatLng, radius: float) -> dict[str, object]:
    """Return the JSON of the square around a circle with a centre and a radius in metres."""
    low, high = (
        destination(destination(center, lat, radius), lng, radius)
        for lat, lng in ((180.0, 270.0), (0.0, 90.0))
    )
    return {
        "low": {"latitude": low.lat, "longitude": low.lng},
        "high": {"latitude": high.lat, "longitude": high.lng},
    }
