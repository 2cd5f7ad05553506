"""Tools about places: lists of them, details, photos."""

from typing import Annotated, Literal

import numpy as np
import PIL.Image
from pydantic import AfterValidator, Field

from virl.agent.tool import ToolData, tool
from virl.geo.globe import LatLng
from virl.platform.city.places import Place, moment_in_words
from virl.platform.city.streetview import Camera, Image, View
from virl.tools.base import (
    Away,
    Listing,
    ToolResult,
    away_to,
    from_world,
    lines_held,
    metres,
    short,
    tell_data,
)
from virl.tools.body import Body
from virl.tools.looking import Looked, LookedView, show

PHOTO_FOV = 40.0  # degrees; nobody knows it: narrow enough to be no view of a street
PHOTO_SIDE = 1024  # pixels at most; as what Google is asked for
MOST_REVIEWS, LONGEST_REVIEW = 5, 350  # reviews of a place, and characters of one
LONGEST_FACT = 120  # characters


PlaceId = Annotated[
    str, Field(min_length=1, description="The id of the place, as the lists of places give it.")
]


class ListedPlace(ToolData):
    """A place in a list: id, name, types, rating, price level, distance, direction and address."""

    id: str
    name: str
    types: tuple[str, ...]
    """Place types in Google's words, the most specific first."""
    rating: Annotated[float, AfterValidator(lambda rating: round(rating, 1))] | None
    """Mean of all ratings, 1 to 5 stars; `None` without ratings."""
    review_count: int
    price_level: int | None
    """Google's price level, 0 (free) to 4 (very expensive); `None` if unknown."""
    is_open: bool
    """True unless the place has closed for good."""
    away: Away
    address: str

    def __str__(self) -> str:
        """Return the place on one line, its known facts separated by "|"."""
        facts = [
            f"id {self.id}",
            self.name,
            ", ".join(self.types).replace("_", " "),
            "not rated" if self.rating is None else f"rated {self.rating:.1f} by {self.review_count}",
            "" if self.price_level is None else f"price {self.price_level} of 4",
            "" if self.is_open else "CLOSED FOR GOOD",
            str(self.away),
            self.address,
        ]
        return " | ".join(fact for fact in facts if fact)


class NearbyListing(Listing[ListedPlace]):
    """The places within a radius around you, the nearest first."""

    limit: int
    found: int
    """Number of places within the radius, listed or not."""
    radius_m: float

    def __str__(self) -> str:
        """Return the number of places and their lines, or the text for no place."""
        if not self.items:
            return self.nothing
        number = min(self.found, self.limit)
        return f"{number} of {self.found} places within {metres(self.radius_m)}. {super().__str__()}"


class PlaceReview(ToolData):
    """A visitor's review of a place: stars and words."""

    rating: float
    """Stars of the review, 1 to 5."""
    text: str


class PlaceFacts(ToolData):
    """All that is known of one place, cut to what one text holds: hours, further facts and reviews."""

    place: ListedPlace
    clock: str
    """Day and time for which the opening hours are judged."""
    now: Literal["open", "closed", "unknown"]
    hours: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    """Further facts, each (name, text)."""
    reviews: tuple[PlaceReview, ...]
    left_out: int = 0
    """Number of facts and reviews that did not fit."""

    @property
    def lines(self) -> list[str]:
        """Lines of the text: the place, its hours, facts and reviews."""
        unreviewed = not self.reviews and not self.left_out
        return [
            str(self.place),
            f"now ({self.clock}): {self.now}; opening hours: {', '.join(self.hours) or 'unknown'}",
            *(f"{name}: {text}" for name, text in self.facts),
            *(f"review, {review.rating:g} of 5: {review.text}" for review in self.reviews),
            *(["nobody has written a review"] if unreviewed else []),
        ]

    def __str__(self) -> str:
        """Return the lines between marks for text from the world."""
        return from_world(self.lines, self.left_out)


