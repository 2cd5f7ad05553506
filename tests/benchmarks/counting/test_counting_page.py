"""The page of a counting run."""

from pathlib import Path

import pytest
import shapely
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.select import Select

from benchmarks.counting import summary
from benchmarks.counting.report import CountingTable, TableRow
from benchmarks.counting.summary import write_counting_page
from virl.bench.benchmark import Metric
from virl.bench.episode import Data
from virl.bench.statistics import Interval
from virl.pages.ground import Area, MapGround

HOSTILE = "</script><b>bin</b>"
GROUND = MapGround(
    areas=[Area(shapely.box(-0.1203, 51.5001, -0.1202, 51.5002), "house")],
    places=[("bread", (51.5002, -0.1204))],
)


def record() -> Data:
    def row(lng: float, outcome: str, thing: str | None) -> Data:
        return {"label": HOSTILE, "position": [51.5, lng], "views": 2, "outcome": outcome, "thing": thing}

    return {
        "kind": "round",
        "walked": [[51.5, -0.12], [51.5002, -0.12], [51.5, -0.1201]],
        "required": ["bin-1", "bin-2"],
        "things": {
            "bin-1": [HOSTILE, 51.5001, -0.1199],
            "bin-2": [HOSTILE, 51.5003, -0.12],
            "bin-3": [HOSTILE, 51.5, -0.1204],
        },
        "reported": {
            "all rules": [row(-0.1199, "right", "bin-1"), row(-0.1198, "duplicate", "bin-1")],
            "no rules": [row(-0.1204, "right", "bin-3"), row(-0.13, "false", None)],
        },
    }


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(summary, "town_ground", lambda _: GROUND)
    columns = (Metric("precision", "precision %", digits=0, about="true things"),)
    share, worse, better = (Interval(mean, mean - 0.1, mean + 0.1) for mean in (0.9, -0.3, 0.1))
    rows = (
        TableRow("all rules", {"precision": share, "repeats": 0.1}),
        TableRow("no rules", {"precision": share, "f1_more": worse}),
        TableRow("other rules", {"precision": share, "f1_more": better}),
    )
    sections = [
        CountingTable("The paper's", columns, (), has_rules=False),
        CountingTable("Rules", columns, rows, 12),
        CountingTable("Fewer", columns, rows[:1], 3),
    ]
    path = tmp_path / "counting.html"
    write_counting_page(path, "Counting", sections, ["A note."], {"route-01": ("nowhere", record())})
    return path


def test_words_cannot_leave_the_script_element(page: Path) -> None:
    text = page.read_text()
    assert text.count("</script>") == 2
    assert "\\u003c/script>" in text


def test_tables_show_numbers_with_their_intervals(page: Path) -> None:
    text = page.read_text()
    assert '<td class="n">90<small>80 to 100</small></td>' in text
    assert '<td class="n">90<small>too few (n = 3)</small></td>' in text
    assert "<dt>precision %</dt><dd>true things</dd>" in text
    assert "A note." in text


@pytest.mark.browser
def test_the_legend_has_what_the_map_draws_and_houses_and_shops_are_on_it(
    page: Path, browser: WebDriver
) -> None:
    browser.get(page.as_uri())
    legend = [one.text for one in browser.find_elements(By.CSS_SELECTOR, "#map .legend li")]
    names = ["path walked", "start", "true thing to be found", "from a report to its true thing"]
    assert [text for text in legend if text] == [*names, "reported, right", "duplicate", "house", "bakeries"]
    assert browser.find_elements(By.CSS_SELECTOR, "#map .paper .house")

    def shape(part: str, kind: str) -> list[str | None]:
        drawn = browser.find_element(By.CSS_SELECTOR, f"#map .{part} .mark.{kind} .seen")
        return [drawn.get_attribute(name) for name in ("r", "points")]

    kinds = ("from", "truth", "right", "duplicate")
    assert [shape("legend", kind) for kind in kinds] == [shape("paper", kind) for kind in kinds]


@pytest.mark.browser
def test_a_walk_is_drawn_as_it_was_counted(page: Path, browser: WebDriver) -> None:
    browser.get(page.as_uri())
    assert (
        "2 things reported, 1 right, 1 duplicates, 0 false; 1 missed"
        in browser.find_element(By.ID, "sum").text
    )

    def drawn(name: str) -> int:
        return len(browser.find_elements(By.CSS_SELECTOR, f"#map .paper .{name}"))

    marks = ("truth:not(.faint)", "truth.faint", "right", "duplicate", "false")
    names = (*(f"mark.{name}" for name in marks), "trail.sight.duplicate")
    assert [drawn(name) for name in names] == [2, 0, 1, 1, 0, 1]
    Select(browser.find_element(By.ID, "case")).select_by_visible_text("no rules")
    assert [drawn(name) for name in names] == [2, 1, 1, 0, 1, 0]
    names = browser.find_elements(By.CSS_SELECTOR, ".dotted tbody th")
    assert [name.text for name in names] == ["all rules", "other rules", "no rules", "all rules"]
    rows = browser.find_elements(By.CSS_SELECTOR, ".dotted tbody tr")
    zeros = [line.rect["x"] for line in rows[1].find_elements(By.CSS_SELECTOR, ".zero")]
    gap, precision = [
        dot.rect["x"] + dot.rect["width"] / 2 for dot in rows[1].find_elements(By.TAG_NAME, "circle")
    ]
    assert gap > zeros[0] + 5, "better lies right of the zero line"
    assert precision > zeros[1] + 30
    assert rows[2].find_element(By.TAG_NAME, "circle").rect["x"] < zeros[0] - 5
    assert not rows[3].find_elements(By.CSS_SELECTOR, ".interval"), "of three walks"
    assert browser.get_log("browser") == []
