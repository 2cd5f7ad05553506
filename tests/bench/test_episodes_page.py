"""The page of episodes, in a real browser."""

from pathlib import Path

import pytest
import shapely
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement

from virl.bench.benchmark import PageHead
from virl.bench.report.walks_page import ShownEpisode, ShownMove, write_episodes_page
from virl.pages.ground import Area, MapGround, Way
from virl.platform.city.graph import NavigationGraph, build_graph

HOSTILE = 'Turn left </script><script>document.title = "taken"</script> & go <b>on</b>'
SUMMARY = PageHead(
    "Two walks", "A made grid.", ("agent", "TC %"), (("follower", "50.0"), ("VELMA", "23.1")), ("A note.",)
)


def grid() -> NavigationGraph:
    """A street of five panoramas to the north, and one far away."""
    return build_graph(
        [f"p{node}" for node in range(5)] + ["far"],
        [40.0 + node * 1e-4 for node in range(5)] + [40.5],
        [-74.0] * 6,
        source=[0, 1, 1, 2, 2, 3, 3, 4],
        target=[1, 0, 2, 1, 3, 2, 4, 3],
    )


def episodes() -> list[ShownEpisode]:
    reached = ShownEpisode(
        "17",
        HOSTILE,
        gold=(0, 1, 2),
        path=(0, 1, 2),
        outcome="reached",
        figures={"SPD": "0"},
        moves=(
            ShownMove("forward", 1),
            ShownMove("forward", 2, "left", "the street goes on", ("hm", "jump")),
        ),
    )
    return [reached, ShownEpisode("18", "Walk on.", (0, 1), (0,), "failed", note="no usable reply")]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "episodes.html"
    write_episodes_page(path, SUMMARY, {"": grid()}, episodes())
    return path


def test_text_of_the_world_cannot_leave_its_script_element(page: Path) -> None:
    text = page.read_text()
    assert text.count("</script>") == 2
    assert "\\u003c/script>" in text


def test_streets_far_from_every_episode_are_left_out(page: Path) -> None:
    assert '"nodes":[0,1,2,3,4]' in page.read_text()


@pytest.mark.browser
def test_the_list_cuts_instructions_between_words(tmp_path: Path, browser: WebDriver) -> None:
    write_episodes_page(
        tmp_path / "long.html",
        SUMMARY,
        {"": grid()},
        [ShownEpisode("1", "onwards " * 20, (0,), (0,), "missed")],
    )
    browser.get((tmp_path / "long.html").as_uri())
    listed = browser.find_element(By.CSS_SELECTOR, "#list small").text
    assert set(listed.removesuffix(" …").split()) == {"onwards"}
    assert listed.endswith(" …")


@pytest.mark.browser
def test_an_episode_is_drawn_with_its_decisions(page: Path, browser: WebDriver) -> None:
    browser.get(page.as_uri())
    assert browser.title == "Two walks"
    assert browser.find_element(By.ID, "instruction").text == HOSTILE
    walked = browser.find_element(By.CSS_SELECTOR, ".walked .path:not(.ghost, .halo)").get_attribute("points")
    gold = browser.find_element(By.CSS_SELECTOR, ".gold .path:not(.halo)").get_attribute("points")
    assert walked == gold
    assert walked is not None
    assert len(walked.split()) == 3
    moves = browser.find_elements(By.CSS_SELECTOR, "#moves button")
    assert [move.text.split("\n")[1] for move in moves] == ["forward", "forward"]
    assert "asked: left" in moves[1].text
    assert "refused: jump" in moves[1].text
    at_end = browser.find_element(By.CSS_SELECTOR, "#map .agent .scaled").get_attribute("data-y")
    moves[0].click()
    assert browser.find_element(By.CSS_SELECTOR, "#map .agent .scaled").get_attribute("data-y") != at_end
    assert browser.find_element(By.CSS_SELECTOR, ".slider output").text == "1 of 2"
    assert browser.get_log("browser") == []


@pytest.mark.browser
def test_walks_lie_over_the_ground_of_their_city(tmp_path: Path, browser: WebDriver) -> None:
    house = shapely.box(-74.0004, 40.0, -74.0002, 40.0002)
    street = Way([(39.999, -74.0), (40.002, -74.0)], "street", "Long Street")
    path = tmp_path / "episodes.html"
    write_episodes_page(path, SUMMARY, {"": grid()}, episodes(), MapGround([street], [Area(house, "house")]))
    browser.get(path.as_uri())
    assert browser.find_element(By.CSS_SELECTOR, "#map .house:not(.far)").rect["width"] > 5
    names = browser.find_elements(By.CSS_SELECTOR, "#map .street-name:not(.no-room)")
    assert {name.get_attribute("textContent") for name in names} == {"Long Street"}
    legend = [item.text for item in browser.find_elements(By.CSS_SELECTOR, "#map .legend li")]
    assert legend == ["gold path", "path walked", "start", "target", "end", "chosen step", "house"]


@pytest.mark.browser
def test_filters_and_search_narrow_the_list(page: Path, browser: WebDriver) -> None:
    browser.get(f"{page.as_uri()}#18")
    assert browser.find_element(By.ID, "name").text == "Episode 18"
    assert browser.find_element(By.ID, "note").text == "no usable reply"
    filters = {
        button.get_attribute("data-outcome"): button
        for button in browser.find_elements(By.CSS_SELECTOR, ".filters button")
    }
    assert filters[""].text == "all 2"
    assert not filters["missed"].is_displayed()
    filters["reached"].click()
    assert [item.text.split("\n")[0] for item in listed(browser)] == ["17"]
    filters[""].click()
    browser.find_element(By.CSS_SELECTOR, "input[type=search]").send_keys("walk on")
    assert [item.text.split("\n")[0] for item in listed(browser)] == ["18"]
    assert browser.get_log("browser") == []


def listed(browser: WebDriver) -> list[WebElement]:
    return browser.find_elements(By.CSS_SELECTOR, "#list button")
