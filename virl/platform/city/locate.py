"""Positions that texts mean: addresses in the form of some country, and places by their name or sort."""

import re
import unicodedata

from rapidfuzz import fuzz

from virl.errors import NotFound, PlaceClosed
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.names import is_shortened, name_ratio, score_names, spelt
from virl.platform.city.places import closed_among

WORD = r"[^\W\d_a-z][\w'\N{RIGHT SINGLE QUOTATION MARK}-]*"
"""Source of a pattern of a word that begins with a capital letter, or with one that has no small form."""
NUMBER_FIRST = re.compile(
    rf"(?<![\d-])\b\d{{1,5}}[A-Za-z]?\s+(?![Cc]h[oō]me\b){WORD}(?:\s+(?:of\s+|the\s+)*{WORD})*"
)
"""Pattern of an address with its house number before the street, such as "12 Mill Lane"."""
_SMALL = r"(?:of|the|de|du|des|la|le|del|della|di|da|do|van|von|der|den|aan|am|an|im|in|zur|zum)"
"""Pattern of the small words within names of streets."""
_BEFORE_STREET = r"\b(?:rue|place|avenue|calle|plaza|via|piazza|rua|улица|ул\.|проспект|площадь)"
"""Pattern of the words for a street that stand before its name, such as "rue"."""
_AFTER_STREET = (
    r"(?:aukio|kaari|katu|kuja|polku|ranta|tie|tori|gata|gränd|kaj|väg|улица|переулок|проспект|набережная)"
)
"""Pattern of the words for a street that stand after its name, such as "katu"."""
NUMBER_LAST = re.compile(
    rf"(?<![\w'-])(?:{_BEFORE_STREET}[^\S\n]++(?:{_SMALL}[^\S\n]++){{0,2}})?{WORD}+"
    rf"(?:[^\S\n]++(?:{_SMALL}[^\S\n]++){{0,2}}(?:{WORD}+|{_AFTER_STREET}\b)){{0,7}}+,?[^\S\n]++"
    r"\d{1,5}(?:[A-Za-z]|[^\S\n][A-HJ-Z](?:[^\S\n]\d{1,3})?)?(?:[-\N{EN DASH}/]\d{1,4})?(?![\w'])"
    r"(?![^\S\n]+[^\W\d_a-z]\w)"  # else the number belongs to what follows, "Central Cafe 12 Oak Street"
)
"""Pattern of an address with its house number after the street, such as "Aleksanterinkatu 14 B"."""
_DASH = r"[-\N{EN DASH}\N{MINUS SIGN}]"
"""Source of a pattern of one dash, of any sort, between the numbers of an address."""
_CHOME = rf"\d{{1,3}}[ -]?[Cc]h[oō]me\b(?:,?[ -]?\d{{1,4}}(?:{_DASH}\d{{1,4}}){{0,2}})?"
"""Pattern of a Japanese district part with its block and house, such as "1 Chome-2-3"."""
_HAN = "[\u3041-\u30ff\u3005\u3400-\u9fff]"
"""Pattern of a letter of Chinese or Japanese."""
_COUNT = r"(?:\d{1,4}|[一二三四五六七八九十]{1,3})"
"""Pattern of a number in digits or Chinese numerals."""
BLOCKS = re.compile(
    rf"(?<![\w-])(?:{_CHOME}|\d{{1,4}}(?:{_DASH}\d{{1,4}}){{1,3}})(?:,?[^\S\n]{WORD}){{1,4}}+"
    rf"|(?<![\w-]){WORD}+(?:[^\S\n]{WORD}+){{0,3}}+,?[^\S\n]"
    rf"(?:{_CHOME}|\d{{1,4}}(?:{_DASH}\d{{1,4}}){{2,3}})(?![\w-])"
    rf"|{_HAN}{{1,20}}+(?:\d{{1,3}}丁目|(?<=丁目)|(?=\d{{1,4}}{_DASH}))"
    rf"(?:{_COUNT}(?:番地?|号|{_DASH})?){{0,3}}"
)
"""Pattern of an address by district, part, block and house: "1-2-3 Ginza", "銀座1丁目2-3"."""
_NO_HOUSE = re.compile(
    r"(?<![\w-])\d{1,9}(?:st|nd|rd|th)\b|(?<![\w-])\d{1,9}-(?!chome|chōme)[^\W\d_]", re.IGNORECASE
)
"""Pattern of numbers that are no house numbers: "5th", and the "7-" of "7-Eleven"."""
_FIRST = re.compile(r"\s*\d{1,5}[a-z]?(?:[-/]\d{1,4}){0,3},?\s+\w", re.IGNORECASE)
"""Pattern of a text that begins with a house number and goes on with a word."""
_LED = re.compile(r"\b(?:at|to|from|near|of|by|in)\s$")
"""Pattern of the end of a text that lets an address follow: a word such as "at" and a blank."""
_GOES_ON = re.compile(r"\s++(?!(?:and|then|but|or|in|on|for|at|by|from|with)\b)\w")
"""Pattern of a blank and word after a number, which is then no house number, as in "14 shops"."""


