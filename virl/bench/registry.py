"""Benchmarks by name: virl's own, and those of other packages (entry-point group `virl.benchmarks`)."""

import sys
from collections.abc import Mapping
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from virl.bench.benchmark import AnyBenchmark, Benchmark
from virl.errors import BadInput, ModelUnavailable, VirlError
from virl.registry import Registry, first_line, load, one_line, scan
from virl.resources import data_folder

FOLDER = "benchmarks"
BUNDLED = "virl.bundled.benchmarks"
"""The package of virl's own benchmarks in a wheel."""


def benchmark_names() -> list[str]:
    """Return the names of all benchmarks that are installed, sorted."""
    return BENCHMARKS.names()


def find_benchmark(name: str) -> AnyBenchmark:
    """Find a benchmark by its name, or as `MODULE:OBJECT` where it is not installed.

    Raises:
        UnknownName: there is none of this name.
        ModelUnavailable: what it needs cannot be imported.
        BadInput: the object is not a `Benchmark`, or two packages give the same name.
    """
    if ":" not in name:
        return BENCHMARKS.find(name)
    try:
        found = load(name)
    except Exception as fault:
        raise ModelUnavailable(
            f"benchmark {name!r} cannot be imported ({type(fault).__name__}: {one_line(fault)}): "
            "write it as MODULE:OBJECT, and install what the module needs"
        ) from fault
    if not isinstance(found, Benchmark):
        raise BadInput(f"benchmark {name!r}: {found!r:.80} is not a {Benchmark.__module__}.Benchmark")
    return found


def lines_on_benchmarks() -> tuple[dict[str, str], list[VirlError]]:
    """Return a line on each benchmark by name, and the faults of others' packages; imports none of virl's."""
    found, faults = BENCHMARKS.others()
    ours = {name: first_line(place.partition(":")[0]) for name, place in _scan_builtin().items()}
    return dict(sorted(({name: one.about for name, one in found.items()} | ours).items())), faults


def _scan_builtin() -> Mapping[str, str]:
    """Return the built-in benchmarks by name, with the modules that define them."""
    return scan(_package(), "definition", "BENCHMARK")


def _package() -> str:
    """Return the package that holds virl's own benchmarks.

    In a checkout it is the root folder, also where a project of the user's has a package of that name.
    """
    home = data_folder(FOLDER) / "__init__.py"
    if BUNDLED in sys.modules or (find_spec("virl.bundled") and find_spec(BUNDLED)):
        return BUNDLED
    there = find_spec(FOLDER)
    if there and there.origin and Path(there.origin).resolve() == home.resolve():
        return FOLDER
    spec = spec_from_file_location(BUNDLED, home, submodule_search_locations=[str(home.parent)])
    if spec is None or spec.loader is None:
        raise ModelUnavailable(f"{home}: cannot be imported: install virl again")
    sys.modules[BUNDLED] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[BUNDLED])
    return BUNDLED


BENCHMARKS: Registry[Benchmark[Any, Any]] = Registry("benchmark", "virl.benchmarks", Benchmark, _scan_builtin)
