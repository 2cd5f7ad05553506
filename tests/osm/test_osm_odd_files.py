"""OpenStreetMap files as people have them, read whole and in part."""

import bz2
import gzip
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
from odd_extracts import MIDDLE, Odd, OddTown, odd_files
from typer.testing import CliRunner

from virl.cli.main import app
from virl.errors import BadInput
from virl.geo.globe import LatLng
from virl.geo.region import Region
from virl.osm.box import Box, box_around, box_of
from virl.osm.extract import read_extract
from virl.osm.hours import weekly_hours
from virl.osm.tags import is_at_ground, metres, number
from virl.osm.towns import towns_in
from virl.platform.city.city import City
from virl.platform.city.places import Place
from virl.platform.providers.osm.city import open_twin
from virl.platform.providers.osm.city_file import city_of_path
from virl.platform.providers.osm.install import install_part
from virl.platform.providers.provider import Access

FILES = odd_files()
MONDAY = date(2026, 5, 4)


def opened(text: str, path: Path, part: str = "", access: Access | None = None) -> City:
    path.write_text(text, encoding="utf-8")
    return open_twin("town", city_of_path(f"{path}{part}"), access)


def places(city: City) -> dict[str, Place]:
    assert city.inventory
    return {place.name: place for place in city.inventory.places()}


def test_there_are_thirty() -> None:
    assert len(FILES) >= 30


@pytest.mark.parametrize("is_whole", [True, False])
@pytest.mark.parametrize("name", FILES)
def test_what_is_in_a_file_is_in_its_town(name: str, is_whole: bool, tmp_path: Path) -> None:
    odd: Odd = FILES[name]
    part = "" if is_whole else f"@{odd.middle.lat},{odd.middle.lng},300"
    access = Access()
    city = opened(odd.text, tmp_path / "town.osm", part, access)
    assert city.inventory
    known = city.inventory.statistics()
    assert places(city).keys() == odd.places
    assert len(city.inventory.houses()) == odd.houses
    assert len(city.inventory.streets()) == odd.streets
    assert {one.source: one.count for one in known.left_out} == odd.left_out
    told = Counter({one.source.partition(": ")[2]: one.count for one in access.left_out.omissions()})
    assert told == {kind: count for kind, count in odd.left_out.items() if kind in {"ways", "outlines"}}


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress)])
def test_packed_files_are_sorted_too(suffix: str, pack: object, tmp_path: Path) -> None:
    path = tmp_path / f"town.osm.{suffix}"
    assert callable(pack)
    path.write_bytes(pack(FILES["deleted"].text.replace("<node", "\n<node").encode()))
    assert len(read_extract(path).areas.ids) == 1


def test_a_box_of_an_unsorted_file_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))
    for name in ("negative-ways-first", "longitude-180"):
        path = tmp_path / f"{name}.osm"
        path.write_text(FILES[name].text)
        lat, lng = FILES[name].middle
        west, east = (lng - 0.003, (lng + 0.003) if lng < 180 else -179.997)
        kept, _ = install_part(path, Box(lat - 0.003, west, lat + 0.003, east), f"{name}-copy")
        assert places(open_twin("town", city_of_path(str(kept)))).keys() == {"Hall", "Uno"}


def test_towns_of_an_edited_file_are_listed(tmp_path: Path) -> None:
    town = OddTown()
    town.n(0, 10, number=-1, place="village", name="New")
    town.n(0, 20, number=-2, more="action='delete'", place="village", name="Gone")
    path = tmp_path / "town.osm"
    path.write_text(town.xml())
    assert [(one.name, one.places) for one in towns_in(path)] == [("New", 2)]


def test_ids_are_those_of_the_file(tmp_path: Path) -> None:
    assert {one.id for one in places(opened(FILES["negative"].text, tmp_path / "town.osm")).values()} == {
        f"w-{OddTown().hall}",
        f"n-{OddTown().cafe}",
    }


def test_a_wide_file_needs_a_part(tmp_path: Path) -> None:
    town = OddTown()
    town.w([town.n(100_100, 0), town.n(100_200, 0)], highway="residential")
    with pytest.raises(BadInput, match="100 km apart: give the part to read, as in `--around"):
        opened(town.xml(), tmp_path / "town.osm")
    assert opened(town.xml(), tmp_path / "town.osm", "@52.0,5.0,300")


def test_what_cannot_be_used_is_named_as_json(tmp_path: Path) -> None:
    path, town = tmp_path / "town.osm", OddTown()
    town.w([], highway="residential")
    path.write_text(town.xml())
    done = CliRunner().invoke(app, ["town", str(path), "--json"])
    assert done.exit_code == 0, done.output
    assert '"kind": "ways",\n      "count": 1,' in done.output
    assert ': it has fewer than two nodes"' in done.output


