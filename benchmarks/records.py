"""The records of a benchmark's run, and the threads that fill them."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from virl.bench.records import RECORDS, RESULTS, SETTINGS, Record, Records, versions, write_results

__all__ = ["RECORDS", "RESULTS", "SETTINGS", "Record", "Records", "record_all", "versions", "write_results"]


def record_all(
    records: Records,
    jobs: Iterable[tuple[Any, ...]],
    work: Callable[..., Record],
    *,
    workers: int,
    console: Console,
    title: str,
) -> None:
    """Append `work(*job)` for every job, side by side in threads, with a progress bar.

    An interruption starts no further job; those that run are waited for and recorded.

    Args:
        records: where each record goes as soon as it is there.
        jobs: the arguments of each job.
        work: does one job. What it raises ends the whole run, so it should record what may go wrong.
        workers: how many threads.
        console: where the bar is shown.
        title: what stands beside the bar.
    """
    todo = list(jobs)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title, total=len(todo))
        pool = ThreadPoolExecutor(workers)
        try:
            futures = [pool.submit(lambda job: records.append(work(*job)), job) for job in todo]
            for future in as_completed(futures):
                future.result()
                progress.advance(task)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
