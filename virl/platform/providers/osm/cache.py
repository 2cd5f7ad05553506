"""Rebuilt towns kept in the cache, so that one that was opened before opens at once."""

import hashlib
import io
import logging
import pickle
from contextlib import suppress
from pathlib import Path

from virl import __version__
from virl.errors import CannotWrite
from virl.files import replacing
from virl.platform.providers.offline.collector import collector_paused
from virl.platform.providers.osm.extract import read_extract
from virl.platform.providers.osm.plan import Twin, build_twin
from virl.region import Region
from virl.resources import cache_home

SCHEMA = 1
"""Version of the cache files; raise it when a twin is built otherwise."""
KEPT = 12  # twins; the ones that were opened longest ago go first; chosen

_KNOWN = {
    "collections": {"Counter"},
    "numpy": {"dtype", "ndarray"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "shapely.io": {"from_wkb"},
    "virl.geo": {"LatLng", "LocalFrame"},
    "virl.platform.places": {"OpeningHours", "Place"},
    "virl.platform.providers.offline.plan": {
        *("Building", "CityPlan", "Frontage", "Furniture", "Panoramas"),
        *("Shop", "Sign", "Street", "StreetPlan"),
    },
    "virl.platform.providers.osm.extract": {"OsmExtract", "OsmObjects"},
    "virl.platform.providers.osm.houses": {"Houses"},
    "virl.platform.providers.osm.plan": {"Twin"},
    "virl.platform.providers.osm.pois": {"Pois"},
    "virl.platform.providers.osm.streets": {"TwinStreets"},
}
"""What a twin is made of, by module; a cache file that names anything else is not read."""

_log = logging.getLogger(__name__)


def load_twin(extract: Path, part: Region | None) -> Twin:
    """The twin of an extract, or of a part of it, from a cache file where one was kept.

    A cache file is named for the contents of the extract, the part and the version of virl. One that cannot
    be used is named in a warning and made anew; where none can be written, a warning says so.

    Raises:
        BadInput: the extract cannot be read, or holds no street here.
    """
    key = _key(extract, part)
    if key is None:
        return build_twin(read_extract(extract, part))
    file = cache_home() / "twins" / f"{key}.pickle"
    twin = _load(file)
    if twin is None:
        twin = build_twin(read_extract(extract, part))
        _store(file, twin)
    return twin


class _Unpickler(pickle.Unpickler):
    """Makes twins and nothing else: a file that was put in the cache by somebody runs no code."""

    def find_class(self, module: str, name: str) -> object:
        if name not in _KNOWN.get(module, ()):
            raise pickle.UnpicklingError(f"it holds {module}.{name}")
        return super().find_class(module, name)


def _key(extract: Path, part: Region | None) -> str | None:
    """What the cache file is named for; `None` where the extract cannot be read."""
    try:
        with extract.open("rb") as opened:
            contents = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return None
    named = f"{SCHEMA} {__version__} {contents} {part.corners if part else 'all'}"
    return hashlib.sha256(named.encode()).hexdigest()[:32]


def _load(file: Path) -> Twin | None:
    try:
        kept = file.read_bytes()
        with collector_paused():
            twin = _Unpickler(io.BytesIO(kept)).load()
    except FileNotFoundError:
        return None
    except Exception as fault:  # noqa: BLE001 - a damaged file raises almost anything
        _log.warning("%s: not a usable town (%s): building it again", file, type(fault).__name__)
        return None
    if not isinstance(twin, Twin):
        _log.warning("%s: not a usable town (it holds something else): building it again", file)
        return None
    with suppress(OSError):
        file.touch()  # the town that was opened last is kept longest
    return twin


def _store(file: Path, twin: Twin) -> None:
    try:
        with replacing(file, "go on") as part:
            pickle.dump(twin, part, protocol=5)
    except CannotWrite as fault:
        _log.warning("%s: the town could not be cached (%s): it is built again next time", file, fault)
        return
    with suppress(OSError):
        kept = sorted(file.parent.glob("*.pickle"), key=lambda one: one.stat().st_mtime, reverse=True)
        for old in kept[KEPT:]:
            old.unlink(missing_ok=True)
