"""The towns in an extract."""

import json
from pathlib import Path

import pytest
from real_data import real_data
from typer.testing import CliRunner, Result
from written_extract import FRAME, Writer

from virl.cli.main import app
from virl.osm.towns import towns_in


def cities(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["cities", *map(str, arguments)])


def refused(*arguments: object) -> str:
    done = cities(*arguments)
    assert done.exit_code == 2, done.output
    (line,) = done.output.splitlines()
    return line


@pytest.fixture(scope="module")
def extract(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("osm") / "two towns.osm.pbf"
    writer = Writer(file)
    writer.node(0, 0, place="village", name="Quiet", population="4 500")
    writer.node(3000, 0, place="town", name="Loud", population="about 12")
    writer.node(3000, 50, place="town")
    writer.node(0, 3000, place="hamlet", name="Tiny")
    writer.node(3000, 590, shop="bakery", name="Near")
    writer.node(3000, 610, shop="bakery", name="Far")
    writer.node(3010, 0, amenity="bench")
    writer.node(3020, 0, amenity="cafe", name="Cafe")
    writer.way((3030, 0), (3040, 0), (3040, 10), (3030, 0), shop="supermarket", name="Market")
    writer.way((3050, 0), (3060, 0), (3060, 10), (3050, 0), building="yes", name="No shop")
    writer.close()
    return file


def test_towns_are_sorted_by_what_is_around_them(extract: Path) -> None:
    loud, quiet = towns_in(extract)
    assert (loud.name, loud.kind, loud.population, loud.places) == ("Loud", "town", None, 3)
    assert (quiet.name, quiet.kind, quiet.population, quiet.places) == ("Quiet", "village", 4500, 0)
    assert quiet.position == FRAME.origin


def test_the_table_has_a_command_for_the_first(extract: Path) -> None:
    done = cities("--from", extract)
    assert done.exit_code == 0, done.output
    lines = [line.split() for line in done.output.splitlines() if line]
    assert lines[0] == ["town", "kind", "population", "places", "within", "600", "m", "position"]
    assert lines[1][:3] == ["Loud", "town", "3"]
    assert lines[2][:4] == ["Quiet", "village", "4,500", "0"]
    (loud, _) = towns_in(extract)
    command = f"virl run hiro --city '{extract}' --around {loud.position.lat},{loud.position.lng}"
    assert command in " ".join(done.output.split())


def test_programs_get_an_array_of_objects(extract: Path) -> None:
    rows = json.loads(cities("--from", extract, "--json").output)
    assert [sorted(row) for row in rows] == [["center", "kind", "name", "places", "population"]] * 2


def test_a_name_in_the_data_folder_is_an_extract_too(
    extract: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRL_DATA", str(tmp_path))
    (tmp_path / "osm").mkdir()
    (tmp_path / "osm/ours.osm.pbf").write_bytes(extract.read_bytes())
    assert "Loud" in cities("--from", "ours.osm.pbf").output


def test_an_extract_without_towns_is_a_line(tmp_path: Path) -> None:
    file = tmp_path / "empty.osm.pbf"
    Writer(file).close()
    assert "no city, town, village or suburb is mapped in it" in cities("--from", file).output
    assert json.loads(cities("--from", file, "--json").output) == []


def test_a_wrong_file_is_one_line(tmp_path: Path, extract: Path) -> None:
    broken = tmp_path / "broken.osm.pbf"
    broken.write_bytes(extract.read_bytes()[:-40])
    assert "cannot be read as an OpenStreetMap extract" in refused("--from", broken)
    assert "no such file" in refused("--from", tmp_path / "gone.osm.pbf")
    assert "no OpenStreetMap extract" in refused("--from", "README.md")
    assert "exclude each other" in refused("--from", extract, "--region", "park.geojson")


@pytest.mark.slow
def test_the_towns_of_liechtenstein() -> None:
    towns = towns_in(real_data("osm") / "liechtenstein.osm.pbf")
    assert [(town.name, town.kind, town.population) for town in towns[:2]] == [
        ("Schaan", "town", 6002),
        ("Vaduz", "town", 5229),
    ]
    assert towns[1].places > 50
    assert len(towns) > 20
