"""Photographs whose fields are odd are read as far as they can be; the others are named."""

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from made_photos import MORNING, seconds, write_photo, write_track
from PIL.ExifTags import GPS
from typer.testing import CliRunner

from virl.cli.main import app
from virl.geo.globe import LatLng, destination
from virl.platform.city.streetview import Attitude, Camera, Image
from virl.platform.providers.cities import open_city
from virl.platform.providers.photos.city_file import PhotoIndex, write_index
from virl.platform.providers.photos.importing import PhotoImport, import_photos
from virl.platform.providers.photos.track import read_track
from virl.sheets.photographs import photographs_in

HERE = LatLng(-33.9, 18.4)
GREY = np.full((30, 40, 3), 90, np.uint8)
UPRIGHT = np.repeat(np.array([[[0, 0, 250]], [[0, 120, 0]]], np.uint8), 80, axis=0).repeat(120, axis=1)
"""Sky above grass, 120 x 160 pixels."""
STORED = {
    2: PIL.Image.Transpose.FLIP_LEFT_RIGHT,
    3: PIL.Image.Transpose.ROTATE_180,
    4: PIL.Image.Transpose.FLIP_TOP_BOTTOM,
    5: PIL.Image.Transpose.TRANSPOSE,
    6: PIL.Image.Transpose.ROTATE_90,
    7: PIL.Image.Transpose.TRANSVERSE,
    8: PIL.Image.Transpose.ROTATE_270,
}
"""Turn of the pixels that each value of `Orientation` takes back."""


def seen(folder: Path, found: PhotoImport) -> Image:
    index = folder.with_name(f"{folder.name}.photos.json")
    write_index(index, PhotoIndex(title="Seen", folder=folder.name, photos=found.photos))
    view = open_city(str(index)).streetview.view(found.photos[0].file, Camera(0, 0, 40, 100, 100))
    return view.pixels


@pytest.mark.parametrize("orientation", range(1, 9))
def test_views_and_fields_of_view_are_those_of_the_picture_turned_upright(
    tmp_path: Path, orientation: int
) -> None:
    stored = PIL.Image.fromarray(UPRIGHT)
    if orientation in STORED:
        stored = stored.transpose(STORED[orientation])
    file = tmp_path / "p" / "a.jpg"
    write_photo(file, np.asarray(stored), HERE, heading=0, focal_35mm=28, orientation=orientation)
    found = import_photos(tmp_path / "p")
    assert found.photos[0].fov == pytest.approx(46.4, abs=0.1)
    view = seen(tmp_path / "p", found)
    assert view[5, 50] == pytest.approx(UPRIGHT[0, 0], abs=12)
    assert view[95, 50] == pytest.approx(UPRIGHT[-1, 0], abs=12)


def test_a_photograph_whose_name_fits_no_index_is_named(tmp_path: Path) -> None:
    for name in ("a", "caf\udce9"):
        write_photo(tmp_path / "p" / f"{name}.jpg", GREY, HERE)
    done = CliRunner().invoke(app, ["import", "photos", str(tmp_path / "p")])
    assert done.exit_code == 0, done.output
    assert "left out: 1 (a name that is not UTF-8): caf\ufffd.jpg" in " ".join(done.output.split())


@pytest.mark.parametrize("south", ["South", "south", "S", b"S"])
@pytest.mark.parametrize("east", ["East", "E\0"])
def test_hemispheres_may_be_words(tmp_path: Path, south: str | bytes, east: str) -> None:
    fields = {GPS.GPSLatitudeRef: south, GPS.GPSLongitudeRef: east}
    write_photo(tmp_path / "a.jpg", GREY, HERE, gps_fields=fields)
    assert import_photos(tmp_path).photos[0].position == pytest.approx(HERE)


@pytest.mark.parametrize("missing", [GPS.GPSLatitudeRef, GPS.GPSLongitudeRef])
def test_photographs_without_a_hemisphere_are_counted_and_named(tmp_path: Path, missing: int) -> None:
    for name, fields in (("a", {}), ("b", {missing: None}), ("c", {missing: "?"})):
        write_photo(tmp_path / "p" / f"{name}.jpg", GREY, HERE, gps_fields=fields)
    done = CliRunner().invoke(app, ["import", "photos", str(tmp_path / "p")])
    assert done.exit_code == 0, done.output
    told = " ".join(done.output.split())
    assert "1 photograph in 1 sequence" in told
    assert "left out: 2 (no GPSLatitudeRef or GPSLongitudeRef): b.jpg, c.jpg" in told


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ({GPS.GPSImgDirectionRef: "T"}, 90.0),
        ({GPS.GPSImgDirectionRef: "M"}, 90.0 + 14.94),  # the declination of Seattle in May 2026
        ({GPS.GPSImgDirectionRef: "Magnetic"}, 90.0 + 14.94),
    ],
)
def test_headings_by_a_compass_are_corrected_to_true_north(
    tmp_path: Path, told: Mapping[int, object], wanted: float
) -> None:
    write_photo(tmp_path / "a.jpg", GREY, LatLng(47.6205, -122.3493), heading=90, gps_fields=told)
    assert import_photos(tmp_path).photos[0].heading == pytest.approx(wanted, abs=0.1)


