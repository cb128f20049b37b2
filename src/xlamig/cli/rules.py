"""`xlamig rules`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from xlamig.cli.book import open_book
from xlamig.cli.rule_show import document, fix_grades

if TYPE_CHECKING:
    from xlamig.rulebook.rule import Rule


@click.command()
@click.option(
    "--output-format", type=click.Choice(("text", "json")), default="text", show_default=True,
    help="Format of the list; json includes the pages.",
)  # fmt: skip
def command(output_format: str) -> None:
    """List the rules: code, name, status, targets, fixes."""
    rules = open_book().rules
    if output_format == "json":
        click.echo(json.dumps([document(rule) for rule in rules], indent=2))
        return
    rows = [_row(rule) for rule in rules]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(5)]
    for row in rows:
        click.echo("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())


def _row(rule: Rule) -> tuple[str, ...]:
    targets, fixes = ",".join(rule.targets) or "-", ",".join(fix_grades(rule)) or "-"
    return rule.code, rule.name, rule.status, targets, fixes
