"""`--add-ignore`: a suppression comment for every finding that is there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xlamig.engine.new_only import narrow
from xlamig.engine.options import Options, UsageError
from xlamig.engine.run import Run
from xlamig.findings import ABOUT_THE_RUN
from xlamig.fix.write import WriteError, write_files
from xlamig.source.ignoring import with_ignores


@dataclass(frozen=True, slots=True)
class Ignored:
    """How many findings got a comment and in how many files; `left` could not get one."""

    findings: int
    files: int
    left: int


def add_ignores(paths: Sequence[Path], options: Options, reason: str) -> Ignored:
    """Raises UsageError as for `check`, or when a file cannot be written."""
    run = Run(paths, options)
    report = narrow(run.report(), paths, options)
    dependencies = {(f.code, f.dependency) for f in report.findings if f.dependency}
    written = findings = 0
    for file in report.files:
        source = run.sources.get(file.filename)
        found: dict[int, set[str]] = defaultdict(set)
        if source is None or not source.source.exact:
            continue
        text = source.source
        # A dependency is reported at one of its places; each has its own comment.
        folded = (f for f in run.reports[file.filename].findings if (f.code, f.dependency) in dependencies)
        for finding in (*file.findings, *folded):
            if not finding.code.startswith(ABOUT_THE_RUN):  # these are about comments, or about no line
                found[text.locate(finding.place.start).row].add(finding.code)
        new = with_ignores(text, found, reason)
        if new.text == text.text:
            continue
        try:
            write_files({source.file.path: new.encode()})
        except WriteError as error:
            raise UsageError(str(error)) from None
        written += 1
        findings += sum(not finding.code.startswith(ABOUT_THE_RUN) for finding in file.findings)
    after = narrow(Run(paths, options).report(), paths, options)
    left = sum(not finding.code.startswith(ABOUT_THE_RUN) for finding in after.findings)
    return Ignored(max(0, findings - left), written, left)
