"""A group whose commands are imported when needed, and the guard that turns errors into a line."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click

VERBOSE = "xlamig.verbose"  # in ctx.meta: how often -v was given


_SAID = {
    ("engine", "UsageError"),
    ("config", "ConfigError"),
    ("observe", "LaunchError"),
    ("observe", "TraceError"),
}
"""Errors whose text is written for people, by part of xlamig and name."""


class LazyGroup(click.Group):
    """`commands_at` names the modules in which the commands stand as `command`; `default` is the
    command of a call that begins with a path."""

    def __init__(
        self, *args: Any, commands_at: Mapping[str, str], default: str | None = None, **extra: Any
    ) -> None:
        super().__init__(*args, **extra)
        self._modules = commands_at
        self._default = default

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._modules:
            return None
        command: click.Command = import_module(self._modules[cmd_name]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            if self._default is not None and Path(args[0]).exists():
                return super().resolve_command(ctx, [self._default, *args])
            from xlamig.config.errors import did_you_mean

            ctx.fail(f"no command {args[0]!r}{did_you_mean(args[0], self._modules)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
            raise
        except Exception as error:
            if ctx.meta.get(VERBOSE, 0) > 1:
                traceback.print_exc()
            raise Failure(error) from error


class Failure(click.ClickException):
    """An error to show on one line."""

    exit_code = 2

    def __init__(self, error: Exception) -> None:
        super().__init__(_describe_error(error))


def _describe_error(error: Exception) -> str:
    # By name: to import these classes here would cost every start-up the engine.
    kinds = {(kind.__module__.split(".")[:2][-1], kind.__name__) for kind in type(error).__mro__}
    if kinds & _SAID:
        return str(error)
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return f"{error.filename}: {reason}" if error.filename else reason
    told = " ".join(f"{type(error).__name__}: {error}".split())
    return f"internal error, please report it: {told} (-vv shows where)"
