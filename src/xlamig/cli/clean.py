"""`xlamig clean`."""

from __future__ import annotations

from pathlib import Path

import click

from xlamig.cli.options import RunFlags


@click.command()
@click.option("--cache-dir", type=click.Path(path_type=Path), help="The cache to delete.")
def command(cache_dir: Path | None) -> None:
    """Delete the cache."""
    from xlamig import engine
    from xlamig.report.numbers import number

    run = RunFlags({"cache-dir": cache_dir} if cache_dir else {})
    click.echo(f"Deleted {number(engine.clean(run.options()), 'cache')}.", err=True)
