"""A group of commands that prints its help when it is given no command."""

from typing import Any

import typer
from typer.core import TyperGroup


class HelpfulGroup(TyperGroup):
    """Without a command it prints its help and succeeds: nobody who asks what there is has made a mistake."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As Typer does, but for no arguments."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()
        return super().parse_args(ctx, args)
