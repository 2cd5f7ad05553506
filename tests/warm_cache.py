"""A cache for a process that a test starts, with what any run in a made town would first make again."""

import os
import shutil
from pathlib import Path

from virl.resources import cache_home

PARTS = ("plans", "tiles")
"""Plans and textures of made towns: 4 s of a core for Virlton. Neither replies nor views are taken along."""


def warm_cache(folder: Path) -> str:
    """The path of a cache that holds this machine's plans and textures, so that a test need not make them."""
    for part in PARTS:
        there = cache_home() / part
        if there.is_dir():
            shutil.copytree(there, folder / part, copy_function=_link, dirs_exist_ok=True)
    return str(folder)


def _link(source: str, target: str) -> None:
    """Link a file, which virl replaces and never changes; copy it from another file system."""
    if Path(target).exists():
        return
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
