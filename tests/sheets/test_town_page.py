"""`virl town`: the page of a twin, of a made city, and of one that has streets only."""

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import PIL.Image
import PIL.ImageColor
import pytest
from headless import needs_chromium, show
from made_benchmark import NAME, Options
from made_graph import write_graph
from real_data import real_data
from rich.console import Console
from selenium import webdriver
from typer.testing import CliRunner
from written_extract import FRAME, NAMED, Writer, box, dated_town

import virl
from virl.bench.episode import Episode
from virl.bench.plan import make_plan
from virl.bench.run import run_benchmark
from virl.cli.main import app
from virl.errors import BadInput
from virl.geo.globe import distance
from virl.pages.theme import colours
from virl.platform.city.city import City
from virl.platform.city.inventory import CityStatistics
from virl.platform.providers import open_city
from virl.platform.providers.graph.city import open_graph_city
from virl.sheets.town import CELL
from virl.sheets.town_page import town_facts, town_map, write_town
from virl.sheets.views import APART_M, BIG_M, HEIGHT, HERO_FOV, WIDTH, town_views, wide_view


@pytest.fixture(scope="module")
def extract(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dated_town(tmp_path_factory.mktemp("osm") / "two-streets.osm.pbf")


@pytest.fixture(scope="module")
def town(extract: Path) -> City:
    return open_city(str(extract))


@pytest.fixture(scope="module")
def virlton() -> City:
    return open_city("virlton")


def test_statistics_say_what_is_there_and_what_was_left_out(town: City) -> None:
    known = town.inventory.statistics()
    assert known.street_m == pytest.approx(550, abs=1)
    assert known.mapped_m == pytest.approx(600, abs=1)
    assert known.dropped_m["cut off from the rest"] == pytest.approx(50, abs=1)
    assert (known.houses, known.houses_with_height) == (2, 1)
    assert known.places_by_type == {"park": 1, "restaurant": 1, "store": 1}
    assert (known.places, known.places_with_sign) == (3, 2)
    assert (known.hours_read, known.hours_unread) == (1, 1)
    assert known.unread == (("Odds & Ends", "whenever we like"),)
    assert known.unmapped == {"shop=unheard_of": 1}
    assert known.furniture == {"trash bin": 1}
    assert known.incomplete == 0


def test_heights_that_cannot_be_read_are_counted_and_named(tmp_path: Path) -> None:
    town = Writer(tmp_path / "town.osm.pbf")
    town.way((-200, 0), (200, 0), highway="residential", name="Main Street")
    for number, height in enumerate(("1e9", "1e9", "<b>tall</b>", "12 ft", "9")):
        town.way(*box(30.0 * number, 8, 30.0 * number + 20, 30), building="yes", height=height)
    town.way(*box(-60, 8, -40, 30), building="yes", height="-3", building__levels="3")
    town.close()
    city = open_city(str(tmp_path / "town.osm.pbf"))
    known = city.inventory.statistics()
    assert known.heights_unread == {"height=1e9": 2, "height=-3": 1, "height=<b>tall</b>": 1}
    assert known.houses_with_height == 3
    write_town(city, tmp_path / "town.html", views=0)
    page = (tmp_path / "town.html").read_text(encoding="utf-8")
    assert "Heights that cannot be read" in page
    assert "height=&lt;b&gt;tall" in page
    assert "<b>tall" not in page


def test_a_made_city_counts_what_it_has(virlton: City) -> None:
    known = virlton.inventory.statistics()
    assert known.places == known.places_with_sign == 794
    assert known.houses_with_height is known.mapped_m is known.incomplete is None
    assert sum(known.furniture.values()) == len(virlton.truth.things())
    facts = dict(town_facts(virlton).streets)
    assert facts["In the largest connected part"] == "3,107 (100 %)"
    assert not any(fact.startswith("Left out") for fact in facts)


@pytest.mark.slow
def test_the_views_are_those_of_the_seed_and_keep_apart(virlton: City) -> None:
    def where(seed: int) -> list[tuple[str, float]]:
        return [(view.panorama.id, view.camera.heading) for view in town_views(virlton, 6, seed)]

    assert where(3) == where(3) != where(4)
    shown = [view.panorama.position for view in town_views(virlton, 6, 3)]
    apart = [distance(one, other) for one in shown for other in shown if one != other]
    assert min(apart) > 150
    assert [one.lat for one in shown] == sorted((one.lat for one in shown), reverse=True)
    assert town_views(virlton, 0, 0) == []


@pytest.mark.slow
def test_no_moving_car_stands_in_the_way_of_a_view(virlton: City) -> None:
    for view in town_views(virlton, 8, 3):
        camera = replace(view.camera, fov=HERO_FOV)
        cars = virlton.truth.visible(view.panorama.id, camera, kinds={"car"})
        assert all(car.distance >= BIG_M for car in cars)


def test_the_best_views_have_houses_signs_and_an_open_road(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "street.osm.pbf")
    writer.way((-300, 0), (300, 0), highway="residential", name="Main Street")
    for x in range(100, 290, 20):  # the other half of the street lies in fields
        for y in (9, -24):
            writer.way(*box(x, y, x + 19, y + 15), building="yes", building__levels="3")
        writer.node(x + 9, 11, shop="bakery", name=f"Bakery {x}")
    writer.close()
    city = open_city(str(tmp_path / "street.osm.pbf"))
    (best,) = town_views(city, 1, 0)
    east, _ = FRAME.point(best.panorama.position)
    assert 80 < east < 280
    assert best.title.startswith("Main Street, looking ")
    wide = wide_view(city, best)
    assert wide.pixels.shape[:2] == (420, 1120)


def test_no_two_views_stand_at_one_spot_or_have_one_title(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "long.osm.pbf")
    writer.way((-300, 0), (300, 0), highway="residential", name="Main Street")
    for x, name in ((-300, "West Lane"), (300, "East Lane")):
        writer.way((x, 0), (x, 60), highway="residential", name=name)
    writer.close()
    shown = town_views(open_city(str(tmp_path / "long.osm.pbf")), 200, 0)
    assert len({view.title for view in shown}) == len(shown)
    assert any("Main Street near West Lane" in view.title for view in shown)
    spots = [view.panorama.position for view in shown]
    assert min(distance(one, other) for one, other in itertools.combinations(spots, 2)) >= APART_M


def test_a_park_is_named_after_the_place_in_it(virlton: City) -> None:
    names = {name.text for name in town_map(virlton).paper.names if name.kind == "area"}
    assert names <= {place.name for place in virlton.inventory.places() if "park" in place.types}
    assert names


def test_the_map_holds_the_town(town: City) -> None:
    drawn = town_map(town)
    assert drawn.paper.height / drawn.paper.pixel == pytest.approx(720)
    shapes = {layer.kind: layer.shapes for layer in drawn.paper.layers}
    assert len(shapes["house"]) == 2
    assert sorted(symbol for symbol, *_ in drawn.paper.places) == ["bag", "food", "garden"]
    frame = drawn.paper.frame
    left, top = drawn.paper.left, drawn.paper.top
    for x, y in ((-200, 0), (200, 0), (0, 150)):
        east, north = frame.point(FRAME.position(x, y))
        assert 0 < east - left < drawn.paper.width
        assert 0 < -north - top < drawn.paper.height


@pytest.mark.browser
@needs_chromium
def test_the_map_fills_its_card_beside_what_there_is_to_do(
    browser: webdriver.Chrome, extract: Path, tmp_path: Path
) -> None:
    page = tmp_path / "town.html"
    write_town(open_city(str(extract)), page, views=0)
    page.write_text(page.read_text("utf-8").replace('class="town-map"', 'class="town-map beside"'), "utf-8")
    show(browser, page, 1280)
    bottom = "return document.querySelector(arguments[0]).getBoundingClientRect().bottom"
    browser.execute_script("document.querySelector('.todo').style.minHeight = '1500px'")
    card, legend, words = (
        browser.execute_script(bottom, one) for one in ("#map", "#map .legend", "#map .paper")
    )
    assert card - legend < 20
    assert legend - words < 150


def test_the_command_writes_one_page_that_names_its_source(extract: Path, tmp_path: Path) -> None:
    out = tmp_path / "pages" / "town.html"
    done = CliRunner().invoke(app, ["town", str(extract), "--out", str(out), "--views", "2", "--seed", "5"])
    assert done.exit_code == 0, done.output
    assert done.stderr == f"reading {extract}, then drawing 2 views\n"
    assert done.stdout == f"Two Streets, 2 views: {out}\n"
    page = out.read_text(encoding="utf-8")
    assert page.count(NAMED) >= 2
    assert "Open Database License" in page
    assert page.count("data:image/jpeg;base64,") == 3  # the best one is at the head
    assert f'width="{WIDTH}" height="{HEIGHT}"' in page
    assert set(re.findall(r'href="#(view-\d)"', page)) == {"view-1", "view-2", "view-3"}
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)
    assert "whenever we like" in page
    assert "shop=unheard_of" in page
    assert f"virl run hiro --city {extract}" in page


