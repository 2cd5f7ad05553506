"""The records of a benchmark's run: one a line as each episode ends, so that a killed run can go on."""

import io
import json
import logging
import os
import platform
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, BinaryIO, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

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

    Each record is an object with a text `id`, one JSON line in `records.jsonl`, flushed before `append`
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
            BadInput: there is a run already and `resume` is not set, the run there has other settings, or
                a line of its records is damaged.
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
            _keep_settings(folder / SETTINGS, json.loads(json.dumps(settings)))
            done, cut = _read(path)
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


def record_all(
    records: Records,
    jobs: Iterable[tuple[Any, ...]],
    work: Callable[..., Record],
    *,
    workers: int,
    console: Console,
    title: str,
) -> None:
    """Append `work(*job)` for every job, side by side in threads, with a progress bar.

    An interruption starts no further job; those that run are waited for and recorded.

    Args:
        records: where each record goes as soon as it is there.
        jobs: the arguments of each job.
        work: does one job. What it raises ends the whole run, so it should record what may go wrong.
        workers: how many threads.
        console: where the bar is shown.
        title: what stands beside the bar.
    """
    todo = list(jobs)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title, total=len(todo))
        pool = ThreadPoolExecutor(workers)
        try:
            futures = [pool.submit(lambda job: records.append(work(*job)), job) for job in todo]
            for future in as_completed(futures):
                future.result()
                progress.advance(task)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


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


def _refuse_second(path: Path) -> None:
    if path.exists():
        raise BadInput(f"{path.parent}: holds a run already: {_RESUME}, or choose another --out")


def _keep_settings(path: Path, settings: dict[str, Any]) -> None:
    if path.exists():
        kept = _object(path.read_bytes())
        if kept is None:
            raise BadInput(f"{path}: is damaged: choose another --out")
        if kept != settings:
            raise BadInput(f"{path}: other settings ({_difference(kept, settings)}): choose another --out")
    with writing(path, "choose another --out"):
        write_atomically(path, json.dumps(settings, indent=2, ensure_ascii=False).encode() + b"\n")


def _difference(kept: dict[str, Any], asked: dict[str, Any]) -> str:
    fields = [name for name in kept | asked if kept.get(name) != asked.get(name)]
    return ", ".join(f"{name}: {kept.get(name)!r} there, {asked.get(name)!r} here" for name in fields)


def _read(path: Path) -> tuple[dict[str, Record], str]:
    """The records of a file, by id, and what was cut off its end."""
    if not path.exists():
        return {}, ""
    *lines, tail = path.read_bytes().split(b"\n")
    if tail and _object(tail) is not None:  # whole but for its line end
        lines.append(tail)
        tail = b""
        with writing(path, _RESUME), path.open("ab") as file:
            file.write(b"\n")
    if lines and not tail and _object(lines[-1]) is None:
        tail = lines.pop()
    done: dict[str, Record] = {}
    for number, line in enumerate(lines, start=1):
        record = _object(line)
        if record is None or not isinstance(record.get("id"), str):
            raise BadInput(f"{path}, line {number}: is no record: remove the line to walk its episode again")
        done[record["id"]] = record
    if not tail:
        return done, ""
    with writing(path, _RESUME):
        os.truncate(path, sum(len(line) + 1 for line in lines))
    cut = f"{path}, line {len(lines) + 1}: was cut off and is removed; its episode is walked again"
    _log.warning("%s", cut)
    return done, cut


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
