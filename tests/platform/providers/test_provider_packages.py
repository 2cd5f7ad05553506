"""A provider of another package: its city files, its cities, and what is said when it is broken."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from contracts import MapsContract, PlacesContract, StreetViewContract
from made_package import PLUGIN, install, install_plugin
from typer.testing import CliRunner

from virl.cli.main import app
from virl.errors import BadInput, ModelUnavailable
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.providers.cities import (
    Access,
    all_cities,
    city_names,
    city_settings,
    open_city,
    opened_city,
)
from virl.platform.providers.registry import PROVIDERS

EXAMPLE = PLUGIN / "mytown" / "two_streets"


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    return install_plugin(monkeypatch, tmp_path / "site") / "two_streets"


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> City:
    with pytest.MonkeyPatch.context() as monkeypatch:
        install_plugin(monkeypatch, tmp_path_factory.mktemp("site"))
        return open_city("crossville")


class TestCrossville(StreetViewContract, PlacesContract, MapsContract):
    pass


def test_a_city_of_a_package_is_listed_and_opens_by_name(package: Path) -> None:
    assert "crossville" in city_names()
    assert all_cities()["crossville"].title == "Crossville"
    said = CliRunner().invoke(app, ["cities"])
    (row,) = (line for line in said.stdout.splitlines() if line.startswith("crossville "))
    assert row.rstrip().endswith("Two streets that cross in the middle of nowhere")
    assert said.stderr == ""
    city = open_city("crossville")
    assert (city.name, city.center) == ("crossville", LatLng(41.5, -38.5))
    assert (city.time_zone, city.language, city.region) == ("Atlantic/Azores", "en", None)
    assert (city.shareable, city.terms) == (True, "Drawn from its city file: free to use.")


def test_a_city_file_of_the_user_s_own_names_the_provider(package: Path, tmp_path: Path) -> None:
    file = tmp_path / "my-town.yaml"
    file.write_text((package / "cities" / "crossville.yaml").read_text().replace("Crossville", "Mine"))
    with opened_city(str(file), Access()) as city:
        assert (city.name, city.title) == ("my-town", "Mine")
        assert city.places.nearby(city.center, 100, ["cafe"])[0].name == "Corner Cafe"
    with (
        pytest.raises(BadInput, match="needs no network"),
        opened_city(str(file), Access(record=tmp_path)),
    ):
        pass


def test_its_own_model_checks_its_files(package: Path, tmp_path: Path) -> None:
    good = (package / "cities" / "crossville.yaml").read_text()
    file = tmp_path / "bad.yaml"
    for old, new, message in (
        ("arm: 8", "arm: none", r"bad\.yaml, line 7: arm: "),
        ("arm: 8\n", "", r"bad\.yaml, line 1: arm: field is missing"),
        ("arm: 8", "arm: 8\nseed: 1", r"bad\.yaml, line 8: seed: unknown field"),
        ("center: [41.5, -38.5]", "center: [91.5, -38.5]", r"bad\.yaml, line 6: center: latitude 91\.5"),
        (
            "provider: two-streets",
            "provider: three-streets",
            r"bad\.yaml, line 3: provider: unknown provider 'three-streets': did you mean 'two-streets'\?",
        ),
    ):
        assert old in good
        file.write_text(good.replace(old, new))
        with pytest.raises(BadInput, match=message):
            city_settings(str(file))


def test_without_the_package_its_cities_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match=r"line 3: provider: unknown provider 'two-streets': choose one of: google"
    ):
        city_settings(str(EXAMPLE / "cities" / "crossville.yaml"))


def test_a_broken_provider_is_named_and_stops_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = ["moon = no_moon:PROVIDER", "google = mytown.two_streets.provider:PROVIDER"]
    install_plugin(monkeypatch, tmp_path / "site", {"virl.providers": broken})
    said = CliRunner().invoke(app, ["cities"])
    assert said.exit_code == 0
    no_moon, google = said.stderr.splitlines()
    assert no_moon.startswith(
        "provider 'moon' of mytown cannot be imported (ModuleNotFoundError: No module named 'no_moon'): "
    )
    assert google.startswith("provider 'google' of mytown is not used: virl has one of that name")
    assert "crossville" in said.stdout
    assert city_settings("london").title == "London"
    file = tmp_path / "crater.yaml"
    file.write_text("title: Crater\nabout: Dust\nprovider: moon\n")
    with pytest.raises(ModelUnavailable, match="provider 'moon' of mytown cannot be imported"):
        city_settings(str(file))


def test_a_broken_city_file_of_a_package_is_named_and_hides_no_other(package: Path) -> None:
    (package / "cities" / "ruin.yaml").write_text("title: Ruin\nabout: Stones\nprovider: two-streets\n")
    said = CliRunner().invoke(app, ["cities"])
    assert "crossville" in said.stdout
    assert "ruin" not in said.stdout
    (line,) = said.stderr.splitlines()
    assert line.startswith(str(package / "cities" / "ruin.yaml"))
    assert "line 1: center: field is missing" in line


def test_a_city_of_virl_s_own_is_not_replaced(package: Path) -> None:
    shutil.copy(package / "cities" / "crossville.yaml", package / "cities" / "virlton.yaml")
    assert city_settings("virlton").provider == "offline"
    assert all_cities()["virlton"].provider == "offline"


def test_two_packages_with_a_city_of_the_same_name_are_both_named(
    package: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "other" / "twins"
    other.mkdir(parents=True)
    shutil.copy(package / "cities" / "crossville.yaml", other)
    source = (
        "from dataclasses import replace\nfrom pathlib import Path\nfrom mytown.two_streets import provider\n"
        "PROVIDER = replace(provider.PROVIDER, cities=Path(__file__).parent / 'twins')\n"
    )
    install(
        monkeypatch,
        tmp_path / "other",
        "twins",
        {"virl.providers": ["twins = twins_of:PROVIDER"]},
        {"twins_of": source},
    )
    with pytest.raises(
        BadInput, match=r"city 'crossville' is \S+crossville\.yaml and \S+crossville\.yaml: give"
    ):
        city_settings("crossville")


def test_connections_are_closed_with_the_city(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    provider = PROVIDERS.find("two-streets")

    def watched(name: str, file: object, access: object) -> City:
        return replace(provider.open(name, file, access), close=lambda: closed.append(name))

    monkeypatch.setattr("mytown.two_streets.provider.PROVIDER", replace(provider, open=watched))
    with opened_city("crossville", Access()):
        assert closed == []
    assert closed == ["crossville"]
