"""Option values: lists with commas, PATTERN:CODES and KEY=VALUE."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def split_values(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> list[str] | None:
    """`-x A,B -x C` as one list; None when the option was not given."""
    if not values:
        return None
    return [word.strip() for value in values for word in value.split(",") if word.strip()]


def rule_codes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The codes that continue the last one of a list such as `XLA101,XLA2`, with their names."""
    from xlamig.cli.book import open_book

    before, comma, start = incomplete.rpartition(",")
    return [
        CompletionItem(before + comma + rule.code, help=rule.name)
        for rule in open_book().rules
        if rule.code.startswith(start.upper())
    ]


def names(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
    """`A,B` as names in lower case, each once."""
    return tuple(dict.fromkeys(part.strip().lower() for part in (value or "").split(",") if part.strip()))


def per_file(
    ctx: click.Context, param: click.Parameter, values: Sequence[str]
) -> dict[str, list[str]] | None:
    """`PATTERN:CODE,CODE` as a table."""
    table: dict[str, list[str]] = {}
    for value in values:
        pattern, colon, codes = value.rpartition(":")
        if not colon or not pattern or not codes:
            raise click.BadParameter(f"{value!r} is not PATTERN:CODES", ctx, param)
        table.setdefault(pattern, []).extend(code.strip() for code in codes.split(",") if code.strip())
    return table or None


def configuration(
    ctx: click.Context, param: click.Parameter, values: Sequence[str]
) -> tuple[Path | None, dict[str, Any]]:
    """A configuration file, and settings written as in one."""
    from xlamig.config.load import parse_inline

    path: Path | None = None
    settings: dict[str, Any] = {}
    for value in values:
        if "=" not in value or Path(value).is_file():
            if path is not None:
                raise click.BadParameter("only one configuration file can be given", ctx, param)
            path = Path(value)
            continue
        _merge(settings, parse_inline(value))
    return path, settings


def _merge(into: dict[str, Any], new: Mapping[str, Any]) -> None:
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value
