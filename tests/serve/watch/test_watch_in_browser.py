"""The page of `virl watch` in a real browser: replay, keys, phone width, dark mode, hostile worlds."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import headless
import pytest
from headless import needs_chromium, overflow, violations
from hostile_texts import aimed
from hostile_world import Beacon
from made_run import keep_made_run, made_city
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from virl.agent.control import Control
from virl.journal.journal import JOURNAL
from virl.journal.walk_map import ground_of
from virl.pages.ground import MapGround
from virl.serve.watch.feed import RunCatalogue, RunFeed
from virl.serve.watch.pages import save_page
from virl.serve.watch.server import serve_page

pytestmark = [pytest.mark.browser, needs_chromium]

PAGES = Path(__file__).parents[2] / "pages"
CHECK = (PAGES / "check.js").read_text(encoding="utf-8")
MARKUP = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
RECORDS = 23  # of the made run: its start, 21 steps and its end


def ground(_: str) -> MapGround:
    return ground_of(made_city())


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return keep_made_run(tmp_path_factory.mktemp("watched") / "run", size=160)


@pytest.fixture(scope="module")
def address(run: Path) -> Iterator[str]:
    with serve_page({0: RunFeed(run, ground)}) as url:
        yield url


def until(browser: webdriver.Chrome, true: Callable[[], object]) -> None:
    WebDriverWait(browser, 60, poll_frequency=0.05).until(lambda _: true())


def show(browser: webdriver.Chrome, url: str, width: int = 1280, *, dark: bool = False) -> None:
    headless.show(browser, url, width, dark=dark)
    until(browser, lambda: len(entries(browser)))


def entries(browser: webdriver.Chrome) -> list[Any]:
    return browser.find_elements(By.CSS_SELECTOR, ".log li")


def text_of(browser: webdriver.Chrome, selector: str) -> str:
    return browser.find_element(By.CSS_SELECTOR, selector).text


def path_length(browser: webdriver.Chrome) -> int:
    """Points of the path that is drawn."""
    path = browser.find_element(By.CSS_SELECTOR, "polyline.path:not(.halo):not(.ghost)")
    return len((path.get_dom_attribute("points") or "").split())


@pytest.mark.parametrize("width", [1400, 1000, 360])
@pytest.mark.parametrize("dark", [False, True])
def test_a_finished_run_is_shown_at_any_width(
    browser: webdriver.Chrome, address: str, width: int, dark: bool
) -> None:
    show(browser, address, width, dark=dark)
    until(browser, lambda: len(entries(browser)) == RECORDS)
    assert browser.title == "Hiro in testville \u00b7 virl watch"
    assert text_of(browser, ".name h2") == "Entered Noodle Bar Mei"
    assert browser.find_element(By.TAG_NAME, "h1").get_attribute("textContent") == "Entered Noodle Bar Mei"
    assert text_of(browser, ".run .eyebrow").startswith("Hiro in testville \u00b7 ")
    assert path_length(browser) == 21
    until(browser, lambda: browser.execute_script("return document.querySelector('.frame img').naturalWidth"))
    assert overflow(browser) == 0
    background = browser.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")
    assert ("22, 24, 26" in background) == dark
    faults = browser.execute_script(CHECK)
    assert [one for one in faults if not one.startswith("loads ")] == []
    assert browser.get_log("browser") == []
    assert "token" not in browser.current_url


def boxes(browser: webdriver.Chrome, *selectors: str) -> list[dict[str, float]]:
    script = "return arguments[0].map((one) => document.querySelector(one).getBoundingClientRect().toJSON())"
    return list(browser.execute_script(script, selectors))


def test_one_run_is_a_cockpit_on_one_screen(browser: webdriver.Chrome, run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    copytree(run, folder)
    lines = (folder / JOURNAL).read_text().splitlines(keepends=True)[:13]
    lines[0] = lines[0].replace('"name":', '"limits": {"steps": 120}, "name":', 1)
    (folder / JOURNAL).write_text("".join(lines))
    control = Control()
    with serve_page({0: RunFeed(folder, ground, control)}) as url:
        show(browser, url, 1440)
        until(
            browser,
            lambda: browser.execute_script("return document.querySelector('.frame img').naturalWidth"),
        )
        assert text_of(browser, ".name") == "Hiro in testville\nrunning\nStep 11 of at most 120"
        view, card, rail, chart = boxes(browser, ".frame", ".seen-now", ".rail", ".rail .chart")
        assert view["width"] / view["height"] == pytest.approx(1.6, abs=0.01)
        assert 840 < view["width"] <= 860
        assert card["bottom"] <= 900
        assert (rail["top"], rail["bottom"]) == pytest.approx((card["top"], card["bottom"]), abs=1)
        assert 280 < chart["height"] < 320
        assert all(box["bottom"] <= 900 for box in boxes(browser, ".cost", ".think", ".happened"))
        log, line = boxes(browser, ".log", ".log li")
        assert log["height"] / line["height"] == pytest.approx(
            round(log["height"] / line["height"]), abs=0.02
        )
        found, label = boxes(browser, ".boxes rect:not(.plate)", ".boxes .plate")
        assert view["top"] < found["top"] < found["bottom"] < view["bottom"], "what was found is not cut off"
        assert label["height"] < 20
        assert filled(browser) == ["Pause"]
        assert boxes(browser, ".controls .main")[0]["height"] == 40
        control.take_over()
        until(browser, lambda: filled(browser) == ["Hand back"])


def test_controls_stay_on_the_screen_below_a_long_title_and_before_the_first_view(
    browser: webdriver.Chrome, run: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    copytree(run, folder)
    text = (folder / JOURNAL).read_text()
    (folder / JOURNAL).write_text(text.replace('"intention":"', '"intention":"' + "It goes on and on. " * 30))
    with serve_page({0: RunFeed(folder, ground)}) as url:
        show(browser, url, 1440)
        until(browser, lambda: boxes(browser, ".timeline")[0]["bottom"] <= 900)
        [view] = boxes(browser, ".frame")
        assert view["top"] > 280
        [first] = browser.find_elements(By.CSS_SELECTOR, "[aria-label='First record']")
        first.click()
        assert boxes(browser, ".frame .missing")[0]["height"] > 300


def test_thoughts_end_with_a_whole_line_above_a_sign_that_they_go_on(
    browser: webdriver.Chrome, run: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    copytree(run, folder)
    lines = (folder / JOURNAL).read_text().splitlines(keepends=True)[:9]
    lines[-1] = lines[-1].replace('"decided":"', '"decided":"' + "It goes on and on. " * 60)
    (folder / JOURNAL).write_text("".join(lines))
    script = """const [think, thoughts] = [".think", ".thoughts"].map((one) => document.querySelector(one));
    const lines = new Range();
    lines.selectNodeContents(thoughts.querySelector(".decided").firstChild);
    const end = thoughts.getBoundingClientRect().top + parseFloat(thoughts.style.getPropertyValue("--whole"));
    const cut = [...lines.getClientRects()].some(({top, bottom}) => top < end - 0.5 && bottom > end + 0.5);
    const below = think.getBoundingClientRect().bottom - end;
    return [think.classList.contains("has-more"), !cut && 20 < below && below < 70]"""
    with serve_page({0: RunFeed(folder, ground)}) as url:
        show(browser, url, 1440)
        for down in (0, 7, 50):
            browser.execute_script("document.querySelector('.think').scrollTop = arguments[0]", down)
            until(browser, lambda: browser.execute_script(script) == [True, True])
        browser.execute_script("document.querySelector('.think').scrollTop = 9999")
        until(browser, lambda: not browser.execute_script(script)[0])
        assert violations(browser) == []


def filled(browser: webdriver.Chrome) -> list[str]:
    """The words of the buttons with a colour of their own."""
    script = (
        "const colour = (one) => getComputedStyle(one).backgroundColor;"
        "const plain = ['rgba(0, 0, 0, 0)', colour(document.querySelector('.card'))];"
        "const buttons = [...document.querySelectorAll('button:not([aria-current])')];"
        "const shown = buttons.filter((one) => one.offsetWidth && !plain.includes(colour(one)));"
        "return shown.map((one) => one.innerText)"
    )
    return list(browser.execute_script(script))


def test_a_run_that_fails_at_its_start_says_why_in_place_of_what_would_come(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    feed = RunFeed(tmp_path, ground, Control())
    with serve_page({0: feed}) as url:
        browser.get(url)
        until(browser, lambda: text_of(browser, ".run h2") == "The run starts")
        for place in (".thoughts", ".log"):
            node = browser.find_element(By.CSS_SELECTOR, place)
            assert node.size["height"] > 60
            assert "gradient" in node.value_of_css_property("background-image")
        feed.fault = "no panorama at 0,0"
        until(browser, lambda: text_of(browser, ".fault:not(#lost)") == "no panorama at 0,0")
        assert text_of(browser, ".run h2") == "The run did not start"
        assert text_of(browser, ".badge.state") == "failed"
        assert not browser.find_element(By.CSS_SELECTOR, ".seen-now").is_displayed()


@pytest.mark.parametrize("kind", ["saved", "steered", "waiting", "many"])
def test_the_page_is_open_to_all(browser: webdriver.Chrome, run: Path, tmp_path: Path, kind: str) -> None:
    if kind == "saved":
        show(browser, save_page([RunFeed(run, ground)], tmp_path / "saved.html")[0].as_uri())
        assert violations(browser) == []
        return
    control = Control() if kind in {"steered", "waiting"} else None
    feeds = {number: RunFeed(tmp_path if kind == "waiting" else run, ground, control) for number in range(6)}
    browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})  # else axe is kept out
    try:
        with serve_page(feeds if kind == "many" else {0: feeds[0]}) as url:
            browser.get(url)
            until(
                browser,
                lambda: browser.find_elements(By.CSS_SELECTOR, ".cards .card, .run .controls:not([hidden])"),
            )
            browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
            assert violations(browser) == []
    finally:
        browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": False})


def test_what_is_known_of_a_run_is_shown_while_it_loads(browser: webdriver.Chrome, address: str) -> None:
    show(browser, address)
    made = "return new Panel(9, addressOf, { ...index[0], state: arguments[0] }).node.textContent"
    assert "Entered Noodle Bar Mei" in browser.execute_script(made, "ended")
    assert "The run starts" not in browser.execute_script(made, "ended")
    assert "The run starts" in browser.execute_script(made, "open")


def test_names_in_any_script_bring_their_letters(browser: webdriver.Chrome, address: str) -> None:
    show(browser, address)
    browser.execute_script("for (const text of ['東', '東京']) bringLetters(text)")
    browser.execute_script("document.querySelector('h2').append('東京')")
    faces = "return [...document.fonts].map((one) => [one.status, one.unicodeRange])"
    until(browser, lambda: browser.execute_script(faces) == [["loaded", "U+4EAC, U+6771"]])
    assert not [one for one in browser.get_log("browser") if "Security Policy" in one["message"]]


def test_the_run_is_scrubbed_by_keyboard(browser: webdriver.Chrome, address: str) -> None:
    show(browser, address)
    until(browser, lambda: len(entries(browser)) == RECORDS)
    slider = browser.find_element(By.CSS_SELECTOR, ".timeline input")
    slider.send_keys(Keys.HOME)
    assert path_length(browser) == 0
    assert "The run begins" in text_of(browser, ".thoughts")
    for _ in range(4):
        slider.send_keys(Keys.ARROW_RIGHT)
    assert path_length(browser) == 4
    assert text_of(browser, ".thoughts .eyebrow") == "Step 3"
    assert "KAPPA SUSHI" in text_of(browser, ".stage figcaption")
    assert (slider.get_dom_attribute("aria-valuetext") or "").startswith("Step 3: ")
    assert "Step 3" in browser.find_element(By.CSS_SELECTOR, "[aria-live]").get_property("textContent")
    boxes = browser.find_elements(By.CSS_SELECTOR, ".boxes rect")
    assert len(boxes) == 2
    frame = browser.find_element(By.CSS_SELECTOR, ".stage .frame")
    browser.execute_script("arguments[0].focus()", frame)
    frame.send_keys(Keys.ARROW_LEFT)
    assert text_of(browser, ".thoughts .eyebrow") == "Step 2"
    slider.send_keys(Keys.END)
    assert path_length(browser) == 21


def test_focus_is_seen_and_reaches_everything(browser: webdriver.Chrome, address: str) -> None:
    show(browser, address)
    until(browser, lambda: len(entries(browser)) == RECORDS)
    reached, unseen = set(), []
    browser.execute_script("document.activeElement.blur()")
    for _ in range(50):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        name, outline = browser.execute_script(
            "const one = document.activeElement, style = getComputedStyle(one);"
            "return [(one.getAttribute('aria-label') || one.textContent || '').trim().slice(0, 30),"
            " style.outlineStyle + style.outlineWidth]"
        )
        reached.add(name)
        at_the_end = browser.switch_to.active_element.tag_name == "body"
        if not at_the_end and outline.startswith("none"):
            unseen.append(name)
    assert {"Play", "Time in the run", "Speed", "Zoom in", "Next record"} <= reached
    assert any(name.startswith("View.") for name in reached)
    assert unseen == []


def test_a_run_is_played_at_a_speed(browser: webdriver.Chrome, address: str) -> None:
    show(browser, address)
    until(browser, lambda: len(entries(browser)) == RECORDS)
    browser.find_element(By.CSS_SELECTOR, ".timeline input").send_keys(Keys.HOME)
    browser.find_element(By.CSS_SELECTOR, ".timeline select").send_keys("20")
    play = browser.find_element(By.CSS_SELECTOR, ".timeline button.main")
    play.click()
    assert play.text == "Stop"
    until(browser, lambda: path_length(browser) == 21 and play.text == "Play")


def test_a_run_that_is_written_elsewhere_grows_on_the_page(
    browser: webdriver.Chrome, run: Path, tmp_path: Path
) -> None:
    lines = (run / JOURNAL).read_bytes().splitlines(keepends=True)
    folder = tmp_path / "live"
    copytree(run / "views", folder / "views")
    (folder / JOURNAL).write_bytes(lines[0])
    with serve_page({0: RunFeed(folder, ground)}) as url:
        show(browser, url)
        before = boxes(browser, ".rail .chart")
        assert before[0]["height"] > 100, "the map has its place before the first step"
        with (folder / JOURNAL).open("ab") as file:
            file.write(b"".join(lines[1:5]))
        until(browser, lambda: path_length(browser) == 4)
        assert boxes(browser, ".rail .chart") == before
        assert text_of(browser, ".badge.state") == "not ended"
        with (folder / JOURNAL).open("ab") as file:
            file.write(b"".join(lines[5:]))
        until(browser, lambda: path_length(browser) == 21)
        assert text_of(browser, ".rail .legend").startswith("start\nway walked\nhere")
        assert len(boxes(browser, ".mark.step.enter.off .seen")) == 1, "who stands on a moment hides its mark"
        assert text_of(browser, ".badge.state") == "entered"


def test_who_looks_back_is_left_alone_by_what_comes(
    browser: webdriver.Chrome, run: Path, tmp_path: Path
) -> None:
    lines = (run / JOURNAL).read_bytes().splitlines(keepends=True)
    (tmp_path / JOURNAL).write_bytes(b"".join(lines[:10]))
    with serve_page({0: RunFeed(tmp_path, ground)}) as url:
        show(browser, url)
        until(browser, lambda: path_length(browser) == 9)
        browser.find_element(By.CSS_SELECTOR, ".timeline input").send_keys(Keys.HOME)
        with (tmp_path / JOURNAL).open("ab") as file:
            file.write(lines[10])
        until(browser, lambda: len(entries(browser)) == 11)
        assert path_length(browser) == 0
        browser.find_element(By.CSS_SELECTOR, "button.latest").click()
        assert path_length(browser) == 10


def test_a_saved_run_is_one_file_that_replays(browser: webdriver.Chrome, run: Path, tmp_path: Path) -> None:
    page = save_page([RunFeed(run, ground)], tmp_path / "saved.html")[0]
    show(browser, page.as_uri(), 360)
    assert len(entries(browser)) == RECORDS
    browser.find_element(By.CSS_SELECTOR, ".timeline input").send_keys(Keys.HOME, *[Keys.ARROW_RIGHT] * 4)
    assert path_length(browser) == 4
    until(browser, lambda: browser.execute_script("return document.querySelector('.frame img').naturalWidth"))
    assert overflow(browser) == 0
    assert browser.execute_script(CHECK) == []
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("saved", [False, True])
def test_nothing_runs_that_the_world_wrote(browser: webdriver.Chrome, tmp_path: Path, saved: bool) -> None:
    with Beacon().listening() as beacon:
        folder = keep_made_run(tmp_path / "run", size=16, shop=f"Bar {MARKUP}{' '.join(aimed(beacon.url))}")
        journal = folder / JOURNAL
        hostile = MARKUP.replace('"', '\\"')
        text = journal.read_text().replace("Mild and kind", hostile).replace("It is dear", hostile)
        journal.write_text(
            text.replace("A student who", hostile).replace("Find a place", f"{hostile} Find a place")
        )
        feed = RunFeed(folder, ground)
        with serve_page({0: feed}) as url:
            show(browser, save_page([feed], tmp_path / "saved.html")[0].as_uri() if saved else url)
            until(browser, lambda: len(entries(browser)) == RECORDS)
            for number in range(RECORDS):
                browser.execute_script("panels.get(0).timeline.user(arguments[0])", number)
            threading.Event().wait(0.3)
            assert MARKUP in text_of(browser, "#run-0 .lead")
            assert MARKUP in browser.find_element(By.CSS_SELECTOR, ".log").text
            assert browser.title == "Hiro in testville \u00b7 virl watch"
            assert browser.execute_script("return window.pwned") is None
            assert browser.find_elements(By.CSS_SELECTOR, "[onerror], iframe, object, embed") == []
            assert browser.get_log("browser") == []
        assert beacon.asked == []


def test_two_runs_are_cards_that_lead_to_their_cockpits(
    browser: webdriver.Chrome, run: Path, tmp_path: Path
) -> None:
    feeds = {}
    for number in range(2):
        copytree(run, tmp_path / f"run-{number}")
        feeds[number] = RunFeed(tmp_path / f"run-{number}", ground)
    with serve_page(feeds) as url:
        headless.show(browser, url, 1440)
        until(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, ".cards .result-of a")) == 2)
        assert text_of(browser, ".cards .result-of") == "Entered Noodle Bar Mei"
        browser.find_element(By.CSS_SELECTOR, ".cards .result-of a").click()
        until(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, ".run")) == 1)


def test_several_runs_stand_side_by_side_and_many_in_a_grid(
    browser: webdriver.Chrome, run: Path, tmp_path: Path
) -> None:
    lines = (run / JOURNAL).read_bytes().splitlines(keepends=True)
    for number in range(6):
        folder = tmp_path / f"run-{number}"
        copytree(run / "views", folder / "views")
        (folder / JOURNAL).write_bytes(b"".join(lines if number else lines[:4]))
    catalogue = RunCatalogue([tmp_path], ground)
    with serve_page(catalogue.feeds, catalogue.index) as url:
        show_grid(browser, url, 360)
        assert overflow(browser) == 0
        assert [one for one in browser.execute_script(CHECK) if not one.startswith("loads ")] == []
        show_grid(browser, url, 1400)
        until(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, ".cards .chart .road")) == 6)
        labels = browser.find_elements(By.CSS_SELECTOR, ".cards .label:not(.no-room, .scale)")
        assert {"Start", "Noodle Bar Mei"} <= {label.text for label in labels}
        browser.find_element(By.CSS_SELECTOR, ".cards .card:nth-child(2) a").send_keys(Keys.ENTER)
        until(browser, lambda: path_length(browser) == 21)
        browser.find_element(By.ID, "all").click()
        until(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, ".cards .card")) == 6)
        for number in (1, 2):
            browser.find_element(By.CSS_SELECTOR, f".cards .card:nth-child({number}) input").send_keys(
                Keys.SPACE
            )
        browser.find_element(By.CSS_SELECTOR, ".grid .buttons button").click()
        until(browser, lambda: len(entries(browser)) == 4 + RECORDS)
        first, second = (one.rect for one in browser.find_elements(By.CSS_SELECTOR, ".run"))
        assert first["y"] == second["y"]
        assert first["x"] + first["width"] <= second["x"]
        views = browser.find_elements(By.CSS_SELECTOR, ".run .stage .frame")
        assert all(view.rect["width"] > 500 for view in views)
        states = [one.text for one in browser.find_elements(By.CSS_SELECTOR, ".run .badge.state")]
        assert states == ["not ended", "entered"]
        assert [
            one for one in browser.execute_script(CHECK) if "alt twice" not in one and "loads" not in one
        ] == []
        assert browser.get_log("browser") == []


def show_grid(browser: webdriver.Chrome, url: str, width: int) -> None:
    headless.show(browser, url, width)
    until(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, ".cards .card")) == 6)
