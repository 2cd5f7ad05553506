"""A run that is watched from its start, with a hand on it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from threading import Event

from virl.agent.control import Control
from virl.agent.plan import RunOptions, latest_run, make_plan, source_of
from virl.bugs import bug_of
from virl.errors import VirlError
from virl.journal.walk_map import town_ground
from virl.plain_text import plain_line
from virl.redaction import Redaction
from virl.serve.watch.feed import RunFeed
from virl.serve.watch.server import serve_page


@dataclass(frozen=True, slots=True)
class Seat:
    """The seat of somebody who watches a run."""

    url: str
    """The page's address, with its token."""
    options: RunOptions
    """The options of the run, with its folder."""
    control: Control
    """The control to start the run with."""
    feed: RunFeed
    """The feed that the page shows."""

    def fail(self, fault: Exception) -> str:
        """Show on the page why the run ended before its time, and return that line."""
        told = fault if isinstance(fault, VirlError) else bug_of(fault, run=self.feed.folder)
        self.feed.read_records()  # what was written before the fault
        self.feed.fault = Redaction.of().text(plain_line(str(told)))
        return self.feed.fault


@contextmanager
def seat_at(options: RunOptions, port: int = 0) -> Iterator[Seat]:
    """Serve the page of a run that is about to start, until the block ends.

    Args:
        options: of the run.
        port: at loopback; 0 takes a free one.

    Raises:
        BadInput: the options name something that does not exist, or the port is taken.
        VirlError: the server did not start.
    """
    if options.out is None:
        folder = latest_run(source_of(options).stem) if options.resume else make_plan(options).folder
        options = replace(options, out=folder)
    assert options.out is not None  # noqa: S101 - for the type checker
    control = Control()
    feed = RunFeed(options.out, town_ground, control)
    with serve_page({0: feed}, port=port) as url:
        yield Seat(url, options, control, feed)


def wait_for_interrupt() -> None:
    """Keep the page until the user ends it with Ctrl+C."""
    with suppress(KeyboardInterrupt):
        Event().wait()
