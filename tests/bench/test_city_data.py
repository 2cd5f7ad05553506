"""The data set of a city: the user's, or made on the spot, and always one that can be asked about."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_dataset import panorama_row, place_row, question_row, write_dataset
from made_high_street import POINTS, SHOPS, MadePlaces, made_city
from made_streets import FRAME

from virl.bench.city_data import CityOptions, Uncollected, city_data, square_around
from virl.bench.resources import Resources
from virl.errors import BadInput
from virl.geo.globe import LatLng, distance
from virl.platform.city.city import City

MIDDLE = FRAME.position(0, 0)
NEAR, FAR = place_row("near", "bar", 5, image=True), place_row("far", "bar", 400, image=True)


class Made(Resources):
    given: Any = None

    def city(self, name: str) -> City:
        city: City = self.given
        return city


@pytest.fixture
def resources() -> Made:
    found = Made()
    found.given, _ = made_city()
    return found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_dataset(
        tmp_path / "made",
        panoramas=[panorama_row("p", 0), panorama_row("q", 400)],
        places=[NEAR, FAR],
        questions=[question_row(FAR)],
    )
    return tmp_path


def options(home: Path, **more: Any) -> CityOptions:
    return CityOptions.model_validate({"models": ("m",), "data": str(home), **more})


def test_a_square_is_as_wide_as_it_is_high() -> None:
    south_west, south_east, north_east, _ = square_around(MIDDLE, 300.0).corners
    assert distance(south_west, south_east) == pytest.approx(300, rel=1e-4)
    assert distance(south_east, north_east) == pytest.approx(300, rel=1e-4)


def test_all_of_a_data_set_is_asked_about_or_what_lies_in_the_square(home: Path, resources: Made) -> None:
    assert city_data(options(home), "made", resources).places == (NEAR, FAR)
    cut = city_data(options(home, side_m=100), "made", resources)
    assert [one.id for one in cut.panoramas] == ["p"]
    assert (cut.places, cut.questions) == ((NEAR,), ())
    assert cut.image(NEAR.image or "").is_file()


def test_what_cannot_be_asked_about_is_said_with_the_way_out(home: Path, resources: Made) -> None:
    with pytest.raises(BadInput, match=r"contains no routes: run `virl collect routes --city made --out /"):
        city_data(options(home), "made", resources, needs="routes")
    with pytest.raises(BadInput, match="contains no questions: give a larger --side-m"):
        city_data(options(home, side_m=100), "made", resources, needs="questions")
    with pytest.raises(BadInput, match="no data set of lima: run `virl collect places --city lima --out"):
        city_data(options(home), "lima", resources)
    with pytest.raises(ValueError, match="side_m"):
        options(home, side_m=-1)


def test_paths_of_images_hold_wherever_an_episode_runs(
    home: Path, resources: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    assert city_data(options(Path()), "made", resources).folder.is_absolute()


def test_a_real_city_is_never_collected_on_the_spot(
    tmp_path: Path, resources: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRL_DATA", str(tmp_path))
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path))
    assert resources.given.truth is None
    with pytest.raises(BadInput, match="no data set of made: run `virl collect places"):
        city_data(CityOptions(models=("m",)), "made", resources)
    assert not list(tmp_path.iterdir())


class Streets:
    """The streets of the made city as a map."""

    def panorama_ids(self) -> list[str]:
        return list(POINTS)

    def lines(self) -> list[list[LatLng]]:
        return [[FRAME.position(*POINTS[name]) for name in POINTS]]


def test_a_made_city_needs_no_data_set_beside_those_of_others(
    home: Path, resources: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRL_CACHE", str(home / "cache"))
    never: Any = object()
    assert isinstance(resources.given.places, MadePlaces)
    resources.given.places.shops = [replace(shop, review_count=30) for shop in resources.given.places.shops]
    resources.given = replace(resources.given, truth=never, street_map=Streets())
    assert city_data(options(home), "made", resources).folder == home / "made"
    with pytest.raises(Uncollected, match=r"virl first collects the data set of .*: once, about 20 s"):
        city_data(options(home), "virlton", replace_collect(resources, may_collect=False))
    assert not (home / "cache").exists()
    data = city_data(options(home), "virlton", replace_collect(resources, may_collect=True))
    assert data.folder.parent == home / "cache" / "collected"
    with pytest.raises(BadInput, match="no such folder"):
        city_data(options(home / "tpyo"), "virlton", resources)


def replace_collect(resources: Made, *, may_collect: bool) -> Made:
    resources.may_collect = may_collect
    return resources


def test_a_made_city_is_collected_once_and_anew_when_it_is_another(
    tmp_path: Path, resources: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
    asked = CityOptions(models=("m",))
    folders = []
    for reviews in (30, 30, 31):
        city, _ = made_city()
        assert isinstance(city.places, MadePlaces)
        city.places.shops = [replace(shop, review_count=reviews) for shop in city.places.shops]
        never: Any = object()
        resources.given = replace(city, truth=never, street_map=Streets())
        data = city_data(asked, "virlton", resources)
        assert {place.name for place in data.places} == set(SHOPS)
        assert {place.review_count for place in data.places} == {reviews}
        folders.append(data.folder)
    assert folders[0] == folders[1] != folders[2]
    assert len(list((tmp_path / "cache" / "collected").iterdir())) == 2
