"""Ctrl-C that C code would lose."""

import ctypes
import signal
import time

import pytest
import typer

from virl.cli.guard import guard


def test_ctrl_c_in_a_callback_of_c_code_stops_the_command() -> None:
    """LLVM calls Python back while a kernel is compiled; what is raised there goes no further."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    reached = []

    def work() -> None:
        ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()
        for _ in range(1000):  # one long sleep would end first
            time.sleep(0.01)
        reached.append("the end")

    try:
        with pytest.raises(typer.Exit) as left:
            guard(work, debug=False)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert left.value.exit_code == 130
    assert not reached
