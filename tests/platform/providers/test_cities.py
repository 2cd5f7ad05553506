import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from real_data import real_data

from virl.errors import BadInput, UnknownName
from virl.geo.globe import LatLng, destination, distance
from virl.geo.region import Region
from virl.platform.providers.cities import (
    Access,
    all_cities,
    city_names,
    city_settings,
    open_city,
    opened_city,
    read_city,
    region_of_city,
)
from virl.platform.providers.google.city_file import GoogleCity
from virl.platform.providers.graph.provider import GraphCity
from virl.platform.providers.offline.city_file import OfflineCity
from virl.resources import data_folder
from virl.settings.region_file import read_region

REFERENCE = {
    "buenos-aires": "Monserrat_Buenos",
    "hong-kong": "Prince_Edward_HK",
    "johannesburg": "Rosebank_Johannesburg",
    "lagos": "Surulere_Lagos",
    "london": "Oxford_St_London",
    "melbourne-cbd": "CBD_Melbourne",
    "melbourne-southbank": "SouthBank_Melbourne",
    "milan": "Brera_Milan",
    "mumbai": "Khar_Mumbai",
    "new-delhi": "Lajpat_Nagar_New_Delhi",
    "new-york-chinatown": "Chinatown_Manhattan_NY",
    "new-york-soho": "SoHo_NY",
    "san-francisco": "Union_Square_SF",
    "tokyo": "Shinjuku_Tokyo",
}
"""The districts of V-IRL's benchmarks, and their files there."""


def district(name: str) -> GoogleCity:
    settings = city_settings(name)
    assert isinstance(settings, GoogleCity)
    return settings


def test_there_is_a_city_for_each_district_of_the_benchmarks() -> None:
    cities = all_cities()
    assert list(cities) == city_names()
    real = {name for name, settings in cities.items() if isinstance(settings, GoogleCity)}
    assert real == {*REFERENCE, "virlton-http"}
    assert {district(name).continent for name in REFERENCE} == {
        "Africa",
        "Asia",
        "Australia",
        "Europe",
        "North America",
        "South America",
    }
    assert isinstance(cities["virlton"], OfflineCity)
    assert isinstance(cities["manhattan"], GraphCity)


def test_a_city_says_where_it_is() -> None:
    cities = all_cities()
    assert cities["hong-kong"].place == "Prince Edward, Hong Kong, China"
    assert "Atlantic" in cities["virlton"].place
    assert len({settings.title for settings in cities.values()}) == len(cities)
    assert len({settings.place for settings in cities.values()}) == len(cities)


@pytest.mark.parametrize("name", REFERENCE)
def test_the_clock_fits_the_longitude(name: str) -> None:
    # A zone is an hour in fifteen degrees; its legal time may be another hour or two off.
    settings = district(name)
    offset = datetime(2026, 1, 1, tzinfo=UTC).astimezone(ZoneInfo(settings.time_zone)).utcoffset()
    assert offset is not None
    assert abs(offset.total_seconds() / 3600 - settings.center.lng / 15) < 2


@pytest.mark.parametrize("name", REFERENCE)
def test_the_polygon_covers_the_district_as_the_benchmarks_draw_it(name: str) -> None:
    ours = district(name).region
    file = next((real_data("virl") / "regions").rglob(f"*_{REFERENCE[name]}.txt"))
    theirs = read_region(file, near=district(name).center)
    flat = [ours.frame.point(corner) for corner in theirs.corners]
    reference = type(ours.polygon)(flat)
    shared = ours.polygon.intersection(reference).area
    assert shared > 0.9 * reference.area
    assert shared > 0.5 * ours.area_m2
    assert not set(ours.corners) & set(theirs.corners)
    assert distance(district(name).center, theirs.center) < 1000


def test_an_unknown_city_names_the_known() -> None:
    with pytest.raises(UnknownName, match="unknown city 'atlantis': `virl cities` lists all 29"):
        city_settings("atlantis")


@pytest.fixture
def fault(tmp_path: Path) -> Callable[[str, str], str]:
    """The message for London's file with one thing changed."""
    good = (data_folder("platform/cities") / "london.yaml").read_text()

    def changed(old: str, new: str) -> str:
        assert old in good
        file = tmp_path / "changed.yaml"
        file.write_text(good.replace(old, new))
        with pytest.raises(BadInput) as caught:
            read_city(file)
        message = str(caught.value)
        assert "\n" not in message
        return message.removeprefix(f"{file}, ")

    return changed


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Europe/London", "Europe/Londinium", "line 9: time_zone: 'Europe/Londinium' is not a time zone"),
        ("Europe/London", "../London", "line 9: time_zone: "),
        ("language: en", "language: English", "line 8: language: "),
        ("continent: Europe", "continent: Eurasia", "line 6: continent: "),
        (
            "district: Oxford Street",
            "districts: Oxford Street",
            "line 5: districts: unknown field; did you mean 'district'",
        ),
        ("[51.5205, -0.1335]", "[91.5, -0.1335]", "line 11: polygon, entry 1: latitude 91.5 is outside"),
        ("[51.5160, -0.1545]", "[51.5160, .nan]", "line 12: polygon, entry 2: 51.516, nan is not a position"),
        ("[51.5160, -0.1545]", "[51.5160]", "line 12: polygon, entry 2"),
        ("[51.5160, -0.1545]", "[51.5160, west]", "line 12: polygon, entry 2"),
        ("[51.5160, -0.1545]", "[-0.1545, 51.5160]", "line 10: polygon: .* is not in Europe: .* swapped?"),
        ("[51.5160, -0.1545]", "[52.5160, -0.1545]", "line 10: polygon: corner 2: lies 112 km from"),
        ("[51.5160, -0.1545]", "[51.5100, -0.1280]", "line 10: polygon: corner 1: its side meets"),
        ("[51.5150, -0.1390]", "[51.6150, -0.1390]", "line 18: center: .* is outside the polygon$"),
        ("[51.5150, -0.1390]", "[-0.1390, 51.5150]", "line 18: center: .* swapped?"),
    ],
)
def test_a_fault_is_named_with_field_and_line(
    fault: Callable[[str, str], str], old: str, new: str, message: str
) -> None:
    assert re.match(message, fault(old, new))


