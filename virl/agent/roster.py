"""The list of agents, and what each does in a line."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from virl.agent.character import Character
from virl.agent.character_file import LoadedCharacter, agent_names, find_character, load_character
from virl.agent.tool import TOOLS
from virl.errors import VirlError, told_of
from virl.registry import ROUTINES
from virl.settings.model import read_settings

_USUAL_FIELDS = frozenset({"name", "city", "start", "background", "intention", "routine", "tools"})
_FIELD_LINE = re.compile(rf"^(?:{'|'.join(sorted(_USUAL_FIELDS))}|about|age|clock)\s*:", re.MULTILINE)
ENOUGH_FIELDS = 2  # of a character, in a file that may hold anything; chosen
LONGEST_LOOK = 100_000  # bytes read of a file to tell whether it is a character's; chosen
LONGEST_LINE = 100  # characters of what an agent is said to do; chosen


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """An agent in the list of agents."""

    name: str
    """The agent's name, as `virl run` takes it."""
    file: Path
    character: Character
    about: str
    """The character's `about`, else its `intention`, as one line of at most `LONGEST_LINE` characters."""
    asks_mind: bool = True
    """True if the agent's routine asks a mind."""

    @property
    def mind(self) -> Literal["none", "rules or a model"]:
        """Kind of mind that the agent needs, in words."""
        return "rules or a model" if self.asks_mind else "none"


def roster() -> tuple[list[RosterEntry], list[VirlError]]:
    """Return (agents of virl and of installed packages, errors in those packages)."""
    entries: list[RosterEntry] = []
    faults = [*ROUTINES.others()[1], *TOOLS.others()[1]]
    for name in agent_names():
        try:
            entries.append(_read_entry(name, find_character(name)))
        except VirlError as fault:
            faults.append(fault)
    return entries, list({str(fault): fault for fault in faults}.values())


@dataclass(frozen=True, slots=True)
class UnreadableEntry:
    """A character file that cannot run."""

    name: str
    """The agent's name, as `virl run` would take it."""
    file: Path
    faults: tuple[str, ...]
    """The faults of the agent's files, one line each, with file and line."""


def characters_in(folder: Path) -> tuple[list[RosterEntry], list[UnreadableEntry]]:
    """Return (agents, unreadable files) of the character files in a folder; other YAML files are skipped."""
    entries: list[RosterEntry] = []
    unreadable: list[UnreadableEntry] = []
    for path in sorted(file for ending in ("*.yaml", "*.yml") for file in folder.glob(ending)):
        if not (path.is_file() and _is_character(path)):
            continue
        from virl.agent.checking import name_faults  # noqa: PLC0415 - brings in the cities and the senses

        try:
            faults = name_faults(LoadedCharacter(path, load_character(path)))
            if not faults:
                entries.append(_read_entry(path.name, path))
        except VirlError as fault:
            faults = [fault]
        if faults:
            lines = [line for fault in faults for line in told_of(str(path), fault)]
            unreadable.append(UnreadableEntry(path.name, path, tuple(lines)))
    return entries, unreadable


def _is_character(path: Path) -> bool:
    """Return whether a YAML file has fields of a character, though it may be broken, empty or unreadable."""
    try:
        data = read_settings(path).data
    except VirlError:
        beginning = _read_beginning(path)
        return beginning is None or bool(_FIELD_LINE.search(beginning))
    if data is None:
        return not _read_beginning(path)  # begun, and not written yet
    return isinstance(data, dict) and len(_USUAL_FIELDS & data.keys()) >= ENOUGH_FIELDS


def _read_beginning(path: Path) -> str | None:
    """Return up to `LONGEST_LOOK` bytes of a file's start as text; `None` if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(LONGEST_LOOK).replace(b"\0", b"").decode("utf-8", "ignore")
    except OSError:
        return None


def _read_entry(name: str, path: Path) -> RosterEntry:
    """Return the roster entry of the agent with this name, read from its character file."""
    character = load_character(path)
    about = " ".join((character.about or character.intention).split())
    if len(about) > LONGEST_LINE:
        about = about[: LONGEST_LINE - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    return RosterEntry(name, path, character, about, LoadedCharacter(path, character).routine.asks_mind())