@pytest.mark.slow
def test_a_picture_sheet_shows_the_views_beside_a_map(extract: Path, tmp_path: Path) -> None:
    out = tmp_path / "sheet.png"
    words = ["town", str(extract), "--views", "3", "--seed", "5", "--sheet"]
    done = CliRunner().invoke(app, [*words, str(out)])
    assert done.exit_code == 0, done.output
    assert done.stdout == f"Two Streets, 3 views: {out}\n"
    assert list(tmp_path.iterdir()) == [out]  # no page beside it
    with PIL.Image.open(out) as sheet:
        pixels = np.asarray(sheet.convert("RGB"))
    wide = pixels.shape[1] - 2 * (CELL[0] + 8)
    house = np.array(PIL.ImageColor.getrgb(colours()["house"]))
    assert (np.abs(pixels[:, :wide].astype(int) - house).max(axis=2) < 3).mean() > 0.002
    mark = np.array(PIL.ImageColor.getrgb(colours()["route"]))
    assert (np.abs(pixels[:, :wide].astype(int) - mark).max(axis=2) < 3).sum() > 3 * 60
    assert (pixels[:40, -400:] < 100).any()  # the credit, at the right of the head
    assert pixels[100:400, -CELL[0] : -20].std() > 20  # a view
    done = CliRunner().invoke(app, [*words, str(tmp_path / "sheet.gif")])
    assert done.exit_code == 2
    assert "a picture sheet is a .png, .jpg, .jpeg file" in done.stderr.splitlines()[-1]


