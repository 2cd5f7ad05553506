"""Which agents there are, and what each does in a line."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from virl.agent.character import Character
from virl.agent.character_file import agent_names, find_character, load_character, routine_of
from virl.agent.routine import Routine
from virl.errors import BadInput

LONGEST_LINE = 100  # characters of what an agent is said to do; chosen


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """One agent of a list."""

    name: str
    """As `virl run` takes it."""
    character: Character
    about: str
    """What it does, in a line."""
    asks_mind: bool = True
    """Whether its routine asks a mind."""

    @property
    def mind(self) -> Literal["none", "rules or a model", "a model"]:
        """What must think for it."""
        if self.character.lives_by_tools:
            return "a model"
        return "rules or a model" if self.asks_mind else "none"


def roster() -> list[RosterEntry]:
    """The agents that come with virl."""
    return [_entry(name, find_character(name)) for name in agent_names()]


def characters_in(folder: Path) -> list[RosterEntry]:
    """The characters whose files lie in a folder; other YAML files there are none."""
    return list(_readable(sorted(folder.glob("*.yaml"))))


def _readable(paths: Iterable[Path]) -> Iterable[RosterEntry]:
    for path in paths:
        try:
            yield _entry(path.name, path)
        except BadInput:
            continue


def _entry(name: str, path: Path) -> RosterEntry:
    character = load_character(path)
    routine = routine_of(path, character)
    about = (
        character.about or ("" if character.lives_by_tools else _first_words(routine)) or character.intention
    )
    about = " ".join(about.split())
    if len(about) > LONGEST_LINE:
        about = about[: LONGEST_LINE - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    return RosterEntry(name, character, about, routine.asks_mind())


def _first_words(routine: Routine) -> str:
    """The first line of the routine's own words, without the name that it begins with."""
    words = (ast.get_docstring(ast.parse(routine.source.read_text(encoding="utf-8"))) or "").split("\n\n")[0]
    return words.partition(": ")[2] or words
