"""Small OpenStreetMap files as people have them: out of order, edited, cut at a border, or oddly tagged.

`python tests/odd_extracts.py FOLDER` writes them all.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import quoteattr

from virl.geo.globe import LatLng, LocalFrame

Point = tuple[float, float]
MIDDLE = LatLng(52.0, 5.0)
ISLAND = LatLng(-16.8, 180.0)


class OddTown:
    """Two streets that cross, a house with a bakery and a café, as XML; `w` and `n` are added in metres."""

    def __init__(self, middle: LatLng = MIDDLE) -> None:
        self._frame = LocalFrame(middle)
        self._last = 0
        self.parts: dict[str, list[str]] = {"n": [], "w": [], "r": []}
        cross = self.n(0, 0)
        self.w([self.n(-150, 0), cross, self.n(150, 0)], highway="residential", name="East")
        self.north_end = self.n(0, 150)
        self.w([self.n(0, -150), cross, self.north_end], highway="residential", name="North")
        self.hall = self.house(20, 20, building="retail", shop="bakery", name="Hall", height="6")
        self.cafe = self.n(25, -15, amenity="cafe", name="Uno")

    def n(self, x: float, y: float, number: int | None = None, more: str = "", **tags: str) -> int:
        """Add a node."""
        at = self._frame.position(x, y)
        return self._add("n", f'lat="{at.lat:.7f}" lon="{at.lng:.7f}" {more}', "", number, tags)

    def w(self, nodes: list[int], number: int | None = None, more: str = "", **tags: str) -> int:
        """Add a way."""
        return self._add("w", more, "".join(f'<nd ref="{node}"/>' for node in nodes), number, tags)

    def r(self, ways: Mapping[int, str], **tags: str) -> int:
        """Add a relation of ways and their roles."""
        members = (f'<member type="way" ref="{way}" role="{role}"/>' for way, role in ways.items())
        return self._add("r", "", "".join(members), None, tags)

    def ring(self, *points: Point) -> list[int]:
        """Add the nodes of a closed ring."""
        nodes = [self.n(*point) for point in points]
        return [*nodes, nodes[0]]

    def house(self, x: float, y: float, more: str = "", **tags: str) -> int:
        """Add a house of 12 by 10 metres."""
        ring = self.ring((x, y), (x + 12, y), (x + 12, y + 10), (x, y + 10))
        return self.w(ring, None, more, **{"building": "yes", **tags})

    def xml(self, order: str = "nwr", root: str = '<osm version="0.6" generator="test">') -> str:
        """Return the file, its kinds of objects in an order."""
        every = "\n".join(one for kind in order for one in self.parts[kind])
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n{every}\n</osm>\n'

    def _add(self, kind: str, more: str, inside: str, number: int | None, tags: Mapping[str, str]) -> int:
        self._last += number is None
        number = self._last if number is None else number
        told = "".join(
            f"<tag k={quoteattr(key.replace('__', ':'))} v={quoteattr(value)}/>"
            for key, value in tags.items()
        )
        name = {"n": "node", "w": "way", "r": "relation"}[kind]
        self.parts[kind].append(f'<{name} id="{number}" {more}>{inside}{told}</{name}>')
        return number


@dataclass(frozen=True, slots=True)
class Odd:
    """A file, and what it holds."""

    text: str
    places: frozenset[str] = frozenset({"Hall", "Uno"})
    houses: int = 1
    streets: int = 4
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How many objects, hours and heights cannot be used, by kind."""
    middle: LatLng = MIDDLE


BOTH = frozenset({"Hall", "Uno"})


def out_of_order() -> dict[str, Odd]:
    """Return files whose order, numbers or versions are odd."""
    town = OddTown()
    first, *others = town.parts["n"]
    plain = town.xml()
    negative = plain.replace('id="', 'id="-').replace('ref="', 'ref="-')
    found = {
        "ways-first": Odd(town.xml("wnr")),
        "relations-first": Odd(town.xml("rwn")),
        "a-node-last": Odd(plain.replace(first, "").replace("</osm>", f"{first}</osm>")),
        "backwards": Odd(plain.replace("\n".join([first, *others]), "\n".join([*others[::-1], first]))),
        "negative": Odd(negative),
        "negative-ways-first": Odd(town.xml("wnr").replace('id="', 'id="-').replace('ref="', 'ref="-')),
        "ways-twice": Odd(plain.replace("</osm>", _bare_ways(town) + "</osm>")),
        "byte-order-mark": Odd("\ufeff" + plain),
    }
    mixed = OddTown()
    ring = [mixed.n(*at, number=-at[0]) for at in ((40, 40), (52, 40), (53, 50), (41, 50))]
    mixed.w([*ring, ring[0]], number=-7, building="yes", shop="gift", name="New")
    found["some-negative"] = Odd(mixed.xml(), BOTH | {"New"}, houses=2)
    for name, gone in (("deleted", "action='delete'"), ("invisible", "visible='false'")):
        town = OddTown()
        town.n(30, -15, None, gone, amenity="pub", name="Gone")
        town.house(50, 20, gone, shop="gift", name="Gone too")
        found[name] = Odd(town.xml())
    town = OddTown()
    for version, name, more in ((2, "Now", ""), (1, "Then", ""), (3, "Now", "")):
        town.n(60, -15, 900, f'version="{version}" timestamp="201{version}-01-01T00:00:00Z" {more}',
               amenity="pub", name=name)  # fmt: skip
    town.n(90, -15, 901, 'version="1"', amenity="pub", name="Once")
    town.n(90, -15, 901, 'version="2" visible="false"')
    found["history"] = Odd(town.xml(), BOTH | {"Now"})
    return found


