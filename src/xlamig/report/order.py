"""The order in which people read findings: what stops the port first, then what every step pays for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from xlamig.findings import SEVERITIES, FileReport, Finding, Frequency, Phase, Report

Sort = Literal["severity", "path"]
SORTS: tuple[Sort, ...] = get_args(Sort)
_PHASES: tuple[Phase, ...] = get_args(Phase)
_HOTTEST_FIRST: tuple[Frequency, ...] = ("step", "interval", "unknown", "epoch", "once")

Block = tuple[Finding, list[str]]
"""A finding and its lines in a format for people."""

Rank = tuple[int, int, int]


def rank(finding: Finding) -> Rank:
    """Return the sort key: severity, then phase, then how often the place runs."""
    return (
        SEVERITIES.index(finding.severity),
        _PHASES.index(finding.effort.phase),
        _HOTTEST_FIRST.index(finding.frequency),
    )


def in_order(report: Report, sort: Sort) -> list[Finding]:
    """Return the findings by rank, equal ones by path and place; with sort "path" by these alone."""
    return sorted(report.findings, key=rank) if sort == "severity" else list(report.findings)


def files(report: Report, sort: Sort) -> Iterator[FileReport]:
    """Yield the files that have findings; the one with the highest-ranking finding comes first."""
    found = [file for file in report.files if file.findings]
    if sort == "severity":
        found.sort(key=lambda file: min(map(rank, file.findings)))
    yield from found
