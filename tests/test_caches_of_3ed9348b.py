"""Caches made by an earlier version are opened, or passed over without a word and made anew."""

import json
import logging
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import yaml
from guard import inner
from made_extract import made_extract
from made_graph import write_graph

from virl.geo.globe import LatLng, destination
from virl.mind.base import Prompt
from virl.mind.open import open_mind
from virl.mind.replies import Reply
from virl.money.ledger import Ledger
from virl.osm.box import Box
from virl.osm.cache import load_twin
from virl.platform.city.city import City
from virl.platform.city.streetview import Camera, Image, View
from virl.platform.perception.base import Detection
from virl.platform.perception.embeddings import ViewEmbedder, open_store
from virl.platform.perception.kept_finds import KeptFinds
from virl.platform.providers.cities import opened_city
from virl.platform.providers.google.city import open_google
from virl.platform.providers.google.client import GoogleHttp
from virl.platform.providers.google.settings import Keys, at_base_url, load_google_settings
from virl.platform.providers.graph.touchdown import load_touchdown
from virl.platform.providers.http.osm_servers import CACHE, load_open_maps
from virl.platform.providers.http.stored_replies import FILE_NAME, Keeping
from virl.platform.providers.open.overpass import OverpassPlaces
from virl.platform.providers.open.picture_services import Shot
from virl.platform.providers.open.shots import KeptPictures, ShotLists, load_open_settings
from virl.platform.providers.open.streetview import ExploredGraph, Extent
from virl.platform.providers.provider import Access
from virl.towns.plan.layout import lay_out
from virl.towns.storage import picture_key
from virl.towns.streetview import OfflineStreetView

MADE = Path(__file__).parent / "data" / "made-by-3ed9348b"
CACHES = MADE / "caches"
KINDS = sorted(folder.name for folder in CACHES.iterdir())
HERE = LatLng(41.2504, -38.7570)
KEY = "not-a-real-key-0123456789"

