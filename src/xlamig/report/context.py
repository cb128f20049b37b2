"""Options of a format besides the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from xlamig.findings import Finding
from xlamig.report.numbers import number
from xlamig.report.order import Sort

Ink = Literal["error", "warning", "info", "place", "gutter", "added", "removed", "strong"]


def _plain(ink: Ink, text: str) -> str:
    return text


def _no_text(filename: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Context:
    """`text_of` gives the decoded text that a file's offsets refer to, None when it is gone;
    `page_of` a rule's page. `project` is the folder that a service's paths start from, `sort` the order of
    the formats for people."""

    text_of: Callable[[str], str | None] = _no_text
    paint: Callable[[Ink, str], str] = _plain
    unsafe_fixes: bool = False
    page_of: Callable[[str], str | None] = _no_text
    project: Path | None = None
    sort: Sort = "severity"
    every: bool = False  # name each place of a job

    def in_project(self, filename: str) -> str:
        """The file's path from the project's folder; as it is where that is not known."""
        if self.project is None:
            return filename
        path = Path(filename).absolute()
        return path.relative_to(self.project).as_posix() if path.is_relative_to(self.project) else filename


def is_fixable(finding: Finding, unsafe_fixes: bool = False) -> bool:
    """Return whether `--fix` (with `--unsafe-fixes`) would write the finding's fix."""
    fix = finding.fix
    grades = ("safe", "unsafe") if unsafe_fixes else ("safe",)
    return fix is not None and fix.applicability in grades and bool(fix.edits or fix.creates)


def headline(finding: Finding, context: Context) -> str:
    """`XLA005 [*] message`, on one line whatever the message holds."""
    mark = " [*]" if is_fixable(finding, context.unsafe_fixes) else ""
    return context.paint(finding.severity, finding.code) + f"{mark} " + one_line(finding.message)


def with_severity(finding: Finding, context: Context) -> str:
    """Return `error XLA005 [*] message (2 more places)`."""
    more = f" ({number(len(finding.also), 'more place')})" if finding.also else ""
    return f"{context.paint(finding.severity, finding.severity)} {headline(finding, context)}{more}"


def where(finding: Finding) -> str:
    cell = f":cell {finding.cell}" if finding.cell is not None else ""
    at = finding.place.location
    return f"{one_line(finding.filename)}{cell}:{at.row}:{at.column}"


def in_cell(finding: Finding) -> str:
    """`cell 2, row 3: ` for a format whose places are rows of a file."""
    if finding.cell is None:
        return ""
    return f"cell {finding.cell}, row {finding.place.location.row}: "


def one_line(text: str) -> str:
    """Text that cannot break a line or steer a terminal."""
    return "".join(char if char.isprintable() else " " for char in text)
