"""Collecting in a city of a few points: the grid, the rules and their order."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_dataset import HARMFUL

from virl.bench.city_data import square_around
from virl.datasets.collect.collection import Collection as Collected
from virl.datasets.collect.collection import sole_writer
from virl.datasets.collect.places import CollectionState, PlacesSettings, collect_places
from virl.errors import BadInput
from virl.geo.globe import LatLng, destination, distance
from virl.platform.city.city import City
from virl.platform.city.places import Place
from virl.platform.city.streetview import Camera, Image, Panorama, View

LONDON, EQUATOR = LatLng(51.515, -0.145), LatLng(0.0, 20.0)


@dataclass
class OneStreet:
    """A panorama every 50 m to the east."""

    middle: LatLng
    asked: list[LatLng] = field(default_factory=list)

    def _panorama(self, number: int) -> Panorama:
        return Panorama(f"p{number}", destination(self.middle, 90.0, 50.0 * number), 0.0, ())

    def nearest(self, position: LatLng, radius: float = 50.0) -> Panorama | None:
        self.asked.append(position)
        best = min(map(self._panorama, range(3)), key=lambda one: distance(one.position, position))
        return best if distance(best.position, position) <= radius else None

    def panorama(self, pano_id: str) -> Panorama:
        return self._panorama(int(pano_id[1:]))

    def view(self, pano_id: str, camera: Camera) -> View:
        raise NotImplementedError


@dataclass
class Shops:
    listed: Sequence[Place]
    photographed: Counter[str] = field(default_factory=Counter)

    def nearby(
        self, position: LatLng, radius: float, types: Collection[str] = (), *, whole: float | None = None
    ) -> list[Place]:
        near = [one for one in self.listed if distance(position, one.position) <= radius]
        return sorted(near, key=lambda one: distance(position, one.position))

    def search(self, query: str, near: LatLng | None = None) -> list[Place]:
        return []

    def details(self, place_id: str) -> Place:
        raise NotImplementedError

    def photos(self, place_id: str, limit: int = 1) -> list[Image]:
        self.photographed[place_id] += 1
        return [np.full((8, 8, 3), shade, np.uint8) for shade in (50, 150, 250)][:limit]


def shop(place_id: str, east: float, north: float, reviews: int, *types: str, name: str = "") -> Place:
    at = destination(destination(LONDON, 90.0, east), 0.0, north)
    return Place(place_id, name or place_id, types or ("bar",), at, review_count=reviews)


def city_of(middle: LatLng, *shops: Place) -> tuple[City, OneStreet, Shops]:
    streets, places, nowhere = OneStreet(middle), Shops(shops), Any
    return City("made", "Made", middle, streets, places, nowhere), streets, places  # type: ignore[arg-type]


def collect(folder: Path, city: City, score_photo: Any = None, **settings: Any) -> CollectionState:
    return collect_places(
        city,
        square_around(city.center, 260),
        folder,
        PlacesSettings.model_validate(settings),
        score_photo,
        progress=lambda *_: None,
    )


@pytest.mark.slow
def test_the_grid_is_in_metres_in_london_as_on_the_equator(tmp_path: Path) -> None:
    # The published code steps in degrees, which crowds the grid by 1.6 to the east in London.
    asked = {}
    for name, middle in (("london", LONDON), ("equator", EQUATOR)):
        city, streets, _ = city_of(middle)
        collect(tmp_path / name, city)
        asked[name] = len(streets.asked)
    assert asked["london"] == pytest.approx(260 * 260 / 400, rel=0.1)
    assert asked["london"] == pytest.approx(asked["equator"], rel=0.05)


def test_distances_stay_with_their_places_whichever_the_rules_take_out(tmp_path: Path) -> None:
    # The published code takes places out by their reviews after it has laid out the distances.
    shops = [
        shop("few", 4, 0, 29),
        shop("near", 50, 6, 30),
        shop("none", 52, 8, 0),
        shop("far", 100, 24, 31),
        shop("farther", 100, 26, 900),
        shop("kind", 50, 9, 900, "establishment"),
    ]
    city, _, places = city_of(LONDON, *shops)
    work = collect(tmp_path, city)
    kept = {row.id: (row.pano_id, row.distance_m) for row in work.places.all}
    assert set(kept) == {"near", "far"}
    assert kept["near"] == ("p1", pytest.approx(6, abs=0.05))
    assert kept["far"] == ("p2", pytest.approx(24, abs=0.1))
    assert {row.id: row.fate for row in work.judged.all} == {
        "few": "too few reviews",
        "near": "kept",
        "none": "too few reviews",
        "far": "kept",
        "farther": "too far from any panorama",
        "kind": "of no type asked for",
    }
    assert set(places.photographed) == {"near", "far"}, "no photo is paid for a place that falls"


@pytest.mark.slow
def test_photos_are_tried_in_turn_until_one_shows_the_storefront(tmp_path: Path) -> None:
    def brightness(photo: Image) -> float:
        return float(photo.mean()) / 255

    city, _, _ = city_of(LONDON, shop("a", 0, 5, 99))
    (row,) = collect(tmp_path / "two", city, brightness, storefront_score=0.5).places.all
    assert row.storefront == pytest.approx(150 / 255)
    (row,) = collect(tmp_path / "none", city, brightness, storefront_score=0.99).places.all
    assert (row.image, row.storefront) == (None, None)


def test_a_harmful_name_or_id_is_kept_as_it_stands_and_stays_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    harmful = replace(shop("../../x", 0, 5, 99), name=HARMFUL)
    city, _, _ = city_of(LONDON, harmful)
    (row,) = collect(tmp_path / "in", city).places.all
    assert (row.id, row.name, row.image) == ("../../x", HARMFUL, "images/______x.jpg")
    assert (tmp_path / "in" / "images" / "______x.jpg").is_file()
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


def test_two_at_once_do_not_collect_into_one_folder(tmp_path: Path) -> None:
    refused = pytest.raises(BadInput, match="another process is collecting into this folder")
    with sole_writer(tmp_path), refused, sole_writer(tmp_path):
        pass
    with sole_writer(tmp_path):
        Collected(tmp_path, city_of(LONDON)[0], "offline", square_around(LONDON, 50))