def address_in(text: str) -> str:
    """Return the first address in a text, with its number first, last or by blocks; empty if there is none.

    One with its number last counts only after a word such as "to", and where no counted thing follows it.
    """
    for pattern in (BLOCKS, NUMBER_FIRST):
        if found := pattern.search(text):
            return found[0]
    for found in NUMBER_LAST.finditer(text):
        if _LED.search(text[max(0, found.start() - 6) : found.start()]) and not _GOES_ON.match(
            text, found.end()
        ):
            return found[0]
    return ""


def is_address(text: str) -> bool:
    """Return whether a text may be an address, as it has a number that may be a house number.

    "Hauptstraße 12a", "1-2-3 Ginza" and "銀座一丁目" may be; "5th Avenue" and "7-Eleven" are not.
    """
    folded = unicodedata.normalize("NFKC", text)
    return any(map(str.isdigit, _NO_HOUSE.sub("", folded))) or bool(BLOCKS.search(folded))


def begins_with_house(text: str) -> bool:
    """Return whether a text begins with a number that may be a house number, before a word."""
    return bool(_FIRST.match(_NO_HOUSE.sub("", unicodedata.normalize("NFKC", text))))


SAME_NAME = 80.0
"""Likeness of a text and a place's name, 0 to 100, from which the text counts as the name; chosen."""


def locate(city: City, text: str, near: LatLng | None = None) -> tuple[str, LatLng]:
    """Return (name, position) of the address or open place that a text names; those near `near` go first.

    What is written as no address is looked for among the places first: a geocoder finds something for nearly
    any text. A listing may shorten the name, but its numbers are those of the text.

    Args:
        city: city in which the text is looked for.
        text: an address, a name such as `"Banca del Olivo"`, or, in small letters, a sort such as `"bank"`.
        near: position around which places are looked for; the middle of the city by default.

    Raises:
        PlaceClosed: only a place that has closed has this name.
        NotFound: there is no such address or open place.
    """
    found = [] if is_address(text) else city.places.search(text, near)
    places = [place for place in found if place.is_open]
    named = next((place for place in places if _is_called(text, place.name)), None)
    # A closed place counts where it fits the name better than the open one; a mere sort is no name.
    least = name_ratio(text, named.name) if named else 0.0
    closed = [place.name for place in closed_among(found) if _is_called(text, place.name)]
    if not text.islower() and any(name_ratio(text, name) > least for name in closed):
        raise PlaceClosed(f"{text!r} in {city.title} has closed")
    if named:
        return named.name, named.position
    try:
        return text, city.maps.geocode(text)
    except NotFound as fault:
        places = places or [place for place in city.places.search(text, near) if place.is_open]
        house = text.split(maxsplit=1)[0].casefold() if begins_with_house(text) else ""
        for place in places:
            # "12 Cafe Roma" means no "Cafe Roma" unless its name has the number.
            has_house = not house or house in spelt(place.name).split()
            if has_house and score_names(fuzz.token_set_ratio, text, place.name) >= SAME_NAME:
                return place.name, place.position
        if house:
            raise
        raise NotFound(f"no place in {city.title} matches {text!r}; {fault}") from fault


def _is_called(text: str, name: str) -> bool:
    """Return whether a text may be a place's name: it resembles or shortens `name`, or is all lower-case."""
    return text.islower() or name_ratio(text, name) >= SAME_NAME or is_shortened(name, text)
