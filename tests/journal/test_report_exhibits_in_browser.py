from pathlib import Path

import pytest
from headless import needs_chromium, overflow, show
from made_exhibits import keep_made_choice
from made_run import made_city
from selenium import webdriver
from selenium.webdriver.common.by import By
from test_report_in_browser import HOSTILE, LONG

from virl.journal import report
from virl.journal.report import write_report
from virl.pages.exhibits import TableExhibit
from virl.pages.ground import MapGround
from virl.pages.page import draw_exhibits

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


def test_of_a_long_table_the_first_rows_stand_open(browser: webdriver.Chrome, tmp_path: Path) -> None:
    table = TableExhibit(title="Homes", columns=("rank",), rows=tuple((row,) for row in range(15)), picked=7)
    drawn = {"exhibits": draw_exhibits([table], MapGround())}
    (tmp_path / "cards.html.j2").write_text(
        "{% extends 'shell.html.j2' %}{% from 'exhibits.html.j2' import exhibit_cards with context %}"
        "{% block body %}<main><h1>Homes</h1>{{ exhibit_cards(exhibits) }}</main>{% endblock %}"
    )
    page = tmp_path / "page.html"
    page.write_text(report.page("cards.html.j2", drawn, styles=report.STYLES, folder=tmp_path))
    show(browser, page, 390)
    rows = browser.find_elements(By.CSS_SELECTOR, "tbody tr")
    assert [row.is_displayed() for row in rows] == [number < 5 or number == 7 for number in range(15)]
    browser.find_element(By.CSS_SELECTOR, "summary").click()
    assert all(row.is_displayed() for row in rows)


@pytest.mark.parametrize("name", [HOSTILE, LONG])
def test_a_wicked_name_in_an_exhibit_does_nothing(
    browser: webdriver.Chrome, tmp_path: Path, name: str
) -> None:
    show(browser, write_report(keep_made_choice(tmp_path / "run", name[:200]), made_city()), 360)
    assert browser.get_log("browser") == []
    assert browser.title == "Aria in Testville"
    assert overflow(browser) == 0
