"""`xlamig fleet report`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from xlamig.cli.economics import read_prices
from xlamig.cli.extras import needs
from xlamig.cli.fleet_scan import read_day
from xlamig.cli.output import require_file, write_file
from xlamig.cli.values import names

_BY_SUFFIX = {".html": "html", ".htm": "html", ".json": "json"}


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output-file", type=click.Path(path_type=Path), metavar="FILE",
    help="Write to this file instead of stdout; *.html is a web page.",
)  # fmt: skip
@click.option(
    "--output-format", type=click.Choice(("text", "html", "json")),
    help="Format of the report; by default, from the file name.",
)  # fmt: skip
@click.option("--date", callback=read_day, metavar="DATE", help="The scan; by default, the latest.")
@click.option(
    "--tpu", default="v5e,v6e", show_default=True, callback=names, metavar="LIST",
    help="TPUs to compare with; the one that saves most is used.",
)  # fmt: skip
@click.option(
    "--price", multiple=True, metavar="NAME=PRICE", callback=read_prices,
    help="Your price per chip and hour, instead of list prices.",
)  # fmt: skip
@click.option("--hourly-rate", type=click.FloatRange(0, min_open=True), metavar="MONEY",
              help="Cost of one hour of migration work.")  # fmt: skip
@click.option(
    "--hardware", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
    help="Your own accelerators and prices, as in the setting effort.hardware.",
)  # fmt: skip
@click.option(
    "--wave-hours", type=click.FloatRange(0, min_open=True), default=500, show_default=True, metavar="HOURS",
    help="Hours of work per wave.",
)  # fmt: skip
def command(
    out: Path,
    output_file: Path | None,
    output_format: str | None,
    date: str | None,
    tpu: tuple[str, ...],
    price: dict[str, float],
    hourly_rate: float | None,
    hardware: Path | None,
    wave_hours: float,
) -> None:
    """Rank the repositories in OUT, and say what blocks them, in waves, and what changed.

    Savings need gpu and gpu_hours in the table that was scanned.
    """
    if output_file is not None:
        require_file(output_file)
    with needs("fleet", "duckdb"):
        from xlamig.fleet.query import Fleet
    from xlamig.effort.economics import NoFigure
    from xlamig.engine import UsageError
    from xlamig.fleet.ranking import Terms
    from xlamig.fleet.summary import summarise
    from xlamig.knowledge.hardware import HardwareError, load

    try:
        terms = Terms(load(hardware), tpu, price, hourly_rate)
        summary = summarise(Fleet(out, date), terms, wave_hours)
    except (NoFigure, HardwareError) as error:
        raise UsageError(str(error)) from None
    kind = output_format or (_BY_SUFFIX.get(output_file.suffix, "text") if output_file else "text")
    if kind == "json":
        text = json.dumps(summary.document(), indent=2, ensure_ascii=False) + "\n"
    elif kind == "html":
        from xlamig.fleet.report_html import render

        text = render(summary) + "\n"
    else:
        from xlamig.fleet.report_text import render as lines

        text = "".join(f"{line}\n" for line in lines(summary))
    if output_file is None:
        click.echo(text, nl=False)
    else:
        write_file(output_file, text)
