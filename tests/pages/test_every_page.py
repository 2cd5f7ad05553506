"""Every kind of page in a real browser: at two widths and in both colour schemes.

Screenshots go to the folder `VIRL_SCREENSHOTS`, if it is set; of a page with faults, to `tests-output/pages`.
"""

import base64
import itertools
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import headless
import pytest
from headless import chromium, needs_chromium, violations
from made_benchmark import NAME, Options
from made_characters import PLANNER
from made_exhibits import keep_made_choice
from made_life import Life, finish, virlton
from made_run import keep_made_run, made_city
from openai_server import tool_calls
from rich.console import Console
from selenium import webdriver
from selenium.webdriver.common.by import By
from typer.testing import CliRunner

import virl
from benchmarks.counting.report import CountingTable, TableRow
from benchmarks.counting.summary import write_counting_page
from virl.bench.benchmark import Metric
from virl.bench.run import Engine, run_benchmark
from virl.bench.statistics import Interval
from virl.cli.main import app
from virl.doctor.labelled_views import write_labelled
from virl.doctor.model_quality import measure_here, write_check
from virl.journal.report import write_report

pytestmark = [pytest.mark.browser, pytest.mark.slow, needs_chromium]

ROOT = Path(__file__).parents[2]
CHECK = (Path(__file__).parent / "check.js").read_text(encoding="utf-8")
WANTED = os.environ.get("VIRL_SCREENSHOTS")
SHOTS = Path(WANTED or ROOT / "tests-output" / "pages")
TALLEST = 12_000  # pixels of a screenshot

AGENTS: Mapping[str, tuple[str, ...]] = {
    "hiro": ("limits.steps=12",),
    "peng": (),
    "aria": (),
    "vivek": (),
    "diego": (),
    "local": (),
    "ling": (),
    "rx399": ("limits.steps=25",),
    "noor": ("preview.to=95 Station Street",),
    "iris": ("limits.steps=10",),
}
PAGES = [
    *AGENTS, "preview", "imani", "tools", "exhibits", "unfinished", "gallery", "narration", "town",
    "benchmark", "benchmark-episode", "walks", "episodes", "counting", "compare", "models",
]  # fmt: skip


def command(*words: str) -> None:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.output


