"""`xlamig rules`."""

from __future__ import annotations

import click

from xlamig.cli.book import open_book
from xlamig.cli.rule_show import fix_grades


@click.command()
def command() -> None:
    """List the rules: code, name, status, targets, fixes."""
    rows = [
        (rule.code, rule.name, rule.status, ",".join(rule.targets) or "-", ",".join(fix_grades(rule)) or "-")
        for rule in open_book().rules
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(5)]
    for row in rows:
        click.echo("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
