"""Lists of what there is: agents, cities, models of perception, minds and benchmarks."""

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
    """One agent, city, model, mind or benchmark of a list."""

    name: str
    """Its name, as functions take it."""
    kind: str = ""
    """`routine` or `tools` for an agent, the provider of a city, the role of a model."""
    about: str = ""
    """One sentence; for a city its place."""
    needs: str = ""
    """The requirements beside virl, such as a key; empty if nothing is missing or needed."""

    def _repr_html_(self) -> str:
        """Return the fields as a table for a notebook."""
        return card(self.name, (("kind", self.kind), ("about", self.about), ("needs", self.needs)))


class Catalogue(tuple[Listed, ...]):
    """The entries of a list, in their order, and what could not be listed."""

    faults: tuple[str, ...]
    """The faults of files and packages whose entries are missing, a sentence each."""

    def __new__(cls, entries: Iterable[Listed], faults: Sequence[VirlError] = ()) -> Self:
        """Make the tuple, with the faults beside it."""
        made = super().__new__(cls, entries)
        made.faults = tuple(map(str, faults))
        return made

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all entries."""
        return tuple(one.name for one in self)

    def _repr_html_(self) -> str:
        """Return a table, as a notebook shows it."""
        rows = [(one.name, one.kind, one.about, one.needs) for one in self]
        return "".join(
            [table(("name", "kind", "about", "needs"), rows), *(card(one, ()) for one in self.faults)]
        )


def agents() -> Catalogue:
    """List the agents that come with virl and with packages, and the character files in this folder.

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
    """List the cities, those that need nothing first.

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
    """List the models of perception, with what each lacks on this machine.

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
    """List the minds: rules, scripts, and providers of language models with the key that each lacks.

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
    """List the benchmarks that are installed.

    Examples:
        >>> "vln" in virl.benchmarks().names
        True
    """
    found, faults = BENCHMARKS.usable()
    return Catalogue((Listed(name, "", one.about) for name, one in found.items()), faults)
