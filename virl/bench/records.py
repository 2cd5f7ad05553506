"""The records of a run: one a line as each episode ends, so that a run that was killed can go on."""

import io
import json
import logging
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, BinaryIO, Self

from virl import __version__
from virl.errors import BadInput
from virl.journal.files import write_atomically, writing
from virl.journal.lock import lock_run

RECORDS, SETTINGS, RESULTS = "records.jsonl", "settings.json", "results.json"
Record = dict[str, Any]

_RESUME = "go on with --resume"
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Records:
    """The growing records of one run, made by `open` and locked against other writers.

    Each record is an object with a text `id`, one JSON line in `records.jsonl`, on the disk before `append`
    returns. Where an id stands twice, as after a failed episode was walked again, the later record counts.
    """

    folder: Path
    done: dict[str, Record]
    """The last record of each episode, by its id, those of earlier runs included."""
    cut: str
    """What was lost of a last line that was cut off, in words; empty if nothing was."""
    _file: io.FileIO
    _lock: BinaryIO
    _guard: Lock = field(default_factory=Lock)

    @classmethod
    def open(cls, folder: Path, settings: Mapping[str, Any], resume: bool) -> Self:
        """Begin a run in a folder, which is made where it is missing, or go on with the run in it.

        A last line that was cut off, as a kill leaves it, is removed and told in `cut` and by a warning.

        Args:
            folder: where the run's files are.
            settings: what the records depend on, such as the agent and the split. Numbers, text, lists and
                mappings; kept in `settings.json`.
            resume: whether to go on with a run that is there already.

        Raises:
            BadInput: there are records already and `resume` is not set, they were made with other settings,
                or a line of them is damaged.
            JournalBroken: another process is writing to the folder.
            CannotWrite: the disk refuses.
        """
        path = folder / RECORDS
        with writing(folder, "choose another --out"):
            folder.mkdir(parents=True, exist_ok=True)
        lock = lock_run(folder)
        try:
            if not resume:
                _refuse_second(path)
            _keep_settings(folder / SETTINGS, json.loads(json.dumps(settings)), is_begun=_is_begun(path))
            done, cut = _mended(path)
            with writing(path, _RESUME):
                return cls(folder, done, cut, path.open("ab", buffering=0), lock)
        except BaseException:
            lock.close()
            raise

    def append(self, record: Record) -> None:
        """Write down the record of an episode; any thread may.

        Raises:
            CannotWrite: the disk refuses.
        """
        line = json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        with self._guard, writing(self.folder / RECORDS, _RESUME):
            before = os.fstat(self._file.fileno()).st_size
            try:
                _write_all(self._file, line)
                os.fsync(self._file.fileno())
            except OSError:
                self._file.truncate(before)
                raise
            self.done[record["id"]] = record

    def close(self) -> None:
        """Let go of the files and the lock. Harmless if done before."""
        self._file.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def write_results(folder: Path, payload: Mapping[str, Any]) -> Path:
    """Write `results.json`, whole or not at all, and give its path.

    Raises:
        CannotWrite: the disk refuses.
    """
    path = folder / RESULTS
    with writing(path, _RESUME):
        write_atomically(path, json.dumps(payload, indent=2, ensure_ascii=False).encode() + b"\n")
    return path


def versions(*packages: str) -> dict[str, str]:
    """Versions of virl, Python, NumPy, SciPy and further packages; those not installed are left out."""
    found = {"virl": __version__, "python": platform.python_version()}
    for package in ("numpy", "scipy", *packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _is_begun(path: Path) -> bool:
    """Whether a run has left a record; one that was refused before its first episode has not."""
    return path.exists() and path.stat().st_size > 0


def _refuse_second(path: Path) -> None:
    if _is_begun(path):
        raise BadInput(f"{path.parent}: holds a run already: {_RESUME}, or choose another --out")


def _keep_settings(path: Path, settings: dict[str, Any], *, is_begun: bool) -> None:
    if is_begun and path.exists():
        kept = _object(path.read_bytes())
        if kept is None:
            raise BadInput(f"{path}: is damaged: choose another --out")
        if "benchmark" in settings and "benchmark" not in kept:
            raise BadInput(
                f"{path}: an earlier version of virl wrote this run, in another form: choose another --out"
            )
        if kept != settings:
            raise BadInput(f"{path}: other settings ({_difference(kept, settings)}): choose another --out")
    with writing(path, "choose another --out"):
        write_atomically(path, json.dumps(settings, indent=2, ensure_ascii=False).encode() + b"\n")


def _difference(kept: dict[str, Any], asked: dict[str, Any]) -> str:
    if isinstance(kept.get("options"), dict) and isinstance(asked.get("options"), dict):
        kept, asked = ({**one, **one["options"], "options": None} for one in (kept, asked))
    fields = [name for name in kept | asked if kept.get(name) != asked.get(name)]
    return ", ".join(f"{name}: {kept.get(name)!r} there, {asked.get(name)!r} here" for name in fields)


@dataclass(frozen=True, slots=True)
class Kept:
    """What a file of records holds."""

    done: dict[str, Record]
    """The last record of each episode, by its id."""
    lines: int
    """How many whole records there are."""
    size: int
    """Bytes of those, with the ends of their lines."""
    lacks_end: bool
    """Whether the last of them is whole but for the end of its line."""
    is_cut: bool
    """Whether a line that was cut off follows."""


def read_records(path: Path) -> Kept:
    """What a file of records holds; nothing if there is none. The file stays as it is.

    Raises:
        BadInput: a line is damaged.
    """
    *lines, tail = path.read_bytes().split(b"\n") if path.exists() else [b""]
    lacks_end = bool(tail) and _object(tail) is not None
    if lacks_end:
        lines.append(tail)
        tail = b""
    if lines and not tail and _object(lines[-1]) is None:
        tail = lines.pop()
    done: dict[str, Record] = {}
    for number, line in enumerate(lines, start=1):
        record = _object(line)
        if record is None or not isinstance(record.get("id"), str):
            raise BadInput(f"{path}, line {number}: is no record: remove the line to walk its episode again")
        done[record["id"]] = record
    size = sum(len(line) + 1 for line in lines)
    return Kept(done, len(lines), size, lacks_end, is_cut=bool(tail))


def _mended(path: Path) -> tuple[dict[str, Record], str]:
    """The records of a file, which ends with a whole line then, and what was cut off."""
    kept = read_records(path)
    if kept.lacks_end:
        with writing(path, _RESUME), path.open("ab") as file:
            file.write(b"\n")
    if not kept.is_cut:
        return kept.done, ""
    with writing(path, _RESUME):
        os.truncate(path, kept.size)
    cut = f"{path}, line {kept.lines + 1}: was cut off and is removed; its episode is walked again"
    _log.warning("%s", cut)
    return kept.done, cut


def _write_all(file: io.FileIO, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _object(line: bytes) -> Record | None:
    try:
        data = json.loads(line)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None
