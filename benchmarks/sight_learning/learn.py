"""`python -m benchmarks.sight_learning.learn`."""

from pathlib import Path
from typing import Annotated

import typer

from virl.cli.guard import add_guard
from virl.console import echo
from virl.errors import BadInput
from virl.extras import require

TOWNS = ("virlbury", "virlmouth", "virlham", "virlstead")
"""Towns in which it learns; it is scored in Virlton."""


@add_guard()
def main(
    out: Annotated[Path, typer.Option(help="Folder for policy and curve.", file_okay=False)],
    towns: Annotated[
        list[str] | None, typer.Option("--town", help="Town to learn in. Can be repeated.")
    ] = None,
    walkers: Annotated[int, typer.Option(help="Walkers in each town.", min=1)] = 5,
    pixels: Annotated[int, typer.Option(help="Width and height of what is seen.", min=36, max=2048)] = 84,
    black: Annotated[bool, typer.Option("--black", help="Show black pixels only.")] = False,
    steps: Annotated[int, typer.Option(help="Stop after so many actions.", min=1)] = 2_000_000,
    minutes: Annotated[float, typer.Option(help="Stop after so many minutes.", min=0)] = 60.0,
    seed: Annotated[int, typer.Option(help="Seed of weights and draws.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the training in `--out`.")] = False,
) -> None:
    """Train a walker of virl/Sight-v0 by PPO, in Virlton's sister towns."""
    require("learn", "gymnasium", "stable_baselines3", what="learning")
    from .ppo import POLICY, Lessons, learn  # noqa: PLC0415 - brings in torch

    if (out / POLICY).exists() != resume:
        remedy = (
            "there is no policy to resume: leave out --resume" if resume else "give --resume, or a new --out"
        )
        raise BadInput(f"{out / POLICY}: {remedy}")
    out.mkdir(parents=True, exist_ok=True)
    learn(out, Lessons(tuple(towns or TOWNS), walkers, pixels, black, steps, minutes, seed), resume=resume)
    echo(f"policy: {out / POLICY}")


if __name__ == "__main__":
    typer.run(main)
