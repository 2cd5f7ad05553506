"""Seven towns that agents are sent to: three of real extracts, a made city, and three small made extracts."""

from collections.abc import Sequence
from pathlib import Path

from odd_extracts import OddTown
from real_data import real_data

from virl.geo.globe import LatLng

GAP_M = 80.0
"""Metres between the streets of a made extract."""
LARGE = ("helsinki", "moscow")
"""Towns that take long to build."""

VILLAGE = ("amenity=pub: The Fox",)
COAST = (
    "amenity=restaurant: Net Loft",
    "shop=bakery: Crumb",
    "amenity=cafe: Gull",
    "shop=supermarket: Provisions",
    "amenity=bar: Anchor",
    "tourism=museum: Boat Museum",
)
ICELANDIC = (
    "amenity=restaurant: Veitingahús Guðrúnar",
    "shop=bakery: Bakaríið",
    "amenity=library: Bókasafn",
    "shop=supermarket: Matvöruverslun",
    "amenity=pharmacy: Lyfja",
    "amenity=bank: Sparisjóður",
    "shop=books: Bókabúð",
    "amenity=townhall: Ráðhús",
)


def extract_of(
    middle: LatLng, east: Sequence[str], north: Sequence[str], places: Sequence[str], *, at_sea: bool = False
) -> str:
    """Return an extract of streets that cross, with houses, and places at every other of them.

    Args:
        middle: the south-western crossing.
        east: names of the streets to the east, from the south; of a single one, houses have no numbers.
        north: names of the streets to the north.
        places: their tags and names, as in `shop=bakery: Crumb`.
        at_sea: whether the sea begins south of the first street.
    """
    town, left = OddTown(middle), list(places)
    town.parts = {"n": [], "w": [], "r": []}
    corners = [[town.n(GAP_M * x, GAP_M * y) for x in range(len(north))] for y in range(len(east))]
    for name, line in zip([*east, *north], [*corners, *map(list, zip(*corners, strict=True))], strict=True):
        town.w(line, highway="residential", name=name)
    for row, name in enumerate(east):
        for number in range(2 * (len(north) - 1)):
            x, y = GAP_M * number / 2 + 15, GAP_M * row + 8
            address = {"addr__street": name, "addr__housenumber": str(number + 1)} if east[1:] else {}
            town.house(x, y, **address)
            if number % 2 and left:
                tag, _, called = left.pop(0).partition(": ")
                key, _, value = tag.partition("=")
                town.n(x + 6, y + 2, name=called, **{key: value}, **address)
            if number % 3 == 0:
                town.n(x, y - 3, amenity=("bench", "waste_basket")[row % 2])
    if at_sea:
        town.w([town.n(-20 * GAP_M, -GAP_M / 2), town.n(20 * GAP_M, -GAP_M / 2)], natural="coastline")
    return town.xml()


def made_towns(folder: Path) -> dict[str, Path]:
    """Write the three made extracts into a folder; gives them by the names of their towns."""
    lanes = ("Net Lane", "Rope Walk", "Gull Lane", "Pier Road")
    roads = ("Lækjargata", "Strandgata", "Eyrarvegur", "Þingvallastræti")
    streets = ("Hafnarstræti", "Aðalstræti", "Skólastígur", "Brekkugata")
    texts = {
        "village": extract_of(LatLng(52.1, -1.2), ("Main Street",), lanes[:3], VILLAGE),
        "coast": extract_of(
            LatLng(54.3, -0.4), ("Quay", "Fore Street", "Hill Street"), lanes, COAST, at_sea=True
        ),
        "icelandic": extract_of(LatLng(65.7, -18.1), streets, roads, ICELANDIC),
    }
    for name, text in texts.items():
        (folder / f"{name}.osm").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.osm" for name in texts}


def seven_towns(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the options of `virl run` for each town; made extracts are written into a folder."""
    real = real_data("osm")
    vaduz = ("--around", "47.139286,9.522796", "--radius", "700")
    return {
        **{name: ("--city", str(path)) for name, path in made_towns(folder).items()},
        "vaduz": ("--city", str(real / "liechtenstein.osm.pbf"), *vaduz),
        "helsinki": ("--city", str(real / "helsinki.osm.pbf")),
        "virlmouth": ("--city", "virlmouth"),
        "moscow": ("--city", str(real / "moscow.osm.gz")),
    }
