"""The places and addresses of a town, found by their words: any order, any number, slightly misspelt."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from unicodedata import combining, east_asian_width, normalize

import numpy as np
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from virl.errors import BadInput, NotFound
from virl.geo.globe import Floats, LatLng, LocalFrame, distances
from virl.platform.city.places import Place
from virl.platform.city.streetview import Image
from virl.towns.life.parks import NO_FRONTAGE
from virl.towns.plan.town_plan import PHOTO_SIZE, Panoramas, Shop, Street, StreetPlan

MISSPELT = 84.0
"""Least similarity, 0 to 100, of a misspelt word to the word it stands for; chosen."""
LONG = 5
"""Number of letters from which an unknown word is taken for known words one typing error away."""
NOISE = frozenset({"a", "an", "and", "at", "by", "for", "in", "me", "my", "near", "of", "on", "the", "to"})
"""Words of a query that are ignored in a search."""
_NO_ACCENT = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "\u0131": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)
"""Plain letters for letters with a stroke and joined letters, which Unicode does not decompose."""


class WordIndex:
    """An index of the words of texts that scores documents by a query."""

    def __init__(self, documents: Sequence[Mapping[str, float]]) -> None:
        """Note the documents and weight of each word; a document maps its texts to their weights."""
        self._count = len(documents)
        self._found: defaultdict[str, dict[int, float]] = defaultdict(dict)
        for number, texts in enumerate(documents):
            for text, weight in texts.items():
                for word in _words(text):
                    known = self._found[word]
                    known[number] = max(weight, known.get(number, 0.0))

    def answers(self, query: str) -> tuple[Floats, Floats]:
        """Return (summed rarity of the query's words in each document, that times weights); 0 if poor.

        A word counts the more the fewer documents hold it. Documents that answer less than half of what the
        best one does count as not answering. Weights are those of the texts that hold the words.

        Raises:
            BadInput: the query holds no word.
        """
        words = _words(query)
        if not words:
            raise BadInput(f"query {query!r}: name what to look for, such as 'noodles'")
        held, weighted = np.zeros(self._count), np.zeros(self._count)
        for word in dict.fromkeys([word for word in words if word not in NOISE] or words):
            holding = self._documents_with(word)
            rarity = np.log1p(self._count / max(len(holding), 1))
            for number, weight in holding.items():
                held[number] += rarity
                weighted[number] += rarity * weight
        useless = held * 2 < held.max(initial=0.0)
        held[useless] = weighted[useless] = 0.0
        return held, weighted

    def _documents_with(self, word: str) -> Mapping[int, float]:
        """Return the weight of a word by document; for an unknown word, that of words that resemble it."""
        if word in self._found:
            return self._found[word]
        # East Asian text has no spaces: a word may be a part of what stands between two of them.
        if any(east_asian_width(glyph) in "WF" for glyph in word):
            alike = [known for known in self._found if word in known]
        else:
            alike = self._correct_spelling(word)
        merged: dict[int, float] = {}
        for known in alike:
            for number, weight in self._found[known].items():
                merged[number] = max(weight, merged.get(number, 0.0))
        return merged

    def _correct_spelling(self, word: str) -> list[str]:
        """Return the known words that a word may be a misspelling of."""
        known = list(self._found)
        if len(word) >= LONG and (near := process.extract(word, known, scorer=OSA.distance, score_cutoff=1)):
            return [each for each, _, _ in near]
        alike = process.extract(word, known, scorer=fuzz.ratio, score_cutoff=MISSPELT, limit=3)
        return [each for each, _, _ in alike]


def _words(text: str) -> list[str]:
    """Return the words of a text in small letters, without accents and English plural endings."""
    plain = normalize("NFC", without_accents(text)).replace("'s", "").replace("\u2019s", "")
    words = re.findall(r"\w+", plain)
    words = [f"{word[:-3]}y" if len(word) > 4 and word.endswith("ies") else word for word in words]
    return [word[:-1] if len(word) > 3 and re.search("[^s]s$", word) else word for word in words]


def without_accents(text: str) -> str:
    """Return a text in small letters without accents, decomposed (NFKD): `Łódź Ærø` gives `lodz aero`."""
    letters = normalize("NFKD", text.casefold())
    return "".join(letter for letter in letters if not combining(letter)).translate(_NO_ACCENT)


MAX_RADIUS_M = 50_000.0
"""Largest radius of a nearby search in metres, as Google's."""
FOUND = 60
"""Largest number of places that a text search returns: three pages of Google's legacy search."""


class OfflinePlaces:
    """A search in the places of a town's plan; closed ones are found too, but listed as not open.

    Args:
        shops: places of the city.
        photograph: returns a picture of a shop's front.
        also: other names of places, by the places' ids: they are found by these names too.
        types_called: returns the place types that a query names in other languages than English, given also
            whether no place holds a word of the query.
    """

    def __init__(
        self,
        shops: Sequence[Shop],
        photograph: Callable[[Shop], Image],
        also: Mapping[str, Sequence[str]] = MappingProxyType({}),
        types_called: Callable[[str, bool], Collection[str]] = lambda *_: (),
    ) -> None:
        """List the places; `also`: other names by place id, `types_called`: place types by a query."""
        self._shops = {shop.place.id: shop for shop in shops}
        self._listed = [replace(shop.place, hours=(), reviews=(), facts=()) for shop in shops]
        self._lat = np.array([place.position.lat for place in self._listed])
        self._lng = np.array([place.position.lng for place in self._listed])
        self._photograph = photograph
        self._also = also
        self._types_called = types_called

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        """Return places of any of `types`, or all, within `radius` metres, nearest first; `whole`: unused.

        Raises:
            BadInput: the radius is out of its range.
        """
        del whole  # none is ever missing
        if not 0 < radius <= MAX_RADIUS_M:
            raise BadInput(f"radius {radius:g} m: must be above 0, up to {MAX_RADIUS_M:.0f}")
        wanted = set(types)
        away = self._metres_to(position)
        order = np.argsort(away, kind="stable")
        near = (self._listed[index] for index in order[: np.count_nonzero(away <= radius)])
        return [place for place in near if not wanted or wanted.intersection(place.types)]

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        """Return up to 60 places whose texts hold a query's words, best first; equal ones nearest to `near`.

        Of places that hold the same words, the nearest come first where `near` is given or the query says it,
        as in "pharmacy near Oak Street"; else those that hold them in their name and main type.

        Raises:
            BadInput: the query holds no word.
        """
        what, _, where = query.partition(" near ")
        if where and what.strip() and near is None and (around := self.search(where)):
            return self.search(what, around[0].position)
        held, weighted = self._words.answers(query)
        # Places of a type that the query names in another language count as holding all of it.
        if called := set(self._types_called(query, not held.any())):
            named = np.array([not called.isdisjoint(place.types) for place in self._listed], bool)
            held[named] = held.max(initial=1.0)
            weighted[named] = np.maximum(weighted[named], 1.0)
        order = np.lexsort((self._metres_to(near) if near else -weighted, -held))
        return [self._listed[index] for index in order[: np.count_nonzero(held)][:FOUND]]

    def details(self, place_id: str) -> Place:
        """Return the place of an id, with its hours, reviews and facts.

        Raises:
            NotFound: no place has this id.
        """
        return self._shop(place_id).place

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        """Return the one photo of a place's front, as a list; empty for a whole park or if `limit` is 0.

        Raises:
            NotFound: no place has this id.
            BadInput: `limit` is negative.
        """
        shop = self._shop(place_id)
        if limit < 0:
            raise BadInput(f"limit {limit}: must be 0 photos or more")
        return [self._photograph(shop)] if limit and shop.frontage != NO_FRONTAGE else []

    def photo_sizes(self, place_id: str, limit: int = 1) -> list[tuple[int, int]]:
        """Return (width, height) in pixels of each photo that `photos` would return, without drawing any.

        Raises:
            NotFound: no place has this id.
        """
        return [PHOTO_SIZE] if limit and self._shop(place_id).frontage != NO_FRONTAGE else []

    @cached_property
    def _words(self) -> WordIndex:
        """Index of the words of all places; the first search builds it, in a tenth of a second."""
        return WordIndex(
            [_searchable(shop, self._also.get(shop.place.id, ())) for shop in self._shops.values()]
        )

    def _shop(self, place_id: str) -> Shop:
        """Return the shop of a place id; raise `NotFound` for an unknown one."""
        if place_id not in self._shops:
            raise NotFound(f"no place has the id {place_id!r}: use one from a nearby or text search")
        return self._shops[place_id]

    def _metres_to(self, position: LatLng) -> Floats:
        """Return the metres from a position to each place, shape (places,)."""
        return distances(position.lat, position.lng, self._lat, self._lng)


def _searchable(shop: Shop, also: Sequence[str]) -> dict[str, float]:
    """Return the texts by which a place is found, other names among them, each with its weight."""
    place = shop.place
    texts = {place.address: 1.0, " ".join(place.types).replace("_", " "): 2.0}
    texts |= {text: 2.0 for sign in shop.signs for text in (sign.text, sign.tagline)}
    texts |= dict.fromkeys(also, 2.5)
    return texts | {place.name: 2.5, place.types[0].replace("_", " "): 3.0}


ABBREVIATIONS = {
    "and": "&",
    "at": "&",
    "av": "avenue",
    "ave": "avenue",
    "blvd": "boulevard",
    "cl": "close",
    "ct": "court",
    "ln": "lane",
    "pl": "place",
    "rd": "road",
    "saint": "street",  # both are written "St."
    "st": "street",
    "str": "street",
}
"""Full word for each abbreviation in addresses."""
APOSTROPHES = "['`\u2018\u2019]"
"""Pattern of the characters that stand for an apostrophe."""


class AddressBook:
    """A finder of positions by a written address, a crossing such as "Harbor St & Mill Lane" or a name."""

    def __init__(self, layout: StreetPlan, named: Mapping[str, LatLng]) -> None:
        """Note a plan's streets and doors; `named` has positions by place name, looked up first."""
        self._layout = layout
        self._named = {plain(name): position for name, position in named.items() if plain(name)}
        names = [plain(street.name) for street in layout.streets]
        self._streets = StreetIndex(
            layout.frame, layout.streets, layout.junctions, layout.panoramas, [[name] for name in names]
        )
        self._doors: dict[tuple[str, int], tuple[float, float]] = {}
        for front in layout.frontages:
            (x0, y0), (x1, y1) = front.left, front.right
            self._doors[names[front.street], front.number] = ((x0 + x1) / 2, (y0 + y1) / 2)

    def find(self, address: str) -> LatLng:
        """Return the position of an address, crossing, street or name, else of its first known part.

        Raises:
            NotFound: no part of the text is known.
        """
        for part in (address, *address.split(",")):
            found = self._named.get(plain(part)) or self._address(plain(part))
            if found is not None:
                return found
        example = self._layout.frontages[0]
        street = self._layout.streets[example.street].name
        raise NotFound(f"no address or place matches {address!r}: write it as in '{example.number} {street}'")

    def _address(self, text: str) -> LatLng | None:
        """Return the position of a house, crossing or street, else `None`; raise for an unknown number."""
        numbered = re.fullmatch(r"(\d+) (.+)", text)
        if numbered and numbered[2] in self._streets.by_name:
            name, number = numbered[2], int(numbered[1])
            if (name, number) in self._doors:
                return self._layout.frame.position(*self._doors[name, number])
            title = self._layout.streets[self._streets.by_name[name][0]].name
            last = max((known for street, known in self._doors if street == name), default=0)
            raise NotFound(f"{title} has no number {number}: its numbers end at {last}")
        return self._streets.find(text)


class StreetIndex:
    """A finder of the streets of a town, and of their crossings, by names in the form of `plain`."""

    def __init__(
        self, frame: LocalFrame, streets: Sequence[Street], junctions: Floats, panoramas: Panoramas,
        names: Iterable[Collection[str]],
    ) -> None:  # fmt: skip
        """Note the streets by the `names` of each; `junctions` are points in metres of the frame, (k, 2)."""
        self._frame, self._streets = frame, streets
        self._junctions, self._panoramas = junctions, panoramas
        self.by_name: defaultdict[str, list[int]] = defaultdict(list)
        """Indices of the streets with each plain name."""
        for street, own in zip(streets, names, strict=True):
            for name in own:
                self.by_name[name].append(street.id)

    def find(self, text: str) -> LatLng | None:
        """Return the position of a crossing `NAME & NAME` or of the middle of a street; `None` if unknown."""
        names = text.split(" & ")
        if len(names) == 2 and all(name in self.by_name for name in names):
            return self._find_crossing(*names)
        return self._find_middle(text) if text in self.by_name else None

    def _find_crossing(self, one: str, other: str) -> LatLng | None:
        """Return the position of a junction of two streets, given by name; `None` if they do not meet."""
        stretches = ([self._streets[number] for number in self.by_name[name]] for name in (one, other))
        ends = [{end for street in streets for end in (street.start, street.end)} for streets in stretches]
        shared = min(ends[0] & ends[1], default=None)
        return None if shared is None else self._frame.position(*self._junctions[shared].tolist())

    def _find_middle(self, name: str) -> LatLng:
        """Return the position of the panorama nearest to the middle of a street, by its plain name."""
        mine = np.flatnonzero(np.isin(self._panoramas.street, self.by_name[name]))
        if not len(mine):  # its panoramas stand in houses, or belong to streets that it meets
            line = self._streets[self.by_name[name][0]].line
            return self._frame.position(*line[len(line) // 2].tolist())
        xy = self._panoramas.xy[mine]
        nearest = np.argmin(np.linalg.norm(xy - xy.mean(axis=0), axis=1))
        return self._frame.position(*xy[nearest].tolist())


def plain(text: str) -> str:
    """Return a text in a form to compare: lower case, no accents or punctuation, abbreviations in full."""
    bare = without_accents(text)
    words = re.sub(r"[^\w&]+", " ", re.sub(APOSTROPHES, "", bare).replace("&", " & ")).split()
    return " ".join(ABBREVIATIONS.get(word, word) for word in words)
