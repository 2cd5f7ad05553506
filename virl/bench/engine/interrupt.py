"""Ctrl-C: the first ends a run in good order, the second at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Make a first Ctrl-C in the context only set what is yielded; a second one raises.

    Elsewhere than in the main thread nothing changes, as signals come to that one alone.
    """
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def handle(_: int, __: FrameType | None) -> None:
        """Note the first interruption; raise KeyboardInterrupt at the second."""
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)
