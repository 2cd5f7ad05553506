from pathlib import Path

import pytest
from headless import needs_chromium, overflow, show
from made_run import keep_made_run, made_city
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from virl.journal import film, report
from virl.journal.report import write_report

HOSTILE = """</title></style></svg>'"><script>document.title="owned"</script><img src=x onerror=alert(1)>"""
LONG = "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch" * 3

pytestmark = [pytest.mark.browser, needs_chromium]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(keep_made_run(tmp_path_factory.mktemp("runs") / "run", size=320), made_city())


@pytest.mark.parametrize("width", [1280, 390, 360])
@pytest.mark.parametrize("dark", [False, True])
def test_it_opens_without_an_error_and_fits(
    browser: webdriver.Chrome, page: Path, width: int, dark: bool
) -> None:
    show(browser, page, width, dark=dark)
    assert browser.get_log("browser") == []
    assert overflow(browser) == 0
    chart = browser.find_element(By.ID, "chart")
    assert chart.size["width"] > 0.38 * min(width, 1100)
    views = browser.find_elements(By.CSS_SELECTOR, ".film .frame img")
    assert len(views) == 27
    widths = [int(view.get_property("naturalWidth") or 0) for view in views]
    assert {width: widths.count(width) for width in widths} == {320: 27}
    background = browser.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")
    assert ("22, 24, 26" in background) == dark


def test_views_stand_in_one_row_equally_high_key_moments_wider_and_marks_have_their_names(
    browser: webdriver.Chrome, page: Path
) -> None:
    show(browser, page, 1280)
    for shots in browser.find_elements(By.CSS_SELECTOR, ".shots"):
        assert len({view.location["y"] for view in shots.find_elements(By.CSS_SELECTOR, ".view")}) == 1
    big, small = (
        browser.find_element(By.CSS_SELECTOR, f".strip .view{one}") for one in (".big", ":not(.big)")
    )
    assert big.size["width"] / small.size["width"] == pytest.approx(4 / 3, abs=0.01)
    frames = browser.find_elements(By.CSS_SELECTOR, ".strip .frame")
    assert {frame.size["height"] for frame in frames} == {144}
    size = "parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a"
    named = f"return [...document.querySelectorAll('#shown .boxes text')].map((one) => {size})"
    assert browser.execute_script(named) == pytest.approx([11.0], abs=0.1)
    labels = browser.find_elements(By.CSS_SELECTOR, "#chart .label:not(.scale, .no-room)")
    assert {"Start", "Noodle Bar Mei"} <= {one.text for one in labels}


def test_the_picture_is_16_to_10_and_the_map_as_high_as_its_card(
    browser: webdriver.Chrome, page: Path
) -> None:
    show(browser, page, 1280)
    sizes = (browser.find_element(By.CSS_SELECTOR, css).size for css in ("#shown .frame", "#shown", "#chart"))
    frame, card, chart = sizes
    assert frame["width"] / frame["height"] == pytest.approx(1.6, abs=0.01)
    assert 620 < frame["width"] < 650
    assert chart["height"] == pytest.approx(card["height"], abs=1)


def test_a_coarse_picture_is_shown_no_larger_than_it_is(
    browser: webdriver.Chrome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(film, "SHARP", ((720, 70),))
    monkeypatch.setattr(report, "MOST_PAGE", 300_000)
    show(browser, write_report(keep_made_run(tmp_path / "run", size=640)), 1280)
    browser.find_element(By.CSS_SELECTOR, ".film .view:not(.big) .frame").click()
    shown = browser.find_element(By.CSS_SELECTOR, "#shown img")
    assert shown.size["width"] <= int(shown.get_property("naturalWidth") or 0)


def test_a_mark_leads_to_its_step_and_opens_what_is_folded(browser: webdriver.Chrome, page: Path) -> None:
    show(browser, page, 1280)
    quiet = browser.find_element(By.ID, "step-5")
    assert not quiet.is_displayed()
    browser.find_element(By.CSS_SELECTOR, 'a.mark[href="#step-5"] circle:not(.hit)').click()
    assert quiet.is_displayed()
    browser.find_element(By.CSS_SELECTOR, 'a.mark[href="#step-15"]').send_keys(Keys.ENTER)
    assert browser.current_url.endswith("#step-15")
    top = browser.execute_script("return document.getElementById('step-15').getBoundingClientRect().top")
    assert -1 < top < 850


def test_keys_and_marks_show_a_view_large_and_mark_its_spot(browser: webdriver.Chrome, page: Path) -> None:
    show(browser, page, 1280)

    def large() -> str:
        return browser.find_element(By.CSS_SELECTOR, "#shown .spot").text

    assert large().startswith("Step 20")
    browser.find_element(By.CSS_SELECTOR, ".film .chosen .frame").send_keys(Keys.ARROW_LEFT * 4)
    assert large().startswith("Step 15")
    marked = browser.find_elements(By.CSS_SELECTOR, "a.mark.shown")
    assert {mark.get_dom_attribute("href") for mark in marked} == {"#step-15"}
    browser.execute_script("document.querySelector('a.mark[href=\"#step-3\"]').focus()")
    assert large().startswith("Step 3")


def test_keys_go_through_the_log_and_words_narrow_it(browser: webdriver.Chrome, page: Path) -> None:
    show(browser, page, 1280)
    body = browser.find_element(By.TAG_NAME, "body")
    body.send_keys("jj")
    assert "quiet steps" in browser.switch_to.active_element.text
    body.send_keys("/")
    browser.switch_to.active_element.send_keys("Napoli")
    shown = [one for one in browser.find_elements(By.CSS_SELECTOR, "#log .entry") if one.is_displayed()]
    assert [one.get_dom_attribute("id") for one in shown] == ["step-11"]


def test_the_map_zooms_and_comes_back(browser: webdriver.Chrome, page: Path) -> None:
    show(browser, page, 1280)
    chart = browser.find_element(By.ID, "chart")
    whole = chart.get_dom_attribute("viewBox")
    browser.find_element(By.CSS_SELECTOR, "[aria-label='Zoom in']").click()
    near = chart.get_dom_attribute("viewBox")
    assert whole is not None
    assert near is not None
    assert float(near.split()[2]) == pytest.approx(0.66 * float(whole.split()[2]), rel=1e-3)
    browser.find_element(By.CSS_SELECTOR, "[aria-label='Show the whole walk']").click()
    assert chart.get_dom_attribute("viewBox") == whole


def test_it_is_whole_without_scripts(browser: webdriver.Chrome, page: Path) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        show(browser, page, 390)
        assert browser.find_element(By.ID, "chart").is_displayed()
        assert not browser.find_element(By.CSS_SELECTOR, ".zoom").is_displayed()
        assert browser.find_element(By.ID, "step-8").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("shop", [HOSTILE, LONG])
def test_a_wicked_name_does_nothing(browser: webdriver.Chrome, tmp_path: Path, shop: str) -> None:
    page = write_report(keep_made_run(tmp_path / "run", shop=shop, size=64), made_city())
    show(browser, page, 360)
    assert browser.get_log("browser") == []
    assert browser.title == "Hiro in Testville"
    assert browser.find_element(By.CSS_SELECTOR, ".card.place h2").text == shop
    assert overflow(browser) == 0
