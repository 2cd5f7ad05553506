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
    kept = data_home() / DATA / extract.name
    if kept.exists() and not filecmp.cmp(extract, kept, shallow=False) and not force:
        raise BadInput(f"{kept}: there is another extract of this name: rename {extract}, or add --force")
    then = "set VIRL_DATA to a folder that can be written"
    with replacing(kept, then) as copy, extract.open("rb") as source:
        shutil.copyfileobj(source, copy)
    return kept, date
