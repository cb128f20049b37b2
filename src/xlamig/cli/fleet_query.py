"""`xlamig fleet query`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click

from xlamig.cli.extras import needs
from xlamig.cli.fleet_scan import read_day

_SHOWN = 200  # rows as text: a table has to know its widths


@click.command()
@click.argument("sql")
@click.argument("out", required=False, default=".", type=click.Path(path_type=Path))
@click.option("--date", callback=read_day, metavar="DATE", help="The scan to query; by default, the latest.")
@click.option(
    "--output-format", type=click.Choice(("text", "csv", "json")), default="text", show_default=True,
    help="Format of the rows; text shows the first 200.",
)  # fmt: skip
def command(sql: str, out: Path, date: str | None, output_format: str) -> None:
    """Ask the results in OUT, "." when it is not given, with the SQL of DuckDB.

    The tables are repositories, findings, packages, kernels and plans of one scan; those of all scans are
    history.repositories and so on, with a scan_date.
    """
    with needs("fleet", "duckdb"):
        from xlamig.fleet.query import Fleet

    names, rows = Fleet(out, date).table(sql)
    for line in _WRITERS[output_format](names, rows):
        click.echo(line, nl=False)


def _text(names: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> Iterator[str]:
    cells = [list(names), *([_cell(value) for value in row] for row in islice(rows, _SHOWN))]
    widths = [max(len(line[at]) for line in cells) for at in range(len(names))]
    for line in cells:
        padded = (f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True))
        yield "  ".join(padded).rstrip() + "\n"
    more = sum(1 for _ in rows)
    if more:
        yield f"... and {more} more rows: --output-format csv has them all\n"


def _cell(value: object) -> str:
    if value is None:
        return "-"
    text = f"{value:.1f}" if isinstance(value, float) else str(value)
    return "".join(char if char.isprintable() else "·" for char in text)


def _csv(names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> Iterator[str]:
    for row in chain([tuple(names)], rows):
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(row)
        yield line.getvalue()


def _json(names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> Iterator[str]:
    yield "["
    for number, row in enumerate(rows):
        record = dict(zip(names, row, strict=True))
        yield (",\n" if number else "\n") + json.dumps(record, default=str, ensure_ascii=False)
    yield "\n]\n"


_WRITERS = {"text": _text, "csv": _csv, "json": _json}
