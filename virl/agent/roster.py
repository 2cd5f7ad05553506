"""Which agents there are, and what each does in a line."""

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from virl.agent.character import Character
from virl.agent.character_file import agent_names, find_character, load_character, routine_of
from virl.agent.routine import Routine
from virl.errors import BadInput, VirlError
from virl.registry import ROUTINES

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
    def mind(self) -> Literal["none", "rules or a model"]:
        """What must think for it."""
        return "rules or a model" if self.asks_mind else "none"


def roster() -> tuple[list[RosterEntry], list[VirlError]]:
    """The agents that come with virl and with installed packages, and what is wrong with packages."""
    entries: list[RosterEntry] = []
    faults = ROUTINES.others()[1]
    for name in agent_names():
        try:
            entries.append(_entry(name, find_character(name)))
        except VirlError as fault:
            faults.append(fault)
    return entries, list({str(fault): fault for fault in faults}.values())


def characters_in(folder: Path) -> tuple[list[RosterEntry], list[VirlError]]:
    """The characters whose files lie in a folder, and those whose routine cannot be imported.

    Other YAML files there are none.
    """
    entries: list[RosterEntry] = []
    faults: list[VirlError] = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            entries.append(_entry(path.name, path))
        except BadInput:
            continue
        except VirlError as fault:
            faults.append(fault)
    return entries, faults


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