def test_a_part_of_an_extract_has_its_page_too(extract: Path, tmp_path: Path) -> None:
    here = f"{FRAME.origin.lat},{FRAME.origin.lng}"
    words = ["town", str(extract), "--around", here, "--radius", "210", "--out", str(tmp_path / "part.html")]
    done = CliRunner().invoke(app, [*words, "--views", "0"])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "part.html").read_text(encoding="utf-8")
    assert "<dt>Area</dt><dd>17.6 ha</dd>" in page
    assert not re.search(r">[\d,]+\.\d\d+ (k?m|km²|ha)\b", page)


def test_a_city_without_pictures_has_a_page_without_views(tmp_path: Path) -> None:
    nodes = ("a,0,40.0,-74.0", "b,0,40.0001,-74.0", "c,0,40.0002,-74.0")
    write_graph(tmp_path / "graph", nodes, ("a,0,b", "b,180,a", "b,0,c"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIRL_CACHE", str(tmp_path / "cache"))
        city = open_graph_city("corner", "Corner", tmp_path)
    assert write_town(city, tmp_path / "corner.html") == 0
    page = (tmp_path / "corner.html").read_text(encoding="utf-8")
    assert "There are no pictures of this city here." in page
    assert "3 (100 %)" in page
    assert "Houses" not in page


def test_what_cannot_have_a_page_is_one_line(town: City, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="virl reads Tokyo panorama by panorama"):
        write_town(replace(town, title="Tokyo", street_map=None), tmp_path / "tokyo.html")
    for words, said in (
        (["nowhere.osm.pbf"], "no such file"),
        (["virlton", "--around", "60,20"], "are for an OpenStreetMap extract, not for 'virlton'"),
        (["virltn"], "did you mean 'virlton'?"),
    ):
        done = CliRunner().invoke(app, ["town", *words, "--out", str(tmp_path / "town.html")])
        assert done.exit_code == 2
        assert said in done.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_gallery_names_whoever_mapped_the_town(extract: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    words = ["run", "hiro", "--city", str(extract), "--set", "limits.steps=3", "--out", str(runs / "hiro")]
    assert CliRunner().invoke(app, words).exit_code == 0
    done = CliRunner().invoke(app, ["gallery", str(runs), "--out", str(tmp_path / "gallery.html")])
    assert done.exit_code == 0, done.output
    gallery = (tmp_path / "gallery.html").read_text(encoding="utf-8")
    assert NAMED in gallery
    assert "two-streets</bdi>" in gallery


def test_a_benchmark_names_whoever_mapped_its_cities(town: City, tmp_path: Path) -> None:
    out = tmp_path / "bench"
    run_benchmark(NAME, Options(cities=("north",), count=1), out, Console(quiet=True))
    plan = json.loads((out / "plan.json").read_text())
    assert plan["cities"]["north"]["attribution"] == ""
    pages = [out / "report.html", *out.glob("episodes/*/index.html")]
    assert len(pages) == 3
    assert not any("Maps, views and places:" in page.read_text() for page in pages)
    cities = make_plan([Episode("case 0", "north", "sharp", {})], {"north": town}).cities
    plan["cities"]["north"] = cities["north"].model_dump(mode="json")
    (out / "plan.json").write_text(json.dumps(plan))
    assert CliRunner().invoke(app, ["bench", "report", str(out)]).exit_code == 0
    assert all(f"Maps, views and places: {NAMED}." in page.read_text() for page in pages)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["helsinki.osm.pbf", "moscow.osm.gz"])
def test_a_real_town_has_a_page(name: str, tmp_path: Path) -> None:
    city = open_city(str(real_data("osm") / name))
    assert write_town(city, tmp_path / "town.html", views=3) == 3
    known = city.inventory.statistics()
    assert known.houses_with_height < known.houses
    left = known.mapped_m - known.dropped_m["through a house"] - known.dropped_m["cut off from the rest"]
    assert known.street_m == pytest.approx(left, rel=0.1)
    assert (tmp_path / "town.html").stat().st_size < 3_000_000


def test_hours_that_cannot_be_read_are_named_and_the_rest_is_counted(town: City) -> None:
    assert town.inventory

    class Many:
        def statistics(self) -> CityStatistics:
            unread = tuple((f"Shop {number:02d}", "now and then " * 40) for number in range(23))
            return replace(town.inventory.statistics(), unread=unread, hours_unread=23)

    (table,) = (
        one
        for one in town_facts(replace(town, inventory=Many())).exhibits
        if one.title == "Opening hours that cannot be read"
    )
    assert [row[0] for row in table.rows] == [f"Shop {number:02d}" for number in range(20)]
    assert all(len(row[1]) <= 200 for row in table.rows)
    assert table.note.endswith("And 3 more.")


def test_pages_tables_and_plans_say_what_is_invented(extract: Path, tmp_path: Path) -> None:
    city = open_city(f"{extract}@invented")
    said = f"{NAMED}; reviews, ratings, prices and homes to rent are invented"
    write_town(city, tmp_path / "town.html", views=0)
    assert said in (tmp_path / "town.html").read_text(encoding="utf-8")
    plan = make_plan([Episode("one", city.name, "model")], {city.name: city})
    assert plan.cities[city.name].attribution == said
    assert {frame.attrs["attribution"] for frame in virl.to_geodataframes(city).values()} == {said}
