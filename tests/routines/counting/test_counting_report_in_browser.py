"""The page of a counting run in a real browser: map, heat map, and each thing with its views."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from headless import chromium, needs_chromium
from made_street import cover
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from virl.journal.report import write_report
from virl.routines.counting import showing

pytestmark = [pytest.mark.browser, needs_chromium]


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as driver:
        driver.set_window_size(1300, 1000)
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [still]})
        yield driver
        assert log_of(driver) == []


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cover(tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture
def page(browser: webdriver.Chrome, run: Path) -> Path:
    path = write_report(run)
    browser.get("about:blank")
    browser.get(path.as_uri())
    return path


def log_of(browser: webdriver.Chrome) -> list[dict[str, str]]:
    entries: list[dict[str, str]] = browser.get_log("browser")  # type: ignore[no-untyped-call]
    return entries


def dialog(browser: webdriver.Chrome) -> WebElement:
    return browser.find_element(By.ID, "look")


def shown_widths(browser: webdriver.Chrome) -> list[int]:
    """Pixels of the pictures in the dialog, once all have loaded."""
    pictures = "[...document.querySelectorAll('#look img')]"
    WebDriverWait(browser, 10).until(
        lambda _: browser.execute_script(f"return {pictures}.every((one) => one.complete)")
    )
    widths: list[int] = browser.execute_script(f"return {pictures}.map((one) => one.naturalWidth)")
    return widths


def test_a_thing_in_the_list_opens_with_its_views_and_reasons(browser: webdriver.Chrome, page: Path) -> None:
    browser.find_elements(By.CSS_SELECTOR, ".find a")[0].click()
    assert dialog(browser).is_displayed()
    text = dialog(browser).text
    assert "new: nothing known is near" in text
    assert "the same: geometry" in text
    assert "From panorama p" in text
    widths = shown_widths(browser)
    assert len(widths) == 2 * len(browser.find_elements(By.CSS_SELECTOR, "#look .sights > li"))
    assert min(widths) > 10


def test_arrows_turn_to_the_next_thing_and_escape_closes(browser: webdriver.Chrome, page: Path) -> None:
    titles = [one.text for one in browser.find_elements(By.CSS_SELECTOR, ".find b")]
    browser.find_elements(By.CSS_SELECTOR, ".find a")[0].click()
    dialog(browser).send_keys(Keys.ARROW_RIGHT)
    assert browser.find_element(By.ID, "look-title").text.lower() == titles[1]
    dialog(browser).send_keys(Keys.ESCAPE)
    assert not dialog(browser).is_displayed()
    assert "#" not in browser.current_url


def test_a_mark_on_the_map_opens_its_thing(browser: webdriver.Chrome, page: Path) -> None:
    mark = browser.find_elements(By.CSS_SELECTOR, "a.thing")[2]
    mark.send_keys(Keys.ENTER)
    title = browser.find_element(By.ID, "look-title").text.lower()
    named, _, sigma = (mark.get_attribute("aria-label") or "").partition(", ")
    assert title == named
    assert sigma.startswith("±")


def heat(browser: webdriver.Chrome) -> list[str]:
    return [
        one.get_attribute("points") or "" for one in browser.find_elements(By.CSS_SELECTOR, "#heat polygon")
    ]


def test_the_heat_map_follows_the_level_and_the_kinds(browser: webdriver.Chrome, page: Path) -> None:
    city, ramp = heat(browser), browser.find_element(By.CSS_SELECTOR, ".ramp")
    assert city
    assert "things per hectare, in hexagons of 100 m" in ramp.text
    browser.find_element(By.CSS_SELECTOR, '[data-level="2"]').click()
    assert "hexagons of 25 m" in ramp.text
    assert len(heat(browser)) > len(city)
    for box in browser.find_elements(By.CSS_SELECTOR, ".kinds input")[:2]:
        box.click()
    assert heat(browser) == [], "no fire hydrant was found"
    assert not browser.find_element(By.CSS_SELECTOR, ".find").is_displayed()
    browser.find_element(By.CSS_SELECTOR, '.levels [data-level=""]').click()
    assert not ramp.is_displayed()


def test_pictures_beside_a_large_run_are_shown(
    browser: webdriver.Chrome, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(showing, "EMBEDDED_VIEWS", 0)
    browser.get(write_report(run).as_uri())
    browser.find_elements(By.CSS_SELECTOR, ".find a")[0].click()
    assert min(shown_widths(browser)) > 100


def test_a_large_page_that_was_moved_says_which_picture_is_not_there(
    browser: webdriver.Chrome, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(showing, "EMBEDDED_VIEWS", 0)
    moved = tmp_path / "mailed.html"
    shutil.copy(write_report(run), moved)
    browser.get(moved.as_uri())
    browser.find_elements(By.CSS_SELECTOR, ".find a")[0].click()
    WebDriverWait(browser, 10).until(lambda _: "is not beside this page" in dialog(browser).text)
    entries = log_of(browser)
    assert all("ERR_FILE_NOT_FOUND" in entry["message"] for entry in entries)
