"""The runs that a report is about, read from their folders; parts of one run are put together."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from virl.bench.benchmark import AnyBenchmark, BaseOptions, Record
from virl.bench.plan import RunPlan, read_plan
from virl.bench.records import RECORDS, SETTINGS, read_records
from virl.bench.registry import find_benchmark
from virl.errors import BadInput
from virl.json_reading import read_json
from virl.settings import check_settings

_FIELDS = frozenset(one.name for one in fields(Record))


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run as its folders hold it."""

    name: str
    """Tells it from the other runs of a report; empty where it is the only one."""
    options: BaseOptions
    plan: RunPlan
    records: tuple[Record, ...]
    """Sorted by model and city, as the options have them, and by case."""
    folders: Mapping[str, Path]
    """Where the files of each record are, by its id."""
    parts: tuple[Path, ...] = ()
    """Its folders."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The runs of a report."""

    benchmark: AnyBenchmark
    runs: tuple[KeptRun, ...]


@dataclass(frozen=True, slots=True)
class _Folder:
    path: Path
    benchmark: str
    options: dict[str, Any]
    plan: RunPlan
    records: dict[str, dict[str, Any]]


def gather(folders: Sequence[Path]) -> Gathered:
    """Read runs. Folders with equal options are parts of one run, whatever their plans' shards.

    Where parts hold the same episode, one that is done counts before one that failed, then the later folder.

    Raises:
        BadInput: a folder holds no run, or they are of different benchmarks.
        UnknownName: the benchmark is not installed.
    """
    read = [_read(folder) for folder in folders]
    names = sorted({one.benchmark for one in read})
    if len(names) != 1:
        raise BadInput(f"runs of {' and '.join(names)}: report on one benchmark at a time")
    benchmark = find_benchmark(names[0])
    alike: dict[str, list[_Folder]] = {}
    for one in read:
        alike.setdefault(json.dumps(one.options, sort_keys=True), []).append(one)
    groups = list(alike.values())
    titles = _titles([group[0].path for group in groups]) if len(groups) > 1 else [""]
    runs = [_merged(benchmark, group, title) for group, title in zip(groups, titles, strict=True)]
    return Gathered(benchmark, tuple(runs))


def _read(folder: Path) -> _Folder:
    path = folder / SETTINGS
    try:
        settings = read_json(path.read_bytes())
        if isinstance(settings, dict) and "benchmark" not in settings:
            raise BadInput(f"{path}: an earlier version of virl wrote this run: run the benchmark again")
        name, options = settings["benchmark"], settings["options"]
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise BadInput(f"{path}: cannot be read ({fault}): give a run folder") from fault
    return _Folder(folder, name, options, read_plan(folder), read_records(folder / RECORDS))


def _titles(paths: Sequence[Path]) -> list[str]:
    """The last names of the paths, as many as tell them apart."""
    resolved = [path.resolve() for path in paths]
    depth = 1
    while len({path.parts[-depth:] for path in resolved}) < len(resolved):
        depth += 1
    return ["/".join(path.parts[-depth:]) for path in resolved]


def _merged(benchmark: AnyBenchmark, parts: Sequence[_Folder], name: str) -> KeptRun:
    source = str(parts[0].path / SETTINGS)
    options: BaseOptions = check_settings(parts[0].options, benchmark.options, source=source)
    kept: dict[str, tuple[Record, Path]] = {}
    for part in parts:
        for identity, data in part.records.items():
            record = _record(data, part.path)
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


def _record(data: dict[str, Any], folder: Path) -> Record:
    if set(data) != _FIELDS:
        wrong = ", ".join(sorted(_FIELDS ^ set(data)))
        raise BadInput(f"{folder / RECORDS}: {data['id']}: fields missing or unknown ({wrong})")
    return Record(**(data | {"files": tuple(data["files"])}))
