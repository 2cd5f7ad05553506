"""Character files: found by an agent's name or a path, and read with their routine and its fields."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from pydantic import ValidationError

from virl import resources
from virl.agent.character import ROUTINE_NAME, Character, Point, character_model
from virl.agent.routine import Routine, find_routine, our_fields, package_folders
from virl.errors import BadFile, BadInput, MindFailed, NoStreetView, NotFound, UnknownName, VirlError
from virl.platform.providers.cities import region_called
from virl.registry import ROUTINES
from virl.settings.model import check_settings, load_settings, read_settings, yaml_value

BY_TOOLS = "by-tools"
"""Name of the routine of characters that have tools but name no routine."""
NOWHERE = Point(lat=0.0, lng=0.0)
"""Placeholder for a start that is missing or invalid."""


def agent_names() -> list[str]:
    """Return the names of the agents that come with virl and with installed packages."""
    return sorted({*_own_files(), *_files_of_packages()})


def find_character(agent: str) -> Path:
    """Return the character file of an agent, by path or name; a name may mean `NAME.yaml` in this folder.

    Raises:
        UnknownName: there is no agent of this name.
        BadInput: there is no such file, or two packages bring an agent of this name.
    """
    path = Path(agent)
    if path.suffix in {".yaml", ".yml"}:
        if not path.is_file():
            raise BadInput(f"{agent}: no such file")
        return path
    found = _file_of(agent)
    if found is None:
        here = Path(f"{agent}.yaml")
        if re.fullmatch(ROUTINE_NAME, agent) and here.is_file():
            return here
        raise UnknownName("agent", agent, agent_names())
    return found


@dataclass(frozen=True)
class LoadedCharacter:
    """A character with its file and the routine that it follows."""

    source: Path
    """The character's file; for a character made in Python, a name used in error messages."""
    character: Character
    """The character as read from the file, or with fields changed."""

    @cached_property
    def routine(self) -> Routine:
        """The routine that the file names; by default `by-tools` with tools, else that called like the file.

        Raises:
            BadInput: there is no such routine; names file and line.
        """
        name = _routine_name(self.source, self.character.model_dump(include={"routine", "tools"}))
        routine = _routine(self.source, name)
        if routine is None:
            unknown = UnknownName("routine", name, {*ROUTINES.names(), *agent_names()})
            if self.character.routine is None:
                raise BadInput(
                    f"{self.source}: has neither `routine` nor `tools`, and there is no routine of its name: "
                    f"{unknown}"
                )
            raise BadInput(f"{self.field_source('routine')}: {unknown}")
        return routine

    def field_source(self, *field: str) -> str:
        """Return where a field was set, as `a.yaml, line 3: start`; `start of this run` if changed since."""
        dotted = ".".join(field)
        try:
            read = read_settings(self.source)
        except VirlError:
            return f"{self.source}: {dotted}"
        with suppress(VirlError):  # a file with faults is the only source that its character has
            if field_value(load_character(self.source), field) != field_value(self.character, field):
                return f"{dotted} of this run"
        return f"{read.source_line(field)}: {dotted}"

    @contextmanager
    def errors_at(self, *field: str) -> Iterator[None]:
        """Add file, line and field name to errors raised within the block because of a field's value.

        Raises:
            BadInput: in place of what was raised.
        """
        try:
            yield
        except (BadInput, NotFound, NoStreetView, MindFailed) as fault:
            raise BadInput(f"{self.field_source(*field)}: {fault}") from fault


def load_character(path: Path) -> Character:
    """Return the character that a file describes; a region given by name is replaced by its corners.

    Raises:
        BadInput: one is missing or broken; names file, line and field.
    """
    character = load_settings(path, _model(path, read_settings(path).data))
    if isinstance(character.region, str):
        corners = region_called(character.region, path.parent).corners
        character = character.model_copy(update={"region": corners})
    return character


def load_fitting(path: Path) -> Character | None:
    """Return a file's character without its invalid fields; `None` if that leaves no name or city.

    A start that is missing or does not fit is `NOWHERE`.

    Raises:
        BadInput: the file cannot be read.
    """
    read = read_settings(path)
    data, model = deepcopy(read.data), _model(path, read.data)
    for _ in range(2):
        try:
            return model.model_validate(data)
        except ValidationError as fault:
            for one in fault.errors():
                _remove(data, one["loc"])
        if isinstance(data, dict):
            data = {"start": NOWHERE.model_dump(), "background": "", "intention": "-", **data}
            if isinstance(read.data, dict) and "tools" in read.data:  # else it would seem to have none
                data.setdefault("tools", "all")
    return None