@pytest.mark.parametrize(("scale", "words"), [(0.05, "0.00338 km2 is outside"), (6.0, "48.6 km2 is outside")])
def test_a_district_is_neither_a_yard_nor_a_country(
    tmp_path: Path, fault: Callable[[str, str], str], scale: float, words: str
) -> None:
    region: Region = district("london").region
    frame = region.frame
    scaled = [
        frame.position(*(scale * metres for metres in frame.point(corner))) for corner in region.corners
    ]
    text = (data_folder("platform/cities") / "london.yaml").read_text()
    polygon = text[text.index("polygon:") : text.index("center:")]
    lines = "".join(f"  - [{corner.lat:.7f}, {corner.lng:.7f}]\n" for corner in scaled)
    assert fault(polygon, f"polygon:\n{lines}").startswith(f"line 10: polygon: {words}")


def test_a_closed_outline_is_as_good(tmp_path: Path) -> None:
    text = (data_folder("platform/cities") / "london.yaml").read_text()
    file = tmp_path / "closed.yaml"
    file.write_text(text.replace("center:", "  - [51.5205, -0.1335]\ncenter:"))
    closed = read_city(file)
    assert isinstance(closed, GoogleCity)
    assert closed.region == district("london").region


def test_the_page_on_cities_tells_the_truth(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs/reference/cities.md").read_text()
    rows = re.findall(r"^\| `(.+)` \| (.+) \| (.+) \| (.+) \|$", page, re.MULTILINE)
    assert [
        (name, settings.district, f"{settings.region.area_m2 / 1e6:.2f}", str(len(settings.polygon)))
        for name, settings in all_cities().items()
        if isinstance(settings, GoogleCity) and settings.continent
    ] == rows
    example = tmp_path / "lisbon.yaml"
    example.write_text(page.partition("```yaml\n")[2].partition("```")[0])
    assert read_city(example).place == "Alfama, Lisbon, Portugal"


def test_an_opened_city_says_what_its_file_and_its_provider_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "marker")
    with opened_city("tokyo", Access(cache="off")) as tokyo:
        assert (tokyo.time_zone, tokyo.language) == ("Asia/Tokyo", "ja")
        assert (tokyo.region, tokyo.center) == (district("tokyo").region, district("tokyo").center)
        assert tokyo.shareable is False
        assert "may not be republished" in tokyo.terms
    virlton = open_city("virlton")
    assert (virlton.time_zone, virlton.language, virlton.region) == (None, None, None)
    assert virlton.shareable is True
    manhattan = city_settings("manhattan")
    assert (manhattan.time_zone, manhattan.language, manhattan.center) == ("America/New_York", "en", None)


@pytest.mark.slow
def test_the_file_of_a_made_city_may_say_more(tmp_path: Path) -> None:
    town = open_city("virlton")
    corners = [destination(town.center, heading, 300) for heading in (45, 135, 225, 315)]
    file = tmp_path / "quarter.yaml"
    file.write_text(
        "title: Quarter\nabout: A part of Virlton\nprovider: offline\nseed: 1\ntime_zone: Atlantic/Azores\n"
        f"polygon: {[[corner.lat, corner.lng] for corner in corners]}\n"
        f"center: [{corners[0].lat - 0.001}, {corners[0].lng - 0.001}]\n"
    )
    quarter = open_city(str(file))
    assert quarter.time_zone == "Atlantic/Azores"
    assert region_of_city(quarter) == quarter.region == Region(tuple(corners))
    assert quarter.center == LatLng(corners[0].lat - 0.001, corners[0].lng - 0.001) != town.center
    file.write_text(file.read_text().replace("center: [", "center: [1"))
    with pytest.raises(BadInput, match=r"quarter\.yaml, line 7: center: "):
        open_city(str(file))


def test_no_module_above_the_providers_names_one() -> None:
    root = Path(__file__).parents[3] / "virl"
    # A mind's provider is that of its model.
    asks = re.compile(r"(?<!self)\.provider [!=]=|GoogleCity|GraphCity|OfflineCity|OsmCity")
    found = [
        file.relative_to(root).as_posix()
        for file in root.rglob("*.py")
        if not file.is_relative_to(root / "platform" / "providers") and asks.search(file.read_text())
    ]
    assert found == []
