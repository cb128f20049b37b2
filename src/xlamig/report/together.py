"""One job, one finding: what one edit or one decision repairs is reported once, with all its places."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from xlamig.findings import SEVERITIES, Finding, Level, Report

_LEVELS = get_args(Level)
_BUILD = "XLA601"  # the build of an extension, which says less than what is known about its source
_CONDITION = " (only if "  # in the message of what runs under a test that nothing makes true
_Groups = Mapping[Hashable, Sequence[Finding]]


def together(report: Report) -> Report:
    """Return the report with one finding for each job; the others of the job are in its `also`.

    Jobs that begin with the same statement, message and help are copies of one, as in two trainers that
    share a step.
    """
    jobs = _group_by(report.findings, lambda finding: finding.job)
    leaders = {id(_leader(found)): found for found in jobs.values()}
    copies = _group_by((f for f in report.findings if id(f) in leaders), _copy_key)
    others: dict[int, list[Finding]] = {}
    for found in copies.values():
        first = _leader(found)
        others[id(first)] = [one for leader in found for one in leaders[id(leader)] if one is not first]
    members = {id(finding) for found in jobs.values() for finding in found} - others.keys()

    def folded(finding: Finding) -> Finding:
        rest = others.get(id(finding))
        return replace(finding, also=tuple(replace(one, aside="job") for one in rest)) if rest else finding

    files = (
        replace(file, findings=tuple(folded(f) for f in file.findings if id(f) not in members))
        for file in report.files
    )
    return replace(report, files=tuple(files))


def _group_by(findings: Iterable[Finding], key: Callable[[Finding], Hashable]) -> _Groups:
    """Return the findings that have a job, by key."""
    groups: dict[Hashable, list[Finding]] = {}
    for finding in findings:
        if finding.job:
            groups.setdefault(key(finding), []).append(finding)
    return groups


def _copy_key(finding: Finding) -> Hashable:
    """Return what the copies of a finding have in common."""
    return finding.code, finding.message, finding.help, finding.statement or finding.job


def _leader(findings: Sequence[Finding]) -> Finding:
    """Return the most serious one: one that a trace confirms before others, a kernel or image before what
    belongs to it, what runs without a condition before the rest, and a kernel's source before its build."""
    return min(
        findings,
        key=lambda f: (
            SEVERITIES.index(f.severity),
            not f.observed.startswith("confirmed"),
            not f.code.startswith(("XLA6", "XLA910")),
            _CONDITION in f.message,
            f.code == _BUILD,
            -_LEVELS.index(f.effort.level),
        ),
    )
