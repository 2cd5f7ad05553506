"""`virl agents`: the agents there are."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from virl import resources
from virl.cli.guard import add_guard
from virl.cli.listing import list_console, print_json, print_table
from virl.console import as_markup, echo, say
from virl.plain_text import plain_line

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
    agents, unreadable, faults = _find_agents()
    print_table(("agent", "what it does"), [_row(entry) for entry in agents])
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
    """Return all agents, the files of this folder that cannot run, and what is wrong with packages."""
    from virl.agent.roster import characters_in, roster  # noqa: PLC0415 - heavy

    agents, faults = roster()
    if Path.cwd().resolve() == resources.data_folder("agents").resolve():
        return agents, [], faults
    here, unreadable = characters_in(Path())
    return [*agents, *here], unreadable, faults


def _print_json() -> None:
    """Print an array with an object for each agent; `docs/reference/characters.md` names the fields."""
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


def _row(entry: "RosterEntry") -> tuple[str, str]:
    """Return the name and the line of an agent, with its mind if that is not the usual one."""
    who = "" if entry.about.startswith(entry.character.name) else f"{entry.character.name}: "
    mind = "" if entry.mind == _USUAL_MIND else f" (mind: {entry.mind})"
    return plain_line(entry.name), plain_line(who + entry.about + mind)
