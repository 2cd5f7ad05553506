"""Rebuilt towns kept in the cache, so that one that was opened before opens at once."""

import hashlib
import logging
from datetime import date
from functools import cache, partial
from pathlib import Path

from virl.errors import BadInput
from virl.files.stores import ArrayStore
from virl.geo.region import Region
from virl.osm.extract import check_readable, date_of, is_large, read_extract
from virl.osm.names import translate_names
from virl.osm.plan import Twin, build_twin
from virl.towns.storage import decode, encode, maker

TOLD_FROM_MB = 10.0
"""Size in megabytes of a PBF file from which a warning tells that reading takes over a minute; chosen."""
HOUSES_OF_MB, SECONDS_OF_MB, MEMORY_OF_MB = 6400, 9.0, 92.0
"""Houses, seconds and megabytes of memory for each megabyte of a PBF file: those of Liechtenstein, 2.7 MB."""

_log = logging.getLogger(__name__)
_TWINS = ArrayStore("twins", "town", 12, encode, partial(decode, Twin))  # how many: chosen
"""Store of built twins, at most 12, in the user's cache."""


def load_twin(extract: Path, part: Region | None, names: str = "", day: date | None = None) -> Twin:
    """Return the cached or new twin of (part of) an extract; `names`: a language, `day`: for undated files.

    A cache file is named for the contents of the extract, the part and the code that builds twins. One that
    cannot be used is named in a warning and made anew; where none can be written, a warning says so.

    Args:
        extract: path of the file.
        part: the region of it to read; `None` for all.
        names: language of names, such as `en`; empty for the local ones.
        day: for a file without a date; what had ended on it is left out. By default today.

    Raises:
        BadInput: the extract cannot be read, or holds no street here.
    """
    key = twin_key(extract, part, names, day)
    if key is None:
        return _build(extract, part, names, day)
    return _TWINS.get(key, lambda: _build(extract, part, names, day))


def _build(extract: Path, part: Region | None, names: str, day: date | None) -> Twin:
    """Return the twin of a file or a region of it, built without the cache; arguments as in `load_twin`."""
    megabytes = extract.stat().st_size / 1e6 if extract.name.endswith(".pbf") and part is None else 0.0
    if megabytes >= TOLD_FROM_MB:
        _log.warning(
            "%s: all of it has about %s houses and takes %.0f minutes and %.0f GB of memory, only this "
            "once: `--around LAT,LNG` opens a part in seconds",
            extract, f"{round(megabytes * HOUSES_OF_MB, -3):,.0f}", megabytes * SECONDS_OF_MB / 60 + 0.5,
            megabytes * MEMORY_OF_MB / 1000 + 0.5,
        )  # fmt: skip
    held = translate_names(read_extract(extract, part, _iso(day)), names)
    try:
        return build_twin(held)
    except BadInput as fault:
        raise BadInput(f"{extract}: {fault}") from None


def twin_key(extract: Path, part: Region | None, names: str, day: date | None = None) -> str | None:
    """Return the key of a twin's cache file by what it is made of; `None` for an extract that cannot be read.

    A large file is known by its path, size and time of change: to read 80 GB takes minutes.

    Args:
        extract: path of the file.
        part: the region of it to read; `None` for all.
        names: language of names, such as `en`; empty for the local ones.
        day: for a file without a date; what had ended on it is left out. By default today.

    Raises:
        BadInput: the file is missing, no extract, too large to be read whole, or does not cover the part.
    """
    check_readable(extract, part)
    try:
        if is_large(extract):
            known = extract.stat()
            contents = f"{extract.resolve()} {known.st_size} {known.st_mtime_ns}"
        else:
            contents = _digest(extract, extract.stat().st_mtime_ns)
    except OSError:
        return None
    undated = "" if date_of(extract) else _iso(day)
    return f"{_builder()} {contents} {part.corners if part else 'all'} {names}{undated}"


def _iso(day: date | None) -> str:
    """Return a day as text, such as `2026-11-22`; today for `None`."""
    return (day or date.today()).isoformat()  # noqa: DTZ011 - the day of who asks


@cache
def _digest(extract: Path, _changed_ns: int) -> str:
    """Return the hex SHA-256 of a file, remembered while its time of change, `_changed_ns`, is the same."""
    # The time of change is part of the cache's key: a file that was changed is read again.
    with extract.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


@cache
def _builder() -> str:
    """Return the hexadecimal SHA-256 of the code that builds twins."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files) + maker().encode()).hexdigest()
