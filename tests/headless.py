"""A real browser for tests."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import axe_core_python
import pytest
from selenium import webdriver

_FLAGS = (
    "headless=new",
    "no-sandbox",
    "disable-gpu",
    "disable-dev-shm-usage",
    "disable-background-networking",
)
_AXE = Path(axe_core_python.__file__).parent / "axe.min.js"
_CHROMIUM, _DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

needs_chromium = pytest.mark.skipif(
    not (_CHROMIUM and _DRIVER), reason="needs Chromium and its driver: make web-deps"
)


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    """A headless Chromium that keeps its console's log."""
    options = webdriver.ChromeOptions()
    options.binary_location = _CHROMIUM or ""
    for flag in _FLAGS:
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(_DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def emulate(browser: webdriver.Chrome, width: int, *, dark: bool) -> None:
    """A screen of this width in pixels, in a colour scheme, without motion."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    features = [
        {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def show(browser: webdriver.Chrome, page: Path | str, width: int, *, dark: bool = False) -> None:
    """A page, given as a file or an address, from its beginning on a screen as `emulate` makes it."""
    emulate(browser, width, dark=dark)
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(page if isinstance(page, str) else page.as_uri())


def overflow(browser: webdriver.Chrome) -> int:
    """Pixels by which the page is wider than the window."""
    script = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    return int(browser.execute_script(script))


def violations(browser: webdriver.Chrome, *, contrast: bool = True) -> list[tuple[str, list[str]]]:
    """What axe-core objects to on the page that is shown: each rule, and the markup of what breaks it.

    Args:
        browser: where no policy of the page keeps scripts out.
        contrast: whether colours are looked at, which takes seconds.
    """
    browser.execute_script(_AXE.read_text(encoding="utf-8"))
    options = {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": contrast}}}
    found = browser.execute_async_script("axe.run(document, arguments[0]).then(arguments[1])", options)
    return [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found["violations"]]
