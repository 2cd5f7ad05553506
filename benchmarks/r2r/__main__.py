"""`python -m benchmarks.r2r`: instruction following in the buildings of R2R."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from virl.guard import guard
from virl.resources import cache_home

from ..following.run import run as run_trial
from ..following.trial import Options
from .agents import AGENTS, Choices, open_agent
from .dataset import open_data
from .trajectories import score_file, show
from .trial import open_trial

app = typer.Typer(
    help="Instruction following in the buildings of R2R.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
DataFolder = Annotated[Path | None, typer.Option(help="Folder of the data; by default the user's.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]


@app.command()
def score(
    trajectories: Annotated[Path, typer.Option(help="JSON list of `path_id`, `scan` and `trajectory`.")],
    data: DataFolder = None,
    debug: Debug = False,
) -> None:
    """Score finished trajectories; where the file holds expected scores, tell the largest difference."""
    guard(lambda: show(trajectories, score_file(trajectories, data), Console()), debug=debug)


@app.command()
def run(
    out: Annotated[Path, typer.Option(help="Folder of the run.", file_okay=False)],
    agent: Annotated[str, typer.Option(help=f"One of {', '.join(AGENTS)}.")] = "navgpt",
    data: DataFolder = None,
    split: Annotated[str, typer.Option(help="Such as val_unseen or val_seen.")] = "val_unseen",
    limit: Annotated[int | None, typer.Option(help="Only the first so many episodes.", min=1)] = None,
    mind: Annotated[
        str, typer.Option(envvar="VIRL_MIND", help="What navgpt asks: `rules`, or `openai:MODEL`.")
    ] = "rules",
    observations: Annotated[
        Path | None, typer.Option(help="Observations in NavGPT's published layout.", file_okay=False)
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Requests a second at most, over all workers.", min=0.001)
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of what random draws.", min=0)] = 0,
    workers: Annotated[int, typer.Option(help="Episodes side by side.", min=1)] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    debug: Debug = False,
) -> None:
    """Let an agent walk the episodes of a split, and score it."""

    def work() -> None:
        opened = open_data(data, split, limit)
        choices = Choices(agent, mind, cache_home() / "replies", observations, rate, seed)
        settings = {"data": str(opened.folder.resolve()), "split": split}
        ready = open_agent(opened, choices)
        run_trial(open_trial(opened, split), ready, settings, Options(out, workers, resume), Console())

    guard(work, debug=debug)


if __name__ == "__main__":
    app(prog_name="python -m benchmarks.r2r")
