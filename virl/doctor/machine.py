"""What is on this machine, and what is missing for which purpose. Asks nobody and changes nothing."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from platform import python_version
from typing import Any, get_args

from virl.agent.tool import TOOLS
from virl.bench.benchmark import BENCHMARKS
from virl.doctor.services import Finding
from virl.errors import BadInput, VirlError
from virl.files.writing import folder_size
from virl.mind.providers import KEYS
from virl.pages.numbers import megabytes
from virl.platform.movers.web import BROWSERS
from virl.platform.perception.base import Role
from virl.platform.perception.models import model_names
from virl.platform.perception.registry import KINDS
from virl.platform.perception.standing import model_readiness
from virl.platform.providers.cities import open_city
from virl.platform.providers.google.settings import BASE_URL_VARIABLE, KEY_VARIABLE, SECRET_VARIABLE, Keys
from virl.platform.providers.graph.city import MARKS, find_data
from virl.platform.providers.open.picture_services import PICTURES
from virl.platform.providers.provider import PROVIDERS
from virl.registry import ROUTINES, Registry
from virl.resources import cache_home
from virl.version import __version__

HOME_TOWN = "virlton"
DRIVER = "chromedriver"
MODELS = "language models"
_REQUIREMENT = re.compile(
    r"""^(?P<name>[A-Za-z0-9][\w.-]*+)[^;]*+;.*\bextra\s*+==\s*+["'](?P<extra>[\w-]+)["']\s*$"""
)
_FOR = {
    "eyes": "agents in made towns and towns of OpenStreetMap, reading signs",
    "film": "virl film",
    "geo": "results as GeoDataFrames",
    "google": "Google's legacy web services (api: legacy)",
    "gym": "Gymnasium environments",
    "inspect": "benchmarks as tasks of Inspect",
    "maps": "interactive maps (folium)",
    "mcp": "virl serve mcp",
    "notebook": "agents in notebooks",
    "osm": "any town from OpenStreetMap, open cities such as strasbourg",
    "otel": "traces of runs (OpenTelemetry)",
    "overture": "places from Overture Maps",
    "photos": "virl import photos",
    "ray": "benchmarks on several machines",
    "serve": "virl watch and virl serve",
    "train": "fine-tuning on Touchdown",
    "vision": "detectors, recognizers and captions by neural networks",
    "web": "the web mover",
}
"""Purposes of the extras that users may want, by the extra's name; other extras are for developers."""
_PERCEPTION = "perception (see virl models)"


def examine(base_url: str | None = None) -> list[Finding]:
    """Return the findings on this machine, one of them that requests go to `base_url` if that is given."""
    own = (
        [Finding(BASE_URL_VARIABLE, "ok", f"requests go to {base_url} instead of Google", "tests")]
        if base_url
        else []
    )
    here = [*browser(), *extras(), *packages(), *data_sets(), *models(), cache()]
    return [core(), *google(), *own, *minds(), *here]


def core() -> Finding:
    """Return the finding on whether the made town opens, the only part that agents need by default."""
    what, needed_for = f"virl {__version__}, Python {python_version()}", "everything"
    try:
        town = open_city(HOME_TOWN)
        here = town.streetview.nearest(town.center)
    except (VirlError, ImportError) as fault:
        remedy = f"{sys.executable} -m pip install --force-reinstall virl"
        return Finding(what, "broken", f"{HOME_TOWN} cannot be opened: {fault}", needed_for, remedy)
    detail = f"{town.title} opens" if here else f"{town.title} opens, but has no panorama at its centre"
    return Finding(what, "ok" if here else "broken", detail, needed_for)


def google() -> Iterator[Finding]:
    """Yield a finding on the Google key, and one on the URL signing secret, in the environment."""
    needed_for = "real cities"
    try:
        keys = Keys.from_environment()
    except BadInput as fault:
        yield Finding(KEY_VARIABLE, "missing", "cannot be used", needed_for, str(fault))
        return
    if keys is None:
        remedy = "create a key in Google's console and set the variable (docs/how-to/real-cities.md)"
        yield Finding(KEY_VARIABLE, "missing", "not set", needed_for, remedy)
    else:
        yield Finding(KEY_VARIABLE, "ok", "set", needed_for)
    if keys and keys.secret:
        yield Finding(SECRET_VARIABLE, "ok", "set", "signed requests")
    else:
        remedy = "copy the URL signing secret from Google's console, if your project limits unsigned requests"
        yield Finding(SECRET_VARIABLE, "missing", "not set", "signed requests (optional)", remedy)


