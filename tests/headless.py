"""A real browser for tests."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from selenium import webdriver

_FLAGS = (
    "headless=new",
    "no-sandbox",
    "disable-gpu",
    "disable-dev-shm-usage",
    "disable-background-networking",
)
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
