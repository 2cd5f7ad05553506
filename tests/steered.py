"""Runs with a control, in a thread of their own."""

from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

from rich.console import Console

from virl.agent.control import Control, Standing
from virl.agent.plan import RunOptions
from virl.agent.start import run_agent
from virl.journal.recorded_run import Finished

LONG_S = 120.0
"""More than any step takes; a test that waits so long fails."""


def decision(control: Control) -> Standing:
    """The standing once the player is to decide; fails where the play ends before."""
    seen = -1
    while not (standing := control.snapshot()).waiting:
        assert standing.state != "ended", standing
        now = control.wait_change(seen, LONG_S)
        assert now != seen, standing
        seen = now
    return standing


class SteeredRun:
    """A run that goes on in a thread, and its control."""

    def __init__(self, control: Control | None = None, **options: Any) -> None:
        self.control = control or Control()
        self.finished: Finished | None = None
        self.fault: BaseException | None = None
        self._options = RunOptions(**options)
        self._thread = Thread(target=self._run, daemon=True)

    def start(self) -> "SteeredRun":
        self._thread.start()
        return self

    def _run(self) -> None:
        try:
            self.finished = run_agent(self._options, Console(quiet=True), self.control)
        except BaseException as fault:  # noqa: BLE001 - the test raises it
            self.fault = fault

    def until(self, reached: Callable[[Standing], bool]) -> Standing:
        """The standing once it is as wanted; fails where the run ends before."""
        seen = -1
        while True:
            now = self.control.wait_change(seen, LONG_S)
            standing = self.control.snapshot()
            if reached(standing):
                return standing
            assert standing.state != "ended", (standing, self.fault)
            assert now != seen, f"nothing changes any more: {standing}"
            seen = now

    def decision(self) -> Standing:
        """The standing once the user is to decide."""
        return self.until(lambda standing: standing.waiting)

    def end(self) -> Finished:
        """How it ended, where it ends well."""
        self._thread.join(LONG_S)
        assert not self._thread.is_alive(), self.control.snapshot()
        if self.fault:
            raise self.fault
        assert self.finished is not None
        return self.finished

    def cut_short(self) -> BaseException:
        """Why it did not end well."""
        self._thread.join(LONG_S)
        assert self.fault is not None
        return self.fault


def run_of(agent: str, folder: Path, **options: Any) -> SteeredRun:
    """A run that is still to start."""
    return SteeredRun(agent=agent, out=folder, **options)
