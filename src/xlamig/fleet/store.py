"""The Parquet files of a scan: a file for each repository and table, partitioned by the scan's date.

    OUT/findings/scan_date=2026-11-22/nanoGPT-1f2e3d4c.parquet

A file is complete or not there. The row in `repositories` is written last, so that a repository is
either there with all it gave or missing, and is scanned again.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from xlamig.engine import UsageError
from xlamig.fleet.job import Job, Known
from xlamig.fleet.schema import SCHEMA_VERSION, TABLES, Row, Rows

_ARROW = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64(), "truth": pa.bool_()}
_DATE = re.compile(r"scan_date=(\d{4}-\d\d-\d\d)")
_FULL = (errno.ENOSPC, errno.EDQUOT)


def is_full(error: OSError) -> bool:
    return error.errno in _FULL


def partition(out: Path, table: str, date: str) -> Path:
    return out / table / f"scan_date={date}"


def dates(out: Path) -> list[str]:
    """The dates of the scans in a folder, oldest first."""
    found = (_DATE.fullmatch(entry.name) for entry in _list_scans(out / "repositories"))
    return sorted(match[1] for match in found if match)


def write(job: Job, rows: Rows) -> None:
    """All rows of one repository, in place of earlier ones of the same scan. Raises OSError."""
    name = job.source.name
    _own_file(job.out, "repositories", job.date, name).unlink(missing_ok=True)
    for table in sorted(TABLES, key=lambda table: table == "repositories"):
        path = _own_file(job.out, table, job.date, name)
        if rows.get(table):
            _write_table(job.out, path, table, rows[table])
        else:
            path.unlink(missing_ok=True)


def carry_over(job: Job, known: Known) -> None:
    """The rows of an earlier scan as those of this one, with what the list says today. Raises OSError."""
    source, name = job.source, job.source.name
    row = _only_row(_own_file(job.out, "repositories", known.date, name))
    listed = {"location": source.location, "wanted": source.revision}
    today = {**row, **listed, "gpu": source.gpu, "gpu_hours": source.gpu_hours}
    if known.date == job.date and today == row:
        return
    for table in TABLES:
        if table != "repositories" and known.date != job.date:
            old, new = (_own_file(job.out, table, date, name) for date in (known.date, job.date))
            new.unlink(missing_ok=True)
            if old.exists():
                _copy(old, new)
    _write_table(job.out, _own_file(job.out, "repositories", job.date, name), "repositories", [today])


def latest_results(out: Path, names: Sequence[str]) -> dict[str, Known]:
    """The latest good result of each repository. A file that cannot be read is as good as none."""
    found: dict[str, Known] = {}
    for date in reversed(dates(out)):
        for name in names:
            if name in found:
                continue
            try:
                row = _only_row(_own_file(out, "repositories", date, name))
            except OSError:
                continue
            if row["status"] == "ok" and row["schema_version"] == SCHEMA_VERSION:
                found[name] = Known(date, *(str(row[key]) for key in ("revision", "settings", "folder")))
    return found


@contextmanager
def open_store(out: Path) -> Iterator[None]:
    """The folder for one scan at a time; what a killed one left half written is removed.

    Raises:
        UsageError: another scan writes there.
    """
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"another scan is writing to {out}") from None
        shutil.rmtree(out / ".part", ignore_errors=True)
        yield
        shutil.rmtree(out / ".part", ignore_errors=True)


def _own_file(out: Path, table: str, date: str, name: str) -> Path:
    """The name's readable part is for people, its digest tells any two apart."""
    readable = re.sub(r"[^\w.-]+", "-", name)[:60].strip("-.")
    digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return partition(out, table, date) / f"{readable}-{digest}.parquet"


def _write_table(out: Path, path: Path, table: str, rows: Sequence[Row]) -> None:
    with _part(out, path) as part:
        parquet.write_table(_arrow(table, rows), part, compression="zstd")


def _copy(old: Path, new: Path) -> None:
    """A second name for the same file, which nobody changes; a copy where there are no links."""
    new.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(old, new)
    except OSError:
        shutil.copyfile(old, new)


@contextmanager
def _part(out: Path, path: Path) -> Iterator[Path]:
    """Where to write what is to be at `path` once it is complete."""
    part = out / ".part" / f"{path.parent.parent.name}-{path.name}-{os.getpid()}"
    part.parent.mkdir(parents=True, exist_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield part
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _arrow(table: str, rows: Sequence[Row]) -> pa.Table:
    columns = TABLES[table]
    schema = pa.schema(
        [pa.field(column.name, _ARROW[column.type]) for column in columns],
        metadata={"xlamig.schema_version": SCHEMA_VERSION},
    )
    values = {column.name: [_storable(row.get(column.name)) for row in rows] for column in columns}
    return pa.table(values, schema=schema)


def _storable(value: object) -> object:
    """Names of files may be no UTF-8, which is all that Parquet takes."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _only_row(path: Path) -> Mapping[str, str | int | float | bool | None]:
    """Raises OSError also for a damaged file."""
    try:
        rows: list[dict[str, str | int | float | bool | None]] = parquet.read_table(
            path, partitioning=None
        ).to_pylist()
        return rows[0]
    except (pa.ArrowException, IndexError) as error:
        raise OSError(errno.EIO, f"damaged: {error}", str(path)) from None


def _list_scans(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []
