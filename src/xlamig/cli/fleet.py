"""`xlamig fleet`."""

from __future__ import annotations

import click

from xlamig.cli.lazy import LazyGroup

_COMMANDS = ("scan", "query", "report", "diff")


@click.group(cls=LazyGroup, commands_at={name: f"xlamig.cli.fleet_{name}" for name in _COMMANDS})
def command() -> None:
    """Scan many repositories, and ask which to port first and what blocks most of them."""
