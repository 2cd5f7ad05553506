from pathlib import Path

import pytest
from headless import needs_chromium, overflow, show
from made_exhibits import keep_made_choice
from made_run import made_city
from selenium import webdriver
from selenium.webdriver.common.by import By
from test_report_in_browser import HOSTILE, LONG

from virl.journal.report import write_report

pytestmark = [pytest.mark.browser, needs_chromium]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(keep_made_choice(tmp_path_factory.mktemp("runs") / "run"), made_city())


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390, 360])
def test_exhibits_open_without_an_error_and_fit(
    browser: webdriver.Chrome, page: Path, width: int, dark: bool
) -> None:
    show(browser, page, width, dark=dark)
    assert browser.get_log("browser") == []
    assert overflow(browser) == 0
    cards = browser.find_elements(By.CSS_SELECTOR, ".exhibit")
    assert len(cards) == 5
    assert all(card.size["width"] > 0.4 * min(width, 1100) for card in cards)
    bars = browser.find_elements(By.CSS_SELECTOR, ".bars rect:not(.rail)")
    widths = [bar.size["width"] for bar in bars]
    assert widths[1] / widths[0] == pytest.approx(5 / 8, abs=0.03)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_table_is_sorted_by_numbers(browser: webdriver.Chrome, page: Path, width: int) -> None:
    show(browser, page, width)
    rating = browser.find_elements(By.CSS_SELECTOR, ".sortable th button")[1]
    assert rating.size["height"] >= 24

    def column() -> list[str]:
        return [cell.text for cell in browser.find_elements(By.CSS_SELECTOR, ".sortable td:nth-child(2)")]

    rating.click()
    assert column() == ["3", "5", "8"]
    rating.click()
    assert column() == ["8", "5", "3"]
    assert browser.find_element(By.CSS_SELECTOR, ".sortable .picked td").text.startswith("Noodle Bar Mei")


@pytest.mark.parametrize("name", [HOSTILE, LONG])
def test_a_wicked_name_in_an_exhibit_does_nothing(
    browser: webdriver.Chrome, tmp_path: Path, name: str
) -> None:
    show(browser, write_report(keep_made_choice(tmp_path / "run", name[:200]), made_city()), 360)
    assert browser.get_log("browser") == []
    assert browser.title == "Aria in Testville"
    assert overflow(browser) == 0
