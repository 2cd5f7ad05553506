"""`python -m benchmarks.sight_learning.collect`."""

from typing import Annotated, Literal

import typer

from virl.cli.guard import add_guard
from virl.console import SafeConsole, counting_bar, echo
from virl.extras import require


@add_guard()
def main(
    dataset: Annotated[str, typer.Argument(help="Id of the new data set, such as virlton/sight/oracle-v0.")],
    city: Annotated[str, typer.Option(help="Town to search in.")] = "virlton",
    walker: Annotated[Literal["random", "blind", "oracle"], typer.Option(help="Who searches.")] = "oracle",
    episodes: Annotated[int, typer.Option(help="Number of searches.", min=1)] = 200,
    pixels: Annotated[int, typer.Option(help="Width and height of what is seen.", min=16, max=2048)] = 84,
    seed: Annotated[int, typer.Option(help="Seed of the first search; the next has the next.")] = 0,
) -> None:
    """Record searches in virl/Sight-v0 as a data set of Minari, in the folder MINARI_DATASETS_PATH."""
    require("learn", "gymnasium", "minari", "pyarrow", what="recording")
    from .recording import record  # noqa: PLC0415 - needs the extra

    with counting_bar("searches", episodes, SafeConsole(stderr=True)) as advance:
        kept = record(dataset, city, walker, episodes, pixels, seed, advance)
    echo(f"{kept.total_episodes} searches, {kept.total_steps} actions: {kept.storage.data_path}")


if __name__ == "__main__":
    typer.run(main)
