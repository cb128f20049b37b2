"""`xlamig fleet diff`."""

from __future__ import annotations

import json

import click

from xlamig.cli.extras import needs


@click.command()
@click.argument("old")
@click.argument("new")
@click.option(
    "--output-format", type=click.Choice(("text", "json")), default="text", show_default=True,
    help="Format of the differences.",
)  # fmt: skip
def command(old: str, new: str, output_format: str) -> None:
    """Compare two scans: repositories, hours and findings that came and went.

    OLD and NEW are folders of results, whose latest scan counts, or a scan of one: OUT@2026-11-22.
    """
    with needs("fleet", "duckdb"):
        from xlamig.fleet.diff import compare, open_side
    from xlamig.fleet.diff_text import render

    found = compare(open_side(old), open_side(new))
    if output_format == "json":
        click.echo(json.dumps(found.document(), indent=2))
    else:
        for line in render(found):
            click.echo(line)
