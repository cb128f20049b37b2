"""`xlamig completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def command(shell: str) -> None:
    """Print the completion script of a SHELL.

    bash: eval "$(xlamig completion bash)"; zsh: the same with zsh; fish: xlamig completion fish | source
    """
    kind = get_completion_class(shell)
    assert kind is not None
    root = click.get_current_context().find_root()
    script = kind(root.command, {}, "xlamig", "_XLAMIG_COMPLETE")
    click.echo(script.source())
