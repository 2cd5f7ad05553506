from pathlib import Path

import pytest
from headless import chromium, needs_chromium
from made_exhibits import keep_made_choice
from made_run import keep_made_run
from selenium.webdriver.common.by import By
from test_report_in_browser import LONG, overflow, show

from virl.journal.gallery import write_gallery
from virl.journal.report import write_report

pytestmark = [pytest.mark.browser, needs_chromium]


def test_it_opens_without_an_error_fits_and_leads_to_the_reports(tmp_path: Path) -> None:
    write_report(keep_made_run(tmp_path / "runs" / "hiro", size=320))
    keep_made_choice(tmp_path / "runs" / "aria", LONG[:100])
    [page], _, _ = write_gallery([tmp_path / "runs"], tmp_path / "runs" / "gallery.html")
    with chromium() as browser:
        for width, dark in ((1280, False), (390, True)):
            show(browser, page, width, dark=dark)
            assert browser.get_log("browser") == []
            assert overflow(browser) == 0
            pictures = browser.find_elements(By.CSS_SELECTOR, ".picture")
            assert [round(one.size["width"] / one.size["height"], 2) for one in pictures] == [1.33, 1.33]
        browser.find_element(By.CSS_SELECTOR, ".run a").click()
        assert browser.title == "Hiro in testville"
