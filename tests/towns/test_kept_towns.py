"""A made town that was drawn once, and the tiles of its walls, come from the cache."""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from typing_extensions import TypeAliasType

from virl.platform.providers.offline import city
from virl.towns.render import textures
from virl.towns.storage import decode, encode, sources

SEED = 41


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path))
    forget()
    return tmp_path


def forget() -> None:
    city.kept_plan.cache_clear()
    textures.all_tiles.cache_clear()


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("it is drawn again")


@pytest.mark.slow
def test_a_town_from_the_cache_is_the_town_that_was_drawn(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = city.kept_plan(SEED, "Keptham")
    forget()
    monkeypatch.setattr(city, "draw_plan", refuse)
    kept = city.kept_plan(SEED, "Keptham")
    assert kept is not drawn
    assert (kept.shops, kept.listings) == (drawn.shops, drawn.listings)
    first, second = encode(drawn), encode(kept)
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)
    with pytest.raises(AssertionError, match="drawn again"):
        city.kept_plan(SEED, "Otherham")


Scalar = TypeVar("Scalar", bound=np.generic)
NewNDArray = TypeAliasType("NewNDArray", np.ndarray[Any, np.dtype[Scalar]], type_params=(Scalar,))
"""As NumPy 2.5 defines `NDArray` from Python 3.12 on."""


@dataclass(frozen=True)
class Heights:
    metres: NewNDArray[np.float64]


def test_arrays_are_known_by_the_alias_that_newer_numpy_gives_them() -> None:
    heights = np.arange(6.0).reshape(2, 3)
    kept = decode(Heights, encode(Heights(heights)))
    assert np.array_equal(kept.metres, heights)


@pytest.mark.slow
def test_tiles_from_the_cache_are_those_that_were_drawn(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = textures.all_tiles()
    forget()
    monkeypatch.setattr(textures, "_draw_tiles", refuse)
    assert np.array_equal(textures.all_tiles(), drawn)


@pytest.mark.slow
def test_tiles_of_another_size_are_drawn_again(cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    drawn = textures.all_tiles()
    [file] = (cache / "tiles").iterdir()
    np.savez(file, texels=drawn[:-1])
    forget()
    with caplog.at_level(logging.WARNING):
        assert np.array_equal(textures.all_tiles(), drawn)
    assert "not a usable set of tiles" in caplog.text


@pytest.mark.slow
def test_another_version_of_the_code_draws_anew(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    city.kept_plan(SEED)
    forget()
    monkeypatch.setattr(city, "maker", lambda: "another")
    city.kept_plan(SEED)
    assert len(list((cache / "plans").iterdir())) == 2


def test_a_town_depends_on_code_data_and_fonts() -> None:
    names = {file.name for file in sources()}
    assert {"layout.py", "names.yaml", "place-types.yaml", "globe.py", "places.py"} <= names
    assert "OpenSans-Bold.ttf" in names
    assert not any(name.endswith((".pyc", ".nbi", ".nbc")) for name in names)
