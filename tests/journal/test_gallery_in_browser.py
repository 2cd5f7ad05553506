from pathlib import Path

import pytest
from headless import chromium, needs_chromium, overflow, show
from made_exhibits import keep_made_choice
from made_run import keep_made_run
from selenium.webdriver.common.by import By
from test_report_in_browser import LONG

from virl.journal.gallery import write_gallery
from virl.journal.report import write_report

pytestmark = [pytest.mark.browser, needs_chromium]


def test_it_opens_without_an_error_fits_and_leads_to_the_reports(tmp_path: Path) -> None:
    for name in ("hiro", "again", "more"):
        write_report(keep_made_run(tmp_path / "runs" / name, size=320))
    keep_made_choice(tmp_path / "runs" / "aria", LONG[:100])
    [page], _, _ = write_gallery([tmp_path / "runs"], tmp_path / "runs" / "gallery.html")
    with chromium() as browser:
        for width, dark in ((390, True), (1280, False)):
            show(browser, page, width, dark=dark)
            assert browser.get_log("browser") == []
            assert overflow(browser) == 0
            pictures = browser.find_elements(By.CSS_SELECTOR, ".picture")
            assert [round(one.size["width"] / one.size["height"], 2) for one in pictures] == [1.33] * 4
        cards = browser.find_elements(By.CSS_SELECTOR, "#runs .run")
        assert len({one.rect["y"] for one in cards}) == 1, "four in a row"
        assert {one.size["width"] for one in browser.find_elements(By.CSS_SELECTOR, ".corner")} == {96}
        photos = browser.find_elements(By.CSS_SELECTOR, ".picture > img")
        assert {one.size["height"] for one in photos} == {pictures[0].size["height"]}, (
            "boxes lie on what they frame"
        )
        assert LONG[:100] in browser.find_element(By.ID, "runs").text, "a result is whole"
        browser.find_element(By.XPATH, "//button[text()='finished 1']").click()
        assert [one.is_displayed() for one in cards].count(True) == 1
        browser.find_element(By.XPATH, "//button[text()='finished 1']").click()
        browser.find_element(By.XPATH, "//button[text()='Hiro 3']").click()
        assert [one.is_displayed() for one in cards].count(True) == 3
        browser.find_element(By.CSS_SELECTOR, ".toolbar input").send_keys("aria")
        assert [one.is_displayed() for one in cards].count(True) == 0, "both narrow"
        browser.find_element(By.CSS_SELECTOR, ".toolbar input").clear()
        browser.find_element(By.CSS_SELECTOR, ".toolbar option[value='who']").click()
        titles = [one.text for one in browser.find_elements(By.CSS_SELECTOR, "#runs .eyebrow")]
        assert titles == sorted(titles)
        browser.find_element(By.CSS_SELECTOR, ".run a").click()
        assert browser.title == "Hiro in testville"
