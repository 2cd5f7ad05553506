"""Workers that are processes of this machine: for episodes that work in Python most of the time."""

import ast
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import FrameType

from virl.bench.engine.crew import Died, Ended, Event, LedgerReply, LedgerRequest, Ready, Slot, remote_ledger
from virl.bench.engine.work import EpisodeOutcome, Job, open_bench, reason_of
from virl.bench.episode import Episode, WorkerLost
from virl.bench.resources import Resources
from virl.errors import VirlError
from virl.money.ledger import Ledger
from virl.traces.spans import export_traces

MOST_STILLBORN = 3
"""Number of processes that die while they open the benchmark at which a run is given up. Chosen."""

ENDING_S = 2.0
"""Seconds that a process has to end by itself before it is killed. Chosen."""

_GUARDED = "__name__ == '__main__'"

_OPEN = ("open",)
"""Message of a process once its benchmark is open; a text in its place says why it cannot be opened."""

_Worker = tuple[SpawnProcess, Connection]


def is_main_importable() -> bool:
    """Return whether a spawned process can import `__main__` without running the program again.

    It is imported from its file, unless it was begun as a package or in a notebook. So what runs now has to
    stand below `if __name__ == "__main__":`.
    """
    main = sys.modules["__main__"]
    file, name = getattr(main, "__file__", None), getattr(main.__spec__, "name", "")
    if file is None or name.endswith(".__main__"):
        return True
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):  # a program that was packed
        return True
    guards = [one for one in tree.body if isinstance(one, ast.If) and _GUARDED in ast.unparse(one.test)]
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - the stack in this thread
    while frame and not (frame.f_code.co_name == "<module>" and frame.f_globals is vars(main)):
        frame = frame.f_back
    if frame is None:  # another thread: nobody can say where it was begun
        return bool(guards)
    line = frame.f_lineno
    return any(one.lineno <= line <= (one.end_lineno or line) for one in guards)


class ProcessCrew:
    """A crew of processes, each with one open benchmark and one episode at a time; replaces one that dies."""

    def __init__(self, job: Job, count: int, ledger: Ledger) -> None:
        """Start `count` processes that run the job's episodes; their payments go to `ledger`."""
        self._job = job
        self._ledger = ledger
        self._workers: dict[Slot, _Worker] = {}
        self._waiting: set[Slot] = set()
        self._hired = 0
        self._stillborn = 0
        for _ in range(count):
            self._hire()

    def give(self, slot: Slot, episode: Episode) -> None:
        """Start an episode at a process's free slot; returns at once."""
        with suppress(OSError):  # it died just now, which `events` will tell
            self._workers[slot][1].send(episode)

    def events(self, timeout_s: float) -> Sequence[Event]:
        """Return the events since the last call; wait at most `timeout_s` seconds, then return none."""
        slots = {worker[1]: slot for slot, worker in self._workers.items()}
        heard = wait(list(slots), timeout_s)
        events = [self._read_message(slots[line]) for line in heard if isinstance(line, Connection)]
        return [event for event in events if event]

    def dismiss(self) -> None:
        """End all processes; kill those that have not ended after `ENDING_S` seconds."""
        for process, line in self._workers.values():
            line.close()
            if process.is_alive():
                process.terminate()
        for process, _ in self._workers.values():
            process.join(ENDING_S)
            if process.is_alive():
                process.kill()
                process.join()
        self._workers.clear()

    def _hire(self) -> None:
        """Start another process at a new slot, which is ready once the process has opened the benchmark."""
        # spawn: a forked child would inherit locks of ONNX Runtime's threads
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._job), daemon=True)
        process.start()
        theirs.close()
        slot = self._hired
        self._hired += 1
        self._workers[slot] = (process, ours)
        self._waiting.add(slot)

    def _read_message(self, slot: Slot) -> Event | None:
        """Return the event in a process's message; answer a ledger request, and return `None`."""
        process, line = self._workers[slot]
        try:
            said = line.recv()
        except (EOFError, OSError):
            return self._replace(slot)
        if isinstance(said, LedgerRequest):
            with suppress(OSError):  # it died just now, which `events` will tell
                line.send(said.apply_to(self._ledger))
            return None
        if isinstance(said, EpisodeOutcome):
            return Ended(slot, said)
        if isinstance(said, str):
            process.join(ENDING_S)
            raise VirlError(said)
        self._waiting.discard(slot)
        return Ready(slot)

    def _replace(self, slot: Slot) -> Died:
        """Replace the process that died at `slot`; return its `Died`. Raises WorkerLost if too many die."""
        process, line = self._workers.pop(slot)
        line.close()
        process.join(ENDING_S)
        why = f"its process died (exit code {process.exitcode})"
        if slot in self._waiting:
            self._waiting.discard(slot)
            self._stillborn += 1
            if self._stillborn >= MOST_STILLBORN:
                raise WorkerLost(f"processes die while they open the benchmark ({why}): try --engine threads")
        self._hire()
        return Died(slot, why)


def _serve(line: Connection, job: Job) -> None:
    """Run a worker process: open the job's benchmark, then run each episode sent on `line` till it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run's own process decides what an interruption means
    # by an exception, so that libraries free what they hold
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    resources = Resources(job.terms, remote_ledger(_ledger_asker(line)), objects=job.objects)
    try:
        try:
            bench = open_bench(job, resources)
        except Exception as fault:  # noqa: BLE001 - told to the run, which ends
            line.send(reason_of(fault))
            return
        line.send(_OPEN)
        with export_traces():
            with suppress(EOFError, OSError):
                while True:
                    line.send(bench.attempt(line.recv()))
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # traces leave first; who waits longer kills
    finally:
        resources.close()


def _ledger_asker(line: Connection) -> Callable[[LedgerRequest], LedgerReply]:
    """Return a thread-safe function that sends a ledger request to the main process and returns its reply."""
    lock = threading.Lock()

    def ask(charge: LedgerRequest) -> LedgerReply:
        """Send a ledger request to the main process, and return its reply."""
        with lock:
            line.send(charge)
            charged: LedgerReply = line.recv()
        return charged

    return ask


def _end_with_parent() -> None:
    """Wait until the main process ends, then end this one, whose work nobody would record."""
    if parent := parent_process():
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(ENDING_S)
        os._exit(1)
