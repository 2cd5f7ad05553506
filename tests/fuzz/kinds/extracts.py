"""OpenStreetMap extracts: from a broken file to a whole town."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import osmium

from fuzz.mutate import Mutator, mutate_bytes, mutate_lines
from fuzz.session import Kind
from virl.osm.extract import read_extract
from virl.osm.invented import with_invented_life
from virl.osm.plan import build_twin
from virl.osm.towns import towns_in
from virl.platform.providers.osm.city_file import OsmCity

NODES = (
    *((0, 0, ""), (200, 0, ""), (400, 0, ""), (200, 150, "")),
    *((20, 12, ""), (60, 12, ""), (60, 40, ""), (20, 40, "")),
    (
        40,
        14,
        '<tag k="amenity" v="cafe"/><tag k="name" v="Kahvio"/><tag k="opening_hours" v="Mo-Fr 08:00-18:00"/>',
    ),
    (120, 12, '<tag k="shop" v="bakery"/><tag k="name" v="Хлеб"/><tag k="level" v="0;1"/>'),
    (160, 3, '<tag k="amenity" v="waste_basket"/>'),
    (180, 5, '<tag k="natural" v="tree"/>'),
    (210, 20, '<tag k="place" v="village"/><tag k="name" v="Kylä"/>'),
)
WAYS = (
    ((1, 2, 3), "highway=residential;name=Main Street;width=8;oneway=yes"),
    ((2, 4), "highway=footway;name=Side Way"),
    (
        (5, 6, 7, 8, 5),
        "building=house;building:levels=3;height=9 m;addr:street=Main Street;addr:housenumber=5",
    ),
)


@contextmanager
def extract_kinds(folder: Path) -> Iterator[list[Kind]]:
    """The kinds; files are written into a folder."""
    written = folder / "seed.osm"
    written.write_text(_xml(), encoding="utf-8")
    packed = folder / "seed.osm.pbf"
    with osmium.SimpleWriter(str(packed)) as writer:
        for each in osmium.FileProcessor(str(written)):
            writer.add(each)
    yield [
        _kind("extract-xml", ".osm", written.read_bytes(), folder, mutate_lines, 4),
        _kind("extract-bytes", ".osm", written.read_bytes(), folder, mutate_bytes, 4),
        _kind("extract-pbf", ".osm.pbf", packed.read_bytes(), folder, mutate_bytes, 4),
    ]


def _kind(name: str, suffix: str, seed: bytes, folder: Path, mutate: Mutator, weight: int) -> Kind:
    file = folder / f"{name}{suffix}"

    def read(data: bytes) -> None:
        file.write_bytes(data)
        settings = OsmCity(title="T", about="T", provider="osm", extract=file)
        twin = build_twin(read_extract(settings.file, settings.part))
        with_invented_life(twin.plan, twin.extract, twin.pois.tags, seed=0, town="T")
        towns_in(file)

    return Kind(name, [seed], read, mutate, weight)


def _xml() -> str:
    lines = ["<?xml version='1.0' encoding='UTF-8'?>", '<osm version="0.6" generator="fuzz">']
    for number, (east, north, tags) in enumerate(NODES, start=1):
        at = f'lat="{60.17 + north / 111_200:.7f}" lon="{24.94 + east / 55_400:.7f}"'
        lines.append(f'<node id="{number}" version="1" {at}>{tags}</node>')
    for number, (nodes, tags) in enumerate(WAYS, start=1):
        lines.append(f'<way id="{number}" version="1">')
        lines += [f'<nd ref="{node}"/>' for node in nodes]
        lines += [
            f'<tag k="{key}" v="{value}"/>'
            for key, _, value in (tag.partition("=") for tag in tags.split(";"))
        ]
        lines.append("</way>")
    return "\n".join([*lines, "</osm>"])
