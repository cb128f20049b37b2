"""Reports of what is new only: since a git revision, or beside a baseline of known findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from xlamig.engine.new_only.baseline import Baseline
from xlamig.engine.new_only.revision import Changes
from xlamig.engine.new_only.stale import stale_entries
from xlamig.engine.options import Options
from xlamig.findings import Finding, Report


def narrow(report: Report, paths: Sequence[Path], options: Options) -> Report:
    """The report without what is known or unchanged, as `options` ask; it counts what it hides.

    Raises:
        UsageError: no such revision, no git repository, or no readable baseline.
    """
    narrowed = report
    if options.baseline is not None:
        baseline = Baseline.read(options.baseline)
        known = baseline.known(report)
        narrowed = _keep(narrowed, lambda finding: id(finding) not in known.findings)
        stale = stale_entries(baseline, known, report, paths, options)
        narrowed = replace(narrowed, files=tuple(sorted((*narrowed.files, *stale), key=lambda f: f.filename)))
    if options.diff_base is not None:
        changes = Changes.since(options.diff_base, [finding.filename for finding in report.findings])
        narrowed = _keep(narrowed, changes.touch)
    return narrowed


def _keep(report: Report, is_new: Callable[[Finding], bool]) -> Report:
    files = tuple(
        replace(file, findings=tuple(filter(is_new, file.findings)), unsure=0) for file in report.files
    )
    kept = sum(len(file.findings) for file in files)
    return replace(report, files=files, hidden=report.hidden + len(report.findings) - kept)