def _remove(data: object, path: Sequence[str | int]) -> None:
    """Remove from nested mappings the entry at a path of keys, or the deepest one that exists on the path."""
    if isinstance(data, dict) and path and path[0] in data:
        inner = data[path[0]]
        if isinstance(inner, dict) and len(path) > 1 and path[1] in inner:
            _remove(inner, path[1:])
        else:
            del data[path[0]]


def recorded_character(path: Path, data: dict[str, object]) -> Character:
    """Return the character in a journal's data, with its routine's fields; `path` is the character's file.

    Raises:
        ValidationError: a field is not valid any more.
    """
    return _model(path, data).model_validate(data)


def read_fields(texts: Sequence[str]) -> dict[str, object]:
    """Return values by dotted field name from texts `FIELD=VALUE` of a command line, values read as YAML.

    Raises:
        BadInput: a text is not written so.
    """
    fields: dict[str, object] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        source = f"--set {' '.join(text.split())}"  # a value may have lines, a message has one
        if not equals or not name.rpartition(".")[2] or not name.isprintable():
            raise BadInput(f"{source}: write it as FIELD=VALUE, such as limits.steps=20")
        fields[name] = yaml_value(value, source=source)
    return fields


def with_fields(character: Character, fields: Mapping[str, object]) -> Character:
    """Return a character with new values for fields, by dotted name such as `limits.steps`.

    Raises:
        BadInput: there is no such field, or the value does not fit it.
    """
    data = character.model_dump()
    for name, value in fields.items():
        *sections, last = name.split(".")
        section = data
        for part in sections:
            if not isinstance(section.setdefault(part, {}), dict):
                section[part] = {}
            section = section[part]
        section[last] = value
    source = "fields of this run"
    try:
        return check_settings(data, type(character), source=source)
    except BadFile as fault:  # a character made in Python names itself
        raise BadFile(source, fault.faults) from fault


def field_value(character: Character, field: Sequence[str]) -> object:
    """Return a character's field by its path of names; `None` where a section on the path is missing."""
    value: object = character
    for name in field:
        value = getattr(value, name, None)
    return value


def _file_of(agent: str) -> Path | None:
    """Return the file of an agent by name, virl's own before an installed package's; `None` if unknown."""
    if own := _own_files().get(agent):
        return own
    brought = _files_of_packages().get(agent, [])
    if len(brought) > 1:
        raise BadInput(f"agent {agent!r} is {' and '.join(map(str, brought))}: give the path of one of them")
    return brought[0] if brought else None


def _own_files() -> dict[str, Path]:
    """Return the character files that come with virl, by the agent's name."""
    return {file.stem: file for file in sorted(resources.data_folder("agents").glob("*.yaml"))}


def _files_of_packages() -> dict[str, list[Path]]:
    """Return the character files of installed packages by agent name; several if packages share a name."""
    files: dict[str, list[Path]] = {}
    for file in chain.from_iterable(sorted(folder.glob("*.yaml")) for folder in package_folders()):
        files.setdefault(file.stem, []).append(file)
    return files


def _model(path: Path, data: object) -> type[Character]:
    """Return the pydantic model of a character file's data, with the fields that its routine declares."""
    routine = _routine(path, _routine_name(path, data))
    return character_model((*our_fields(), *(routine.fields() if routine else ())))


def _routine(path: Path, name: str) -> Routine | None:
    """Return the routine called `name`, beside a file or installed, else that of agent `name`; or `None`."""
    if not re.search(ROUTINE_NAME, name):
        return None  # a path, say: refused when the whole character is read
    routine = find_routine(path.parent, name)
    if routine:
        return routine
    file = _file_of(name)
    if file is None:
        return None
    # An agent's name: its routine is followed.
    return find_routine(file.parent, _routine_name(file, read_settings(file).data))


def _routine_name(path: Path, data: object) -> str:
    """Return the routine's name by file data: `routine`, else `by-tools` with `tools`, else the file's."""
    fields = data if isinstance(data, dict) else {}
    if (routine := fields.get("routine")) is None:
        return BY_TOOLS if fields.get("tools") else path.stem
    return str(routine)
