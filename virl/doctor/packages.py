"""The extras of virl: which of their packages are installed."""

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version

from virl.doctor.findings import Finding

_REQUIREMENT = re.compile(
    r"""^(?P<name>[A-Za-z0-9][\w.-]*+)[^;]*+;.*\bextra\s*+==\s*+["'](?P<extra>[\w-]+)["']\s*$"""
)
_FOR = {
    "google": "Google's legacy web services (api: legacy)",
    "gym": "Gymnasium environments",
    "inspect": "benchmarks as tasks of Inspect",
    "otel": "traces of runs (OpenTelemetry)",
    "ray": "benchmarks on several machines",
    "serve": "virl serve",
    "train": "fine-tuning on Touchdown",
    "vision": "detectors, recognizers and captions by neural networks",
    "web": "the web mover",
}
"""What a user gets from each extra. Those that are not named here are for developers."""


def extras() -> Iterator[Finding]:
    """One finding for each extra that a user may want."""
    try:
        packages = packages_of(requires("virl") or ())
    except PackageNotFoundError:
        remedy = "pip install --editable . in the checkout"
        yield Finding("package virl", "missing", "not installed", "knowing the extras", remedy)
        return
    for extra in sorted(_FOR.keys() & packages.keys()):
        found = {name: _version(name) for name in packages[extra]}
        missing = [name for name, installed in found.items() if installed is None]
        if missing:
            detail, remedy = f"not installed: {', '.join(missing)}", f"pip install 'virl[{extra}]'"
            yield Finding(f"extra {extra}", "missing", detail, _FOR[extra], remedy)
        else:
            detail = ", ".join(f"{name} {installed}" for name, installed in found.items())
            yield Finding(f"extra {extra}", "ok", detail, _FOR[extra])


def packages_of(requirements: Iterable[str]) -> dict[str, list[str]]:
    """The packages of each extra.

    Args:
        requirements: as the metadata of a package has them, such as `"ray<3,>=2; extra == 'ray'"`.
    """
    packages: dict[str, list[str]] = {}
    for requirement in requirements:
        if found := _REQUIREMENT.match(requirement):
            packages.setdefault(found["extra"], []).append(found["name"])
    return packages


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
