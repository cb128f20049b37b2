"""What a format may use besides the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from xlamig.findings import Finding

Ink = Literal["error", "warning", "info", "place", "gutter", "added", "removed", "strong"]


def _plain(ink: Ink, text: str) -> str:
    return text


def _no_text(filename: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Context:
    """`text_of` gives the decoded text that a file's offsets refer to, None when it is gone."""

    text_of: Callable[[str], str | None] = _no_text
    paint: Callable[[Ink, str], str] = _plain
    unsafe_fixes: bool = False


def is_fixable(finding: Finding, unsafe_fixes: bool = False) -> bool:
    """Whether `--fix` (with `--unsafe-fixes`) would write the finding's fix."""
    fix = finding.fix
    grades = ("safe", "unsafe") if unsafe_fixes else ("safe",)
    return fix is not None and fix.applicability in grades and bool(fix.edits or fix.creates)


def headline(finding: Finding, context: Context) -> str:
    """`XLA005 [*] message`, on one line whatever the message holds."""
    mark = " [*]" if is_fixable(finding, context.unsafe_fixes) else ""
    return context.paint(finding.severity, finding.code) + f"{mark} " + one_line(finding.message)


def where(finding: Finding) -> str:
    cell = f":cell {finding.cell}" if finding.cell is not None else ""
    at = finding.place.location
    return f"{one_line(finding.filename)}{cell}:{at.row}:{at.column}"


def one_line(text: str) -> str:
    """Text that cannot break a line or steer a terminal."""
    return "".join(char if char.isprintable() else " " for char in text)
