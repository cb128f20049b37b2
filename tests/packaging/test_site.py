"""The promises of the website: its example, its tables and their filters."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from xlamig import engine
from xlamig.config.settings import Settings
from xlamig.engine import Options
from xlamig.rulebook import load

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import site_tables  # noqa: E402

CHROMIUM = shutil.which("chromium")
TABLE = """\
<div class="filtered" data-filters="fix"><table>
<thead><tr><th>rule</th><th>fix</th></tr></thead>
<tbody><tr><td>XLA001</td><td>safe</td></tr><tr><td>XLA101</td><td>-</td></tr></tbody>
</table></div><script src="tables.js"></script>
"""


def test_the_example_of_the_landing_page_is_what_fix_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs/index.md").read_text()
    before, after = re.findall(r'```python title="(?:before|after [^"]*)"\n(.*?)```', page, re.DOTALL)
    assert len(before.strip().splitlines()) == 12
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(before)
    options = Options({}, isolated=True, cache=False, jobs=1)
    (fixed,) = engine.fix([Path("train.py")], options, frozenset({"safe"}), write=False).files
    assert fixed.new == after


def columns(page: str) -> tuple[list[str], list[str], list[list[str]]]:
    """The filters of a page's table, its head and its rows."""
    filters = re.findall(r'data-filters="([^"]*)"', page)[0].split(",")
    lines = [line.strip("|").split(" | ") for line in page.splitlines() if line.startswith("|")]
    table = [[cell.strip() for cell in line] for line in lines]
    return filters, table[0], table[2:]


def test_every_rule_is_in_the_index_with_its_family_targets_and_fix() -> None:
    rules = load(Settings()).rules
    filters, head, rows = columns(site_tables.rule_index(sorted(rules, key=lambda rule: rule.code)))
    assert set(filters) <= set(head)
    assert [row[0][1:7] for row in rows] == sorted(rule.code for rule in rules)
    assert all(len(row) == len(head) for row in rows)
    assert {row[head.index("fix")] for row in rows} == {"safe", "unsafe", "display", "-"}
    assert not any("," in row[head.index("family")] for row in rows)


def test_every_operator_is_in_the_table_once() -> None:
    filters, head, rows = columns(site_tables.operator_index())
    names = [row[0].strip("`") for row in rows]
    assert len(set(names)) == len(names) > 900
    assert {"torch.median", "torch.linalg.det"} <= set(names)
    assert set(filters) <= set(head)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize(
    ("query", "count"), [("", "2 of 2"), ("?find=xla1", "1 of 2"), ("?find=none", "0 of 2")]
)
def test_a_table_can_be_searched(tmp_path: Path, query: str, count: str) -> None:
    shutil.copy(ROOT / "docs/assets/tables.js", tmp_path)
    (tmp_path / "page.html").write_text(TABLE)
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--dump-dom"]
    uri = (tmp_path / "page.html").as_uri() + query
    done = subprocess.run([*command, uri], capture_output=True, text=True, timeout=120)
    assert f"<output>{count}</output>" in done.stdout
    assert "fix: safe" in done.stdout
