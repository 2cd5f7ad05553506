"""An extract of a made town with crooked streets, shops, one-way streets and a date, written by a test."""

from itertools import count, pairwise
from math import hypot
from pathlib import Path
from random import Random

import osmium
from osmium.osm import mutable

from virl.geo.globe import LatLng, LocalFrame

DATE = "2024-05-01"
CREDIT = f"© OpenStreetMap contributors, data of {DATE}"
FRAME = LocalFrame(LatLng(60.17, 24.94))
NAMES = ("Rowan", "Birch", "Alder", "Willow", "Aspen", "Maple", "Linden")
KINDS = (
    ("shop", "bakery"),
    ("amenity", "cafe"),
    ("amenity", "restaurant"),
    ("shop", "books"),
    ("shop", "toys"),
)
APART_M, CROOKED_M = 90.0, 12.0


def made_extract(file: Path, *, size: int = 5, frame: LocalFrame = FRAME) -> Path:
    """Write a town of `size` by `size` crossings, 1 to 7, from where `frame` begins; gives the file."""
    header = osmium.io.Header()
    header.set("osmosis_replication_timestamp", f"{DATE}T20:21:22Z")
    writer, rng = osmium.SimpleWriter(str(file), header=header), Random(3)
    numbers, ways = count(1), list[mutable.Way]()

    def node(x: float, y: float, **tags: str) -> int:
        at, number = frame.position(x, y), next(numbers)
        writer.add_node(mutable.Node(id=number, location=(at.lng, at.lat), tags=tags))
        return number

    def way(nodes: list[int], **tags: str) -> None:
        ways.append(mutable.Way(id=len(ways) + 1, nodes=nodes, tags=tags))

    def street(crossings: list[tuple[int, int]]) -> list[int]:
        """Their nodes, with one in the middle between each two."""
        found = [corners[crossings[0]]]
        for here, there in pairwise(crossings):
            middle = (sum(pair) / 2 for pair in zip(spots[here], spots[there], strict=True))
            found += [node(*middle), corners[there]]
        return found

    spots = {
        (column, row): tuple(APART_M * along + rng.uniform(-CROOKED_M, CROOKED_M) for along in (column, row))
        for column in range(size)
        for row in range(size)
    }
    corners = {at: node(*spot) for at, spot in spots.items()}
    for line in range(size):
        across = [(column, line) for column in range(size)]
        up = [(line, row) for row in range(size)]
        way(street(across), highway="residential", name=f"{NAMES[line]} Street")
        way(street(up), highway="tertiary", name=f"{NAMES[line]} Lane", oneway="yes")
        for here, there in pairwise(across):
            (x, y), (to_x, to_y) = spots[here], spots[there]
            length = hypot(to_x - x, to_y - y)
            east, north = (to_x - x) / length, (to_y - y) / length

            def beside(along: float, off: float) -> tuple[float, float]:
                return x + along * east - off * north, y + along * north + off * east  # noqa: B023 - called at once

            box = [node(*beside(*at)) for at in ((25, 7), (55, 7), (55, 20), (25, 20))]
            way([*box, box[0]], building="yes", height="9 m")
            key, value = KINDS[(here[0] + line) % len(KINDS)]
            tags = {key: value, "opening_hours": "Mo-Su 08:00-20:00"}
            node(*beside(40, 9), name=f"{NAMES[line]} Corner {here[0] + 1}", **tags)
            node(*beside(60, 6), amenity="waste_basket")
    for one in ways:
        writer.add_way(one)
    writer.close()
    return file
