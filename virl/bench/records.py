"""The records of a run, one a line as each episode ends, and the folders and pictures of its episodes."""

import hashlib
import io
import json
import logging
import platform
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import PIL.Image

from virl.bench.episode import Episode
from virl.errors import BadInput
from virl.files.json_reading import JsonFault, read_json
from virl.files.pictures import PictureFault, open_picture
from virl.files.writing import JsonLines, read_bounded, refusals_in_a_line, replace_file, write_whole
from virl.journal.folder import lock_run
from virl.platform.city.streetview import Camera, Image, View
from virl.version import __version__

RECORDS, SETTINGS, RESULTS = "records.jsonl", "settings.json", "results.json"
Record = dict[str, Any]

_RESUME = "go on with --resume"
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Records:
    """The records of one run's episodes in its folder, locked against other writers; see `open_records`.

    Each record is an object with a text `id`, one JSON line in `records.jsonl`, on the disk before `append`
    returns. Where an id stands twice, as after a failed episode was walked again, the later record counts.
    """

    folder: Path
    done: dict[str, Record]
    """The last record of each episode by its id, those of earlier runs in the folder included."""
    cut: str
    """Sentence on a torn last line that was removed; empty if there was none."""
    _lines: JsonLines
    _guard: Lock = field(default_factory=Lock)

    def append(self, record: Record) -> None:
        """Write the record of an episode to the file; safe for several threads.

        Raises:
            CannotWrite: the disk refuses.
        """
        line = json.dumps(record, ensure_ascii=False, allow_nan=False)
        with self._guard:
            # The file first: what `done` holds is never run again, so it has to be on the disk.
            self._lines.append(line)
            self.done[record["id"]] = record


@contextmanager
def open_records(folder: Path, settings: Mapping[str, Any], resume: bool) -> Iterator[Records]:
    """Yield the records of a new run, or with `resume` of an old one, in its folder, locked in the block.

    A last line that was cut off, as a kill leaves it, is removed and told in `cut` and by a warning.

    Args:
        folder: where the run's files are.
        settings: what the records depend on, such as the agent and the split. Numbers, text, lists and
            mappings; kept in `settings.json`.
        resume: whether to go on with a run that is there already.

    Raises:
        BadInput: there are records already and `resume` is not set, they were made with other settings, or a
            line of them is damaged.
        JournalBroken: another process is writing to the folder.
        CannotWrite: the disk refuses.
    """
    path = folder / RECORDS
    with refusals_in_a_line(folder, "choose another --out"):
        folder.mkdir(parents=True, exist_ok=True)
    with lock_run(folder):
        is_begun = path.exists() and path.stat().st_size > 0  # a run refused before its first has none
        if is_begun and not resume:
            raise BadInput(f"{folder}: already contains a run: {_RESUME}, or choose another --out")
        # Through JSON, as the kept ones went: else a tuple would differ from its own list.
        _keep_settings(folder / SETTINGS, json.loads(json.dumps(settings)), is_begun=is_begun)
        lines = JsonLines(path, _RESUME)
        done, cut = _read_lines(lines), ""
        if lines.torn:
            number = lines.count + 1
            lines.heal()
            cut = f"{path}, line {number}: was cut off and is removed; its episode runs again"
            _log.warning("%s", cut)
        yield Records(folder, done, cut, lines)


def write_results(folder: Path, payload: Mapping[str, Any]) -> Path:
    """Write `results.json` into a run's folder, whole or not at all, and return its path.

    Raises:
        CannotWrite: the disk refuses.
    """
    path = folder / RESULTS
    write_whole(path, json.dumps(payload, indent=2, ensure_ascii=False).encode() + b"\n", _RESUME)
    return path