class Workshop:
    """Makes pages when they are first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made: dict[str, Path] = {}

    def page(self, name: str) -> Path:
        if name not in self._made:
            make: Callable[[], Path] = getattr(self, name.replace("-", "_"), lambda: self.agent(name))
            self._made[name] = make()
        return self._made[name]

    def agent(self, name: str) -> Path:
        out = self.folder / "runs" / name
        fields = [word for field in AGENTS[name] for word in ("--set", field)]
        command("run", name, "--out", str(out), "--quiet", *fields)
        return out / "report.html"

    def preview(self) -> Path:
        return self.page("noor").parent / "preview.html"

    def imani(self) -> Path:
        character, out = self.folder / "planner.yaml", self.folder / "runs" / "imani"
        character.write_text(PLANNER.replace("steps: 200", "steps: 60"))
        command("run", str(character), "--out", str(out), "--quiet")
        return out / "report.html"

    def tools(self) -> Path:
        life = Life(virlton(), self.folder / "runs" / "tools")
        looked = tool_calls(("look", {"direction": "front"}), ("find_places", {"query": "bakery"}))
        walked = tool_calls(("move", {"direction": "north", "why": "It looks nicer."}))
        life.live([looked, walked, tool_calls(finish("North of the station."))])
        return write_report(life.folder, virlton())

    def exhibits(self) -> Path:
        return write_report(keep_made_choice(self.folder / "runs" / "exhibits"), made_city())

    def unfinished(self) -> Path:
        run = keep_made_run(self.folder / "unfinished", steps=9, ended=False, size=320)
        return write_report(run, made_city())

    def gallery(self) -> Path:
        for name in ("hiro", "aria", "rx399", "benchmark", "exhibits"):
            self.page(name)
        page = self.folder / "gallery.html"
        command("gallery", str(self.folder / "runs"), "--out", str(page))
        return page

    def narration(self) -> Path:
        run = self.page("hiro").parent
        command("narrate", str(run))
        return run / "narration.html"

    def town(self) -> Path:
        page = self.folder / "town.html"
        command("town", "virlton", "--out", str(page), "--views", "4")
        return page

    def benchmark(self) -> Path:
        out = self.folder / "runs" / "benchmark"
        options = Options(trouble={"case 5": "bug"})
        run_benchmark(NAME, options, out, Console(quiet=True), engine=Engine("threads", 2))
        return out / "report.html"

    def benchmark_episode(self) -> Path:
        return next(iter(sorted(self.page("benchmark").parent.glob("episodes/*/index.html"))))

    def walks(self) -> Path:
        out = self.folder / "touchdown"
        data = str(ROOT / "tests" / "data" / "virlton-small")
        command("bench", "touchdown", "--data", data, "--limit", "4", "--out", str(out))
        return out / "report.html"

    def episodes(self) -> Path:
        return self.page("walks").parent / "episodes.html"

    def compare(self) -> Path:
        runs = [self.page(name).parent for name in ("hiro", "aria")]
        return virl.compare(runs, out=self.folder / "compared.html").page

    def models(self) -> Path:
        labelled = write_labelled(virlton(), "virlton", self.folder, 4)
        return write_check(
            self.folder, labelled, [measure_here("detector", "simulated", self.folder, "cpu", False)]
        )

    def counting(self) -> Path:
        page = self.folder / "counting.html"
        columns = (Metric("precision", "precision"), Metric("recall", "recall"))
        share = Interval(0.9, 0.8, 1.0)
        rows = (TableRow("all rules", {"precision": share, "recall": share, "repeats": 0.1}),)
        tables = [CountingTable("Rules", columns, rows, 12)]
        write_counting_page(page, "Counting", tables, ["A note."], {"route-01": ("nowhere", COUNTED)})
        return page


COUNTED: dict[str, Any] = {
    "kind": "round",
    "walked": [[51.5, -0.12], [51.5002, -0.12], [51.5, -0.1201]],
    "required": ["bin-1", "bin-2"],
    "things": {"bin-1": ["bin", 51.5001, -0.1199], "bin-2": ["bin", 51.5003, -0.12]},
    "reported": {
        "all rules": [
            {"label": "bin", "position": [51.5, -0.1199], "views": 2, "outcome": "right", "thing": "bin-1"}
        ]
    },
}


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("OPENAI_BASE_URL", "VIRL_BASE_URL"):
            patch.delenv(name, raising=False)
        patch.setenv("OPENAI_API_KEY", "sk-of-no-account")
        yield Workshop(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as driver:
        driver.set_script_timeout(300)
        yield driver


def show(browser: webdriver.Chrome, page: Path, width: int, *, dark: bool) -> None:
    headless.show(browser, page, width, dark=dark)
    settle(browser)


def settle(browser: webdriver.Chrome) -> None:
    """Wait until what follows the layout, such as labels of maps, is drawn."""
    browser.execute_script("return new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)))")


def keep_shot(browser: webdriver.Chrome, name: str, width: int) -> None:
    height = int(browser.execute_script("return document.documentElement.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, TALLEST), "scale": 1}
    shot = browser.execute_cdp_cmd(
        "Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True, "clip": clip}
    )
    SHOTS.mkdir(parents=True, exist_ok=True)
    (SHOTS / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole(
    workshop: Workshop, browser: webdriver.Chrome, name: str, width: int, dark: bool
) -> None:
    show(browser, workshop.page(name), width, dark=dark)
    shot = f"{name}-{width}-{'dark' if dark else 'light'}"
    if WANTED:
        keep_shot(browser, shot, width)
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    settle(browser)
    faults = [*browser.execute_script(CHECK), *(line["message"] for line in browser.get_log("browser"))]
    if faults:
        keep_shot(browser, shot, width)
    assert faults == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_open_to_all(workshop: Workshop, browser: webdriver.Chrome, name: str) -> None:
    show(browser, workshop.page(name), 1280, dark=False)
    assert violations(browser, contrast=False) == []  # of colours `check.js` asks for more, and is quicker


def sheets_of(browser: webdriver.Chrome, page: Path) -> int:
    show(browser, page, 1280, dark=False)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(printed["data"])))


def narrow_cards(browser: webdriver.Chrome, page: Path) -> list[str]:
    """The starts of the cards that are too narrow for words on a sheet."""
    show(browser, page, 720, dark=False)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    return browser.execute_script(
        "return [...document.querySelectorAll('.card')].filter((one) => one.checkVisibility() && "
        "one.clientWidth < 100).map((one) => `${one.clientWidth} ${one.textContent.trim().slice(0, 30)}`)"
    )


@pytest.mark.parametrize("name", ["town", "aria", "rx399", "hiro", "diego", "benchmark", "counting"])
def test_a_page_fits_its_sheets_and_its_screens(
    workshop: Workshop, browser: webdriver.Chrome, name: str
) -> None:
    page = workshop.page(name)
    assert 0 < sheets_of(browser, page) <= (5 if name == "town" else 6)
    assert narrow_cards(browser, page) == []
    show(browser, page, 1440, dark=False)
    assert browser.execute_script("return document.documentElement.scrollHeight") <= 8 * 900
    assert page.stat().st_size < 2_000_000


def test_the_first_view_of_a_town_is_as_wide_as_its_page(
    workshop: Workshop, browser: webdriver.Chrome
) -> None:
    show(browser, workshop.page("town"), 1280, dark=False)
    view, whole = (browser.find_element(By.CSS_SELECTOR, css) for css in (".hero img", "main"))
    assert view.size["width"] == whole.size["width"]


def test_marks_of_a_map_do_not_cover_each_other(workshop: Workshop, browser: webdriver.Chrome) -> None:
    show(browser, workshop.page("aria"), 1280, dark=False)
    for _ in range(2):
        boxes = browser.execute_script(
            "return [...document.querySelectorAll('.chart .mark .body:not(.fixed) .seen')].map((one) => {"
            "const box = one.getBoundingClientRect(); return [box.left, box.top, box.right, box.bottom]; })"
        )
        assert len(boxes) > 5
        for one, other in itertools.combinations(boxes, 2):
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        browser.find_element(By.CSS_SELECTOR, ".zoom [aria-label='Zoom out']").click()
        settle(browser)


def test_maps_in_a_hidden_page_are_drawn_when_it_is_shown(
    workshop: Workshop, browser: webdriver.Chrome
) -> None:
    hide = "new MutationObserver(() => { if (document.body && !window.seen) document.body.hidden = true; })"
    source = f"{hide}.observe(document, {{ childList: true, subtree: true }})"
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    try:
        show(browser, workshop.page("exhibits"), 1280, dark=False)
        chart = browser.find_element(By.CSS_SELECTOR, ".chart")
        assert not chart.is_displayed()
        browser.execute_script("window.seen = true; document.body.hidden = false")
        settle(browser)
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    assert chart.is_displayed()
    assert browser.get_log("browser") == []
    assert browser.find_elements(By.CSS_SELECTOR, ".chart .label:not(.no-room)")


def test_the_keys_of_a_counting_page_go_from_thing_to_thing(
    workshop: Workshop, browser: webdriver.Chrome
) -> None:
    show(browser, workshop.page("rx399"), 1280, dark=False)
    things = browser.find_elements(By.CSS_SELECTOR, ".finds .find > a")
    browser.find_element(By.TAG_NAME, "body").send_keys("j")
    assert browser.switch_to.active_element == things[0]
    assert len(browser.find_elements(By.CSS_SELECTOR, ".contents li a")) <= 12
