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


@click.group(cls=_RuleGroup, commands_at={"show": "xlamig.cli.rule_show", "new": "xlamig.cli.rule_new"})
def command() -> None:
    """Show the page of a rule, or write a new one.

    `xlamig rule XLA003` is short for `xlamig rule show XLA003`.
    """
