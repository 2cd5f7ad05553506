"""A group of commands that prints its help when it is given no command."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from virl.console import echo
from virl.plain_text import plain_line


class HelpfulGroup(TyperGroup):
    """Without a command it prints its help and succeeds: nobody who asks what there is has made a mistake."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as Typer does, but print the help for no arguments."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            self.tell_without_command(ctx)
            ctx.exit()
        return super().parse_args(ctx, args)

    def tell_without_command(self, ctx: typer.Context) -> None:
        """Print the help."""
        echo(ctx.get_help())

    def make_context(self, *args: Any, **more: Any) -> Any:
        """Make the context as Typer does; what it says about wrong arguments is plain text."""
        with _plain_messages():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the command as Typer does; what it says about wrong arguments is plain text."""
        with _plain_messages():
            return super().invoke(ctx)


@contextmanager
def _plain_messages() -> Iterator[None]:
    """Keep messages plain: an argument may be the name of a file from elsewhere."""
    try:
        yield
    except typer.TyperException as fault:
        vars(fault)["message"] = plain_line(fault.message)  # of which Typer says that nobody sets it again
        raise
