"""Rebuilt towns kept in the cache, so that one that was opened before opens at once."""

import hashlib
import logging
import zipfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
from shapely.errors import GEOSException

from virl.errors import BadInput, CannotWrite
from virl.files import replacing
from virl.platform.providers.offline.collector import collector_paused
from virl.platform.providers.offline.render.fonts import installed_faces
from virl.platform.providers.osm.codec import decode, encode
from virl.platform.providers.osm.extract import check_readable, is_large, read_extract
from virl.platform.providers.osm.plan import Twin, build_twin
from virl.platform.providers.osm.translated import translated
from virl.region import Region
from virl.resources import cache_home, data_folder

KEPT = 12  # twins; the ones that were opened longest ago go first; chosen

# What NumPy, zipfile and the codec raise for files that are damaged or are no archives.
_UNUSABLE = (
    OSError, EOFError, ValueError, LookupError, TypeError, RuntimeError, zipfile.BadZipFile, GEOSException,
)  # fmt: skip

_log = logging.getLogger(__name__)


def load_twin(extract: Path, part: Region | None, names: str = "") -> Twin:
    """The twin of an extract, or of a part of it, from a cache file where one was kept.

    A cache file is named for the contents of the extract, the part and the code that builds twins. One that
    cannot be used is named in a warning and made anew; where none can be written, a warning says so.

    Args:
        extract: the file.
        part: of it; `None` for all.
        names: the language of names, such as `en`; empty for those that are written on the spot.

    Raises:
        BadInput: the extract cannot be read, or holds no street here.
    """
    check_readable(extract, part)
    key = _key(extract, part, names)
    if key is None:
        return _built(extract, part, names)
    file = cache_home() / "twins" / f"{key}.npz"
    twin = _load(file)
    if twin is None:
        twin = _built(extract, part, names)
        _store(file, twin)
    return twin


def _built(extract: Path, part: Region | None, names: str) -> Twin:
    held = translated(read_extract(extract, part), names)
    try:
        return build_twin(held)
    except BadInput as fault:
        raise BadInput(f"{extract}: {fault}") from None


def _key(extract: Path, part: Region | None, names: str) -> str | None:
    """What the cache file is named for; `None` where the extract cannot be read.

    A large file is known by its path, size and time of change: to read 80 GB takes minutes.
    """
    try:
        if is_large(extract):
            known = extract.stat()
            contents = f"{extract.resolve()} {known.st_size} {known.st_mtime_ns}"
        else:
            with extract.open("rb") as opened:
                contents = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return None
    named = f"{_builder()} {contents} {part.corners if part else 'all'} {names}"
    return hashlib.sha256(named.encode()).hexdigest()[:32]


@cache
def _builder() -> str:
    """What builds twins: a change in it makes other twins."""
    here, tables = Path(__file__).parent, data_folder("platform/osm").glob("*.yaml")
    files = [*sorted(here.glob("*.py")), *sorted((here.parent / "offline").rglob("*.py")), *sorted(tables)]
    fonts = " ".join(installed_faces()).encode()  # which names have a sign
    return hashlib.sha256(b"".join(file.read_bytes() for file in files) + fonts).hexdigest()


def _load(file: Path) -> Twin | None:
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as kept, collector_paused():
            twin = decode(Twin, kept)
    except FileNotFoundError:
        return None
    except _UNUSABLE as fault:
        _log.warning("%s: not a usable town (%s): building it again", file, type(fault).__name__)
        return None
    with suppress(OSError):
        file.touch()  # the town that was opened last is kept longest
    return twin


def _store(file: Path, twin: Twin) -> None:
    try:
        with replacing(file, "go on") as part:
            np.savez(part, allow_pickle=False, **encode(twin))
    except CannotWrite as fault:
        _log.warning("%s: the town could not be cached (%s): it is built again next time", file, fault)
        return
    with suppress(OSError):
        kept = sorted(file.parent.glob("*.npz"), key=lambda one: one.stat().st_mtime, reverse=True)
        for old in kept[KEPT:]:
            old.unlink(missing_ok=True)
