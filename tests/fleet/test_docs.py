"""docs/fleet.md: its queries run, and its tables are those that are written."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from xlamig.fleet.query import Fleet
from xlamig.fleet.schema import SCHEMA_VERSION, TABLES

PAGE = (Path(__file__).parents[2] / "docs" / "fleet.md").read_text(encoding="utf-8")
_BLOCKS = re.findall(r"^ *```sql\n(.*?)^ *```$", PAGE, re.MULTILINE | re.DOTALL)
QUERIES = [textwrap.dedent(block) for block in _BLOCKS]


def test_there_are_ten_queries() -> None:
    assert len(QUERIES) == 10


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_has_an_answer(scanned: Path, query: str) -> None:
    assert list(Fleet(scanned).rows(query))


def test_the_schema_is_documented() -> None:
    rows = []
    for table, columns in TABLES.items():
        rows += [f"**`{table}`**", "", "| column | type | meaning |", "| --- | --- | --- |"]
        rows += [f"| `{column.name}` | {column.type} | {column.meaning} |" for column in columns] + [""]
    shown = PAGE.partition("<!-- schema -->\n")[2].partition("\n<!-- end of schema -->")[0]
    assert shown.strip() == "\n".join(rows).strip()
    assert f"`repositories`: {SCHEMA_VERSION}." in PAGE