def test_no_house_is_higher_than_its_tag(tmp_path: Path) -> None:
    town = OddTown()
    tags = ("2.5", "3", "3.66", "4", "6", "12'6\"", "8;9")
    for index, height in enumerate(tags):
        town.house(-140 + 20.0 * index, 20, height=height)
    city = opened(town.xml(), tmp_path / "town.osm")
    drawn = [house.height for house in city.inventory.houses()] if city.inventory else []
    assert drawn[1:] == pytest.approx([2.5, 3.0, 3.66, 4.0, 6.0, 3.81, 9.0], abs=0.011)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("12 M", 12.0), ("12,5", 12.5), ("40 feet", 12.192), ("574'", 174.955), ("12'6\"", 3.81),
        ("12' 6\"", 3.81), ("12 ft 6 in", 3.81), ("480\"", 12.192), ("10-12", 12.0), ("10 m; 12 m", 12.0),
        ("~12", 12.0), ("-3", None), ("tall", None), ("1e9", None), ("", None),
    ],
)  # fmt: skip
def test_lengths(text: str, length: float | None) -> None:
    assert metres(text) == (None if length is None else pytest.approx(length, abs=0.001))


def test_levels() -> None:
    read = [number(text) for text in ("5;6", "2.5", "2,5", "-1", "1-3", "-2;-1", "many")]
    assert read == [6.0, 2.5, 2.5, -1.0, 3.0, -1.0, None]
    low = ["0", "0;1", "-1-2", "0.5", "-1;0", "", "G"]
    assert [text for text in [*low, "-1", "1", "1-3", "-2--1", "2;3"] if is_at_ground(text)] == low


def weeks(text: str, day: date = MONDAY) -> list[str]:
    hours = weekly_hours(text, day)
    assert hours
    return [str(stretch) for stretch in hours.stretches]


@pytest.mark.parametrize(
    "text", ["closed", "off", "24/7 off", "24/7 closed", "Mo-Su off", "Nov-Mar 10:00-16:00"]
)
def test_closed_is_closed(text: str, tmp_path: Path) -> None:
    assert (hours := weekly_hours(text, MONDAY))
    assert (hours.is_closed, hours.stretches, hours.left_out) == (True, (), ())
    town = OddTown()
    town.n(60, -15, amenity="bar", name="Shut", opening_hours=text)
    city = opened(town.xml(), tmp_path / "town.osm", access=Access(day=MONDAY))
    assert not places(city)["Shut"].is_open


def test_seasons_are_those_of_the_day_of_the_run(tmp_path: Path) -> None:
    town = OddTown()
    town.n(60, -15, amenity="bar", name="Hut", opening_hours="Nov-Mar 10:00-16:00; Apr-Oct Sa 08:00-20:00")
    read = {
        day: places(opened(town.xml(), tmp_path / "town.osm", access=Access(day=day)))["Hut"].hours
        for day in (MONDAY, date(2026, 12, 2))
    }
    assert [len(hours) for hours in read.values()] == [1, 7]
    assert weeks("Mo 10:00-12:00; Jul off") == ["mon 10:00-12:00"]
    assert not weeks("Mo 10:00-12:00; Jul off", date(2026, 7, 6))
    assert weekly_hours("2017 Jul 1-2017 Aug 8 off; PH off", MONDAY) == weekly_hours("PH off", MONDAY)


@pytest.mark.parametrize(
    ("text", "kept", "left_out"),
    [
        ('"by appointment"', [], ['"by appointment"']),
        ('Mo-Fr 09:00-17:00 "by appointment"', [], ['Mo-Fr 09:00-17:00 "by appointment"']),
        ('Mo 10:00-12:00; Sa "a; b, c"', ["mon 10:00-12:00"], ['Sa "a  b  c"']),
        ('Mo 10:00-12:00 || "call"', ["mon 10:00-12:00"], ['"call"']),
        ("We[1] 10:00-12:00; Fr 10:00-12:00", ["fri 10:00-12:00"], ["We[1] 10:00-12:00"]),
        ("Fr 10:00-12:00, We[1] 10:00-12:00", ["fri 10:00-12:00"], ["We[1] 10:00-12:00"]),
        ("Tu[2] 09:00-10:00", [], ["Tu[2] 09:00-10:00"]),
        ("SH Mo-Fr 10:00-12:00; Su 10:00-11:00", ["sun 10:00-11:00"], ["SH 10:00-12:00"]),
        ("week 10-20 Mo 10:00-12:00; Tu 10:00-12:00", ["tue 10:00-12:00"], ["week10-20 Mo 10:00-12:00"]),
        ("Mo 10:00-12:00 unknown", [], ["Mo 10:00-12:00 unknown"]),
        ("Mo 10:00-12:00; PH off", ["mon 10:00-12:00"], []),
        ("PH,Su 10:00-12:00", ["sun 10:00-12:00"], []),
        ("PH off", [], []),
        ('Mo 10:00-12:00 open "ring"', ["mon 10:00-12:00"], []),
        ("Su 10:30-22:30;", ["sun 10:30-22:30"], []),
    ],
)
def test_rules_of_each_week_are_kept(text: str, kept: list[str], left_out: list[str]) -> None:
    hours = weekly_hours(text, MONDAY)
    assert hours
    assert ([str(stretch) for stretch in hours.stretches], list(hours.left_out)) == (kept, left_out)
    assert not hours.is_closed


