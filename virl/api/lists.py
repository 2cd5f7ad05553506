"""Lists of the agents, cities, perception models, minds and benchmarks that there are."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from virl.agent.roster import characters_in, roster
from virl.bench.benchmark import BENCHMARKS
from virl.errors import VirlError
from virl.mind.providers import KEYS
from virl.pages.notebooks import card, table
from virl.platform.perception.models import model_names
from virl.platform.perception.registry import KINDS, ROLES
from virl.platform.perception.standing import model_readiness
from virl.platform.providers.cities import listed_cities
from virl.platform.providers.provider import provider_of
from virl.resources import data_folder


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry of a list: one agent, city, perception model, mind or benchmark."""

    name: str
    """Name of the entry, as functions take it."""
    kind: str = ""
    """Kind of the entry: `routine` or `tools` of an agent, the provider of a city, the role of a model."""
    about: str = ""
    """One sentence on the entry; for a city its place."""
    needs: str = ""
    """Things that the entry needs besides virl, such as a key; empty if nothing is needed."""

    def _repr_html_(self) -> str:
        """Return the entry as an HTML table for notebooks."""
        return card(self.name, (("kind", self.kind), ("about", self.about), ("needs", self.needs)))


class Catalogue(tuple[Listed, ...]):
    """A tuple of entries, with the faults of those that could not be listed."""

    faults: tuple[str, ...]
    """Faults of files and packages whose entries are missing, a sentence each."""

    def __new__(cls, entries: Iterable[Listed], faults: Sequence[VirlError] = ()) -> Self:
        """Make a tuple of entries that has `faults`, errors of entries left out, as its attribute."""
        made = super().__new__(cls, entries)
        made.faults = tuple(map(str, faults))
        return made

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all entries, in order."""
        return tuple(one.name for one in self)

    def _repr_html_(self) -> str:
        """Return the entries as an HTML table for notebooks."""
        rows = [(one.name, one.kind, one.about, one.needs) for one in self]
        return "".join(
            [table(("name", "kind", "about", "needs"), rows), *(card(one, ()) for one in self.faults)]
        )


def agents() -> Catalogue:
    """Return the agents of virl and of packages, and the character files in the current folder.

    Examples:
        >>> "local" in virl.agents().names
        True
    """
    entries, faults = roster()
    is_ours = Path.cwd().resolve() == data_folder("agents").resolve()
    here, unreadable = ([], []) if is_ours else characters_in(Path())
    told = [*faults, *(VirlError(fault) for one in unreadable for fault in one.faults)]
    return Catalogue(
        (
            Listed(one.name, "tools" if one.character.lives_by_tools else "routine", one.about)
            for one in (*entries, *here)
        ),
        told,
    )


def cities() -> Catalogue:
    """Return the cities, those that need nothing first.

    Examples:
        >>> "virlton" in virl.cities().names
        True
    """
    found, faults = listed_cities()
    listed = (
        Listed(name, city.provider, city.place, provider_of(city).needs if city.needs is None else city.needs)
        for name, city in found.items()
    )
    return Catalogue(sorted(listed, key=lambda one: bool(one.needs)), faults)


def models() -> Catalogue:
    """Return the perception models, with what each lacks on this machine.

    Examples:
        >>> "sign-detector" in virl.models().names
        True
    """
    found = [model_readiness(role, name) for role in ROLES for name in model_names(role)]
    return Catalogue(
        (
            Listed(one.name, one.role, one.paper, "; ".join(need.lacks for need in one.needs if need.lacks))
            for one in found
        ),
        KINDS.usable()[1],
    )


def minds() -> Catalogue:
    """Return the minds: rules, scripts, and providers of language models with the key that each lacks.

    Examples:
        >>> "rules" in virl.minds().names
        True
    """
    return Catalogue(
        [
            Listed("rules", "rules", "A baseline without a language model."),
            Listed("scripted:FILE", "script", "Turns from a file."),
            Listed("ollama:MODEL", "model", "A model of an Ollama server on this machine."),
            *(
                Listed(f"{provider}:MODEL", "model", "", "" if any(map(os.environ.get, keys)) else keys[0])
                for provider, keys in KEYS.items()
            ),
        ]
    )


def benchmarks() -> Catalogue:
    """Return the benchmarks that are installed.

    Examples:
        >>> "vln" in virl.benchmarks().names
        True
    """
    found, faults = BENCHMARKS.usable()
    return Catalogue((Listed(name, "", one.about) for name, one in found.items()), faults)
