"""`virl agents` and `virl new`: the agents there are, and a character file for one of your own."""

import re
from pathlib import Path
from typing import Annotated

import typer
from jinja2 import Environment, StrictUndefined
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from virl import resources
from virl.agent.character_file import find_character, load_character
from virl.agent.roster import RosterEntry, characters_in, roster
from virl.errors import BadInput
from virl.files import write_whole
from virl.guard import guard
from virl.settings import yaml_value

PIPED_WIDTH = 160
"""Columns where the output is no terminal: no agent's line is broken."""

_TEMPLATE = Path(__file__).with_name("new_character.yaml.j2")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def list_agents(
    debug: Annotated[bool, typer.Option("--debug", help="Show full tracebacks.")] = False,
) -> None:
    """List agents: those that come with virl, and the character files in this folder."""
    guard(_tell_all, debug=debug)


def new(
    name: Annotated[str, typer.Argument(help="Name of the character. Writes NAME.yaml in this folder.")],
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="AGENT", help="Copy the character file of this agent."),
    ] = None,
    tools: Annotated[
        bool,
        typer.Option(
            "--tools",
            help="Write a character without a routine: a language model, or rules, use the tools you list.",
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show full tracebacks.")] = False,
) -> None:
    """Write a character file with every field explained, for you to edit."""

    def write() -> None:
        path = write_character(name, Path(), source=source, tools=tools)
        typer.echo(f"Wrote {path}. Edit it, then run: virl run {path}")

    guard(write, debug=debug)


def write_character(name: str, folder: Path, *, source: str | None = None, tools: bool = False) -> Path:
    """Write `NAME.yaml` into a folder.

    Args:
        name: letters, digits, `_` and `-`; the file's name is that in lower case.
        folder: where.
        source: an agent, or a character file, to copy; by default a file that explains every field.
        tools: whether a language model with tools decides; else a routine.

    Raises:
        BadInput: the name is none, the file is there already, or both `source` and `tools` are given.
        CannotWrite: the disk refuses.
        UnknownName: there is no such agent.
    """
    if not _NAME.fullmatch(name):
        raise BadInput(
            f"{name!r} is not a valid character name: use letters, digits, '_' and '-', a letter first"
        )
    if source and tools:
        raise BadInput("give --from or --tools, not both: a copy keeps the tools of its agent")
    path = folder / f"{name.lower()}.yaml"
    if path.exists():
        raise BadInput(f"{path}: already exists: choose another name, or remove the file")
    title = name[0].upper() + name[1:]
    text = _copy(source, title) if source else _fresh(title, path.name, tools=tools)
    write_whole(path, text.encode(), "run it again")
    try:
        load_character(path)
    except BadInput:
        path.unlink()
        raise
    return path


def _fresh(name: str, file: str, *, tools: bool) -> str:
    environment = Environment(
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - YAML, and a name that is letters and digits
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(name=name, quoted=_quoted(name), file=file, tools=tools)


def _copy(source: str, name: str) -> str:
    """The file of another agent under a new name, less the comment at its top; it names its routine."""
    path = find_character(source)
    character = load_character(path)
    text = re.sub(r"\A(#.*\n)+", "", path.read_text(encoding="utf-8"))
    if re.search(r"^region:\s*[^\s\[#]", text, re.MULTILINE):
        raise BadInput(f"{path}: its `region:` names another file: copy both files by hand")
    text = re.sub(r"^name:.*$", f"name: {_quoted(name)}", text, count=1, flags=re.MULTILINE)
    if not (character.routine or character.lives_by_tools):
        text = text.rstrip("\n") + f"\nroutine: {path.stem}\n"
    return f"# {name}, made from {path.name}.\n{text}"


def _quoted(name: str) -> str:
    """A name as YAML reads it as text: `No` is none without quotation marks."""
    return name if yaml_value(name, source="name") == name else f'"{name}"'


def _tell_all() -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPED_WIDTH)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("agent", no_wrap=True, style="bold")
    table.add_column("what it does")
    table.add_column("mind", no_wrap=True)
    bundled = resources.data_folder("agents").resolve()
    agents, faults = roster()
    here, faults_here = ([], []) if Path.cwd().resolve() == bundled else characters_in(Path())
    for entry in [*agents, *here]:
        table.add_row(*map(escape, _row(entry)))
    console.print(table)
    console.print("\nRun an agent with `virl run AGENT`; create your own with `virl new NAME`.", style="dim")
    for fault in [*faults, *faults_here]:
        typer.echo(str(fault), err=True)


def _row(entry: RosterEntry) -> tuple[str, str, str]:
    about = (
        entry.about
        if entry.about.startswith(entry.character.name)
        else f"{entry.character.name}: {entry.about}"
    )
    return entry.name, about, entry.mind
