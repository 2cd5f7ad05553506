"""`virl look`: what models see in photographs."""

import json
from pathlib import Path

import PIL.Image
import pytest
from real_data import real_data
from typer.testing import CliRunner

from virl.cli.main import app
from virl.platform.city.streetview import Camera
from virl.platform.providers.cities import open_city

WORDS = {
    "bank-zh.jpg": ("中国农业银行", "AGRICULTURAL BANK OF CHINA"),
    "institute-zh.jpg": ("土地整治与土壤修复研究中心",),
    "signposts-fr.jpg": ("Mairie du 1", "Palais du LOUVRE", "LES ARTS DÉCORATIFS", "Musée du LOUVRE"),
    "town-sign-en.jpg": ("EPPING", "Twinned with", "Eppingen, Germany"),
}


def looked(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["look", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.slow
def test_words_of_real_photographs_are_read_and_the_bank_is_typed(tmp_path: Path) -> None:
    folder = real_data("photos")
    page = tmp_path / "page.html"
    told = {
        Path(one["file"]).name: one for one in json.loads(looked(str(folder), "--json", "--out", str(page)))
    }
    for name, words in WORDS.items():
        read = " ".join(line["text"] for line in told[name]["lines"])
        for word in words:
            assert word in read
    assert told["bank-zh.jpg"]["detections"][0]["label"] == "bank"
    html = page.read_text(encoding="utf-8")
    assert html.count('src="data:image/jpeg') == 5
    assert "中国农业银行" in html


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A view of a shop front in Virlton, as a photograph."""
    city = open_city("virlton")
    truth, street_map = city.truth, city.street_map
    assert truth is not None
    assert street_map is not None
    stands = [
        (name, Camera(float(heading), 5, 60, 800, 600))
        for name in street_map.panorama_ids()
        for heading in range(0, 360, 60)
    ]
    name, camera = next(
        (name, camera)
        for name, camera in stands
        for sign in truth.visible(name, camera, 2000, kinds={"sign"})
        if sign.visible_fraction > 0.95 and sign.box[3] - sign.box[1] > 40
    )
    file = tmp_path_factory.mktemp("look") / "<b>front & back.png"
    PIL.Image.fromarray(city.streetview.view(name, camera).pixels).save(file)
    return file


@pytest.mark.slow
def test_pages_escape_what_the_world_wrote(front: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    told = json.loads(looked(str(front), "--json", "--out", str(page)))
    assert told[0]["size"] == [800, 600]
    assert told[0]["lines"]
    html = page.read_text(encoding="utf-8")
    assert "<b>front" not in html
    assert "&lt;b&gt;front &amp; back.png" in html


@pytest.mark.slow
def test_it_prints_words_and_things_with_scores(front: Path) -> None:
    lines = looked(str(front)).splitlines()
    assert lines[0].endswith("front & back.png")
    assert all(0 <= float(line.split()[0]) <= 1 for line in lines[1:])


@pytest.mark.parametrize(
    ("name", "told"),
    [("gone.jpg", "no such file"), ("empty", "no pictures here"), ("bad.jpg", "not a readable picture")],
)
def test_what_is_wrong_is_one_line(name: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.jpg").write_bytes(b"no picture")
    done = CliRunner().invoke(app, ["look", str(tmp_path / name)])
    assert done.exit_code == 2
    assert told in done.output.replace("\n", " ")
    assert "Traceback" not in done.output


def test_a_broken_picture_is_named_and_the_others_are_looked_at(tmp_path: Path) -> None:
    for name in ("a.jpg", "c.jpg"):
        PIL.Image.new("RGB", (64, 48), "gray").save(tmp_path / name)
    (tmp_path / "b.jpg").write_bytes(b"no picture")
    done = CliRunner().invoke(app, ["look", str(tmp_path), "--json"])
    assert done.exit_code == 2
    assert "b.jpg: not a readable picture" in done.stderr.replace("\n", " ")
    assert [Path(one["file"]).name for one in json.loads(done.stdout)] == ["a.jpg", "c.jpg"]
