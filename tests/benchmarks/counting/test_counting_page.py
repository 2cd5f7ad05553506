"""The page of a counting run."""

from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.select import Select

from benchmarks.counting.report import CountingTable, TableRow
from benchmarks.counting.summary import write_counting_page
from virl.bench.benchmark import Metric
from virl.bench.episode import Data
from virl.bench.statistics import Interval

HOSTILE = "</script><b>bin</b>"


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
def page(tmp_path: Path) -> Path:
    columns = (Metric("precision", "precision", percent=False, digits=2),)
    rows = (TableRow("all rules", {"precision": Interval(0.9, 0.8, 1.0), "repeats": 0.1}),)
    sections = [
        CountingTable("The paper's", columns, (), has_rules=False),
        CountingTable("Rules", columns, rows),
    ]
    path = tmp_path / "counting.html"
    write_counting_page(path, "Counting", sections, ["A note."], {"route-01": record()})
    return path


def test_words_cannot_leave_the_script_element(page: Path) -> None:
    text = page.read_text()
    assert text.count("</script>") == 2
    assert "\\u003c/script>" in text


def test_tables_show_numbers_with_their_intervals(page: Path) -> None:
    text = page.read_text()
    assert '<td class="n">0.90<small>0.80 to 1.00</small></td>' in text
    assert "A note." in text


@pytest.mark.browser
def test_a_walk_is_drawn_as_it_was_counted(page: Path, browser: WebDriver) -> None:
    browser.get(page.as_uri())
    assert (
        "2 things reported, 1 right, 1 duplicates, 0 false; 1 missed"
        in browser.find_element(By.ID, "sum").text
    )

    def drawn(name: str) -> int:
        return len(browser.find_elements(By.CSS_SELECTOR, f"#map .{name}"))

    marks = ("truth:not(.faint)", "truth.faint", "right", "duplicate", "false")
    names = (*(f"mark.{name}" for name in marks), "trail.sight.duplicate")
    assert [drawn(name) for name in names] == [2, 0, 1, 1, 0, 1]
    Select(browser.find_element(By.ID, "case")).select_by_visible_text("no rules")
    assert [drawn(name) for name in names] == [2, 1, 1, 0, 1, 0]
    bars = browser.find_elements(By.CSS_SELECTOR, ".bars rect:not(.rail)")
    assert [bar.get_attribute("width") for bar in bars] == ["90.0"]
    assert browser.get_log("browser") == []
