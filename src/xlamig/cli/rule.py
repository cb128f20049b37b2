"""`xlamig rule`: a group whose plain use shows a page."""

from __future__ import annotations

import click

from xlamig.cli.lazy import LazyGroup


class _RuleGroup(LazyGroup):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`rule XLA003` is short for `rule show XLA003`."""
        if args and args[0] not in (*self.list_commands(ctx), "--help", "-h"):
            args = ["show", *args]
        return super().parse_args(ctx, args)


_COMMANDS = {
    "show": "xlamig.cli.rule_show",
    "new": "xlamig.cli.rule_new",
    "test": "xlamig.cli.rule_test",
}


@click.group(cls=_RuleGroup, commands_at=_COMMANDS)
def command() -> None:
    """Show the page of a rule, write a new one, or test it.

    `xlamig rule XLA003` is short for `xlamig rule show XLA003`.
    """
