"""A person at the page of `virl watch` takes over a run of a real agent in Virlton."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from headless import chromium, needs_chromium
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait
from steered import SteeredRun, run_of

from virl.agent.control import Control
from virl.errors import RunStopped
from virl.journal.journal import read_journal
from virl.journal.records import NoteRecord, StepRecord
from virl.pages.ground import MapGround
from virl.serve.watch.feed import RunFeed
from virl.serve.watch.server import serve_page

SENSES = {"senses": {"detector": "simulated"}}
FIELDS = {"limits.steps": 15, **SENSES}
LONG_S = 180


def no_ground(_: str) -> MapGround:
    return MapGround()


def steps_of(folder: Path) -> list[StepRecord]:
    return [record for record in read_journal(folder) if isinstance(record, StepRecord)]


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as driver:
        driver.set_window_size(1200, 1000)
        yield driver


class Hand:
    """A person at the page."""

    def __init__(self, browser: webdriver.Chrome) -> None:
        self.browser = browser

    def until(self, true: Callable[[], object]) -> None:
        WebDriverWait(self.browser, LONG_S, poll_frequency=0.1).until(lambda _: true())

    def find(self, selector: str) -> WebElement:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent.trim())"
        return list(self.browser.execute_script(script, selector))

    def press(self, label: str) -> None:
        """A button of the run by its words, once it can be pressed."""
        path = f"//div[contains(@class, 'controls')]//button[normalize-space()='{label}']"
        self.until(lambda: self.browser.find_element(By.XPATH, path).is_enabled())
        self.browser.find_element(By.XPATH, path).click()

    def ways(self) -> int:
        return len(self.browser.find_elements(By.CSS_SELECTOR, ".ways:not([hidden]) .way"))

    def picture(self) -> str:
        return str(self.browser.execute_script("return document.querySelector('.stage .frame img').src"))

    def sees(self) -> bool:
        picture = "document.querySelector('.stage .frame img')"
        script = f"return {picture}.complete && {picture}.naturalWidth"
        return bool(self.browser.execute_script(script))


@pytest.mark.browser
@pytest.mark.slow
@needs_chromium
def test_taking_over_changes_the_path_the_journal_says_who_decided_and_the_run_goes_on(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    run_of("hiro", tmp_path / "own", fields={"limits.steps": 1, **SENSES}).start().end()
    own = steps_of(tmp_path / "own")
    folder = tmp_path / "run"
    run = run_of("hiro", folder, fields=FIELDS)
    run.control.pause()
    hand = Hand(browser)
    with serve_page({0: RunFeed(folder, no_ground, run.control)}) as url:
        browser.get(url)
        run.start()
        hand.until(lambda: "paused" in hand.texts(".badge.state"))
        hand.press("Take the wheel")
        hand.until(hand.ways)
        hand.until(lambda: "you are at the wheel" in hand.texts(".badge.state"))
        look_around(hand)

        standing = run.decision()
        other = next(way for way in standing.links if way.pano_id != own[0].next_pano_id)
        hand.find(f".way[title='{other.description}']").click()
        hand.until(lambda: len(hand.texts(".log li")) >= 2 and hand.ways())
        hand.browser.execute_script("document.querySelector('.stage .frame').focus()")
        second = run.decision()
        hand.find(".stage .frame").send_keys("1")
        hand.until(lambda: len(hand.texts(".log li")) >= 3)
        hand.find(".speech input").send_keys("I like the other street better.")
        hand.press("Say")
        hand.until(lambda: hand.texts(".reply") != [""])
        hand.press("Hand back")
        hand.until(lambda: len(hand.texts(".log .badge.you")) == 2 and len(hand.texts(".log li")) >= 5)
        stop(hand)
        assert isinstance(run.cut_short(), RunStopped)
        hand.until(lambda: any("--resume" in text for text in hand.texts(".reply")))

    before = steps_of(folder)
    assert [step.decided_by for step in before[:3]] == ["user", "user", ""]
    assert before[1].pose.pano_id == other.pano_id != own[1].pose.pano_id
    assert before[2].pose.pano_id == second.links[0].pano_id
    said = [one for one in read_journal(folder) if isinstance(one, NoteRecord)]
    assert any("I like the other street better." in note.text for note in said)

    again = run_of("hiro", folder, resume=True)
    with serve_page({0: RunFeed(folder, no_ground, again.control)}) as url:
        browser.get(url)
        hand.until(lambda: len(hand.texts(".log li")) >= len(before))
        finished = again.start().end()
        hand.until(lambda: {"entered", "gave up"} & {*hand.texts(".badge.state")})
        assert len(hand.texts(".log .badge.you")) == 2
    steps = steps_of(folder)
    assert steps[: len(before)] == before
    assert len(steps) > len(before)
    assert finished.result.status in {"entered", "gave up"}


def stop(hand: Hand) -> None:
    button = hand.find(".danger")
    assert not button.is_displayed(), "what cannot be undone is asked first"
    hand.find(".menu summary").click()
    assert "--resume" in hand.find(".menu p").text
    button.click()


def look_around(hand: Hand) -> None:
    hand.until(hand.sees)
    first = hand.picture()
    assert "/look?" in first
    frame = hand.find(".stage .frame")
    hand.browser.execute_script("document.querySelector('.stage .frame').focus()")
    frame.send_keys("\ue014")  # arrow right
    hand.until(lambda: hand.picture() != first and hand.sees())
    turned = hand.picture()
    ActionChains(hand.browser).move_to_element_with_offset(frame, 0, -80).click_and_hold().move_by_offset(
        -120, 0
    ).release().perform()
    hand.until(lambda: hand.picture() != turned and hand.sees())


def test_commands_need_the_cookie_an_own_origin_and_a_run_that_can_be_steered(tmp_path: Path) -> None:
    control = Control()
    feeds = {0: RunFeed(tmp_path, no_ground, control), 1: RunFeed(tmp_path, no_ground)}
    with serve_page(feeds) as address, httpx.Client(timeout=20) as client:
        page = client.get(address).text.partition("url=")[2].partition('"')[0]
        own = address.partition("/?")[0]
        url = f"{own}{page}runs/0/do"
        right = {"Origin": own}
        pause = {"do": "pause"}
        assert httpx.post(url, json=pause, headers=right).status_code == 403
        assert client.post(url, json=pause).status_code == 403
        assert client.post(url, json=pause, headers={"Origin": "http://localhost:1"}).status_code == 403
        assert client.post(url, content='{"do": "pause"}', headers=right).status_code == 422
        assert control.snapshot().state == "running"
        assert client.post(url, json=pause, headers=right).status_code == 200
        assert control.snapshot().state == "paused"
        for wrong in ({"do": "explode"}, {"do": "pause", "more": 1}, {}):
            assert client.post(url, json=wrong, headers=right).status_code == 422
        large = {"do": "say", "text": "x" * 20_000}
        assert client.post(url, json=large, headers=right).status_code == 413
        refused = client.post(url, json={"do": "go", "pano_id": "nowhere"}, headers=right)
        assert refused.status_code == 409
        assert "take over" in refused.json()["error"]
        assert client.post(url.replace("/0/", "/1/"), json=pause, headers=right).status_code == 404
        assert client.post(url.replace("/0/", "/7/"), json=pause, headers=right).status_code == 404
        assert client.get(f"{own}{page}runs/1/look?heading=0&pitch=0&fov=90").status_code == 404


def test_a_run_that_has_no_journal_yet_is_waited_for(tmp_path: Path) -> None:
    feed = RunFeed(tmp_path, no_ground, SteeredRun().control)
    assert list(feed.read_records()) == []
    assert feed.fault == ""
    assert feed.state()["control"]["state"] == "running"
