"""A progress bar for a collection."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from virl.datasets.collect.places import Progress as Told


@contextmanager
def collecting_bar(console: Console) -> Iterator[Told]:
    """Yield a function that shows a collection's progress as a bar on a console."""
    columns = (
        TextColumn("[dim]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]about"),
        TimeRemainingColumn(),
        TextColumn("[dim]left"),
    )
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("collecting", total=None)
        yield lambda doing, done, total: shown.update(task, description=doing, completed=done, total=total)
