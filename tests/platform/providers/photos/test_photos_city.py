"""Photographs of one's own become a city that can be walked."""

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from contracts import StreetViewContract
from made_photos import MORNING, seconds, write_photo, write_track
from typer.testing import CliRunner

from tests.platform.providers.google.test_google_tilted import shift, turned
from virl.cli.main import app
from virl.errors import BadInput, NoImagery
from virl.geo.globe import LatLng, bearing, destination, distance, signed_turn
from virl.platform.city.city import City
from virl.platform.city.streetview import Attitude, Camera
from virl.platform.providers.cities import Access, open_city, opened_city
from virl.platform.providers.photos.city_file import PhotoIndex, read_index, write_index
from virl.platform.providers.photos.importing import import_photos
from virl.platform.providers.photos.track import read_track
from virl.towns.streetview import OfflineStreetView

STEPS = 8
WIDTH = 1024


@pytest.fixture(scope="module")
def walk(virlton: City) -> list[str]:
    """Panoramas along a street, about 10 m apart."""
    here = virlton.streetview.nearest(virlton.center, 500)
    assert here is not None
    ids, heading = [here.id], here.heading
    while len(ids) < STEPS:
        link = min(here.links, key=lambda link: abs(signed_turn(heading, link.heading)))
        here, heading = virlton.streetview.panorama(link.pano_id), link.heading
        ids.append(here.id)
    return ids


def held_at(number: int) -> Attitude:
    return Attitude(heading=(40.0 * number) % 360, pitch=4.0 - number, roll=number / 2)


