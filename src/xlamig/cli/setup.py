"""`xlamig setup`."""

from __future__ import annotations

import click


@click.command()
@click.argument("name", type=click.Choice(("trace", "fit", "dryrun")))
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def command(name: str, yes: bool) -> None:
    """Create the virtual environment that a command runs, in the user's cache folder.

    What is installed is printed first, with its licence where that is not an open one.
    """
    from xlamig.observe.interpreters import KINDS, environment, make

    kind = KINDS[name]
    click.echo(f"{environment(kind)}: pip install {' '.join(kind.install)}", err=True)
    if kind.note:
        click.echo(kind.note, err=True)
    if not yes:
        click.confirm("Install?", abort=True, err=True)
    click.echo(str(make(kind)))
