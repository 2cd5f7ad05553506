"""Places API (New): each method with the field mask that a `Place` needs, and no more."""

from collections.abc import Collection, Mapping
from typing import Any

from virl.errors import ProviderError
from virl.geo import LatLng, distance
from virl.platform.places import Place, Review
from virl.platform.providers.google.http import Call, GoogleHttp
from virl.platform.providers.google.places import NearbyResult, no_place, opening_hours
from virl.platform.providers.google.vocabulary import asked_types, normal_types
from virl.platform.providers.http.bodies import picture, reading
from virl.platform.streetview import Image

SERVICE = "Places API (New)"
MOST = 20  # places in a reply
PAGES = 3  # of a text search
MOST_TYPES = 50  # in a nearby search
NEAR_M = 5_000.0  # chosen: a part of a town; Google takes up to 50 km
PHOTO_WIDTH = 1024  # pixels; chosen

_LISTED = (
    "id,displayName,types,primaryType,location,formattedAddress,"
    "rating,userRatingCount,priceLevel,businessStatus"
)
_DETAILED = f"{_LISTED},regularOpeningHours,reviews"
_PRICES = {
    "PRICE_LEVEL_FREE": 0,
    "PRICE_LEVEL_INEXPENSIVE": 1,
    "PRICE_LEVEL_MODERATE": 2,
    "PRICE_LEVEL_EXPENSIVE": 3,
    "PRICE_LEVEL_VERY_EXPENSIVE": 4,
}
_NOT_OPEN = ("CLOSED_PERMANENTLY", "FUTURE_OPENING")


class NewPlaces:
    """Places API (New).

    Args:
        http: the way to Google.
        language: of names and reviews, as a BCP 47 tag; `None` leaves it to Google.
        pages: most pages of a text search that are asked for, 1 to 3.
    """

    def __init__(self, http: GoogleHttp, language: str | None = None, *, pages: int = PAGES) -> None:
        self._http = http
        self._pages = pages
        self._language = {"languageCode": language} if language else {}

    def within(self, center: LatLng, radius: float, types: Collection[str]) -> NearbyResult:
        """The 20 nearest places of a circle; one request, or one for each 50 types."""
        asked = asked_types(types)
        if not types:
            return self._nearest(center, radius, [])
        parts = [
            self._nearest(center, radius, asked[first : first + MOST_TYPES])
            for first in range(0, len(asked), MOST_TYPES)
        ]
        places = [place for part in parts for place in part.places]
        return NearbyResult(places, min((part.complete for part in parts), default=radius))

    def _nearest(self, center: LatLng, radius: float, asked: list[str]) -> NearbyResult:
        body: dict[str, object] = {
            "locationRestriction": {"circle": _circle(center, radius)},
            "rankPreference": "DISTANCE",
            "maxResultCount": MOST,
            **self._language,
        }
        if asked:
            body["includedTypes"] = asked
        reply = self._http.json(Call("places_nearby", body=body, fields=_mask(_LISTED)))
        with reading(SERVICE):
            places = [read_place(one) for one in reply.get("places", ())]
        if len(places) < MOST:
            return NearbyResult(places, radius)
        return NearbyResult(places, max(distance(center, place.position) for place in places))

    def matching(self, query: str, near: LatLng) -> list[Place]:
        """Places that answer a text, best first; one request for each 20."""
        body: dict[str, object] = {
            "textQuery": query,
            "pageSize": MOST,
            "locationBias": {"circle": _circle(near, NEAR_M)},
            **self._language,
        }
        places: list[Place] = []
        for _ in range(self._pages):
            call = Call("places_text", body=body, fields=f"{_mask(_LISTED)},nextPageToken")
            reply = self._http.json(call)
            with reading(SERVICE):
                places += [read_place(one) for one in reply.get("places", ())]
                token = reply.get("nextPageToken")
            if not token:
                break
            body = {**body, "pageToken": token}
        return places

    def place(self, place_id: str) -> Place:
        """A place with hours and reviews; one request.

        Raises:
            NotFound: no place has this id.
        """
        reply = self._details(place_id, _DETAILED)
        with reading(SERVICE):
            return read_place(reply)

    def pictures(self, place_id: str, limit: int) -> list[Image]:
        """Photos of a place; one cheap request for their names, and one for each.

        Raises:
            NotFound: no place has this id.
        """
        reply = self._details(place_id, "id,photos")
        with reading(SERVICE):
            names = [str(photo["name"]) for photo in reply.get("photos", ())][:limit]
        query = {"maxWidthPx": str(PHOTO_WIDTH)}
        calls = [Call("places_photo", f"{name}/media", query) for name in names]
        return [picture(self._http.bytes(call), SERVICE) for call in calls]

    def _details(self, place_id: str, fields: str) -> dict[str, Any]:
        query = {name: text for name, text in self._language.items() if "reviews" in fields}
        if "/" in place_id:
            raise no_place(place_id)
        try:
            reply: dict[str, Any] = self._http.json(Call("places_details", place_id, query, fields=fields))
        except ProviderError as fault:
            if fault.code == "NOT_FOUND" or (fault.code == "INVALID_ARGUMENT" and "ID" in fault.reason):
                raise no_place(place_id) from None
            raise
        return reply


def read_place(reply: Mapping[str, Any]) -> Place:
    """Read a place of a reply. What its field mask left out stays empty."""
    where = reply["location"]
    rating = reply.get("rating")
    return Place(
        id=str(reply["id"]),
        name=str(reply["displayName"]["text"]),
        types=normal_types(reply.get("types", ()), reply.get("primaryType")),
        position=LatLng(float(where["latitude"]), float(where["longitude"])),
        address=str(reply.get("formattedAddress", "")),
        rating=float(rating) if rating else None,
        review_count=int(reply.get("userRatingCount", 0)),
        price_level=_PRICES.get(str(reply.get("priceLevel"))),
        is_open=reply.get("businessStatus") not in _NOT_OPEN,
        hours=opening_hours(
            (_day(period["open"]), _minute(period["open"]), _closing(period.get("close")))
            for period in reply.get("regularOpeningHours", {}).get("periods", ())
        ),
        reviews=tuple(_review(one) for one in reply.get("reviews", ())),
    )


def _mask(fields: str) -> str:
    return ",".join(f"places.{field}" for field in fields.split(","))


def _circle(center: LatLng, radius: float) -> dict[str, object]:
    return {"center": {"latitude": center.lat, "longitude": center.lng}, "radius": radius}


def _day(point: Mapping[str, Any]) -> int:
    return int(point.get("day", 0))  # zeros may be left out of a reply


def _minute(point: Mapping[str, Any]) -> int:
    return int(point.get("hour", 0)) * 60 + int(point.get("minute", 0))


def _closing(point: Mapping[str, Any] | None) -> tuple[int, int] | None:
    return (_day(point), _minute(point)) if point else None


def _review(reply: Mapping[str, Any]) -> Review:
    text = reply.get("text") or reply.get("originalText") or {}
    author = reply.get("authorAttribution", {}).get("displayName", "")
    return Review(float(reply["rating"]), str(text.get("text", "")), str(author))
