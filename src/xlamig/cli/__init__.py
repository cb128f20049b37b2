"""The `xlamig` command."""

from __future__ import annotations

import gc
import io
import os
import sys
from contextlib import suppress
from typing import NoReturn

import click

from xlamig import __version__
from xlamig.cli.lazy import LazyGroup

_COMMANDS = (
    "check", "plan", "trace", "verify", "fit", "dryrun", "doctor", "setup", "fleet", "ops", "rule", "rules",
    "server", "mcp", "config", "clean", "completion", "version",
)  # fmt: skip


@click.group(
    cls=LazyGroup,
    commands_at={name: f"xlamig.cli.{name}" for name in _COMMANDS},
    default="check",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", prog_name="xlamig", message="%(prog)s %(version)s")
def xlamig() -> None:
    """Find, estimate and fix what stands between PyTorch GPU code and a TPU.

    `xlamig PATH` is short for `xlamig check PATH`.
    """


def main() -> None:
    """Run the command line and exit: 130 when interrupted, 2 for what cannot be done."""
    # Collections pass over every node alive; nearly all nodes die by reference count, and so do we.
    gc.set_threshold(1_000_000, 10, 50)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = xlamig.main(prog_name="xlamig", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.Abort:
        code = 130
    sys.exit(code)


def script() -> NoReturn:
    """`main` as a process of its own: what is left is not freed, a tenth of the time of a large run."""
    code: object = 0
    try:
        main()
    except SystemExit as leaving:
        code = leaving.code
    with suppress(OSError, ValueError):  # whoever reads us may have gone
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0)
