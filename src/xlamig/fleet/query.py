"""DuckDB on the folder of the results.

`repositories`, `findings`, `packages`, `kernels` and `plans` are those of one scan, the latest if none
is named; `history.repositories` and so on hold all scans, with their `scan_date`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb

from xlamig.engine import UsageError
from xlamig.fleet.schema import SCHEMA_VERSION, TABLES, Type
from xlamig.fleet.store import dates

_SQL: dict[Type, str] = {"text": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "truth": "BOOLEAN"}
_BATCH = 1000


class Fleet:
    """The scans in a folder. Rows come in batches, whatever their number."""

    def __init__(self, out: Path, date: str | None = None) -> None:
        """Raises UsageError where there is no scan, none of that date, or one of another schema."""
        self.out = out
        self.dates = dates(out)
        if not self.dates:
            raise UsageError(f"no scan in {out}: `xlamig fleet scan SOURCES -o {out}` makes one")
        if date is not None and date not in self.dates:
            raise UsageError(f"no scan of {date} in {out}: there are {', '.join(self.dates)}")
        self.date = date or self.dates[-1]
        self._connection = duckdb.connect()
        self._connection.execute("SET enable_progress_bar = false; CREATE SCHEMA history")
        for table in TABLES:
            self._define(table)
        self._reject_other_schema()

    def before(self) -> str | None:
        """The date of the scan before this one."""
        earlier = self.dates[: self.dates.index(self.date)]
        return earlier[-1] if earlier else None

    def rows(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Raises UsageError for a query that DuckDB refuses."""
        cursor = self._run(query, values)
        while batch := cursor.fetchmany(_BATCH):
            yield from batch

    def table(self, query: str) -> tuple[Sequence[str], Iterator[tuple[Any, ...]]]:
        """The names of the columns, and the rows. Raises UsageError as `rows`."""
        cursor = self._run(query, ())
        names = [column[0] for column in cursor.description or ()]
        return names, iter(lambda: cursor.fetchone(), None)

    def records(self, query: str, *values: object) -> list[dict[str, Any]]:
        """The rows by the names of their columns, for answers that are small."""
        cursor = self._run(query, values)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def _run(self, query: str, values: Sequence[object]) -> Any:
        try:
            return self._connection.execute(query, values or None)
        except duckdb.Error as error:
            raise UsageError(str(error)) from None

    def _define(self, table: str) -> None:
        """Rows of a repository whose row is missing are those of a scan that was killed meanwhile."""
        files = sorted((self.out / table).glob("scan_date=*/*.parquet"))
        if files:
            pattern = f"{self.out}/{table}/scan_date=*/*.parquet".replace("'", "''")
            source = f"read_parquet('{pattern}', hive_partitioning = true, hive_types = {{scan_date: DATE}})"
        else:
            columns = ", ".join(f'NULL::{_SQL[column.type]} AS "{column.name}"' for column in TABLES[table])
            source = f"(SELECT {columns}, NULL::DATE AS scan_date WHERE false)"
        whole = "" if table == "repositories" else (
            " WHERE (repository, scan_date) IN (SELECT name, scan_date FROM history.repositories)"
        )  # fmt: skip
        self._connection.execute(f"CREATE VIEW history.{table} AS SELECT * FROM {source}{whole}")
        self._connection.execute(
            f"CREATE VIEW {table} AS SELECT * EXCLUDE scan_date FROM history.{table} "
            f"WHERE scan_date = DATE '{self.date}'"
        )

    def _reject_other_schema(self) -> None:
        """A newer minor version only has more columns."""
        known = SCHEMA_VERSION.partition(".")[0]
        for (version,) in self.rows("SELECT DISTINCT schema_version FROM history.repositories"):
            if version.partition(".")[0] != known:
                raise UsageError(
                    f"{self.out}: the results have schema {version}, and this xlamig reads {known}.x"
                )
