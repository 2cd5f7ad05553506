"""The runs that a report is about, read from their folders; parts of one run are put together."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from virl.bench.benchmark import AnyBenchmark, BaseOptions, find_benchmark
from virl.bench.episode import Record
from virl.bench.plan import RunPlan, read_plan
from virl.bench.records import RECORDS, SETTINGS, read_records
from virl.errors import BadInput
from virl.files.json_reading import misfits, read_json_file
from virl.settings.model import Settings, check_settings

_FIELDS = frozenset(one.name for one in fields(Record))
_RECORD = TypeAdapter(Record)


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run as read from its folders: options, plan and records."""

    name: str
    """Name that sets the run apart in a report; empty if it is the only one."""
    options: BaseOptions
    plan: RunPlan
    records: tuple[Record, ...]
    """All records, sorted by model and city in the order of the options, then by case."""
    folders: Mapping[str, Path]
    """Folder, by a record's id, from which the paths of the record's files start."""
    parts: tuple[Path, ...] = ()
    """Folders of the run, one for each of its parts, such as shards."""


@dataclass(frozen=True, slots=True)
class ReportRuns:
    """The runs of a report, all of one benchmark."""

    benchmark: AnyBenchmark
    runs: tuple[KeptRun, ...]


class _KeptSettings(Settings):
    """The fields of `settings.json` that a report reads."""

    model_config = ConfigDict(extra="ignore")

    benchmark: str
    options: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Folder:
    """A run's folder as read: settings, plan, and records by id."""

    path: Path
    settings: _KeptSettings
    plan: RunPlan
    records: dict[str, dict[str, Any]]


def gather(folders: Sequence[Path]) -> ReportRuns:
    """Return the runs in folders, for one report; folders with equal options are parts of one run.

    Where parts hold the same episode, one that is done counts before one that failed, then the later folder.

    Raises:
        BadInput: a folder holds no run, or they are of different benchmarks.
        UnknownName: the benchmark is not installed.
    """
    read = [_read_folder(folder) for folder in folders]
    names = sorted({one.settings.benchmark for one in read})
    if len(names) != 1:
        raise BadInput(f"runs of {' and '.join(names)}: report on one benchmark at a time")
    benchmark = find_benchmark(names[0])
    alike: dict[str, list[_Folder]] = {}
    for one in read:
        alike.setdefault(json.dumps(one.settings.options, sort_keys=True), []).append(one)
    groups = list(alike.values())
    titles = _titles([group[0].path for group in groups]) if len(groups) > 1 else [""]
    runs = [_merge_parts(benchmark, group, title) for group, title in zip(groups, titles, strict=True)]
    return ReportRuns(benchmark, tuple(runs))


@contextmanager
def reading_data(benchmark: AnyBenchmark, run: KeptRun) -> Iterator[None]:
    """Turn an error that the benchmark's code raises over a run's records into BadInput that names the run.

    Raises:
        BadInput: in place of what the benchmark stumbles over.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as fault:
        where = " and ".join(sorted({str(folder / RECORDS) for folder in run.folders.values()}))
        wrong = " ".join(f"{type(fault).__name__}: {fault}".split())
        raise BadInput(
            f"{where}: the data of a record is not what {benchmark.name} writes ({wrong}): restore the file, "
            "or see --debug"
        ) from fault


def _read_folder(folder: Path) -> _Folder:
    """Return the settings, plan and records in a run's folder; raise BadInput if it is no such folder."""
    path = folder / SETTINGS
    if not path.is_file():
        raise BadInput(f"{path}: no such file: give a run folder")
    found = read_json_file(path)
    if isinstance(found, dict) and "benchmark" not in found:
        raise BadInput(f"{path}: an earlier version of virl wrote this run: run the benchmark again")
    settings = check_settings(found, _KeptSettings, source=str(path))
    return _Folder(folder, settings, read_plan(folder), read_records(folder / RECORDS))


def _titles(paths: Sequence[Path]) -> list[str]:
    """Return as many last names of each path, joined by "/", as are needed to tell the paths apart."""
    resolved = [path.resolve() for path in paths]
    depth = 1
    while len({path.parts[-depth:] for path in resolved}) < len(resolved):
        depth += 1
    return ["/".join(path.parts[-depth:]) for path in resolved]


def _merge_parts(benchmark: AnyBenchmark, parts: Sequence[_Folder], name: str) -> KeptRun:
    """Return a run's parts as one run named `name`; of an episode's records the last done one counts."""
    source = str(parts[0].path / SETTINGS)
    options: BaseOptions = check_settings(parts[0].settings.options, benchmark.options, source=source)
    kept: dict[str, tuple[Record, Path]] = {}
    for part in parts:
        for identity, data in part.records.items():
            record = _check_record(data, part.path)
            if identity not in kept or record.status == "done" or kept[identity][0].status == "failed":
                kept[identity] = (record, part.path)
    plan = parts[0].plan
    models, cities = list(plan.episodes), list(plan.cities)
    ordered = sorted(
        (record for record, _ in kept.values() if record.model in models and record.city in cities),
        key=lambda record: (models.index(record.model), cities.index(record.city), record.case),
    )
    where = {identity: path for identity, (_, path) in kept.items()}
    return KeptRun(name, options, plan, tuple(ordered), where, tuple(part.path for part in parts))


def _check_record(data: dict[str, Any], folder: Path) -> Record:
    """Return a record from its JSON, read from `folder`; raise BadInput if the fields do not fit."""
    if set(data) != _FIELDS:
        wrong = ", ".join(sorted(_FIELDS ^ set(data)))
        raise BadInput(f"{folder / RECORDS}: {data['id']}: fields missing or unknown ({wrong})")
    try:
        return _RECORD.validate_python(data)
    except ValidationError as fault:
        raise BadInput(f"{folder / RECORDS}: {data['id']!r}: {misfits(fault)[0]}") from None