@pytest.fixture(scope="module")
def folder(virlton: City, walk: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    street, folder = (
        cast("OfflineStreetView", virlton.streetview),
        tmp_path_factory.mktemp("drive") / "high street",
    )
    for number, pano_id in enumerate(walk):
        level = street.panorama_image(pano_id, WIDTH)
        write_photo(
            folder / f"{number:03d}.jpg",
            turned(level, held_at(number)),
            street.panorama(pano_id).position,
            held=held_at(number),
            taken=MORNING + seconds(5 * number),
            author="A. Driver",
        )
    (folder / "notes.txt").write_text("not a picture")
    return folder


@pytest.fixture(scope="module")
def index(folder: Path) -> Path:
    done = CliRunner().invoke(app, ["import", "photos", str(folder), "--licence", "CC-BY-4.0"])
    assert done.exit_code == 0, done.output
    assert f"{STEPS} photographs in 1 sequence, {STEPS} of 360 degrees" in done.output
    return folder.parent / "high street.photos.json"


@pytest.fixture(scope="module")
def city(index: Path) -> Iterator[City]:
    opened = open_city(str(index))
    yield opened
    opened.close()


@pytest.mark.slow
class TestStreetView(StreetViewContract):
    pass


@pytest.mark.slow
def test_the_views_are_those_of_the_town(virlton: City, city: City, walk: list[str]) -> None:
    for number in (1, 5):
        for camera in (Camera(20, 0, 90, 400, 300), Camera(250, -10, 70, 400, 300)):
            drawn = virlton.streetview.view(walk[number], camera).pixels
            seen = city.streetview.view(f"{number:03d}.jpg", camera).pixels
            assert shift(drawn, seen) < 1


@pytest.mark.slow
def test_positions_dates_and_links_are_those_of_the_drive(virlton: City, city: City, walk: list[str]) -> None:
    for number, pano_id in enumerate(walk):
        here = city.streetview.panorama(f"{number:03d}.jpg")
        assert distance(here.position, virlton.streetview.panorama(pano_id).position) < 0.1
        assert here.date == "2026-05"
        assert signed_turn(here.heading, held_at(number).heading) == pytest.approx(0, abs=0.01)
        wanted = {f"{beside:03d}.jpg" for beside in (number - 1, number + 1) if 0 <= beside < STEPS}
        assert {link.pano_id for link in here.links} == wanted


def test_authors_and_licences_are_named(city: City) -> None:
    assert city.attribution == "Photographs: A. Driver (CC-BY-4.0)"


def test_an_agent_walks_there(index: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(
        app, ["run", "rx399", "--city", str(index), "--at", "000.jpg", "--out", str(tmp_path / "run")]
    )
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.output


@pytest.mark.slow
def test_views_of_photographs_with_odd_names_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "p" / "a b" / f"\x1b[31m{'ß' * 100}.jpg"
    write_photo(file, np.full((64, 128, 3), 90, np.uint8), LatLng(52, 5), held=Attitude(0, 0, 0))
    assert CliRunner().invoke(app, ["import", "photos", str(tmp_path / "p")]).exit_code == 0
    asked = ["run", "hiro", "--city", str(tmp_path / "p.photos.json"), "--out", str(tmp_path / "run")]
    assert CliRunner().invoke(app, asked).exit_code == 0
    assert list((tmp_path / "run" / "views").iterdir())


def test_a_track_places_what_has_no_position(folder: Path, tmp_path: Path, virlton: City) -> None:
    start = virlton.center
    grey = np.full((64, 128, 3), 90, np.uint8)
    for number in range(4):
        write_photo(tmp_path / "p" / f"{number}.jpg", grey, None, taken=MORNING + seconds(10 * number + 3600))
    write_photo(tmp_path / "p" / "late.jpg", grey, None, taken=MORNING + seconds(9000))
    points = [(MORNING + seconds(20 * n), destination(start, 60.0, 20.0 * n)) for n in range(3)]
    write_track(tmp_path / "t.gpx", points)
    found = import_photos(tmp_path / "p", track=read_track(tmp_path / "t.gpx"), offset_s=-3600)
    assert found.left_out == {"no position and outside the track": ["late.jpg"]}
    for number, photo in enumerate(found.photos):
        assert distance(photo.position, destination(start, 60.0, 10.0 * number)) < 0.1
        assert photo.heading == pytest.approx(60.0, abs=0.5)
        assert photo.fov == 360


def test_a_flat_photograph_shows_its_own_headings_only(
    virlton: City, walk: list[str], tmp_path: Path
) -> None:
    for number, pano_id in enumerate(walk[:2]):
        here = virlton.streetview.panorama(pano_id)
        pixels = virlton.streetview.view(pano_id, Camera(80, 0, 65.47, 800, 600)).pixels
        write_photo(
            tmp_path / "flat" / f"{number}.jpg",
            pixels,
            here.position,
            heading=80,
            focal_35mm=28,
            taken=MORNING + seconds(number),
        )
    photos = import_photos(tmp_path / "flat").photos
    assert [photo.fov for photo in photos] == [pytest.approx(65.47, abs=0.01)] * 2
    write_index(tmp_path / "flat.photos.json", PhotoIndex(title="Flat", folder="flat", photos=photos))
    city = open_city(str(tmp_path / "flat.photos.json"))
    camera = Camera(84, 3, 50, 400, 300)
    drawn = virlton.streetview.view(walk[0], camera).pixels
    assert shift(drawn, city.streetview.view("0.jpg", camera).pixels) < 1
    with pytest.raises(NoImagery, match="faces 80 degrees with a field of view of 65"):
        city.streetview.view("0.jpg", Camera(200, 0, 50, 400, 300))


def test_newer_photographs_come_first_and_older_ones_by_a_date(folder: Path, tmp_path: Path) -> None:
    found = import_photos(folder)
    old = [
        photo.model_copy(
            update={"file": f"old-{photo.file}", "sequence": "old", "taken": photo.taken.replace(year=2019)}
        )
        for photo in found.photos
    ]
    file = tmp_path / "both.photos.json"
    write_index(file, PhotoIndex(title="Both", folder="x", photos=(*old, *found.photos)))
    (tmp_path / "then.yaml").write_text(
        f"title: Then\nabout: Before\nprovider: photos\nphotos: {file}\nas_of: 2020-01-01\n"
    )
    now, then = open_city(str(file)), open_city(str(tmp_path / "then.yaml"))
    for city, begins in ((now, "0"), (then, "old-")):
        here = city.streetview.nearest(city.center, 500)
        assert here is not None
        assert here.id.startswith(begins)
    with opened_city(str(file), Access(as_of=date(2020, 1, 1))) as asked:
        assert asked.streetview.nearest(asked.center, 500) == then.streetview.nearest(then.center, 500)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere"], "no such folder"),
        (["empty"], "no JPEG files"),
        (["bare"], "no photograph can be placed (1 with no position"),
        (["bare", "--track", "bad.gpx"], "bad.gpx: not a GPX track"),
        (["bare", "--out", "x.json"], "must end in .photos.json"),
    ],
)
def test_what_is_wrong_is_one_line(arguments: list[str], told: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write_photo(tmp_path / "bare" / "a.jpg", np.zeros((32, 64, 3), np.uint8), None)
    (tmp_path / "bare" / "broken.jpg").write_bytes(b"\xff\xd8\xff no picture")
    (tmp_path / "bad.gpx").write_text("<gpx><trk>")
    paths = [str(tmp_path / one) if not one.startswith("--") else one for one in arguments]
    done = CliRunner().invoke(app, ["import", "photos", *paths])
    assert done.exit_code == 2
    assert told in done.output.replace("\n", " ")
    assert "Traceback" not in done.output


def test_a_damaged_index_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.photos.json"
    photo = {
        "file": "../secret.jpg",
        "position": [1, 2],
        "heading": 0,
        "fov": 360,
        "sequence": "1",
        "rank": 0,
    }
    file.write_text(json.dumps({"title": "x", "folder": "x", "photos": [photo]}))
    with pytest.raises(BadInput, match=r"photos\.0\.file: .*within the folder"):
        read_index(file)
    old = {"format": 1, "title": "x", "folder": "x", "photos": [photo | {"file": "a.jpg"}]}
    file.write_text(json.dumps(old))
    with pytest.raises(BadInput, match=r"earlier version of virl wrote it, .*: run virl import photos again"):
        read_index(file)


def test_photographs_without_a_heading_look_the_way_they_go(tmp_path: Path, virlton: City) -> None:
    spots = [destination(virlton.center, 200.0, 9.0 * number) for number in range(3)]
    for number, spot in enumerate(spots):
        grey = np.full((64, 128, 3), 90, np.uint8)
        write_photo(tmp_path / f"{number}.jpg", grey, spot, taken=MORNING + seconds(number))
    assert [photo.heading for photo in import_photos(tmp_path).photos] == [
        pytest.approx(bearing(spots[0], spots[2]), abs=1.0)
    ] * 3


def test_a_panorama_without_its_sky_and_ground_shows_the_rest(
    virlton: City, walk: list[str], tmp_path: Path
) -> None:
    street = cast("OfflineStreetView", virlton.streetview)
    whole = street.panorama_image(walk[0], WIDTH)
    top, bottom = WIDTH // 8, WIDTH // 2 - WIDTH // 16
    full = f'GPano:FullPanoWidthPixels="{WIDTH}" GPano:FullPanoHeightPixels="{WIDTH // 2}" '
    write_photo(
        tmp_path / "cut" / "a.jpg",
        whole[top:bottom],
        street.panorama(walk[0]).position,
        held=Attitude(),
        more=f'{full} GPano:CroppedAreaTopPixels="{top}" GPano:CroppedAreaImageWidthPixels="{WIDTH}"',
    )
    half = f'{full} GPano:CroppedAreaTopPixels="0" GPano:CroppedAreaImageWidthPixels="{WIDTH // 2}"'
    for name, more in (
        ("half.jpg", half),
        ("right.jpg", f'{half} GPano:CroppedAreaLeftPixels="{WIDTH // 2}"'),
    ):
        write_photo(
            tmp_path / "cut" / name,
            street.panorama_image(walk[1], WIDTH)[:, WIDTH // 2 :],
            street.panorama(walk[1]).position,
            held=Attitude(),
            more=more,
        )
    found = import_photos(tmp_path / "cut")
    assert found.left_out == {"a part of a panorama and no CroppedAreaLeftPixels": ["half.jpg"]}
    write_index(tmp_path / "cut.photos.json", PhotoIndex(title="Cut", folder="cut", photos=found.photos))
    camera = Camera(70, 0, 60, 400, 240)
    cut = open_city(str(tmp_path / "cut.photos.json")).streetview
    assert shift(street.view(walk[0], camera).pixels, cut.view("a.jpg", camera).pixels) < 1
    for heading in (70, 110):
        camera = Camera(heading, 0, 60, 400, 240)
        assert shift(street.view(walk[1], camera).pixels, cut.view("right.jpg", camera).pixels) < 1
    with pytest.raises(NoImagery):
        cut.view("right.jpg", Camera(270, 0, 60, 400, 240))
