"""Folders of the files that come with virl, and of those that it keeps on this machine."""

import os
from functools import cache
from pathlib import Path

import platformdirs

_PACKAGE = Path(__file__).parent


@cache
def data_root() -> Path:
    """Return the folder that holds `agents/`, `prompts/` and `platform/`.

    It is the root of a checkout, and inside the package in a wheel.
    """
    bundled = _PACKAGE / "bundled"
    return bundled if bundled.is_dir() else _PACKAGE.parent


def data_folder(name: str) -> Path:
    """Return the path of a data folder that comes with virl, such as "prompts" or "platform/cities"."""
    return data_root() / name


def names_in(folder: str, suffix: str) -> list[str]:
    """Return the names, without suffix, of the files with a suffix in a data folder, sorted."""
    return sorted(path.stem for path in data_folder(folder).glob(f"*{suffix}"))


def data_home() -> Path:
    """Return the folder that contains all data sets: `VIRL_DATA`, or the user's data folder."""
    return Path(os.environ.get("VIRL_DATA") or platformdirs.user_data_path("virl"))


def cache_home() -> Path:
    """Return the folder of all caches: `VIRL_CACHE`, or the user's cache folder."""
    return Path(os.environ.get("VIRL_CACHE") or platformdirs.user_cache_path("virl"))
