import json
from pathlib import Path

import pytest
from headless import needs_chromium, overflow, show
from made_benchmark import MIDDLE, NAME, Options
from rich.console import Console
from selenium import webdriver
from selenium.webdriver.common.by import By

from virl.bench.report.write import write_reports
from virl.bench.run import Engine, run_benchmark

pytestmark = [pytest.mark.browser, needs_chromium]

HOSTILE = """</title></style></svg><script>document.title="owned"</script><img src=x onerror=alert(1)>'\""""
LONG = "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch" * 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    options = Options(text=HOSTILE + LONG, trouble={"case 5": "bug"}, cities=("north",))
    run_benchmark(NAME, options, out, Console(quiet=True), engine=Engine("threads", 2))
    plan = json.loads((out / "plan.json").read_text())
    plan["cities"]["north"]["streets"] = [[[MIDDLE.lat, MIDDLE.lng], [MIDDLE.lat + 0.001, MIDDLE.lng]]]
    (out / "plan.json").write_text(json.dumps(plan))
    write_reports([out], Console(quiet=True))
    return out


def assert_sound(browser: webdriver.Chrome) -> None:
    assert browser.get_log("browser") == []
    assert browser.title != "owned"
    assert overflow(browser) == 0


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_the_report_opens_without_an_error_and_fits(
    browser: webdriver.Chrome, folder: Path, width: int, dark: bool
) -> None:
    show(browser, folder / "report.html", width, dark=dark)
    assert_sound(browser)
    assert len(browser.find_elements(By.CSS_SELECTOR, "#results tbody tr")) == 2
    assert len(browser.find_elements(By.CSS_SELECTOR, ".map")) == 1
    rows = browser.find_elements(By.CSS_SELECTOR, ".dotted:not(.many) tbody tr:not(.part)")
    assert ["hollow" in (row.get_dom_attribute("class") or "") for row in rows] == [False, False, True]
    ours, paper = (
        row.find_element(By.CSS_SELECTOR, ".track circle").rect["x"]
        - row.find_element(By.CSS_SELECTOR, ".track").rect["x"]
        for row in (rows[0], rows[2])
    )
    track = rows[0].find_element(By.CSS_SELECTOR, ".track").rect["width"]
    assert paper + 5.5 == pytest.approx(0.413 * track, abs=3)
    assert ours > paper, "on one axis"
    rims = {
        tile.get_dom_attribute("class"): tile.find_element(By.CSS_SELECTOR, ".chart").value_of_css_property(
            "border"
        )
        for tile in browser.find_elements(By.CSS_SELECTOR, ".grid-of li")
    }
    assert set(rims) == {"right", "wrong"}
    assert "dashed" in rims["wrong"], "a miss differs by more than its colour"
    assert "solid" in rims["right"]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_dot_leads_to_its_episode_with_picture_and_box(
    browser: webdriver.Chrome, folder: Path, width: int
) -> None:
    show(browser, folder / "report.html", width)
    link = browser.find_elements(By.CSS_SELECTOR, ".map a")[-1]
    browser.get((folder / (link.get_dom_attribute("href") or "")).as_uri())
    assert_sound(browser)
    picture = browser.find_element(By.CSS_SELECTOR, ".frame img")
    assert browser.execute_script("return arguments[0].naturalWidth", picture) == 64
    box = browser.find_element(By.CSS_SELECTOR, ".frame rect").rect
    frame = picture.rect
    assert box["x"] - frame["x"] == pytest.approx(0.1 * frame["width"], abs=3)
    assert box["height"] == pytest.approx(0.7 * frame["height"], abs=4)


def test_a_failed_episode_says_why(browser: webdriver.Chrome, folder: Path) -> None:
    (page,) = folder.glob("episodes/sharp-north-case-5-*/index.html")
    show(browser, page, 1280)
    assert_sound(browser)
    assert "fault <b>in</b> the code" in browser.find_element(By.CSS_SELECTOR, "h1.failed").text
