"""A plan as a table for a spreadsheet: a row per work item, all hours estimates."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from xlamig.effort.model import FIXED_WORK
from xlamig.effort.plan import Plan
from xlamig.findings import Report
from xlamig.report.context import Context, one_line

COLUMNS = (
    "phase", "code", "title", "sites", "files", "findings", "low_hours_estimate", "likely_hours_estimate",
    "high_hours_estimate", "after_fix_hours_estimate", "lines_estimate", "needs", "unblocks", "verify",
    "command", "filenames",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def render(plan: Plan, report: Report, context: Context, explain: bool = False) -> Iterator[str]:
    yield _row(COLUMNS)
    groups = [(phase.phase, phase.items) for phase in plan.phases] + [("optional", plan.optional)]
    for phase, items in groups:
        for item in items:
            hours = item.hours
            figures = (hours.low, hours.likely, hours.high, hours.after_fix)
            yield _row(
                (
                    phase, item.code, item.name, item.sites, len(item.filenames), item.findings,
                    *(f"{figure:.2f}" for figure in figures), hours.lines_to_change + hours.lines_fast,
                    " ".join(item.needs), " ".join(item.unblocks), item.verify, item.command,
                    " ".join(item.filenames),
                )
            )  # fmt: skip
    if plan.fixed_high:
        low, high = plan.fixed_low, plan.fixed_high
        fixed = [f"{part:.2f}" for part in (low, (low + high) / 2, high, (low + high) / 2)]
        yield _row(("whole", "", FIXED_WORK, 0, 0, 0, *fixed, round(plan.lines.fixed), *[""] * 5))


def _row(cells: tuple[object, ...]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([_inert(str(cell)) for cell in cells])
    return line.getvalue()


def _inert(cell: str) -> str:
    """A spreadsheet would run a cell such as a file name that starts like a formula."""
    cell = one_line(cell)
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
