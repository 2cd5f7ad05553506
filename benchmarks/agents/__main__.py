"""`python -m benchmarks.agents`: how well the agents do what they are for, in a city whose truth is known."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.agents.run import PARTS, Task, run
from virl.errors import UnknownName
from virl.guard import guard


def measure(
    out: Annotated[Path, typer.Option(help="Folder of the run.", file_okay=False)] = Path("runs/agents"),
    city: Annotated[str, typer.Option(help="A made city.")] = "virlton",
    agent: Annotated[
        list[str] | None, typer.Option(help=f"One of {', '.join(PARTS)}; may be repeated. By default all.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="At most so many cases an agent.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the cases and of the agents.", min=0)] = 0,
    workers: Annotated[int, typer.Option(help="Cases side by side.", min=1)] = 2,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Let the agents live many cases and hold what they did against the truth."""

    def work() -> None:
        asked = tuple(dict.fromkeys(agent or PARTS))
        for name in asked:
            if name not in PARTS:
                raise UnknownName("agent", name, list(PARTS))
        run(Task(city, asked, seed, limit), out, Console(), workers=workers, resume=resume)

    guard(work, debug=debug)


if __name__ == "__main__":
    typer.run(measure)
