"""Errors on the command line: one line for the user's, a traceback only with `--debug`."""

import logging
from collections.abc import Callable

import typer

from virl.errors import VirlError

USER_ERROR = 2
INTERRUPTED = 130


def guard(work: Callable[[], None], *, debug: bool) -> None:
    """Do the work; a user's error is one line and exit code 2."""
    logging.basicConfig(level=logging.DEBUG if debug else logging.WARNING, format="%(name)s: %(message)s")
    try:
        work()
    except VirlError as fault:
        if debug:
            raise
        typer.echo("virl: " + "\n".join(fault.lines), err=True)
        raise typer.Exit(USER_ERROR) from fault
    except KeyboardInterrupt:
        typer.echo("virl: stopped: continue with the same command and --resume", err=True)
        raise typer.Exit(INTERRUPTED) from None
