"""A run that is watched from its start, with a hand on it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from threading import Event

from virl.agent.control import Control
from virl.agent.plan import RunOptions, latest_run, planned, source_of
from virl.journal.town_ground import town_ground
from virl.serve.watch.feed import RunFeed
from virl.serve.watch.server import watched


@dataclass(frozen=True, slots=True)
class Seat:
    """Where somebody sits who watches a run."""

    url: str
    """The page's address, with its token."""
    options: RunOptions
    """Of the run, with its folder."""
    control: Control
    """To start the run with."""


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
        folder = latest_run(source_of(options).stem) if options.resume else planned(options).folder
        options = replace(options, out=folder)
    assert options.out is not None  # noqa: S101 - for the type checker
    control = Control()
    with watched({0: RunFeed(options.out, town_ground, control)}, port=port) as url:
        yield Seat(url, options, control)


def wait_for_interrupt() -> None:
    """Keep the page until the user ends it with Ctrl+C."""
    with suppress(KeyboardInterrupt):
        Event().wait()