# The hosts that were asked, which name the replies: nobody answers there now.
GOOGLE, RENTCAST, OVERPASS = (f"http://127.0.0.1:{port}" for port in (34525, 46079, 34453))
MODEL = "http://127.0.0.1:35697/v1"
SESSION = "93e1f4a1fd9e441f8e1fbe8f5387bde6"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[Path]:
    """A copy of the caches, which the test uses without a warning."""
    home = shutil.copytree(CACHES, tmp_path / "cache")
    for file in home.rglob(FILE_NAME):  # replies expire after hours or days
        with closing(sqlite3.connect(file)) as opened, opened:
            opened.execute("UPDATE replies SET expires = 1e11")
    monkeypatch.setenv("VIRL_CACHE", str(home))
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))
    for name in ("GOOGLE_MAPS_API_KEY", "RENTCAST_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for name in ("VIRL_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE", "VIRL_OVERPASS_URL"):
        monkeypatch.delenv(name, raising=False)
    yield home
    assert not [one.getMessage() for one in caplog.get_records("call") if one.levelno >= logging.WARNING]


def files_of(folder: Path) -> set[Path]:
    return {file for file in folder.rglob("*") if file.is_file()}


def is_made_anew(folder: Path, before: set[Path]) -> bool:
    """Return whether one file was added, and those of before are as they were made."""
    kept = [
        file.read_bytes() == (CACHES / folder.name / file.relative_to(folder)).read_bytes() for file in before
    ]
    return all(kept) and len(files_of(folder) - before) == 1


def test_the_caches_are_small() -> None:
    assert len(KINDS) == 11
    assert sum(file.stat().st_size for file in files_of(MADE)) < 3_000_000


class Meal(Reply):
    place: Literal["bar", "restaurant"]


@pytest.mark.slow
def test_a_reply_of_a_model_is_not_asked_for_again(home: Path) -> None:
    ledger = Ledger()
    mind = open_mind("openai:gpt-5-mini", cache_dir=home / "replies", base_url=MODEL, ledger=ledger)
    meal = Prompt("meal", frozenset({"wish"}), Meal, "Where can one {{ wish }}?")
    found = mind.ask(meal, wish="have lunch")
    assert found.place == "bar"
    (exchange,) = ledger.take_asked()
    assert exchange.cached
    assert ledger.spent_usd == 0


def open_google_city(access: Access) -> tuple[City, GoogleHttp]:
    """Open a city without Map Tiles: these ask for a session anew in each process."""
    settings = at_base_url(load_google_settings(), GOOGLE).model_copy(update={"map_tiles": False})
    http = GoogleHttp(settings, Keys(KEY), Keeping.of(access, "google"))
    return open_google("served", "Served", HERE, None, http), http


def test_an_address_of_google_costs_nothing(tmp_path: Path) -> None:
    told = yaml.safe_load((MADE / "runs" / "served.yaml").read_text()) | {"google": {"base_url": GOOGLE}}
    file = tmp_path / "served.yaml"
    file.write_text(yaml.safe_dump(told))
    ledger = Ledger()
    with opened_city(str(file), Access(ledger=ledger, cache="ttl", session=SESSION)) as city:
        assert city.maps.geocode("91 Station Street")
    assert ledger.spent_usd == 0
    assert not ledger.total().sent


def test_metadata_of_google_cost_nothing() -> None:
    city, http = open_google_city(Access(cache="ttl", session=SESSION))
    with http:
        nearest = city.streetview.nearest(HERE, 100.0)
    assert nearest
    assert nearest.id == "vt-01732"
    assert http.ledger.spent_usd == 0
    assert not http.ledger.total().sent


def test_a_recording_of_google_is_replayed(home: Path) -> None:
    city, http = open_google_city(Access(replay=home / "replies-of-a-recording"))
    with http:
        nearest = city.streetview.nearest(HERE)
    assert nearest
    assert nearest.id == "vt-01732"
    assert not http.ledger.total().sent


def test_a_page_of_rentcast_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRL_RENTCAST_BASE_URL", RENTCAST)
    money = inner.Money(tmp_path / "book.jsonl", None)
    with inner.rentcast(tmp_path, money, inner.Modes(cache="ttl")) as homes:
        assert len(homes.rentals(inner.AUSTIN, (0, 9999))) == 3
    assert money.ledger.spent_usd == 0
    assert not money.ledger.total().sent


def test_an_answer_of_overpass_is_not_asked_for_again() -> None:
    keeping = Keeping.of(Access(cache="ttl"), CACHE)
    with (
        closing(keeping),
        closing(
            OverpassPlaces(load_open_maps().of("overpass"), keeping, f"{OVERPASS}/api/interpreter")
        ) as source,
    ):
        found = source.places_within(Box(60.165, 24.93, 60.175, 24.95))
    assert {one.place.name for one in found} == {"Pågen", "Green"}
    assert not keeping.ledger.total().sent


def test_a_graph_is_made_anew(home: Path, tmp_path: Path) -> None:
    before = files_of(home / "graphs")
    assert load_touchdown(write_graph(tmp_path / "graph")).ids == ("a", "b", "c", "d")
    assert is_made_anew(home / "graphs", before)


def test_a_town_is_made_anew(home: Path, tmp_path: Path) -> None:
    before = files_of(home / "twins")
    assert load_twin(made_extract(tmp_path / "town.osm.pbf", size=2), None)
    assert is_made_anew(home / "twins", before)


class PlainRenderer:
    """Pictures in grey."""

    def picture(self, x: float, y: float, camera: Camera) -> Image:
        return np.full((camera.height, camera.width, 3), 128, np.uint8)


@pytest.mark.slow
def test_a_view_is_drawn_anew(home: Path) -> None:
    before = files_of(home / "views")
    streetview = OfflineStreetView(lay_out(0), PlainRenderer, picture_key("0 Virlton"))
    view = streetview.view("vt-01722", Camera(4.0, fov=60.0, width=96, height=64))
    assert np.all(view.pixels == 128)
    assert is_made_anew(home / "views", before)


class Looking:
    """A detector that finds the same in all pictures."""

    look_scores = None

    def detect(self, views: list[View], labels: list[str]) -> list[list[Detection]]:
        return [[Detection(labels[0], 0.5, (0, 0, 8, 8), "")] for _ in views]


def test_a_look_of_a_detector_is_made_anew(home: Path) -> None:
    before = files_of(home / "finds")
    view = View("a", Camera(0.0, width=16, height=16), np.zeros((16, 16, 3), np.uint8), key="a picture")
    found = KeptFinds(Looking(), "looking").detect([view], ["bench"])
    assert found[0][0].label == "bench"
    assert is_made_anew(home / "finds", before)


class Blind:
    """No street and no model: who asks them fails."""


def test_embeddings_are_not_made_again() -> None:
    embedder = ViewEmbedder(Blind(), Blind(), open_store("here", "mean/1"))
    rows = embedder.embed("a", [Camera(heading, fov=60.0, width=80, height=46) for heading in (0.0, 90.0)])
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1.0, 1.0])
    assert rows[0].tolist() != rows[1].tolist()


def shot_of(name: str, *, east_m: float = 0.0, sequence: str = "a drive", rank: int = 1) -> Shot:
    at = destination(HERE, 90.0, east_m)
    taken = datetime(2025, 6, 7, tzinfo=UTC) + timedelta(seconds=rank)
    return Shot(
        id=name, lat=at.lat, lng=at.lng, heading=90.0, fov=360.0, sequence=sequence, rank=rank, taken=taken
    )


def test_panoramas_that_were_seen_on_the_way_stay(home: Path) -> None:
    walked = home / "open" / "panoramax" / "walked"
    (file,) = walked.iterdir()
    seen = json.loads(file.read_text())["panoramas"][:5]
    shots = [shot_of(name, east_m=10.0 * rank, rank=rank) for rank, name in enumerate(seen)]
    newer = [
        shot_of(f"newer-{rank}", east_m=10.0 * rank + 0.5, sequence="newer", rank=100 + rank)
        for rank in range(5)
    ]
    lists = ShotLists(lambda _: [*newer, *shots], None, 1.0)
    extent = Extent(HERE, None, 50.0)
    assert set(ExploredGraph(lists, extent).graph.graph.ids) != set(seen)
    assert set(ExploredGraph(lists, extent, folder=walked).graph.graph.ids) == set(seen)
    assert list(walked.iterdir()) == [file]


def test_a_shared_picture_is_not_fetched_again(home: Path) -> None:
    shot = shot_of("1f86f0d0-5e74-4b49-a0aa-bc7c31afcc1c")
    pictures = KeptPictures(home / "open" / "panoramax" / "pictures", "panoramax", load_open_settings())
    assert pictures.get(shot, "tile-3-1", pytest.fail).startswith(b"\xff\xd8")
    credit = pictures.credit(shot)
    assert credit
    assert (credit.author, credit.licence) == ("Cleo Rider", "CC-BY-SA-4.0")
