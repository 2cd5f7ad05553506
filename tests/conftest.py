"""What every test runs under."""

import functools
import gc
import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING

import hypothesis
import pytest
from _pytest.unraisableexception import gc_collect_iterations_key
from hidden_variables import watch_templates

from virl.platform.city.city import City
from virl.platform.providers.cities import open_city

if TYPE_CHECKING:
    from selenium import webdriver

# Each HTTP client builds a TLS context, which parses the machine's whole list of authorities.
ssl.create_default_context = functools.cache(ssl.create_default_context)

# These take a minute or more: begun last, they would keep one core busy while the others wait.
LONGEST = (
    "test_readme.py",
    "test_docs_commands.py",
    "test_hiro_over_http.py",
    "test_what_agents_cost.py",
    "test_notebooks.py",
    "test_touchdown_run.py",
    "test_open_world.py",
    "test_soak.py",
    "test_keys_in_runs.py",
    "test_agents_at_every_api.py",
    "test_towns.py",
    "test_crossing.py",
)

# A busy machine is no fault of the code: no example has a time limit.
hypothesis.settings.register_profile("virl", deadline=None)
hypothesis.settings.load_profile("virl")

watch_templates()

# What the tests import stays for good: it is looked through less often than usual.
gc.set_threshold(50_000, 20, 20)


def pytest_configure(config: pytest.Config) -> None:
    """Look for resources that nobody closed once at the end of a process, not five times."""
    config.stash[gc_collect_iterations_key] = 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, and allow tests in a browser a second try, which pytest reports."""
    for item in items:
        if item.get_closest_marker("browser"):  # a busy machine's Chromium drops a connection now and then
            item.add_marker(pytest.mark.flaky(reruns=1))
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(places)))


@pytest.fixture(scope="session")
def virlton() -> City:
    """Virlton, opened once for all tests of a process."""
    return open_city("virlton")


@pytest.fixture(scope="module")
def browser() -> "Iterator[webdriver.Chrome]":
    """A browser for all tests of a file."""
    from headless import chromium

    with chromium() as driver:
        yield driver