def _bare_ways(town: OddTown) -> str:
    """Return the ways without tags, as overpass-turbo repeats them."""
    return "".join(one.partition("<tag")[0] + "</way>" for one in town.parts["w"])


def incomplete() -> dict[str, Odd]:
    """Return files that lack something, and shapes that do not close."""
    found = {}
    town = OddTown()
    town.w([9999, town.n(150, 60), town.n(60, 60), town.n(0, 60)], highway="residential", name="Cut")
    found["street-without-a-node"] = Odd(town.xml(), streets=4, left_out={"ways": 1})
    town = OddTown()
    ring = town.ring((60, 20), (72, 20), (72, 30))
    town.w([*ring[:3], 9999, ring[0]], building="yes", shop="gift", name="Cut")
    found["house-without-a-node"] = Odd(town.xml(), BOTH | {"Cut"}, left_out={"outlines": 1})
    town = OddTown()
    half = town.w(town.ring((60, 20), (72, 20), (72, 30))[:3])
    town.r({half: "outer", 9999: "outer"}, type="multipolygon", building="yes", shop="gift", name="Half")
    found["missing-member"] = Odd(town.xml(), BOTH | {"Half"}, left_out={"outlines": 1})
    town = OddTown()
    park = town.w(town.ring((60, 20), (99, 20), (99, 60)))
    town.r({park: "outer"}, type="boundary", leisure="park", name="Park")
    found["boundary"] = Odd(town.xml(), BOTH | {"Park"})
    town = OddTown()
    town.w(town.ring((60, 20), (72, 20), (72, 30), (60, 30))[:4], building="yes", shop="gift", name="Open")
    found["open-ring"] = Odd(town.xml(), BOTH | {"Open"}, left_out={"outlines": 1})
    town = OddTown()
    town.w(town.ring((60, 20), (80, 40), (80, 20), (60, 40)), building="yes", shop="gift", name="Bow")
    found["bow-tie"] = Odd(town.xml(), BOTH | {"Bow"}, houses=3)
    town = OddTown()
    bow = town.w(town.ring((60, 20), (80, 40), (80, 20), (60, 40)))
    town.r({bow: "outer"}, type="multipolygon", building="yes", name="Bow", shop="gift")
    found["bow-tie-relation"] = Odd(town.xml(), BOTH | {"Bow"}, houses=3)
    town = OddTown()
    lone = town.n(60, 60)
    for nodes in ([lone], [lone, lone]):
        town.w(nodes, highway="residential", name="Nowhere")
    found["empty-ways"] = Odd(town.xml(), left_out={"ways": 2})
    town = OddTown()
    end = town.n(0, 200)
    town.w([town.north_end, town.n(0, 175), end, end], highway="residential", name="North")
    town.parts["n"].append('<node id="9000"/>')
    found["node-without-a-position"] = Odd(town.xml(), streets=5)
    return found


def closed() -> dict[str, Odd]:
    """Return files with places that are no more, not yet, or mapped twice."""
    found = {}
    for name, tags in {
        "disused": {"disused": "yes"},
        "abandoned": {"abandoned": "yes"},
        "ended": {"end_date": "2019-05"},
        "not-yet": {"opening_date": "2031"},
        "construction": {"amenity": "construction"},
    }.items():
        town = OddTown()
        town.n(60, -15, None, 'timestamp="2030-05-01T00:00:00Z"', **{"amenity": "bar", "name": "No", **tags})
        town.n(90, -15, amenity="bar", name="Yes", end_date="2030-06", opening_date="2030-04")
        found[name] = Odd(town.xml(), BOTH | {"Yes"})
    town = OddTown()
    town.house(60, 20, demolished="yes", shop="gift", name="Rubble")
    found["demolished"] = Odd(town.xml())
    return found


def tagged() -> dict[str, Odd]:
    """Return files with odd positions and values of tags."""
    found = {
        "longitude-180": Odd(OddTown(ISLAND).xml(), middle=ISLAND),
        "far-north": Odd(OddTown(LatLng(82.5, -62.3)).xml(), middle=LatLng(82.5, -62.3)),
        "edge-of-a-zone": Odd(OddTown(LatLng(70.0, 6.0)).xml(), middle=LatLng(70.0, 6.0)),
    }
    town = OddTown()
    for number, height in enumerate(("12'6\"", "39′4″", "40 feet", "~12", "10-12", "8;9")):  # noqa: RUF001
        town.house(-140 + 20.0 * number, 20, height=height)
    town.house(60, 20, building__levels="5;6")
    town.house(80, 20, height="tall")
    found["heights"] = Odd(town.xml(), houses=9, left_out={"heights": 1})
    town = OddTown()
    for number, hours in enumerate(('"by appointment"', "We[1] 10:00-12:00; Fr 09:00-10:00", "gibberish")):
        town.n(-20 - 30 * number, -15, shop="art", name=f"Art {number}", opening_hours=hours)
    found["hours"] = Odd(town.xml(), BOTH | {"Art 0", "Art 1", "Art 2"}, left_out={"opening hours": 3})
    return found


def odd_files() -> dict[str, Odd]:
    """Return all files by their names."""
    return {**out_of_order(), **incomplete(), **closed(), **tagged()}


if __name__ == "__main__":
    for name, odd in odd_files().items():
        Path(sys.argv[1], f"{name}.osm").write_text(odd.text, encoding="utf-8")
