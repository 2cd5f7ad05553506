"""`virl agents`: the agents there are."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from virl import resources
from virl.guard import guard

if TYPE_CHECKING:
    from virl.agent.roster import RosterEntry

PIPED_WIDTH = 160
"""Columns where the output is no terminal: no agent's line is broken."""


def list_agents(
    debug: Annotated[bool, typer.Option("--debug", help="Show full tracebacks.")] = False,
) -> None:
    """List agents: those that come with virl, and the character files in this folder."""
    guard(_tell_all, debug=debug)


def _tell_all() -> None:
    from virl.agent.roster import characters_in, roster  # noqa: PLC0415 - heavy

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


def _row(entry: "RosterEntry") -> tuple[str, str, str]:
    about = (
        entry.about
        if entry.about.startswith(entry.character.name)
        else f"{entry.character.name}: {entry.about}"
    )
    return entry.name, about, entry.mind