@tool("Places nearby")
def nearby_places(
    body: Body,
    radius_m: float = Field(100.0, gt=0, le=5000, description="How far around you, in metres, up to 5000."),
    types: list[str] = Field(
        default_factory=list,
        max_length=10,
        description="Only places of one of these types, in Google's words, such as 'cafe', 'restaurant', "
        "'bakery', 'park', 'pharmacy', 'train_station'; empty for all.",
    ),
    limit: int = Field(10, ge=1, le=20, description="How many at most, 1 to 20."),
) -> ToolResult[NearbyListing]:
    """List shops, restaurants, parks, stations and other places around you, nearest first.

    For each: id, name, types, rating, price, distance and direction, address.
    """
    here = body.panorama.position
    found = body.agent.city.places.nearby(here, radius_m, types)
    kinds = f" of type {short(', '.join(types), 200)}" if types else ""
    return tell_data(
        NearbyListing.fit(
            [_to_listed(place, here) for place in found[:limit]],
            nothing=f"No place{kinds} within {metres(radius_m)}.",
            limit=limit,
            found=len(found),
            radius_m=radius_m,
        )
    )


@tool("Search places")
def search_places(
    body: Body,
    query: str = Field(
        min_length=1, max_length=200, description="Such as 'vegan bakery' or 'Harbor Library'."
    ),
    limit: int = Field(5, ge=1, le=20, description="How many at most, 1 to 20."),
) -> ToolResult[Listing[ListedPlace]]:
    """Search places by words: a name, a type or an address. Best match first, wherever in the city it is."""
    here = body.panorama.position
    listed = [_to_listed(place, here) for place in body.agent.city.places.search(query, here)[:limit]]
    return tell_data(Listing[ListedPlace].fit(listed, nothing="No place answers that."))


@tool("Details of a place")
def place_details(body: Body, place_id: PlaceId) -> ToolResult[PlaceFacts]:
    """Tell opening hours, rating, price, further facts and what visitors wrote about one place."""
    place = body.agent.city.places.details(place_id)
    now: Literal["open", "closed", "unknown"] = "unknown"
    if place.hours or not place.is_open:
        now = "open" if place.open_at(*body.agent.character.day_and_minute) else "closed"
    about = PlaceFacts(
        place=_to_listed(place, body.panorama.position),
        clock=moment_in_words(*body.agent.character.day_and_minute),
        now=now,
        hours=tuple(map(str, place.hours)),
        facts=tuple((name, short(text, LONGEST_FACT)) for name, text in place.facts),
        reviews=tuple(
            PlaceReview(rating=review.rating, text=short(review.text, LONGEST_REVIEW))
            for review in place.reviews[:MOST_REVIEWS]
        ),
    )
    lines, kept = about.lines, lines_held(about.lines)
    if kept < len(lines):
        # The two lines before them, place and hours, always stay.
        facts = about.facts[: max(kept - 2, 0)]
        reviews = about.reviews[: max(kept - 2 - len(about.facts), 0)]
        left_out = len(lines) - kept
        about = about.model_copy(update={"facts": facts, "reviews": reviews, "left_out": left_out})
    return tell_data(about)


@tool("Photos of a place", asks_model=True)
def photos(
    body: Body,
    place_id: PlaceId,
    limit: int = Field(2, ge=1, le=5, description="How many at most, 1 to 5; each may cost something."),
) -> ToolResult[Looked]:
    """See the photos that a place is listed with: the pictures, or what they show in words.

    They may be of another day, or of another place.
    """
    pictures = body.agent.city.places.photos(place_id, limit)
    if not pictures:
        return tell_data(Looked(nothing="The place is listed without photos."))
    views = [
        (LookedView(label=f"photo {number} of {place_id}"), photo_view(pixels))
        for number, pixels in enumerate(pictures, 1)
    ]
    return show(body, views, "photo")


def _to_listed(place: Place, here: LatLng) -> ListedPlace:
    """Return a place as lists have it, with its distance and direction from `here`."""
    return ListedPlace(
        id=place.id,
        name=short(place.name, 80),
        types=place.types[:3],
        rating=place.rating,
        review_count=place.review_count,
        price_level=place.price_level,
        is_open=place.is_open,
        away=away_to(here, place.position),
        address=short(place.address, 80),
    )


def photo_view(photo: Image) -> View:
    """Return a photo as a view without a position, scaled down to at most 1,024 pixels a side."""
    shown = PIL.Image.fromarray(photo)
    shown.thumbnail((PHOTO_SIDE, PHOTO_SIDE))
    pixels = np.asarray(shown, np.uint8)
    return View("", Camera(0.0, 0.0, PHOTO_FOV, shown.width, shown.height), pixels)
