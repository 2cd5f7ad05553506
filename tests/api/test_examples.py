"""The examples in the docstrings of the names that users call first."""

import doctest
import inspect
from pathlib import Path

import pytest

import virl

FIRST = """
Camera Character LatLng Pose agents benchmarks cities draw_detections make_env minds models navigate
open_agent open_city open_tools read_run run to_networkx walk
"""
CALLED = {**{name: getattr(virl, name) for name in FIRST.split()}, "City.look": virl.City.look}


@pytest.fixture(scope="module")
def town() -> virl.City:
    return virl.open_city("virlton")


@pytest.mark.parametrize("name", CALLED)
def test_the_example_gives_what_it_shows(
    name: str, town: virl.City, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    known = {"virl": virl, "town": town}
    example = doctest.DocTestParser().get_doctest(inspect.getdoc(CALLED[name]) or "", known, name, None, None)
    done = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example)
    assert done.attempted > 0
    assert done.failed == 0
