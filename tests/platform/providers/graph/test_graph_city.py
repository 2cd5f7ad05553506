from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from contracts import ELSEWHERE, MapsContract, StreetViewContract
from made_graph import write_graph
from PIL import Image as Picture
from real_data import real_data

from virl.errors import BadInput, NoImagery, NotFound
from virl.geo.globe import LatLng, distance
from virl.platform.city.city import City
from virl.platform.city.graph import build_graph
from virl.platform.city.streetview import Camera
from virl.platform.providers import city_names, open_city
from virl.platform.providers.cities import read_city
from virl.platform.providers.graph.city import open_graph_city
from virl.platform.providers.graph.provider import GraphCity
from virl.platform.providers.offline.city_file import OfflineCity
from virl.platform.providers.pictures.streetview import PanoramaFolder, street_lines
from virl.resources import data_folder

YAW = 215.0


@pytest.fixture(scope="module")
def folder(virlton: City, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The streets of Virlton as Touchdown's files, and a picture of one panorama."""
    home = tmp_path_factory.mktemp("virlton")
    assert virlton.street_map is not None
    panoramas = [virlton.streetview.panorama(name) for name in virlton.street_map.panorama_ids()]
    nodes = tuple(f"{one.id},{YAW},{one.position.lat:.9f},{one.position.lng:.9f}" for one in panoramas)
    links = tuple(f"{one.id},{link.heading:.6f},{link.pano_id}" for one in panoramas for link in one.links)
    write_graph(home / "graph", nodes, links)
    return home


@pytest.fixture(scope="module")
def city(virlton: City, folder: Path) -> City:
    """The same streets through the graph provider; the places, which it lacks, are Virlton's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIRL_CACHE", str(folder / "cache"))
        streets = open_graph_city("streets", "Streets", folder)
    here = streets.streetview.nearest(streets.center, 1000)
    assert here is not None
    north_up = virlton.streetview.panorama_image(here.id, 2048)  # type: ignore[attr-defined]
    turned = np.roll(north_up, -round(YAW / 360 * 2048), axis=1)
    (folder / "panoramas").mkdir()
    Picture.fromarray(turned).save(folder / "panoramas" / f"{here.id}.jpg", quality=95)
    return City("streets", "Streets", streets.center, streets.streetview, virlton.places, streets.maps)


@pytest.mark.slow
class TestStreetsOfVirlton(StreetViewContract, MapsContract):
    def test_geocodes_the_address_of_a_place(self, city: City) -> None:
        with pytest.raises(NotFound, match="'1 Nowhere Boulevard': a street graph has no addresses"):
            city.maps.geocode("1 Nowhere Boulevard")

    @pytest.mark.parametrize(
        "camera", [Camera(0), Camera(300, 20, 60, 320, 240), Camera(40, -60, 90, 200, 200)]
    )
    def test_views_show_what_the_renderer_draws(self, city: City, virlton: City, camera: Camera) -> None:
        here = city.streetview.nearest(city.center, 1000)
        assert here is not None
        cut, drawn = (one.streetview.view(here.id, camera).pixels for one in (city, virlton))
        coarse = [_coarse(pixels) for pixels in (cut, drawn)]
        assert np.abs(coarse[0] - coarse[1]).mean() < 3
        assert np.abs(coarse[0] - _coarse(drawn[:, ::-1])).mean() > 5

    def test_a_panorama_without_a_picture_is_named_with_its_folder(self, city: City, folder: Path) -> None:
        here = city.streetview.nearest(city.center, 1000)
        assert here is not None
        with pytest.raises(NoImagery, match=f"{here.links[0].pano_id}.*{folder / 'panoramas'}"):
            city.streetview.view(here.links[0].pano_id, Camera(0))

    def test_routes_are_those_of_the_offline_provider(self, city: City, virlton: City) -> None:
        stops = [place.position for place in city.places.nearby(city.center, 400)[:4]]
        mine, theirs = (one.maps.route(stops) for one in (city, virlton))
        assert mine.distance == pytest.approx(theirs.distance, rel=1e-4)


def _coarse(pixels: np.ndarray) -> np.ndarray:
    """Means of 20 by 20 pixels."""
    height, width = (size // 20 * 20 for size in pixels.shape[:2])
    blocks = pixels[:height, :width].astype(float).reshape(height // 20, 20, width // 20, 20, 3)
    return np.asarray(blocks.mean(axis=(1, 3)))


@pytest.fixture
def corner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> City:
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
    write_graph(tmp_path / "graph")
    return open_graph_city("corner", "Corner", tmp_path)


def test_panoramas_tell_their_yaw_and_links_in_file_order(corner: City) -> None:
    here = corner.streetview.panorama("b")
    assert here.heading == 10.0
    assert [link.pano_id for link in here.links] == ["c", "d", "a"]
    assert corner.center == here.position


def test_a_city_without_places_says_so(corner: City) -> None:
    for ask in (
        lambda: corner.places.nearby(corner.center, 100),
        lambda: corner.places.search("cafe"),
        lambda: corner.places.details("1"),
        lambda: corner.places.photos("1"),
    ):
        with pytest.raises(NotFound, match="'corner' has no places"):
            ask()


def test_ways_lead_along_links(corner: City) -> None:
    a, d = (corner.streetview.panorama(name).position for name in "ad")
    route = corner.maps.route([a, d])
    assert len(route.path) == 5
    assert route.distance == pytest.approx(11.1 + 8.4, abs=0.1)
    assert distance(a, d) < route.distance
    assert corner.maps.travel_times([a, d], [a, d]).tolist() == [
        [0.0, pytest.approx(route.duration)],
        [pytest.approx(route.duration), 0.0],
    ]
    assert corner.streetview.nearest(ELSEWHERE) is None


def test_streets_are_drawn_from_crossing_to_crossing(corner: City) -> None:
    assert corner.street_map is not None
    assert list(corner.street_map.panorama_ids()) == ["a", "b", "c", "d"]
    assert sorted(len(line) for line in corner.street_map.lines()) == [2, 2, 2]


def test_every_link_is_on_one_line() -> None:
    # A ring of five with a tail, a ring by itself, a one-way pair and a node alone.
    ways = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 5), (5, 6), (7, 8), (8, 9), (9, 7), (10, 11)]
    both = ways + [(there, here) for here, there in ways[:-1]]
    source, target = zip(*both, strict=True)
    graph = build_graph([str(node) for node in range(13)], np.arange(13) / 1e4, np.zeros(13), source, target)
    lines = street_lines(graph)
    drawn = [frozenset(step) for line in lines for step in pairwise(line)]
    assert sorted(map(sorted, drawn)) == sorted(map(sorted, ways))
    assert sorted(len(line) for line in lines) == [2, 3, 4, 6]


def jpeg(folder: Path, name: str, height: int = 64) -> Path:
    noise = np.random.default_rng(0).integers(0, 256, (height, 128, 3), dtype=np.uint8)
    file = folder / f"{name}.jpg"
    Picture.fromarray(noise).save(file)
    return file


def test_broken_pictures_are_named(tmp_path: Path) -> None:
    pictures = PanoramaFolder(tmp_path)
    file = jpeg(tmp_path, "cut")
    file.write_bytes(file.read_bytes()[:2000])
    with pytest.raises(NoImagery, match=r"cut\.jpg: not a readable picture \(.*truncated"):
        pictures.panorama("cut", 0.0)
    (tmp_path / "text.jpg").write_text("hello")
    with pytest.raises(NoImagery, match=r"text\.jpg: not a readable picture"):
        pictures.panorama("text", 0.0)
    jpeg(tmp_path, "flat", height=50)
    with pytest.raises(NoImagery, match=r"flat\.jpg: a panorama of 128x50 pixels is not twice as wide"):
        pictures.panorama("flat", 0.0)
    (tmp_path / "inside").mkdir()
    jpeg(tmp_path, "outside")
    with pytest.raises(NoImagery, match="no picture of panorama"):
        PanoramaFolder(tmp_path / "inside").panorama("../outside", 0.0)


def test_the_last_pictures_are_kept_decoded(tmp_path: Path) -> None:
    pictures = PanoramaFolder(tmp_path, kept=2)
    files = {name: jpeg(tmp_path, name) for name in ("one", "two", "three")}
    first = pictures.panorama("one", 0.0)
    files["one"].unlink()
    pictures.panorama("two", 0.0)
    assert pictures.panorama("one", 0.0) is first
    pictures.panorama("two", 0.0)
    pictures.panorama("three", 0.0)
    with pytest.raises(NoImagery):
        pictures.panorama("one", 0.0)


def test_city_files_are_read_by_their_provider(tmp_path: Path) -> None:
    kinds = {name: type(read_city(data_folder("platform/cities") / f"{name}.yaml")) for name in city_names()}
    assert kinds["virlton"] is OfflineCity
    assert kinds["manhattan"] is GraphCity
    file = tmp_path / "made.yaml"
    for text, fault in (
        ("title: A\nabout: B\nprovider: graph\nseed: 1\n", "line 1: data: field is missing"),
        ("title: A\nabout: B\nprovider: offline\nseed: -1\n", "line 4: seed: "),
        (
            "title: A\nabout: B\nprovider: moon\n",
            "made.yaml, line 3: provider: unknown provider 'moon': choose one of: google, graph, offline",
        ),
        ("title: A\nabout: B\n", "provider: field is missing"),
    ):
        file.write_text(text)
        with pytest.raises(BadInput, match=fault):
            read_city(file)


def test_a_missing_data_set_names_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRL_DATA", str(tmp_path))
    with pytest.raises(
        BadInput, match=f"no touchdown data in {tmp_path}: install it with `virl data touchdown --from DIR`"
    ):
        open_city("manhattan")


@pytest.mark.slow
def test_manhattan_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRL_DATA", str(real_data("touchdown").parent))
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path))
    manhattan = open_city("manhattan")
    here = manhattan.streetview.nearest(LatLng(40.7359, -73.9911))
    assert here is not None
    assert manhattan.street_map is not None
    steps = sum(len(line) - 1 for line in manhattan.street_map.lines())
    assert steps == 30_661  # 61,319 links, all but three of them both ways
