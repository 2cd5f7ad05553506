"""What the shell completes: names of agents, cities, models, minds and benchmarks.

A shell asks at each press of Tab: nothing heavy is imported unless a package adds names, and whatever goes
wrong completes nothing.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import entry_points
from pathlib import Path

from virl.registry import scan_modules, spelt
from virl.resources import data_folder, names_in

_KIND = re.compile(r"^kind:\s*([\w-]+)", re.MULTILINE)
_QUOTED = re.compile(r"`([a-z][\w:.@-]*)`")
_LISTS = re.compile(r"see `virl (cities|models)`")

Completer = Callable[[str], list[str]]


def completer(names: Callable[[], Iterable[str]]) -> Completer:
    """Return a completer for Typer: from the text typed so far to the sorted names that begin with it."""

    def complete(incomplete: str) -> list[str]:
        """Return the names that begin with the text typed, sorted; empty if they cannot be found."""
        try:
            return sorted({name for name in names() if name.startswith(incomplete)})
        except Exception:  # noqa: BLE001 - a shell has no use for an error here
            return []

    return complete


def agents() -> Iterator[str]:
    """Yield the names of virl's and installed packages' agents, and the YAML files in the current folder."""
    yield from names_in("agents", ".yaml")
    if _packages_add("virl.routines"):
        from virl.agent.character_file import agent_names  # noqa: PLC0415 - heavy

        yield from agent_names()
    yield from (path.name for path in Path().glob("*.yaml"))


def cities() -> Iterator[str]:
    """Yield the names of virl's and installed packages' cities."""
    yield from names_in("platform/cities", ".yaml")
    if _packages_add("virl.providers"):
        from virl.platform.providers.cities import city_names  # noqa: PLC0415 - heavy

        yield from city_names()


def models() -> Iterator[str]:
    """Yield the names of the perception models of all roles."""
    yield from names_in("platform/models", ".yaml")
    if _packages_add("virl.models", "virl.model_kinds"):
        from virl.platform.perception.models import model_names  # noqa: PLC0415 - heavy
        from virl.platform.perception.registry import ROLES  # noqa: PLC0415

        for role in ROLES:
            yield from model_names(role)


def models_of(role: str) -> Iterator[str]:
    """Yield the names of virl's models of one role, such as "detector", and of all installed packages'."""
    kinds = scan_modules(f"virl.platform.perception.{role}s", "KIND")
    files = data_folder("platform/models").glob("*.yaml")
    own = {path.stem: _KIND.search(path.read_text(encoding="utf-8")) for path in files}
    yield from (name for name, kind in own.items() if kind and kind[1] in kinds)
    yield from set(models()) - own.keys()


def minds() -> Iterator[str]:
    """Yield `rules`, and `PROVIDER:` for each provider of models whose key or own server is set."""
    yield "rules"
    from virl.mind.providers import KEYS  # noqa: PLC0415 - loads when asked for

    # A server of one's own speaks OpenAI's protocol and may need no key.
    server = bool(os.environ.get("VIRL_BASE_URL"))
    for provider, keys in KEYS.items():
        if any(os.environ.get(key) for key in keys) or (server and provider.startswith("openai")):
            yield f"{provider}:"


def benchmarks() -> Iterator[str]:
    """Yield the names of virl's and installed packages' benchmarks."""
    yield from (spelt(path.parent.name) for path in data_folder("benchmarks").rglob("definition.py"))
    yield from (entry.name for entry in entry_points(group="virl.benchmarks"))


def of_option(field: str, description: str, choices: Iterable[str] = ()) -> Completer:
    """Return a completer for a benchmark's option: its choices, and names quoted or meant in its description.

    Args:
        field: of the benchmark's options.
        description: such as ``"Detectors: `simulated` or another (see `virl models`)"``.
        choices: all values, where there are only so many.
    """

    def names() -> Iterator[str]:
        """Yield the values that the option may take."""
        yield from choices
        yield from {"cities": cities, "mind": minds}.get(field, list)()
        yield from _QUOTED.findall(description)
        for listed in _LISTS.findall(description):
            yield from {"cities": cities, "models": models}[listed]()

    return completer(names)


complete_agents = completer(agents)
complete_cities = completer(cities)
complete_models = completer(models)
complete_detectors = completer(lambda: models_of("detector"))
complete_recognizers = completer(lambda: models_of("recognizer"))
complete_minds = completer(minds)
complete_movers = completer(lambda: ("links", "grid", "web", "hybrid"))
complete_benchmarks = completer(benchmarks)


def _packages_add(*groups: str) -> bool:
    """Return whether an installed package has entry points in one of the groups."""
    return any(entry_points(group=group) for group in groups)
