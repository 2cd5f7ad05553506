"""Benchmarks by name: those of the entry-point group `virl.benchmarks`, virl's own among them."""

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from virl.bench.benchmark import AnyBenchmark, Benchmark
from virl.errors import BadInput, ModelUnavailable, UnknownName

BENCHMARKS = "virl.benchmarks"
"""The entry-point group: the name is the benchmark's, the object a `Benchmark`."""


def benchmark_names() -> list[str]:
    """The names of all benchmarks that are installed, sorted."""
    return sorted({found.name for found in entry_points(group=BENCHMARKS)})


def find_benchmark(name: str) -> AnyBenchmark:
    """A benchmark by its name, or as `MODULE:OBJECT` where it is not installed.

    Raises:
        UnknownName: there is none of this name.
        ModelUnavailable: what it needs cannot be imported.
        BadInput: the object is no `Benchmark`, or two packages give the same name.
    """
    if ":" in name:
        return _checked(name, _load(EntryPoint(name, name, BENCHMARKS)))
    found = [entry for entry in entry_points(group=BENCHMARKS) if entry.name == name]
    if not found:
        raise UnknownName("benchmark", name, benchmark_names())
    if len({entry.value for entry in found}) > 1:
        givers = " and ".join(_giver(entry) for entry in found)
        raise BadInput(f"benchmark {name!r} is given by {givers}: uninstall one of them")
    return _checked(name, _load(found[0]))


def _load(entry: EntryPoint) -> object:
    try:
        module = import_module(entry.module)
        return getattr(module, entry.attr)
    except (ImportError, AttributeError) as fault:
        raise ModelUnavailable(
            f"benchmark {entry.name!r} of {_giver(entry)} cannot be imported ({fault}): install what it needs"
        ) from fault


def _checked(name: str, benchmark: object) -> AnyBenchmark:
    if not isinstance(benchmark, Benchmark):
        raise BadInput(f"benchmark {name!r}: {benchmark!r:.80} is no virl.bench.benchmark.Benchmark")
    return benchmark


def _giver(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "an unnamed package"
