"""Pages of a world that says fifty hostile things, in a real browser: no script runs, no request is sent."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from headless import needs_chromium
from hostile_texts import aimed, hidden_in
from hostile_world import Beacon, hostile
from made_benchmark import NAME, Options
from made_exhibits import keep_made_choice
from made_run import made_city
from rich.console import Console
from selenium import webdriver
from typer.testing import CliRunner

from virl.bench.run import Engine, run_benchmark
from virl.cli.main import app
from virl.journal.report import write_report
from virl.platform.city.city import City
from virl.platform.providers.cities import open_city

pytestmark = [pytest.mark.browser, pytest.mark.slow, needs_chromium]

RUNS = {
    "hiro": ("limits.steps=12", "senses={detector: simulated}"),
    "aria": (),
    "vivek": (),
    "diego": (),
    "local": (),
}


@pytest.fixture(scope="module")
def beacon() -> Iterator[Beacon]:
    with Beacon().listening() as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, beacon: Beacon) -> list[Path]:
    """All pages there are of runs, a benchmark, a narration and a gallery of them."""
    folder, texts = tmp_path_factory.mktemp("hostile"), aimed(beacon.url)
    city = hostile(open_city("virlton"), texts)

    @contextmanager
    def opened(*_: object) -> Iterator[City]:
        yield city

    with pytest.MonkeyPatch.context() as patch:
        for module in ("start", "checking"):
            patch.setattr(f"virl.agent.{module}.opened_city", opened)
        patch.chdir(folder)
        for number, (agent, fields) in enumerate(RUNS.items()):
            said = texts[number :: len(RUNS)]
            # Rules refuse words that they do not understand where an intention drives a run.
            intention = "Lunch." if agent in {"hiro", "local"} else "Lunch. " + " ".join(said)
            command(
                "run", agent, "--out", f"runs/{agent}", "--quiet",
                "--set", f"background={quoted(' '.join(said))}",
                "--set", f"intention={quoted(intention)}",
                *(word for field in fields for word in ("--set", field)),
            )  # fmt: skip
        command("narrate", "runs/hiro")
        for number, text in enumerate(texts):
            run = keep_made_choice(folder / "runs" / f"choice-{number}", text)
            write_report(run, made_city())
        hostile_options = Options(text=" ".join(texts), trouble={"case 5": "bug"})
        run_benchmark(
            NAME, hostile_options, folder / "runs/bench", Console(quiet=True), engine=Engine("threads", 2)
        )
        command("gallery", "runs", "--out", "gallery.html")
    return sorted(folder.rglob("*.html"))


def quoted(text: str) -> str:
    """As YAML writes it in double quotes."""
    marks = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
    return (
        '"'
        + "".join(marks.get(one) or (one if one.isprintable() else f"\\U{ord(one):08x}") for one in text)
        + '"'
    )


def command(*words: str) -> None:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.output


SEEN = """
const texts = [document.title];
for (const node of document.querySelectorAll("*"))
  for (const one of node.attributes) if (one.name !== "content") texts.push(one.value);
const walker = document.createTreeWalker(document, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_COMMENT);
while (walker.nextNode()) texts.push(walker.currentNode.data);
for (const node of document.querySelectorAll("script[type]"))
  (function all(value) {
    if (typeof value === "string") texts.push(value);
    else if (value && typeof value === "object") Object.entries(value).flat().forEach(all);
  })(JSON.parse(node.textContent));
return texts.join("\\n");
"""
FOREIGN = """
return [...document.querySelectorAll("iframe, object, embed, base, form, video, audio, link:not([rel=icon])")]
  .concat([...document.querySelectorAll("*")].filter((node) => [...node.attributes].some(
    (one) => one.name.startsWith("on") || /^\\s*javascript:/i.test(one.value))))
  .map((node) => node.outerHTML.slice(0, 200));
"""


def test_no_page_runs_or_asks_anything(pages: list[Path], browser: webdriver.Chrome, beacon: Beacon) -> None:
    assert {"report.html", "gallery.html", "narration.html", "index.html"} <= {page.name for page in pages}
    faults: list[Any] = []
    seen = ""
    for page in pages:
        browser.get(page.as_uri())
        browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
        text = browser.execute_script(SEEN)
        seen += text
        faults += [(page.parent.name, letter) for letter in hidden_in(text)]
        faults += [(page.parent.name, node) for node in browser.execute_script(FOREIGN)]
        if pwned := browser.execute_script("return window.pwned"):
            faults.append((page.parent.name, "script", pwned))
        faults += [(page.parent.name, line["message"]) for line in browser.get_log("browser")]
    assert faults == []
    assert beacon.asked == []
    assert all(f"window.pwned = {number}" in seen for number in range(1, 13))  # the texts were there


def test_files_beside_the_pages_are_plain_text(pages: list[Path]) -> None:
    folder = next(page.parent for page in pages if page.name == "gallery.html")
    files = [path for path in folder.rglob("*") if path.is_file()]
    written = [path for path in files if path.suffix in {".md", ".svg", ".ics", ".csv", ".tex", ".txt"}]
    assert {path.suffix for path in written} == {".md", ".svg", ".ics", ".csv", ".tex", ".txt"}
    texts = {path: path.read_bytes().decode().replace("\r\n", "\n") for path in written}
    assert {path.name: found for path, text in texts.items() if (found := hidden_in(text))} == {}
    assert [path.name for path in files if hidden_in(path.name)] == []


def test_the_beacon_hears(browser: webdriver.Chrome, beacon: Beacon, tmp_path: Path) -> None:
    """What the other test would see, were a page open to it."""
    page = tmp_path / "open.html"
    page.write_text(f"<p>{aimed(beacon.url)[0]}</p>")
    browser.get(page.as_uri())
    assert browser.execute_script("return window.pwned") == 1
    heard = threading.Event()
    heard.wait(0.5)
    assert beacon.asked
    beacon.asked.clear()
    browser.get_log("browser")


def test_a_name_from_right_to_left_turns_nothing_around(browser: webdriver.Chrome, tmp_path: Path) -> None:
    browser.get(write_report(keep_made_choice(tmp_path / "run"), made_city()).as_uri())
    measured = """
    const line = document.createElement("p"), name = document.createElement(arguments[0]);
    name.textContent = "\u05e9\u05dc\u05d5\u05dd";
    line.append(name, " 7 minutes");
    document.body.append(line);
    const number = document.createRange();
    number.setStart(name.nextSibling, 1);
    number.setEnd(name.nextSibling, 2);
    return [name.getBoundingClientRect().right, number.getBoundingClientRect().left];
    """
    for element in ("b", "span", "a", "bdi"):
        right, left = browser.execute_script(measured, element)
        assert right <= left, element
    right, left = browser.execute_script(measured, "i")  # of which the style says nothing
    assert right > left
