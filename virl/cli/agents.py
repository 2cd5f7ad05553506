"""`virl agents`, `virl new` and `virl` alone: the agents there are, and one of your own."""

import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from virl import resources
from virl.cli.completion import complete_agents
from virl.cli.guard import add_guard
from virl.cli.listing import list_console, print_json, print_table
from virl.console import as_markup, echo, say
from virl.errors import BadInput
from virl.plain_text import plain_line, slug

if TYPE_CHECKING:
    from virl.agent.roster import RosterEntry, UnreadableEntry
    from virl.errors import VirlError


_USUAL_MIND = "rules or a model"
_HINT = (
    "Run an agent with `virl run AGENT`; create your own with `virl new NAME`. "
    f"The mind is {_USUAL_MIND} where none is named."
)


@add_guard()
def list_agents(
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List agents: those that come with virl, and the character files in this folder."""
    if as_json:
        _print_json()
    else:
        _tell_all()


def _tell_all() -> None:
    """Print all agents as a table, and below it the files in this folder that cannot be read."""
    agents, unreadable, faults = _find_agents()
    rows = []
    for entry in agents:
        who = "" if entry.about.startswith(entry.character.name) else f"{entry.character.name}: "
        mind = "" if entry.mind == _USUAL_MIND else f" (mind: {entry.mind})"
        rows.append((plain_line(entry.name), plain_line(who + entry.about + mind)))
    print_table(("agent", "what it does"), rows)
    console = list_console()
    if unreadable:
        console.print("\nNot readable:", style="bold")
        for one in unreadable:
            for line in one.faults:
                say(console, f"  {as_markup(line)}", indent=4)
    console.print()
    say(console, f"[dim]{_HINT}[/]")
    for fault in faults:
        echo(str(fault), err=True)


def _find_agents() -> tuple[list["RosterEntry"], list["UnreadableEntry"], list["VirlError"]]:
    """Return (agents, files in the current folder that cannot be read, errors of other packages)."""
    from virl.agent.roster import characters_in, roster  # noqa: PLC0415 - heavy

    agents, faults = roster()
    if Path.cwd().resolve() == resources.data_folder("agents").resolve():
        return agents, [], faults
    here, unreadable = characters_in(Path())
    return [*agents, *here], unreadable, faults


def _print_json() -> None:
    """Print all agents, unreadable files too, as a JSON array of objects (`docs/reference/characters.md`)."""
    agents, unreadable, faults = _find_agents()
    listed: list[dict[str, object]] = [
        {
            "name": one.name,
            "kind": "tools" if one.character.lives_by_tools else "routine",
            "about": one.about,
            "mind": one.mind,
            "city": one.character.city,
            "file": str(one.file),
            "readable": True,
            "faults": [],
        }
        for one in agents
    ]
    nothing = dict.fromkeys(("kind", "about", "mind", "city"))
    listed += [
        {"name": one.name} | nothing | {"file": str(one.file), "readable": False, "faults": list(one.faults)}
        for one in unreadable
    ]
    print_json(listed)
    for fault in faults:
        echo(str(fault), err=True)


LONGEST = 60
"""Most characters in a character's name; a longer one is refused. Chosen."""

_TEMPLATE = Path(__file__).with_name("new_character.yaml.j2")
_NAME = re.compile(r"[^\W\d_][\w '.-]*")
_HEADER = """\
# {name}: adapted from {source}. Change whatever differs, then run it with
#     virl run {file}
# docs/reference/characters.md describes every field.
"""


@add_guard()
def new(
    name: Annotated[
        str, typer.Argument(help="Name of the character. `Zoë K` writes the file zoe-k.yaml in this folder.")
    ],
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="AGENT",
            help="Start from the character of this agent.",
            autocompletion=complete_agents,
        ),
    ] = None,
    tools: Annotated[
        bool,
        typer.Option(
            "--tools",
            help="Write a character without a routine: a language model, or rules, use the tools you list.",
        ),
    ] = False,
) -> None:
    """Write a character file with every field explained, for you to edit."""
    path = write_character(name, Path(), source=source, tools=tools)
    echo(f"Wrote {path}. Edit it, then run: virl run {path}")


