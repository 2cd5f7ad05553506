"""`python -m benchmarks.counting`: how well things along routes and in regions are counted."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.counting.count import Task
from benchmarks.counting.noise import PoseNoise, parse_noise
from benchmarks.counting.run import run
from benchmarks.counting.variants import Condition
from virl.guard import guard

THINGS = ("trash bin", "fire hydrant", "bench")  # V-IRL's Imani
BACKGROUND = ("mailbox", "planter", "bollard")  # look-alikes of these


def count(
    out: Annotated[Path, typer.Option(help="Folder of the run.", file_okay=False)] = Path("runs/counting"),
    city: Annotated[str, typer.Option(help="A made city.")] = "virlton",
    detector: Annotated[str, typer.Option(help="A detector in platform/models.")] = "simulated",
    matcher: Annotated[str, typer.Option(help="A matcher in platform/models.")] = "sift",
    memory: Annotated[str, typer.Option(help="Settings in platform/memory, for exact poses.")] = "default",
    noisy_memory: Annotated[str, typer.Option(help="Settings for poses that are off.")] = "street-view",
    routes: Annotated[int, typer.Option(help="How many routes.", min=0)] = 12,
    regions: Annotated[int, typer.Option(help="How many regions.", min=0)] = 2,
    things: Annotated[list[str] | None, typer.Option(help="What to count; may be repeated.")] = None,
    background: Annotated[list[str] | None, typer.Option(help="What else there is; may be repeated.")] = None,
    pose_noise: Annotated[
        str, typer.Option(help="Metres and degrees by which panoramas are off, besides not at all.")
    ] = "1.5,2",
    draws: Annotated[int, typer.Option(help="How often that is drawn for each walk.", min=1)] = 2,
    seed: Annotated[int, typer.Option(help="Seed of walks, detector and pose noise.", min=0)] = 0,
    workers: Annotated[int, typer.Option(help="Walks side by side.", min=1)] = 2,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Count things against ground truth: with and without active detection, and with each rule off."""

    def work() -> None:
        noise = parse_noise(pose_noise)
        conditions = [Condition(PoseNoise(), memory)]
        if noise != PoseNoise():
            conditions.append(Condition(noise, noisy_memory))
        wanted = tuple(dict.fromkeys(things or THINGS))
        beside = background if background is not None else BACKGROUND
        task = Task(
            city,
            detector,
            matcher,
            wanted,
            tuple(name for name in dict.fromkeys(beside) if name not in wanted),
            tuple(conditions),
            draws,
            seed,
        )
        run(task, routes, regions, out, Console(), workers=workers, resume=resume)

    guard(work, debug=debug)


if __name__ == "__main__":
    typer.run(count)
