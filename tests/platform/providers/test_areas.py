"""Areas that count as cities: V-IRL's small areas and published districts, by name everywhere."""

from pathlib import Path

import pytest
from real_data import real_data
from test_cities import REFERENCE

from virl.agent.character_file import load_character
from virl.bench.benchmark import BenchOptions, benchmark_names, find_benchmark
from virl.errors import BadInput, UnknownName
from virl.geo.globe import distance
from virl.platform.providers.cities import (
    AREAS,
    Access,
    area_book,
    city_settings,
    name_of_city,
    opened_city,
    region_called,
)
from virl.platform.providers.google.city_file import GoogleCity
from virl.resources import data_folder
from virl.settings.region_file import read_region

BOOK = area_book()


@pytest.mark.slow
def test_there_are_two_parts_and_the_outline_of_each_district() -> None:
    assert set(BOOK.areas) == {
        f"{name}-{end}" for name in REFERENCE for end in ("mini1", "mini2", "published")
    }
    for name, area in BOOK.areas.items():
        assert area.of == name.rpartition("-")[0]
        assert area.region.contains(area.region.center), name
        city = city_settings(area.of)
        assert city.center
        assert distance(city.center, area.region.center) < 3000, name


def test_they_are_those_that_virl_published() -> None:
    data = real_data("virl")
    for city, called in REFERENCE.items():
        for end, folder, suffix in (
            ("mini1", "localization_regions", "_mini1"),
            ("mini2", "localization_regions", "_mini2"),
            ("published", "regions", ""),
        ):
            (file,) = (data / folder).rglob(f"polygon_area_{called}{suffix}.txt")
            theirs, ours = read_region(file), BOOK.areas[f"{city}-{end}"].region
            assert len(theirs.corners) == len(ours.corners)
            pairs = zip(theirs.corners, ours.corners, strict=True)
            assert max(distance(one, other) for one, other in pairs) < 0.2


def test_groups_are_virls_own() -> None:
    nine = {line.rpartition("/")[2] for line in _split_list().split()}
    assert {
        f"polygon_area_{REFERENCE[BOOK.areas[name].of]}.txt" for name in BOOK.groups["vln-mini"].cities
    } == nine
    assert set(BOOK.groups["localization-mini"].cities) == {name for name in BOOK.areas if "-mini" in name}
    assert len(BOOK.groups["districts"].cities) == 14


def _split_list() -> str:
    return (real_data("virl") / "regions" / "split_list_9.txt").read_text(encoding="utf-8")


def test_an_area_is_a_city_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "AIza-marker-that-must-not-leak")
    settings, london = city_settings("london-mini1"), city_settings("london")
    assert isinstance(settings, GoogleCity)
    assert (settings.language, settings.time_zone) == (london.language, london.time_zone)
    assert settings.title == "London, Oxford Street (part 1)"
    assert name_of_city("london-mini1") == "london-mini1"
    with opened_city("london-mini1", Access(cache="off")) as city:
        assert city.region
        assert city.region.area_m2 == pytest.approx(21_937, abs=10)
        assert city.region.contains(city.center)
        assert city.name == "london-mini1"


def test_regions_are_called_by_name_or_read(tmp_path: Path) -> None:
    assert region_called("milan-mini2").area_m2 == pytest.approx(3047, abs=5)
    assert region_called("tokyo").area_m2 > 1e6
    (tmp_path / "milan-mini2").write_text("0, 0\n0, 0.001\n0.001, 0\n", encoding="utf-8")
    assert region_called("milan-mini2", tmp_path).area_m2 == pytest.approx(6182, rel=0.01)
    with pytest.raises(BadInput, match="virlton has no district"):
        region_called("virlton")
    with pytest.raises(BadInput, match="nowhere"):
        region_called("nowhere", tmp_path)
    own = data_folder("agents") / "rx399.yaml"
    text = own.read_text(encoding="utf-8") + "\nregion: hong-kong-mini1\n"
    (tmp_path / "rx.yaml").write_text(text, encoding="utf-8")
    corners = load_character(tmp_path / "rx.yaml").region
    assert corners
    assert len(corners) == len(BOOK.areas["hong-kong-mini1"].polygon)


def test_every_benchmark_of_cities_takes_areas_and_groups() -> None:
    taken = []
    for name in benchmark_names():
        options = find_benchmark(name).options
        if issubclass(options, BenchOptions):
            taken.append(name)
            chosen = options.model_validate(
                {"cities": ["vln-mini", "london-mini1", "virlton"], "models": ["x"]}
            )
            assert chosen.cities == (*BOOK.groups["vln-mini"].cities, "london-mini1", "virlton")
    assert {"vln", "place_localization", "place_recognition", "place_vqa"} <= {
        name.replace("-", "_") for name in taken
    }


def test_a_broken_file_and_an_unknown_name_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="did you mean 'london-mini1'"):
        city_settings("london-mimi1")
    folder = tmp_path / AREAS
    folder.mkdir(parents=True)
    monkeypatch.setattr("virl.resources.data_folder", lambda _: folder)
    (folder / "own.yaml").write_text(
        "areas:\n  a-b: {of: a, label: b, polygon: [[0, 0], [1, 1], [0, 1], [1, 0]]}\n", encoding="utf-8"
    )
    with pytest.raises(BadInput, match=r"own\.yaml, line 2"):
        area_book()
    (folder / "own.yaml").write_text(
        "areas: {}\ngroups:\n  all: {about: x, cities: [nowhere]}\n", encoding="utf-8"
    )
    with pytest.raises(BadInput, match="groups: all: no area is called 'nowhere'"):
        area_book()
