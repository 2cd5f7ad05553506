"""A person plays an episode of VLN at the page of `virl watch`, and is scored as any walker is."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from headless import chromium, needs_chromium
from rich.console import Console
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait
from steered import LONG_S

from benchmarks.vln.definition import BENCHMARK, Options
from benchmarks.vln.score import score_of
from virl.agent.control import Control
from virl.bench.episode import Record
from virl.bench.resources import Resources
from virl.errors import BadInput
from virl.pages.ground import MapGround
from virl.platform.providers.cities import open_city
from virl.serve.watch.playing import PlayFeed, game_for, play_game
from virl.serve.watch.server import serve_page


def no_ground(_: str) -> MapGround:
    return MapGround()


@pytest.mark.browser
@pytest.mark.slow
@needs_chromium
def test_an_episode_is_played_by_keys_and_scored(virlton_data: Path, tmp_path: Path) -> None:
    options = Options(models=("human",), data=str(virlton_data))
    with closing(Resources()) as resources:
        first, second = BENCHMARK.episodes(options, resources)[:2]
    route = first.payload["route"]
    game = game_for("vln", options, tmp_path / "run", "1")
    assert game.case == first.case
    assert game.notice == open_city("virlton").notice
    elsewhere = replace(game, notice="the people of the map")
    control = Control()
    feed = PlayFeed(elsewhere, control, no_ground)
    records: list[Record] = []
    thread = Thread(target=lambda: records.append(play_game(game, feed, Console(quiet=True))), daemon=True)
    with serve_page({0: feed}) as url, chromium() as browser:

        def until(true: Callable[[], object]) -> None:
            WebDriverWait(browser, LONG_S, poll_frequency=0.1).until(lambda _: true())

        def ways() -> list[str | None]:
            found = browser.find_elements(By.CSS_SELECTOR, ".ways:not([hidden]) .way")
            return [one.get_dom_attribute("title") for one in found]

        def entries() -> int:
            return len(browser.find_elements(By.CSS_SELECTOR, ".log li"))

        browser.get(url)
        thread.start()
        for number, pano_id in enumerate(route["pano_ids"][1:]):
            until(lambda number=number: entries() == number + 2 and ways())
            links = control.snapshot().links
            until(lambda links=links: ways() == [link.description for link in links])
            key = next(index for index, link in enumerate(links) if link.pano_id == pano_id)
            browser.execute_script("document.querySelector('.stage .frame').focus()")
            browser.switch_to.active_element.send_keys(str(key + 1))
        assert "the people of the map" in browser.find_element(By.CSS_SELECTOR, ".notice").text
        assert route["instruction"] in browser.find_element(By.CSS_SELECTOR, ".question").text
        until(lambda: entries() == len(route["pano_ids"]) + 1)
        stop = browser.find_element(By.XPATH, "//button[starts-with(., 'Stop here')]")
        until(stop.is_enabled)
        stop.send_keys(Keys.ENTER)
        until(lambda: browser.find_element(By.CSS_SELECTOR, ".badge.state").text == "right")
        assert browser.find_element(By.CSS_SELECTOR, ".name h2").text.startswith("arrived")
        thread.join(LONG_S)
    [record] = records
    assert score_of(record.data).success == 1.0
    assert feed.card()["score"] == 1.0
    assert game_for("vln", options, tmp_path / "run", "").case == second.case
    with pytest.raises(BadInput, match="played already"):
        game_for("vln", options, tmp_path / "run", first.case)
    with pytest.raises(BadInput, match="give a number from 1 to"):
        game_for("vln", options, tmp_path / "run", "99")
