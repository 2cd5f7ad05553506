"""A cache for a process that a test starts, with what any run in a made town would first make again."""

import os
import shutil
from pathlib import Path

from virl.resources import cache_home

PARTS = ("plans", "tiles", "twins", "views", "finds")
"""Towns, their textures, views and what was found there: seconds of a core each. No reply is taken along."""


def warm_cache(folder: Path) -> str:
    """The path of a cache that holds what this machine has made of towns, so that a test need not make it."""
    for part in PARTS:
        there, here = cache_home() / part, folder / part
        here.mkdir(parents=True, exist_ok=True)
        for file in there.glob("[!.]*"):  # a hidden one is not written yet
            _link(file, here / file.name)
    return str(folder)


def _link(source: Path, target: Path) -> None:
    """Link a file, which virl replaces and never changes; copy it from another file system."""
    try:
        os.link(source, target)
    except (FileNotFoundError, FileExistsError):
        pass  # another process deleted the oldest files meanwhile, or it is linked
    except OSError:
        shutil.copy2(source, target)