def write_character(name: str, folder: Path, *, source: str | None = None, tools: bool = False) -> Path:
    """Write a new character file, from a template or the agent `source`, into a folder; return its path.

    Args:
        name: letters and digits of any language, spaces, `'`, `.`, `_` and `-`, a letter first. The file's
            name is that in lower case, with `-` for spaces and without accents.
        folder: where.
        source: an agent, or a character file, to start from; by default a file that explains every field.
        tools: whether a language model with tools decides; else a routine.

    Raises:
        BadInput: the name is none, the file is there already, or both `source` and `tools` are given.
        CannotWrite: the disk refuses.
        UnknownName: there is no such agent.
    """
    from virl.agent.character_file import load_character  # noqa: PLC0415 - heavy
    from virl.files.writing import write_whole  # noqa: PLC0415

    name = " ".join(
        unicodedata.normalize("NFC", name).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split()
    )
    if not _NAME.fullmatch(name) or len(name) > LONGEST or name.endswith((".yaml", ".yml")):
        raise BadInput(
            f"{name[: LONGEST + 1]!r} is not a valid character name: use up to {LONGEST} letters, digits, "
            "spaces, '-', '_' and '.', a letter first, without .yaml at the end"
        )
    if source and tools:
        raise BadInput("give --from or --tools, not both: a copy keeps the tools of its agent")
    path = folder / f"{slug(name)}.yaml"
    if path.exists():
        raise BadInput(f"{path}: already exists: choose another name, or remove the file")
    text = _copy(source, _title(name), path.name) if source else _fresh(_title(name), path.name, tools=tools)
    write_whole(path, text.encode(), "run it again")
    try:
        load_character(path)
    except BadInput:
        path.unlink()
        raise
    return path


def _title(name: str) -> str:
    """Return a character's name as shown to people: `My Hiro` for `my-hiro`, other names unchanged."""
    if re.fullmatch(r"[a-z0-9_-]+", name):
        return " ".join(word[:1].upper() + word[1:] for word in re.split(r"[-_]+", name) if word)
    return name


def _fresh(name: str, file: str, *, tools: bool) -> str:
    """Return the text of a new character file named `file`; with `tools`, of one without a routine."""
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - loads when asked for

    environment = Environment(
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - YAML, and a name without special characters
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(name=name, quoted=_quote(name), file=file, tools=tools)


def _copy(source: str, name: str, file: str) -> str:
    """Return the text of agent `source`'s file, rewritten for a character `name` in the file `file`."""
    from virl.agent.character_file import find_character, load_character  # noqa: PLC0415 - heavy
    from virl.settings.yaml import read_text  # noqa: PLC0415 - heavy

    path = find_character(source)
    character = load_character(path)
    text = re.sub(r"\A(#.*\n)+", "", read_text(path))
    if re.search(r"^region:\s*[^\s\[#]", text, re.MULTILINE):
        raise BadInput(f"{path}: its `region:` names another file: copy both files by hand")
    rest = re.sub(r"^name:.*\n", "", text, count=1, flags=re.MULTILINE)
    rest = re.sub(rf"(?<![\w-]){re.escape(character.name)}(?![\w-])", lambda _: name, rest)
    head = [f"name: {_quote(name)}"]
    if not character.about:
        about = f"about: does what {character.name} does"
        head.append(f"{about:31} # what it does, in one line, for `virl agents`")
    if not (character.routine or character.lives_by_tools):
        rest = rest.rstrip("\n") + f"\nroutine: {path.stem}\n"
    header = _HEADER.format(name=name, source=path.name, file=file)
    return "\n".join([header + head[0], *head[1:], rest])


def _quote(name: str) -> str:
    """Return a name in quotes if YAML would not read it as text, such as `No`; else unchanged."""
    from virl.settings.model import yaml_value  # noqa: PLC0415 - loads when asked for

    return name if yaml_value(name, source="name") == name else f'"{name}"'


WISHES = (
    ("find a place to eat, or of another kind, by walking", "virl run hiro"),
    ("find a known place, or one that fits a wish, by sight", "virl run iris"),
    ("choose a place by its reviews", "virl run aria"),
    ("send other agents to try places, and check what they report", "virl run june"),
    ("plan a day", "virl run diego"),
    ("run errands in the shortest order", "virl run peng"),
    ("find a home to rent", "virl run vivek"),
    ("count things along a route", "virl run rx399"),
    ("count things in a whole region", "virl run imani"),
    ("check a way for obstacles", "virl run otto"),
    ("read a description of a way before you walk it", "virl run noor"),
    ("follow directions that a local gives", "virl run ling"),
    ("plan a walk and get directions in words", "virl run local"),
    ("find a corner worth a photograph", "virl run mira"),
    ("build your own agent", "virl new NAME"),
)
"""(wish of a user, command for it) of each agent; `docs/index.md` has the same table."""


def print_wishes() -> None:
    """Print the table of users' wishes with their commands, and how to find the other commands."""
    print_table(
        ("you want to", "command"),
        WISHES,
        "Each runs without a key. `virl agents` says who they are, `virl --help` lists all commands.",
    )
