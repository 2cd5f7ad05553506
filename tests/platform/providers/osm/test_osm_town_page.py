"""`virl town` writes one page about a town."""

from pathlib import Path

from test_osm_twin import Writer, box
from typer.testing import CliRunner

from virl.cli.main import app


def little_town(file: Path) -> Path:
    town = Writer(file)
    town.way((-100, 0), (0, 0), (100, 0), highway="residential", name="Main Street")
    town.way(*box(-60, 8, -20, 25), building="yes", height="9")
    town.way(*box(20, 8, 60, 25), building="yes")
    town.node(-40, 10, amenity="cafe", name="<b>Kahvila</b>")
    town.node(70, 5, amenity="waste_basket")
    town.close()
    return file


def test_it_has_the_map_what_the_town_holds_and_views(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    file = little_town(tmp_path / "little-town.osm.pbf")
    done = CliRunner().invoke(app, ["town", str(file), "--out", str(page), "--views", "2"])
    assert done.exit_code == 0, done.output
    text = page.read_text(encoding="utf-8")
    assert "<title>" in text
    assert "Little Town" in text
    assert "OpenStreetMap contributors" in text
    assert "1 (50.0 %)" in text  # one of two houses has a mapped height
    assert "trash bin" in text
    assert text.count("data:image/jpeg") + text.count("data:image/webp") + text.count("data:image/png") >= 2
    assert "<b>Kahvila</b>" not in text


def test_no_such_file_is_one_line(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["town", str(tmp_path / "none.osm.pbf")])
    assert done.exit_code == 2
    line = done.output.splitlines()[-1]
    assert "no such file" in line
