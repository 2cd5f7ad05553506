"""Runs the server of the page: for good, or as long as a `with` block lasts."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from threading import Event

from virl.serve.running import LOOPBACK, run, running
from virl.serve.watch.app import LIMITS, make_app
from virl.serve.watch.door import Secrets
from virl.serve.watch.feed import Feed, Index, cards_of


def watch(feeds: Mapping[int, Feed], index: Index, port: int, tell: Callable[[str], None]) -> None:
    """Serve the page until the process is interrupted.

    Args:
        feeds: the runs that are shown, by number; may grow.
        index: gives a card for each.
        port: at loopback; 0 takes a free one.
        tell: gets the page's address, with its token.

    Raises:
        BadInput: the port is taken.
    """
    own, closing = Secrets(), Event()
    app = make_app(feeds, index, own, closing)
    run(app, LOOPBACK, port, None, LIMITS, lambda url: tell(address(url, own)), closing)


@contextmanager
def watched(feeds: Mapping[int, Feed], index: Index | None = None, port: int = 0) -> Iterator[str]:
    """Serve the page from a thread of its own until the block ends; gives its address, with its token.

    Args:
        feeds: as `watch`.
        index: as `watch`; by default of the runs that there are.
        port: as `watch`.

    Raises:
        BadInput: the port is taken.
        VirlError: the server did not start.
    """
    own, closing = Secrets(), Event()
    app = make_app(feeds, index or partial(cards_of, feeds), own, closing)
    with running(app, LOOPBACK, port, None, LIMITS, closing) as url:
        yield address(url, own)


def address(url: str, own: Secrets) -> str:
    """What is opened in the browser."""
    return f"{url}/?token={own.token}"
