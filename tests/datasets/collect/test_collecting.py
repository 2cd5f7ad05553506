"""Collecting a data set as a user does, in a made city and over HTTP."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from served_google import Google, google_http, google_over
from typer.testing import CliRunner, Result

from virl.cli.main import app
from virl.datasets.collect.collection import Collection, collect_city_questions, collect_city_routes
from virl.datasets.collect.dataset import PanoramaRow, open_dataset
from virl.datasets.collect.places import COVER_M, WORK, PlacesSettings, collect_places, cover_region
from virl.datasets.collect.routes import RoutesSettings
from virl.errors import BadInput
from virl.geo import globe
from virl.geo.globe import LatLng
from virl.geo.region import Region
from virl.money.book import SPENDING
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.city.streetview import Image
from virl.platform.providers.google.city import open_google
from virl.platform.providers.google.provider import PROVIDER
from virl.platform.providers.http.stored_replies import ReplyCache

pytestmark = pytest.mark.slow

MIDDLE = LatLng(41.25, -38.75)
SIDE_M = 160.0


def square(side: float = SIDE_M) -> Region:
    half = side / 2
    south, north = globe.destination(MIDDLE, 180, half).lat, globe.destination(MIDDLE, 0, half).lat
    west, east = globe.destination(MIDDLE, 270, half).lng, globe.destination(MIDDLE, 90, half).lng
    return Region((LatLng(south, west), LatLng(south, east), LatLng(north, east), LatLng(north, west)))


@pytest.fixture(autouse=True)
def _quiet_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("VIRL_MIND", raising=False)
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def corners(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("region") / "middle.txt"
    path.write_text("".join(f"{corner.lat}, {corner.lng}\n" for corner in square().corners))
    return path


@pytest.fixture(scope="module")
def collected(corners: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collected") / "middle"
    places = virl("collect", "places", "--city", "virlton", "--region", corners, "--out", folder)
    assert places.exit_code == 0, places.output
    return folder


def virl(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def refused(*arguments: object) -> str:
    done = virl(*arguments)
    assert done.exit_code == 2, done.output
    (line,) = done.stderr.strip().splitlines()
    return line


def test_every_place_that_passes_the_rules_is_kept_with_its_photo(collected: Path, virlton: City) -> None:
    data = open_dataset(collected)
    region = square()
    expected = {
        place.id
        for place in virlton.places.nearby(MIDDLE, SIDE_M)
        if region.contains(place.position)
        and place.review_count >= 30
        and min(globe.distance(place.position, one.position) for one in data.panoramas) <= 25
    }
    assert len(expected) > 5
    assert {place.id for place in data.places} == expected
    assert data.card.counts["places"] == len(expected)
    for place in data.places:
        nearest = min(data.panoramas, key=lambda one: globe.distance(one.position, place.position))
        assert place.distance_m == pytest.approx(globe.distance(nearest.position, place.position), abs=0.05)
        if place.image:
            with PIL.Image.open(data.image(place.image)) as photo:
                assert photo.size == (640, 480)


def test_the_card_says_what_became_of_every_candidate(collected: Path) -> None:
    counts = open_dataset(collected).card.counts
    candidates = len((collected / "work" / "candidates.jsonl").read_text().splitlines())
    assert sum(count for name, count in counts.items() if name.startswith("candidates ")) == candidates
    assert counts["candidates kept"] == counts["places"]
    assert counts["candidates outside the region"] > 0


def test_collected_again_nothing_changes_and_nothing_is_asked(collected: Path, corners: Path) -> None:
    before = {path: path.read_bytes() for path in collected.rglob("*.jsonl")}
    done = virl("collect", "places", "--city", "virlton", "--region", corners, "--out", collected)
    assert done.exit_code == 0, done.output
    assert {path: path.read_bytes() for path in collected.rglob("*.jsonl")} == before


def test_a_data_set_can_be_moved(collected: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    shutil.copytree(collected, moved, ignore=shutil.ignore_patterns("work"))
    assert open_dataset(moved).places == open_dataset(collected).places
    assert "without its work/ folder" in refused("collect", "vqa", "--city", "virlton", "--out", moved)


def test_questions_are_made_once_each_with_one_right_answer(collected: Path, corners: Path) -> None:
    where = ("--city", "virlton", "--region", corners, "--out", collected)
    assert virl("collect", "vqa", *where).exit_code == 0
    data = open_dataset(collected)
    assert data.questions
    places = {place.id: place for place in data.places}
    for asked in data.questions:
        assert len(set(asked.options)) == 4
        assert asked.types == places[asked.id].types
        assert data.image(asked.image).is_file()
    assert len({asked.answer for asked in data.questions}) > 1, "the right one stands in any place"
    assert virl("collect", "vqa", *where).exit_code == 0
    assert open_dataset(collected).questions == data.questions
    assert "vqa was started with other settings (seed: 0 there, 5 here)" in refused(
        "collect", "vqa", *where, "--seed", 5
    )


def test_routes_lead_along_links_to_places_and_are_collected_once(
    collected: Path, corners: Path, virlton: City
) -> None:
    where = ("--city", "virlton", "--region", corners, "--out", collected, "--count", 1)
    done = virl("collect", "routes", *where)
    assert done.exit_code == 0, done.output
    data = open_dataset(collected)
    (route,) = data.routes
    assert data.card.counts["routes"] == 1
    assert route.place_id in {place.id for place in data.places}
    for here, there in pairwise(route.pano_ids):
        assert there in {link.pano_id for link in virlton.streetview.panorama(here).links}
    end = virlton.streetview.panorama(route.pano_ids[-1]).position
    assert globe.distance(end, route.destination) <= 18
    assert virl("collect", "routes", *where).exit_code == 0
    assert open_dataset(collected).routes == data.routes
    assert "longest_m: 150.0 there, 99.0 here" in refused("collect", "routes", *where, "--longest", 99)


def test_other_settings_or_another_city_do_not_mix(collected: Path, corners: Path) -> None:
    where = ("--region", corners, "--out", collected)
    other = refused("collect", "places", "--city", "virlton", *where, "--min-reviews", 1)
    assert "min_reviews: 30 there, 1 here" in other
    assert "where was started with other settings" in refused(
        "collect", "places", "--city", "virlton", "--out", collected
    )


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        (
            "card.json",
            lambda text: text.replace('"format": 1', '"format": 9'),
            "9 is not 1: use the virl that wrote it",
        ),
        ("card.json", lambda text: text[:40], "card.json: card: Invalid JSON"),
        ("places.jsonl", lambda text: text.replace('"name"', '"nome"', 1), "places.jsonl, line 1: name:"),
        (
            "places.jsonl",
            lambda text: text.replace("images/", "images/../../", 1),
            "is not within the folder",
        ),
        (
            "places.jsonl",
            lambda text: text.replace("images/", "images/" + "a" * 300, 1),
            "is missing",
        ),
        ("places.jsonl", lambda text: text.replace("images/", "images/no-", 1), "line 1: image: 'images/no-"),
    ],
)
def test_a_broken_data_set_is_named(
    collected: Path, tmp_path: Path, file: str, change: Callable[[str], str], said: str
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(collected, broken)
    (broken / file).write_text(change((broken / file).read_text()))
    with pytest.raises(BadInput, match=r"^[^\n]*$") as fault:
        open_dataset(broken)
    assert said in str(fault.value)


def test_a_folder_without_a_card_is_no_data_set(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"card\.json is missing: make one with"):
        open_dataset(tmp_path)
    assert "contains no places with images" in refused(
        "collect", "vqa", "--city", "virlton", "--out", tmp_path / "new"
    )


class Half:
    """Finds half of the photos, by their first pixel, to be storefronts."""

    def __init__(self) -> None:
        self.asked = 0

    def score(self, photo: Image) -> float:
        self.asked += 1
        return 0.99 if self.asked % 2 else 0.5


def test_a_photo_that_shows_no_storefront_is_not_kept(virlton: City, tmp_path: Path) -> None:
    def nothing(*_: object) -> None:
        return None

    work = collect_places(virlton, square(), tmp_path, PlacesSettings(), Half().score, progress=nothing)
    scores = [place.storefront for place in work.places.all]
    assert {0.99, None} == set(scores)
    assert all((place.image is None) == (place.storefront is None) for place in work.places.all)


def test_a_cover_leaves_no_panorama_out() -> None:
    rng = np.random.default_rng(0)
    region = square(600)
    panoramas = [
        PanoramaRow(id=str(number), lat=MIDDLE.lat + north, lng=MIDDLE.lng + east)
        for number, (north, east) in enumerate((0.002 * rng.standard_normal((300, 2))).tolist())
    ]
    chosen = cover_region(region, panoramas)
    assert len(chosen) < len(panoramas)
    lat, lng = (np.array([getattr(one, name) for one in chosen]) for name in ("lat", "lng"))
    for one in panoramas:
        assert globe.distances(one.lat, one.lng, lat, lng).min() <= COVER_M * 1.01
    assert cover_region(region, []) == []


@pytest.fixture(scope="module")
def google(virlton: City) -> Iterator[Google]:
    with google_over(virlton) as opened:
        yield opened


@contextmanager
def collection_over(google: Google, folder: Path) -> Iterator[Collection]:
    """A collection as a process of its own opens it, with the replies that earlier ones kept."""
    ledger = Ledger(book=folder / WORK / SPENDING)
    cache = ReplyCache(folder / "kept")
    with google_http(google.server.url, ledger=ledger, cache=cache, session="a collection") as http:
        city = open_google("served", "Served", google.city.center, None, http)
        yield Collection(folder, replace(city, terms=PROVIDER.terms), "google", square(), ledger=ledger)


def test_over_http_a_collection_that_was_cut_off_asks_nothing_twice(google: Google, tmp_path: Path) -> None:
    region, settings = square(), PlacesSettings(photos=1)

    class Cut(Exception):
        pass

    def collect(folder: Path, cut_after: int | None = None) -> Collection:
        pieces = 0

        def progress(*_: object) -> None:
            nonlocal pieces
            pieces += 1
            if pieces == cut_after:
                raise Cut

        with collection_over(google, folder) as collection:
            collect_places(collection.city, region, folder, settings, None, progress=progress)
            collection.finish()
        return collection

    def asked() -> dict[str, int]:
        return {name: count for name, count in google.asked().items() if name != "tiles_session"}

    asked()
    whole = collect(tmp_path / "whole")
    expected = asked()
    assert whole.ledger.spent_usd > 0
    cut = tmp_path / "cut"
    for piece in (5, 12):
        with pytest.raises(Cut):
            collect(cut, cut_after=piece)
    again = collect(cut)
    assert asked() == expected
    assert again.ledger.spent_usd == pytest.approx(whole.ledger.spent_usd)
    for name in ("places.jsonl", "panoramas.jsonl"):
        assert (cut / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    card = json.loads((cut / "card.json").read_text())
    assert "may not be republished" in card["terms"]
    assert card["usd"] == pytest.approx(whole.ledger.spent_usd)
    assert {"tiles_metadata", "photo_file"} <= set(expected)


def test_over_http_questions_and_routes_are_collected_and_nothing_is_asked_twice(
    google: Google, tmp_path: Path
) -> None:
    def quiet(*_: object) -> None:
        pass

    def collection() -> Collection:
        ledger = google.http.ledger
        return Collection(tmp_path / "set", google.reopened().city, "google", square(), ledger=ledger)

    first = collection()
    collect_places(
        first.city,
        square(),
        first.folder,
        PlacesSettings(photos=1),
        None,
        progress=quiet,
    )
    collected = first.finish().usd
    google.asked()
    collect_city_questions(collection(), 0, quiet)
    assert not google.asked(), "questions are made of what lies in the folder"
    card = collect_city_routes(collection(), RoutesSettings(count=1), quiet)
    assert card.counts["routes"] == 1
    assert card.counts["questions"] > 5
    asked = google.asked()
    assert asked["routes_compute"] > 0
    assert card.usd > collected > 0
    collect_city_routes(collection(), RoutesSettings(count=1), quiet)
    assert not google.asked()
    data = open_dataset(first.folder)
    (route,) = data.routes
    links = google.city.streetview.panorama(route.pano_ids[0]).links
    assert route.pano_ids[1] in {link.pano_id for link in links}