def minds() -> Iterator[Finding]:
    """Yield one finding on the keys and servers of language models in the environment."""
    what, needed_for = MODELS, "--mind PROVIDER:MODEL; the default, rules, needs none"
    found = [
        f"{provider} ({name})" for provider, names in KEYS.items() for name in names if os.environ.get(name)
    ]
    own = [name for name in ("VIRL_BASE_URL", "OPENAI_BASE_URL") if os.environ.get(name)]
    found += [f"a server of your own ({name})" for name in own]
    if found:
        yield Finding(what, "ok", ", ".join(found), needed_for)
    else:
        others = "see docs/how-to/language-models.md for others"
        remedy = f"set {KEYS['openai'][0]} for --mind openai:MODEL ({others})"
        yield Finding(what, "missing", "no key is set", needed_for, remedy)


def browser() -> Iterator[Finding]:
    """Yield a finding on the browser of the web mover, and one on the browser's driver."""
    for what, names in (("browser", BROWSERS), ("browser's driver", (DRIVER,))):
        path = next(filter(None, map(shutil.which, names)), None)
        if path:
            yield Finding(what, "ok", path, "the web mover")
        else:
            remedy = "make web-deps, or install the packages chromium and chromium-driver"
            yield Finding(what, "missing", "not installed", "the web mover", remedy)


def data_sets() -> Iterator[Finding]:
    """Yield a finding on each data set of street graphs, such as Touchdown: where it is, or missing."""
    for name in MARKS:
        needed_for = f"virl bench {name}"
        try:
            yield Finding(f"data set {name}", "ok", str(find_data(name)), needed_for)
        except BadInput:
            remedy = f"virl data {name} --from DIR, or set VIRL_DATA"
            yield Finding(f"data set {name}", "missing", "not installed", needed_for, remedy)


def cache() -> Finding:
    """Return the finding on the cache folder: its path and size, or why it cannot be written."""
    folder = cache_home()
    needed_for = "reusing paid replies of Google and of models"
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as fault:
        remedy = "make it writable, or set VIRL_CACHE to a writable folder"
        return Finding("cache", "missing", f"{existing}: {fault.strerror}", needed_for, remedy)
    return Finding("cache", "ok", f"{folder}, {megabytes(folder_size(folder))}", needed_for)


def extras() -> Iterator[Finding]:
    """Yield a finding on each extra that a user may want: its packages' versions, or those missing."""
    try:
        packages = packages_of(requires("virl") or ())
    except PackageNotFoundError:
        remedy = "pip install --editable . in the checkout"
        yield Finding("package virl", "missing", "not installed", "knowing the extras", remedy)
        return
    for extra in sorted(_FOR.keys() & packages.keys()):
        found = {name: _version_or_none(name) for name in packages[extra]}
        missing = [name for name, installed in found.items() if installed is None]
        if missing:
            detail, remedy = f"not installed: {', '.join(missing)}", f"pip install 'virl[{extra}]'"
            yield Finding(f"extra {extra}", "missing", detail, _FOR[extra], remedy)
        else:
            detail = ", ".join(f"{name} {installed}" for name, installed in found.items())
            yield Finding(f"extra {extra}", "ok", detail, _FOR[extra])


def packages() -> Iterator[Finding]:
    """Yield a finding on each plug-in of another package that cannot be used."""
    registries: tuple[Registry[Any], ...] = (ROUTINES, TOOLS, PROVIDERS, PICTURES, KINDS, BENCHMARKS)
    for registry in registries:
        for fault in registry.others()[1]:
            yield Finding("other packages", "missing", str(fault), f"each {registry.kind} of the package")


def packages_of(requirements: Iterable[str]) -> dict[str, list[str]]:
    """Return {extra: names of packages it requires}, from lines of a package's metadata."""
    packages: dict[str, list[str]] = {}
    for requirement in requirements:
        if found := _REQUIREMENT.match(requirement):
            packages.setdefault(found["extra"], []).append(found["name"])
    return packages


def _version_or_none(package: str) -> str | None:
    """Return the version of an installed package; `None` if it is missing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def models() -> Iterator[Finding]:
    """Yield a finding on the perception models that are ready, and one for each thing others lack."""
    names: dict[tuple[str, str], list[str]] = {}
    roles: tuple[Role, ...] = get_args(Role)
    for role in roles:
        for name in model_names(role):
            needs = model_readiness(role, name).needs
            lack = next(((need.fault, need.remedy) for need in needs if need.fault), ("", ""))
            names.setdefault(lack, []).append(name)
    for (fault, remedy), those in names.items():
        if fault:
            yield Finding("models", "missing", f"{', '.join(those)}: {fault}", _PERCEPTION, remedy)
        else:
            yield Finding("models that are ready", "ok", ", ".join(those), _PERCEPTION)