@pytest.mark.parametrize(
    ("spot", "taken"),
    [
        (LatLng(47.6, -122.3), MORNING.replace(year=2005)),
        (LatLng(47.6, -122.3), None),
        (LatLng(86, 140), MORNING),
    ],
)
def test_a_compass_that_cannot_be_corrected_is_unknown(
    tmp_path: Path, spot: LatLng, taken: datetime | None
) -> None:
    for number in range(2):
        moved = destination(spot, 200.0, 9.0 * number)
        fields = {GPS.GPSImgDirectionRef: "M"}
        write_photo(tmp_path / f"{number}.jpg", GREY, moved, heading=90, taken=taken, gps_fields=fields)
    headings = [photo.heading for photo in import_photos(tmp_path).photos]
    assert headings == [pytest.approx(200.0, abs=0.5)] * 2


def test_a_panorama_without_a_compass_looks_the_way_its_neighbours_lie(tmp_path: Path) -> None:
    for number, heading in enumerate((10.0, -1.0, 30.0)):
        spot = destination(HERE, 120.0, 9.0 * number)
        taken = MORNING + seconds(number)
        held = Attitude(heading=heading)
        write_photo(
            tmp_path / f"{number}.jpg", np.full((32, 64, 3), 90, np.uint8), spot, held=held, taken=taken
        )
    headings = [photo.heading for photo in import_photos(tmp_path).photos]
    assert headings == [pytest.approx(wanted, abs=0.5) for wanted in (10, 120, 30)]


@pytest.mark.parametrize(
    "xmp",
    [
        b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>",
        b"<x",
        b"<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>",
        b"<a>" * 8000 + b"</a>" * 8000,
    ],
    ids=["empty", "cut off", "entity", "deep"],
)
def test_a_photograph_with_broken_xmp_keeps_its_other_fields(tmp_path: Path, xmp: bytes) -> None:
    write_photo(tmp_path / "a.jpg", GREY, HERE, heading=90, xmp=xmp)
    assert import_photos(tmp_path).photos[0].heading == 90


@pytest.mark.parametrize("as_elements", [False, True])
def test_positions_are_read_from_xmp(tmp_path: Path, as_elements: bool) -> None:
    fields = {"GPSLatitude": "33,54,0S", "GPSLongitude": "18,24.0E"}
    attributes = "" if as_elements else " ".join(f'exif:{name}="{value}"' for name, value in fields.items())
    elements = "".join(f"<exif:{name}>{value}</exif:{name}>" for name, value in fields.items())
    xmp = (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        f'<rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/" {attributes}>'
        f"{elements if as_elements else ''}</rdf:Description></rdf:RDF></x:xmpmeta>"
    ).encode()
    write_photo(tmp_path / "a.jpg", np.full((32, 64, 3), 90, np.uint8), None, xmp=xmp)
    photo = import_photos(tmp_path).photos[0]
    assert photo.position == pytest.approx(HERE)
    assert photo.fov == 360


def test_no_position_is_known_between_two_segments(tmp_path: Path) -> None:
    spots = [(MORNING + seconds(10 * number), destination(HERE, 60.0, 20.0 * number)) for number in range(4)]
    write_track(tmp_path / "t.gpx", spots[:2], spots[2:])
    for moment in (5, 15, 25):
        write_photo(tmp_path / "p" / f"{moment}.jpg", GREY, None, taken=MORNING + seconds(moment))
    found = import_photos(tmp_path / "p", track=read_track(tmp_path / "t.gpx"))
    assert [photo.file for photo in found.photos] == ["5.jpg", "25.jpg"]
    assert found.left_out == {"no position and outside the track": ["15.jpg"]}


def test_points_that_lie_nowhere_are_left_out_of_a_track_and_a_far_track_is_not_used(tmp_path: Path) -> None:
    spots = [(MORNING + seconds(10 * number), destination(HERE, 60.0, 20.0 * number)) for number in range(3)]
    write_track(tmp_path / "t.gpx", [spots[0], (MORNING + seconds(5), LatLng(95, 5)), *spots[1:]])
    for name, aside in (("near", 20.0), ("far", 40.0)):
        spot = destination(destination(HERE, 60.0, 10.0), 330.0, aside)
        write_photo(tmp_path / "p" / name / "0.jpg", GREY, spot, taken=MORNING + seconds(5))
    found = import_photos(tmp_path / "p", track=read_track(tmp_path / "t.gpx"))
    headings = {photo.file: photo.heading for photo in found.photos}
    assert headings == {"near/0.jpg": pytest.approx(60.0, abs=0.5), "far/0.jpg": 0.0}
    done = CliRunner().invoke(
        app, ["import", "photos", str(tmp_path / "p"), "--track", str(tmp_path / "t.gpx")]
    )
    told = " ".join(done.output.split())
    assert "track not used: 1 (farther than 30 m from the position of the photograph): far/0.jpg" in told
    assert "left out of the track: 1 point" in told


@pytest.mark.parametrize(
    "name",
    [b"new\nline.jpg", b"-rf.jpg", b"a b/c d.jpg", b"\x1b[31m.jpg", b"a" * 251 + b".jpg", b"\xff\xfe.jpg"],
)
def test_odd_names_of_files_are_read_or_left_out(name: bytes, tmp_path: Path) -> None:
    write_photo(tmp_path / "p" / "plain.jpg", GREY, HERE)
    odd = tmp_path / "p" / os.fsdecode(name)
    odd.parent.mkdir(exist_ok=True)
    odd.write_bytes((tmp_path / "p" / "plain.jpg").read_bytes())
    os.mkfifo(tmp_path / "p" / "pipe.jpg")
    found = import_photos(tmp_path / "p")
    assert len(found.photos) == 1 + (b"\xff" not in name)
    assert found.left_out == ({"a name that is not UTF-8": ["\ufffd\ufffd.jpg"]} if b"\xff" in name else {})
    assert photographs_in([tmp_path / "p"]) == sorted((tmp_path / "p" / "plain.jpg", odd))
