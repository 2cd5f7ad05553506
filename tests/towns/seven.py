"""Seven towns that agents are sent to: three of real extracts, a made city, and three small made extracts."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from odd_extracts import OddTown
from real_data import real_data

from virl.geo import LatLng

GAP_M = 80.0
"""Metres between the streets of a made extract."""

_VILLAGE = ({"amenity": "pub", "name": "The Fox"},)
_COAST = (
    {"amenity": "restaurant", "name": "Net Loft", "cuisine": "fish"},
    {"shop": "bakery", "name": "Crumb"},
    {"amenity": "cafe", "name": "Gull"},
    {"shop": "supermarket", "name": "Provisions"},
    {"amenity": "bar", "name": "Anchor"},
    {"tourism": "museum", "name": "Boat Museum"},
    {"amenity": "restaurant", "name": "Il Faro", "cuisine": "italian"},
    {"shop": "clothes", "name": "Oilskins"},
)
_ICELANDIC = (
    {"amenity": "restaurant", "name": "Veitingahús Guðrúnar"},
    {"shop": "bakery", "name": "Bakaríið"},
    {"amenity": "library", "name": "Bókasafn"},
    {"shop": "supermarket", "name": "Matvöruverslun"},
    {"amenity": "pharmacy", "name": "Lyfja"},
    {"amenity": "bank", "name": "Sparisjóður"},
    {"shop": "books", "name": "Bókabúð"},
    {"amenity": "townhall", "name": "Ráðhús"},
)


def extract_of(
    middle: LatLng,
    streets: Mapping[str, Sequence[str]],
    places: Sequence[Mapping[str, str]],
    *,
    is_numbered: bool = True,
    coast_m: float | None = None,
) -> str:
    """Return an extract of streets that cross, with a house on each block and places on some of them.

    Args:
        middle: its south-western crossing.
        streets: names of those to the `east` and of those to the `north`.
        places: tags of the places, which stand on every other house.
        is_numbered: whether houses have addresses.
        coast_m: metres south of the first street at which the sea begins; `None` for a town inland.
    """
    town = OddTown(middle)
    town.parts = {"n": [], "w": [], "r": []}
    east, north = streets["east"], streets["north"]
    corners = [
        [town.n(GAP_M * column, GAP_M * row) for column in range(len(north))] for row in range(len(east))
    ]
    for name, line in zip(east, corners, strict=True):
        town.w(line, highway="residential", name=name)
    for name, line in zip(north, zip(*corners, strict=True), strict=True):
        town.w(list(line), highway="residential", name=name)
    left = list(places)
    for row, name in enumerate(east):
        for number in range(2 * (len(north) - 1)):
            x, y = GAP_M * number / 2 + 15, GAP_M * row + 8
            address = {"addr__street": name, "addr__housenumber": str(number + 1)} if is_numbered else {}
            town.house(x, y, **address)
            if number % 2 and left:
                town.n(x + 6, y + 2, **left.pop(0), **address)
            if number % 3 == 0:
                town.n(x, y - 3, amenity=("bench", "waste_basket")[row % 2])
    if coast_m is not None:
        far = 20 * GAP_M
        town.w([town.n(-far, -coast_m), town.n(far, -coast_m)], natural="coastline")
    return town.xml()


def made_towns(folder: Path) -> dict[str, Path]:
    """Write the three made extracts into a folder; gives them by the names of their towns."""
    texts = {
        "village": extract_of(
            LatLng(52.1, -1.2),
            {"east": ["Main Street"], "north": ["Church Lane", "Mill Lane", "Back Lane"]},
            _VILLAGE,
            is_numbered=False,
        ),
        "coast": extract_of(
            LatLng(54.3, -0.4),
            {
                "east": ["Quay", "Fore Street", "Hill Street"],
                "north": ["Net Lane", "Rope Walk", "Gull Lane", "Pier Road"],
            },
            _COAST,
            coast_m=40.0,
        ),
        "icelandic": extract_of(
            LatLng(65.7, -18.1),
            {
                "east": ["Hafnarstræti", "Aðalstræti", "Skólastígur", "Brekkugata"],
                "north": ["Lækjargata", "Strandgata", "Eyrarvegur", "Þingvallastræti"],
            },
            _ICELANDIC,
        ),
    }
    found = {}
    for name, text in texts.items():
        found[name] = folder / f"{name}.osm"
        found[name].write_text(text, encoding="utf-8")
    return found


def seven_towns(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the options of `virl run` for each town; made extracts are written into a folder."""
    real = real_data("osm")
    liechtenstein = str(real / "liechtenstein.osm.pbf")
    return {
        **{name: ("--city", str(path)) for name, path in made_towns(folder).items()},
        "vaduz": ("--city", liechtenstein, "--around", "47.139286,9.522796", "--radius", "700"),
        "helsinki": ("--city", str(real / "helsinki.osm.pbf")),
        "virlmouth": ("--city", "virlmouth"),
        "moscow": ("--city", str(real / "moscow.osm.gz")),
    }
