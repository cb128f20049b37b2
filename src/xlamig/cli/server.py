"""`xlamig server`."""

from __future__ import annotations

import click

from xlamig.cli.extras import needs


@click.command()
@click.option("--stdio", is_flag=True, help="Use stdin and stdout, the only transport.")
def command(stdio: bool) -> None:
    """Run the language server, for editors.

    Editors start it; docs/editors.md explains the setup.
    """
    with needs("server", "pygls"):
        from xlamig.lsp.features import serve
    serve()
