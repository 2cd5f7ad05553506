"""An extract given in place of a city's name."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner
from written_extract import FRAME, Writer, box

from virl.agent.character import Point, parse_start
from virl.cli.main import app
from virl.errors import BadInput
from virl.journal.journal import read_journal
from virl.journal.records import StartRecord
from virl.osm.addresses import TwinAddresses
from virl.platform.city.starts import liveliest
from virl.platform.providers.cities import city_settings, name_of_city, open_city, open_known
from virl.platform.providers.osm.city_file import OsmCity, with_part
from virl.resources import data_folder

HERE = f"{FRAME.origin.lat},{FRAME.origin.lng}"


@pytest.fixture(scope="module")
def extract(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("osm") / "little-town.osm.pbf"
    writer = Writer(file)
    writer.way((-200, 0), (0, 0), (200, 0), highway="residential", name="Main Street")
    writer.way((0, 0), (0, 150), highway="residential", name="Side Street")
    writer.way(*box(-60, 8, -20, 30), building="yes", addr__street="Main Street", addr__housenumber="5")
    writer.node(
        -40.0, 9.0, amenity="restaurant", name="Blue Spoon Restaurant", opening_hours="Mo-Su 10:00-22:00"
    )
    writer.close()
    return file


def refused(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert done.exit_code == 2, done.output
    (line,) = done.output.splitlines()
    return line


@pytest.mark.slow
def test_a_path_is_a_city_with_a_name_and_a_title(extract: Path) -> None:
    settings = city_settings(str(extract))
    assert isinstance(settings, OsmCity)
    assert (settings.title, settings.part) == ("Little Town", None)
    assert name_of_city(f"{extract}@{HERE},100") == name_of_city(str(extract)) == "little-town"
    city = open_city(str(extract))
    assert city.shareable
    assert "OpenStreetMap contributors" in city.terms
    assert [place.name for place in city.places.search("spoon")] == ["Blue Spoon Restaurant"]


def test_a_part_is_a_square_around_a_position(extract: Path) -> None:
    named = with_part(str(extract), HERE, 100)
    settings = city_settings(named)
    assert isinstance(settings, OsmCity)
    assert settings.part is not None
    assert settings.part.area_m2 == pytest.approx(200**2, rel=0.01)
    assert name_of_city(named) == "little-town"


def test_a_city_file_names_an_extract_in_the_data_folder(
    extract: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))
    kept = tmp_path / "data/osm/kept.osm.pbf"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(extract.read_bytes())
    file = tmp_path / "town.yaml"
    file.write_text(
        "title: Town\nabout: Ours\nprovider: osm\nextract: kept.osm.pbf\n"
        f"around: [{HERE}]\nradius: 220\ntime_zone: Europe/Helsinki\n"
    )
    city = open_city(str(file))
    assert (city.title, city.time_zone) == ("Town", "Europe/Helsinki")


@pytest.mark.parametrize(
    ("city", "more", "said"),
    [
        ("nowhere.osm.pbf", (), "nowhere.osm.pbf: no such file"),
        ("virlton", ("--around", HERE), "are for an OpenStreetMap extract, not for 'virlton'"),
        ("FILE", ("--radius", "100"), "--radius needs --around LAT,LNG"),
        ("FILE", ("--around", "here"), "part 'here': must be LAT,LNG or LAT,LNG,RADIUS"),
        ("FILE", ("--around", "95,2"), "95"),
        ("FILE", ("--around", HERE, "--radius", "90000"), "the radius must be from 50 to 5000 metres"),
        (
            "FILE",
            ("--around", "1,2"),
            "no street is in this region of it, which covers latitude 60.1700 to 60.1713 and longitude",
        ),
        ("FILE", ("--around", HERE, "--radius", "60"), "town.osm.pbf: no street to walk lies in this part"),
        ("FILE", ("--at", "95,2"), "start '95,2'"),
        ("FILE", ("--at", "Nowhere 5"), "no address or place matches 'Nowhere 5'"),
    ],
)
def test_a_wrong_part_or_start_is_one_line(
    extract: Path,
    city: str,
    more: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in refused("run", "hiro", "--city", str(extract) if city == "FILE" else city, *more)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("Main Street 5", "Main Street 5"),
        ("60.17, 24.94", Point(lat=60.17, lng=24.94)),
        ("5, rue Foch", None),
    ],
)
def test_a_start_is_an_address_or_a_position(text: str, start: object) -> None:
    assert parse_start(text) == (start or text)


def test_a_whole_planet_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    planet = tmp_path / "planet.osm.pbf"
    with planet.open("wb") as sparse:
        sparse.truncate(80 * 10**9)
    said = "planet.osm.pbf: 80,000 MB is more than one town: give the part to read"
    assert said in refused("run", "hiro", "--city", planet)


def test_a_start_off_the_earth_is_refused() -> None:
    with pytest.raises(BadInput, match="latitude"):
        parse_start("95,2")


@pytest.mark.slow
def test_hiro_walks_in_a_town_of_an_extract(extract: Path, tmp_path: Path) -> None:
    run, at = tmp_path / "run", tmp_path / "at"
    command = ["run", "hiro", "--city", str(extract), "--set", "limits.steps=4"]
    done = CliRunner().invoke(app, [*command, "--out", str(run)])
    assert done.exit_code == 0, done.output
    assert "91 Station Street is not in Little Town: starts at" in done.output
    assert "starts in little-town" in done.output
    start = next(record for record in read_journal(run) if isinstance(record, StartRecord))
    spot = liveliest(open_city(str(extract)))
    assert spot is not None
    here = spot.panorama.position
    assert start.character["start"] == {"lat": here.lat, "lng": here.lng}
    said = "Main Street, the liveliest part: 1 shop or place within 600 m"
    assert start.start_reason == str(spot) == said
    assert said in " ".join(done.output.split())
    assert said in (run / "report.html").read_text("utf-8")
    done = CliRunner().invoke(app, [*command, "--at", "Main Street 5", "--out", str(at)])
    assert done.exit_code == 0, done.output
    assert "Blue Spoon Restaurant" in done.output
    start = next(record for record in read_journal(at) if isinstance(record, StartRecord))
    assert start.character["start"] == "Main Street 5"
    assert CliRunner().invoke(app, ["narrate", str(at)]).exit_code == 0
    for page in ("report.html", "narration.html"):
        assert "© OpenStreetMap contributors" in (at / page).read_text()


def test_a_city_that_is_gone_or_cannot_be_opened_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert open_known(str(tmp_path / "gone.osm.pbf")) is None
    monkeypatch.delenv("GOOGLE_MAPS_API_KEY", raising=False)
    ours = tmp_path / "ours.yaml"
    ours.write_text((data_folder("platform/cities") / "tokyo.yaml").read_text())
    assert open_known(str(ours)) is None


def test_a_start_in_another_city_is_looked_up_once(extract: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    find = TwinAddresses.find
    monkeypatch.setattr(
        TwinAddresses, "find", lambda self, address: asked.append(address) or find(self, address)
    )
    done = CliRunner().invoke(app, ["run", "hiro", "--city", str(extract), "--dry-run"])
    assert done.exit_code == 0, done.output
    assert asked == ["91 Station Street"]


def test_an_extract_is_copied_to_where_city_files_find_it(
    extract: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRL_DATA", str(tmp_path))
    done = CliRunner().invoke(app, ["data", "osm", str(extract)])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "osm" / extract.name).read_bytes() == extract.read_bytes()
    assert "OpenStreetMap contributors" in done.output
    other = tmp_path / extract.name
    Writer(other).close()
    assert "there is another extract of this name" in refused("data", "osm", other)


def test_a_file_that_is_no_extract_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))
    broken = tmp_path / "broken.osm.pbf"
    broken.write_bytes(b"no extract at all")
    assert "cannot be read as an OpenStreetMap extract" in refused("data", "osm", broken)
    assert "no such file" in refused("data", "osm", tmp_path / "gone.osm.pbf")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("command", [("run", "hiro", "--city"), ("data", "osm"), ("cities", "--from")])
def test_a_missing_extra_is_named(
    command: tuple[str, ...], extract: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("virl.platform.providers.osm.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "osmium", None)
    assert "needs osmium: pip install 'virl[osm]'" in refused(*command, extract)