def test_incomplete_hours_are_marked(tmp_path: Path) -> None:
    city = opened(FILES["hours"].text, tmp_path / "town.osm")
    marks = {name: dict(place.facts).get("hours") for name, place in places(city).items()}
    assert marks["Art 1"] == "incomplete without: We[1] 10:00-12:00"
    assert marks["Uno"] is None


def test_two_places_at_one_spot_are_two(tmp_path: Path) -> None:
    town = OddTown()
    town.n(60, 10, tourism="hotel", name="Krone")
    town.n(64, 10, amenity="restaurant", name="Krone", cuisine="german")
    town.n(-60, -10, amenity="bank", name="Spar")
    town.n(-57, -10, amenity="atm", name="Spar")
    town.n(-100, 10, amenity="fast_food", name="Subs")
    town.n(-83, 10, amenity="fast_food", name="Subs")
    town.n(26, 25, shop="bakery", name="Hall")
    town.n(-60, 10, amenity="pub", name="Far")
    town.n(-30, 10, amenity="pub", name="Far")
    city = opened(town.xml(), tmp_path / "town.osm")
    assert city.inventory
    found = Counter(place.name for place in city.inventory.places())
    assert found == {"Krone": 2, "Spar": 2, "Subs": 1, "Hall": 1, "Far": 2, "Uno": 1}
    known = city.inventory.statistics().left_out
    assert [(one.source, one.count) for one in known] == [("places mapped twice", 2)]


def test_a_route_along_one_stretch_follows_it(tmp_path: Path) -> None:
    town = OddTown()
    bend = [(100.0, 0.0), (95.0, 60.0), (60.0, 95.0), (0.0, 100.0)]
    town.parts["w"].clear()
    town.w([town.n(*at) for at in bend], highway="residential", name="Crescent")
    city = opened(town.xml(), tmp_path / "town.osm")
    for tenth in range(1, 40):
        start, end = (
            LatLng(MIDDLE.lat + 1e-7 * tenth, MIDDLE.lng + 0.0014),
            LatLng(MIDDLE.lat + 0.0009, MIDDLE.lng),
        )
        assert any("Crescent" in one for one in city.maps.route([start, end]).instructions)


def test_boxes_cross_longitude_180() -> None:
    box = Box(-16.81, 179.99, -16.79, -179.98)
    assert box.middle == pytest.approx((-16.8, -179.995))
    assert [part.width for part in box.parts] == pytest.approx([0.01, 0.02])
    assert box.size_km[0] == pytest.approx(3.2, abs=0.01)
    assert box_around(box.region) == box
    assert box_of("-16.805,179.995,-16.795,-179.995").fits
    grown = box.grow(100.0)
    assert grown.west < box.west < 180
    assert -180 < box.east < grown.east
    assert box_around(Region((LatLng(1, 2), LatLng(1, 2.01), LatLng(1.01, 2)))) == Box(1, 2, 1.01, 2.01)
    with pytest.raises(BadInput, match=r"west 25 must be less than east 24"):
        box_of("60.1,25,60.2,24")


@pytest.mark.parametrize("change", ["cut off", "damaged within", "damaged at its end"])
@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress)])
def test_a_packed_file_that_is_broken_is_refused(
    suffix: str, pack: object, change: str, tmp_path: Path
) -> None:
    assert callable(pack)
    data = bytearray(pack(FILES["deleted"].text.replace("<node", "\n<node").encode() * 20))
    if change == "cut off":
        del data[len(data) // 2 :]
    else:
        data[len(data) // 2 if change == "damaged within" else -5] ^= 0xFF
    path = tmp_path / f"town.osm.{suffix}"
    path.write_bytes(data)
    with pytest.raises(BadInput, match=rf"town\.osm\.{suffix}"):
        read_extract(path)
