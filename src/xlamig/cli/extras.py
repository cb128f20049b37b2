"""Commands that need packages which not everybody installs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click


@contextmanager
def needs(extra: str, package: str) -> Iterator[None]:
    """Turn the failed import of `package`, or of what comes with it, into advice to install the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "xlamig":
            raise
        raise click.ClickException(
            f"`{click.get_current_context().command_path}` needs {package}: pip install 'xlamig[{extra}]'"
        ) from None
