"""`xlamig mcp`."""

from __future__ import annotations

from pathlib import Path

import click

from xlamig.cli.extras import needs


@click.command()
@click.argument("roots", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--allow-write", is_flag=True, help="Let agents apply fixes and run programs.")
def command(roots: tuple[Path, ...], allow_write: bool) -> None:
    """Run the Model Context Protocol server, for coding agents.

    Agents can read below ROOTS, "." when none is given, and nowhere else. They cannot write or run
    anything without --allow-write.
    """
    with needs("mcp", "mcp"):
        from xlamig.mcp.server import serve
    serve(roots or (Path(),), allow_write)
