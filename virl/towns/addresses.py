"""Finding addresses: house numbers, streets, crossings, and places by name."""

import re
from collections.abc import Mapping

import numpy as np

from virl.errors import NotFound
from virl.geo.globe import LatLng
from virl.towns.plan.town_plan import StreetPlan
from virl.towns.wordsearch import without_accents

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
    """An index of addresses such as "12 Harbor Street", "Harbor St & Mill Lane" or a place's name.

    Args:
        layout: the streets with their house numbers.
        named: positions of places by name or address; these are looked up first.
    """

    def __init__(self, layout: StreetPlan, named: Mapping[str, LatLng]) -> None:
        self._layout = layout
        self._named = {plain(name): position for name, position in named.items() if plain(name)}
        names = [plain(street.name) for street in layout.streets]
        self._streets: dict[str, list[int]] = {}
        for street, name in zip(layout.streets, names, strict=True):
            self._streets.setdefault(name, []).append(street.id)
        self._doors: dict[tuple[str, int], tuple[float, float]] = {}
        for front in layout.frontages:
            (x0, y0), (x1, y1) = front.left, front.right
            self._doors[names[front.street], front.number] = ((x0 + x1) / 2, (y0 + y1) / 2)

    def find(self, address: str) -> LatLng:
        """Return the position of an address; of its parts between commas, the first known one counts.

        Raises:
            NotFound: nothing matches.
        """
        for part in (address, *address.split(",")):
            found = self._named.get(plain(part)) or self._address(plain(part))
            if found is not None:
                return found
        example = self._layout.frontages[0]
        street = self._layout.streets[example.street].name
        raise NotFound(f"no address or place matches {address!r}: write it as in '{example.number} {street}'")

    def _address(self, text: str) -> LatLng | None:
        """Return the position of a house, a crossing or a street; `None` if the text is none of these."""
        numbered = re.fullmatch(r"(\d+) (.+)", text)
        if numbered and numbered[2] in self._streets:
            return self._door_position(numbered[2], int(numbered[1]))
        names = text.split(" & ")
        if len(names) == 2 and all(name in self._streets for name in names):
            return self._find_crossing(*names)
        return self._middle(text) if text in self._streets else None

    def _door_position(self, name: str, number: int) -> LatLng:
        """Return the position of a house number on a street."""
        try:
            return self._layout.frame.position(*self._doors[name, number])
        except KeyError:
            title = self._layout.streets[self._streets[name][0]].name
            last = max((known for street, known in self._doors if street == name), default=0)
            raise NotFound(f"{title} has no number {number}: its numbers end at {last}") from None

    def _find_crossing(self, one: str, other: str) -> LatLng | None:
        """Return the position of the junction of two streets; `None` if they do not meet."""
        ends = [
            {end for number in self._streets[name] for end in self._ends(number)} for name in (one, other)
        ]
        shared = min(ends[0] & ends[1], default=None)
        return None if shared is None else self._layout.frame.position(*self._layout.junctions[shared])

    def _ends(self, street: int) -> tuple[int, int]:
        """Return the indices of the junctions at both ends of a street."""
        return self._layout.streets[street].start, self._layout.streets[street].end

    def _middle(self, name: str) -> LatLng:
        """Return the position of the panorama halfway along all stretches of a street."""
        panoramas = self._layout.panoramas
        mine = np.flatnonzero(np.isin(panoramas.street, self._streets[name]))
        xy = panoramas.xy[mine]
        nearest = np.argmin(np.linalg.norm(xy - xy.mean(axis=0), axis=1))
        return self._layout.frame.position(*xy[nearest])


def plain(text: str) -> str:
    """Return a text for comparison: lower case, no accents or punctuation, abbreviations written out."""
    bare = without_accents(text)
    words = re.sub(r"[^\w&]+", " ", re.sub(APOSTROPHES, "", bare).replace("&", " & ")).split()
    return " ".join(ABBREVIATIONS.get(word, word) for word in words)
