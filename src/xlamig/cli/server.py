"""`xlamig server`."""

from __future__ import annotations

import click

from xlamig.cli.extras import needs


@click.command()
@click.option("--stdio", is_flag=True, help="Speak over stdin and stdout, which is the only way there is.")
def command(stdio: bool) -> None:
    """Run the language server, for editors.

    The editor starts it; docs/editors.md tells how.
    """
    with needs("server", "pygls"):
        from xlamig.lsp.features import serve
    serve()