def versions(*packages: str) -> dict[str, str]:
    """Return the versions by name of virl, Python, NumPy, SciPy and of those `packages` installed."""
    found = {"virl": __version__, "python": platform.python_version()}
    for package in ("numpy", "scipy", *packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _keep_settings(path: Path, settings: dict[str, Any], *, is_begun: bool) -> None:
    """Write a run's settings to `path`; raise BadInput if a begun run has other settings there."""
    if is_begun and path.exists():
        kept = _parse_object(read_bounded(path) or b"")
        if kept is None:
            raise BadInput(f"{path}: is damaged: choose another --out")
        if "benchmark" in settings and "benchmark" not in kept:
            raise BadInput(
                f"{path}: an earlier version of virl wrote this run in another format: choose another --out"
            )
        if kept != settings:
            raise BadInput(
                f"{path}: the settings differ ({_difference(kept, settings)}): choose another --out"
            )
    data = json.dumps(settings, indent=2, ensure_ascii=False).encode() + b"\n"
    write_whole(path, data, "choose another --out")


def _difference(kept: dict[str, Any], asked: dict[str, Any]) -> str:
    """Return the fields in which the kept and the given settings differ, with both values, as text."""
    if isinstance(kept.get("options"), dict) and isinstance(asked.get("options"), dict):
        kept, asked = ({**one, **one["options"], "options": None} for one in (kept, asked))
    fields = [name for name in kept | asked if kept.get(name) != asked.get(name)]
    return ", ".join(f"{name}: {kept.get(name)!r} there, {asked.get(name)!r} here" for name in fields)


def read_records(path: Path) -> dict[str, Record]:
    """Return the last record of each episode in a file, by the episode's id; empty if there is no file.

    Raises:
        BadInput: a line is damaged.
    """
    return _read_lines(JsonLines(path, _RESUME))


def _read_lines(lines: JsonLines) -> dict[str, Record]:
    """Return the last record of each episode in a file of JSON lines, by the episode's id."""
    records = lines.read(_parse_record, mend=": remove the line to run its episode again")
    return {record["id"]: record for record in records}


def _parse_record(line: bytes) -> Record:
    """Return the record in a line of JSON; raise ValueError if it is no object with a text `id`."""
    record = _parse_object(line)
    if record is None or not isinstance(record.get("id"), str):
        raise ValueError("is no record")
    return record


def _parse_object(line: bytes) -> Record | None:
    """Return the JSON object in a line; `None` if it holds none."""
    try:
        data = read_json(line)
    except JsonFault:
        return None
    return data if isinstance(data, dict) else None


FOLDER = "episodes"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}")


def slug(identity: str) -> str:
    """Return a folder name for an episode's id: readable, safe on any disk, and unique by a hash."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", identity).strip("-.")[-60:]
    return f"{readable}-{hashlib.sha256(identity.encode()).hexdigest()[:10]}"


def keep_files(folder: Path, episode: Episode, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Write an episode's pictures below its run's folder; return their paths relative to it, in order.

    Args:
        folder: of the run.
        episode: names their folder.
        files: contents by file name.

    Raises:
        BadInput: a name is no plain file name.
        CannotWrite: the disk refuses.
    """
    if not files:
        return ()
    home = Path(FOLDER) / slug(episode.id)
    # All before the first is written, so that a bad name leaves no half of the files behind.
    for name in files:
        if not _NAME.fullmatch(name):
            raise BadInput(f"{episode.id}: {name!r} is not a plain file name")
    for name, content in files.items():
        with replace_file(folder / home / name, _RESUME) as file:
            file.write(content)
    return tuple((home / name).as_posix() for name in files)


QUALITY = 80
"""JPEG quality of kept views, of 100. Chosen: signs stay legible, a view of 640 x 480 takes some 60 kB."""
PHOTO_FOV = 60.0
"""Horizontal field of view, degrees, that is assumed for photos. Chosen: a telephone's camera."""


def jpeg(image: Image | View) -> bytes:
    """Return a picture or a view's pixels encoded as JPEG, for `EpisodeResult.files`."""
    pixels = image.pixels if isinstance(image, View) else image
    file = io.BytesIO()
    PIL.Image.fromarray(pixels).save(file, "JPEG", quality=QUALITY)
    return file.getvalue()


def read_photo(path: str) -> Image:
    """Return the RGB pixels of a data set's photo, read from its path.

    Raises:
        BadInput: it is no picture, or too large.
    """
    try:
        with open_picture(Path(path)) as photo:
            return np.asarray(photo.convert("RGB"))
    except PictureFault as fault:
        raise BadInput(f"{path}: {fault}: download or collect it again") from fault


def photo_view(image: Image) -> View:
    """Return a photo as a view to the north with field of view `PHOTO_FOV`, at no real panorama."""
    height, width = image.shape[:2]
    return View("photo", Camera(0.0, fov=PHOTO_FOV, width=width, height=height), image)
