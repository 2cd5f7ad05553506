"""Errors on the command line, one line for the user's; groups of commands that print their help."""

import _thread
import logging
import shlex
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from threading import Timer
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from virl.bugs import bug_of
from virl.console import echo
from virl.errors import CodeFault, Interrupted, VirlError
from virl.plain_text import plain_line
from virl.redaction import RedactingFormatter, Redaction

BUG = 1
"""Exit code after an unexpected error."""
USER_ERROR = 2
"""Exit code after an error that the user can fix."""
INTERRUPTED = 130
"""Exit code after Ctrl-C."""

LOG_DETAILS = "Log details, and show full tracebacks."
"""Help text of `--debug` for a command that logs what it does."""


def add_guard(
    debug_help: str = "Show full tracebacks.",
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds `--debug` to a command and turns its errors into one line."""
    option = Parameter(
        "debug",
        Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[bool, typer.Option("--debug", help=debug_help)],
    )

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        """Return the command, run by `guard`, with one more option `--debug`."""

        @wraps(command)
        def run(*arguments: Any, debug: bool = False, **options: Any) -> None:
            """Run the command by `guard`, so that an error is one line and an exit code."""
            guard(lambda: command(*arguments, **options), debug=debug)

        own = signature(command)
        vars(run)["__signature__"] = own.replace(parameters=[*own.parameters.values(), option])
        return run

    return decorate


def guard(work: Callable[[], None], *, debug: bool) -> None:
    """Run `work`; print a user's error in one line and exit with code 2, a bug with code 1.

    No key is shown, in logs neither. After Ctrl-C, a run that has begun is told with the command to go on.

    Raises:
        typer.Exit: with the exit code, where the work failed.
    """
    logged = logging.StreamHandler()
    logged.setFormatter(RedactingFormatter("%(name)s: %(message)s"))
    logging.basicConfig(level=logging.DEBUG if debug else logging.WARNING, handlers=[logged])
    try:
        with _heed_lost_interruptions():
            work()
    except VirlError as fault:
        said = _traceback() if debug else "virl: " + "\n".join(map(plain_line, fault.lines))
        echo(Redaction.of().text(said), err=True)
        raise typer.Exit(BUG if isinstance(fault, CodeFault) else USER_ERROR) from fault
    except KeyboardInterrupt as stop:
        advice = f": go on with `{_repeat_command(stop.folder)}`" if isinstance(stop, Interrupted) else ""
        echo(f"virl: stopped{advice}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    # Typer's own: it says itself what is wrong with the arguments
    except (typer.TyperException, typer.Abort, typer.Exit):
        raise
    except Exception as fault:
        told = bug_of(fault)
        said = _traceback() if debug else f"virl: {plain_line(str(told))}"
        echo(Redaction.of().text(said), err=True)
        raise typer.Exit(BUG if isinstance(told, CodeFault) else USER_ERROR) from fault


@contextmanager
def _heed_lost_interruptions() -> Iterator[None]:
    """Interrupt the main thread again after a Ctrl-C that was lost in a callback from C code."""
    report = sys.unraisablehook

    def heed(lost: Any) -> None:
        """Interrupt the main thread for a lost Ctrl-C; report any other exception that cannot be raised."""
        if issubclass(lost.exc_type, KeyboardInterrupt):
            # From a thread, and later: what is raised in this function is lost as well
            Timer(0.01, _thread.interrupt_main).start()
        else:
            report(lost)

    sys.unraisablehook = heed
    try:
        yield
    finally:
        sys.unraisablehook = report


def _repeat_command(folder: Path) -> str:
    """Return this process's command line, with options that resume the run in a folder, as text."""
    words = ["virl", *sys.argv[1:]]
    for option, value in (("--out", [str(folder)]), ("--resume", [])):
        if not any(word.partition("=")[0] == option for word in words):
            words += [option, *value]
    return shlex.join(words)


def _traceback() -> str:
    """Return the traceback of the current exception as text."""
    return traceback.format_exc().rstrip()


class HelpfulGroup(TyperGroup):
    """A group of commands that prints its help, with exit code 0, if no command is given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the arguments parsed as Typer does; print the help and exit if there are none."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            self.tell_without_command(ctx)
            ctx.exit()
        return super().parse_args(ctx, args)

    def tell_without_command(self, ctx: typer.Context) -> None:
        """Print the help of the group."""
        echo(ctx.get_help())

    def make_context(self, *args: Any, **more: Any) -> Any:
        """Return Typer's context; messages on wrong arguments are printed as plain text."""
        with _plain_messages():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the command as Typer does; messages on wrong arguments are printed as plain text."""
        with _plain_messages():
            return super().invoke(ctx)


@contextmanager
def _plain_messages() -> Iterator[None]:
    """Remove control characters from messages on wrong arguments, which may name foreign files."""
    try:
        yield
    except typer.TyperException as fault:
        vars(fault)["message"] = plain_line(fault.message)  # of which Typer says that nobody sets it again
        raise
