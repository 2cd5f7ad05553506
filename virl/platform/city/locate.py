"""Where a text means: an address, or a place by its name or sort."""

from rapidfuzz import fuzz

from virl.errors import NotFound, PlaceClosed
from virl.geo.globe import LatLng
from virl.platform.city.addresses import begins_with_house, is_address
from virl.platform.city.city import City
from virl.platform.city.names import is_shortened, name_ratio, score_names, spelt
from virl.platform.city.places import Place, closed_among

SAME_NAME = 80.0
"""Least likeness, [0, 100], of a place's name to the name that was asked for; chosen."""


def locate(city: City, text: str, near: LatLng | None = None) -> tuple[str, LatLng]:
    """Return the title and position of an address, or of the open place that fits a text best.

    What is written as no address is looked for among the places first: a geocoder finds something for nearly
    any text. A listing may shorten the name, but its numbers are those of the text.

    Args:
        city: where it is.
        text: an address, a name such as `"Banca del Olivo"`, or, in small letters, a sort such as `"bank"`.
        near: where places are looked for; the middle of the city by default.

    Raises:
        PlaceClosed: only a place that has closed has this name.
        NotFound: there is none.
    """
    found = [] if is_address(text) else city.places.search(text, near)
    places = [place for place in found if place.is_open]
    named = next((place for place in places if _is_called(text, place.name)), None)
    if _has_closed(text, closed_among(found), named):
        raise PlaceClosed(f"{text!r} in {city.title} has closed")
    if named:
        return named.name, named.position
    try:
        return text, city.maps.geocode(text)
    except NotFound as fault:
        places = places or [place for place in city.places.search(text, near) if place.is_open]
        alike = [place for place in places if _is_nearly_called(text, place.name)]
        if not alike and begins_with_house(text):
            raise
        if not alike:
            raise NotFound(f"no place in {city.title} matches {text!r}; {fault}") from fault
    return alike[0].name, alike[0].position


def _has_closed(text: str, closed: list[Place], named: Place | None) -> bool:
    """Return whether a closed place fits the name that was asked for better than the open one found."""
    least = name_ratio(text, named.name) if named else 0.0
    return not text.islower() and any(
        _is_called(text, place.name) and name_ratio(text, place.name) > least for place in closed
    )


def _is_called(text: str, name: str) -> bool:
    """Return whether a place's name fits a text; a text that is a sort of place fits any."""
    return text.islower() or name_ratio(text, name) >= SAME_NAME or is_shortened(name, text)


def _is_nearly_called(text: str, name: str) -> bool:
    """Return whether a place may be meant by what no geocoder knows; a house number has to be in its name."""
    if begins_with_house(text) and text.split(maxsplit=1)[0].casefold() not in spelt(name).split():
        return False
    return score_names(fuzz.token_set_ratio, text, name) >= SAME_NAME
