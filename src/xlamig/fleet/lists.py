"""Lists of repositories: a location on each line, or a CSV table with a header."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from xlamig.config.errors import did_you_mean
from xlamig.engine import UsageError
from xlamig.fleet.job import Source
from xlamig.knowledge.hardware import load

COLUMNS = ("name", "location", "revision", "folder", "gpu", "gpu_hours")


def read_list(path: Path) -> Iterator[Source]:
    """The repositories of a list; relative locations are relative to its folder.

    Raises:
        UsageError: the file is no text, or a row of it cannot be understood, with its line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UsageError(f"{path}: neither a folder nor a list of repositories")
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if _says(line)]
    if not lines:
        return
    first = [cell.strip() for cell in _cells(lines[0][1])]
    if "location" in first or len(first) > 1:
        yield from _table(path, first, lines[1:])
    else:
        yield from (Source("", line.strip().strip('"')) for _, line in lines)


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _cells(line: str) -> list[str]:
    return next(csv.reader([line], delimiter="\t" if "\t" in line else ","))


def _table(path: Path, header: list[str], lines: list[tuple[int, str]]) -> Iterator[Source]:
    for name in header:
        if name not in COLUMNS:
            hint = did_you_mean(name, COLUMNS) or f"; expected {', '.join(COLUMNS)}"
            raise UsageError(f"{path}: no column {name!r}{hint}")
    if "location" not in header:
        raise UsageError(f"{path}: a table needs a column 'location'")
    for number, line in lines:
        cells = [cell.strip() for cell in _cells(line)]
        if len(cells) > len(header):
            raise UsageError(f"{path}:{number}: {len(cells)} cells under {len(header)} columns")
        yield _source(f"{path}:{number}", dict(zip(header, cells, strict=False)))


def _source(where: str, row: Mapping[str, str]) -> Source:
    if not row.get("location"):
        raise UsageError(f"{where}: no location")
    gpu = row.get("gpu", "").lower()
    known = load().gpus
    if gpu and gpu not in known:
        raise UsageError(f"{where}: gpu: no figures for {gpu!r}: the table has {', '.join(sorted(known))}")
    hours = _hours(where, row.get("gpu_hours", ""))
    if hours is not None and not gpu:
        raise UsageError(f"{where}: gpu_hours need a gpu")
    return Source(
        row.get("name", ""), row["location"], row.get("revision", ""), row.get("folder", "").strip("/"),
        gpu, hours,
    )  # fmt: skip


def _hours(where: str, text: str) -> float | None:
    if not text:
        return None
    try:
        hours = float(text)
    except ValueError:
        hours = -1.0
    if not 0 <= hours < math.inf:
        raise UsageError(f"{where}: gpu_hours: expected a number of hours, got {text!r}")
    return hours
