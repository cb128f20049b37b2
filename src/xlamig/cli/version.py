"""`xlamig version`."""

from __future__ import annotations

import click

from xlamig import __version__


@click.command()
def command() -> None:
    """Show the version."""
    click.echo(f"xlamig {__version__}")
