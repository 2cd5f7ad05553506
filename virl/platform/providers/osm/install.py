"""Copies a user's extract to the data folder."""

import filecmp
import shutil
from pathlib import Path

from virl.errors import BadInput
from virl.files import replacing
from virl.platform.providers.osm.city_file import DATA
from virl.platform.providers.osm.extract import check_extract
from virl.resources import data_home


def install_extract(extract: Path, *, force: bool = False) -> tuple[Path, str]:
    """Copy an extract to where city files look for it; gives its new path and the date of its data.

    Args:
        extract: the file.
        force: whether another file of this name is replaced.

    Raises:
        BadInput: it is no extract, or there is another one of its name.
        CannotWrite: the disk refuses.
    """
    date = check_extract(extract)
    return keep_extract(extract, force=force), date


def kept_path(name: str) -> Path:
    """Where an extract of this file name is kept."""
    return data_home() / DATA / name


def keep_extract(extract: Path, *, force: bool) -> Path:
    """Copy a file that is known to be an extract; gives its new path.

    Raises:
        BadInput: there is another one of its name.
        CannotWrite: the disk refuses.
    """
    kept = kept_path(extract.name)
    if kept.exists() and not filecmp.cmp(extract, kept, shallow=False) and not force:
        raise BadInput(f"{kept}: there is another extract of this name: rename {extract}, or add --force")
    then = "set VIRL_DATA to a folder that can be written"
    with replacing(kept, then) as copy, extract.open("rb") as source:
        shutil.copyfileobj(source, copy)
    return kept
