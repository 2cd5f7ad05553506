"""Runs the episodes of a benchmark side by side, with a progress bar."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import Progress

T = TypeVar("T")


def run_jobs(
    function: Callable[..., T],
    jobs: Sequence[tuple[Any, ...]],
    *,
    workers: int | None,
    console: Console,
    title: str,
) -> Iterator[T]:
    """The results of `function(*job)` for every job, as they end.

    Args:
        function: importable by name, so that other processes find it.
        jobs: its arguments.
        workers: processes; `None` for one a core, 1 to stay in this process.
        console: where the bar is shown.
        title: what stands beside the bar.
    """
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(title, total=len(jobs))
        for result in _results(function, jobs, workers or os.cpu_count() or 1):
            progress.advance(task)
            yield result


def _results(function: Callable[..., T], jobs: Sequence[tuple[Any, ...]], workers: int) -> Iterator[T]:
    if workers == 1:
        for job in jobs:
            yield function(*job)
        return
    # spawn: a forked child would inherit locks of ONNX Runtime's threads
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(function, *job) for job in jobs]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()
