"""Show the changes of fixes: unified diffs and the list behind `--show-fixes`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from itertools import groupby

from xlamig.findings import Finding, Report
from xlamig.report.context import one_line
from xlamig.report.numbers import number

_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # str.splitlines also splits at form feeds


def diff(filename: str, old: str, new: str) -> str:
    """A unified diff that `patch` takes; empty when nothing changes."""
    before, after = _LINE.findall(old), _LINE.findall(new)
    lines = unified_diff(before, after, fromfile=filename if old else "/dev/null", tofile=filename)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def applied_fixes(files: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """The rules whose fixes were applied, by file."""
    total = sum(sum(codes.values()) for codes in files.values())
    if not total:
        return
    yield f"Fixed {number(total, 'problem')}:"
    for filename, codes in sorted(files.items()):
        if codes:
            yield f"- {one_line(filename)}:"
            yield from (f"    {count} x {code}" for code, count in sorted(codes.items()))


def remaining_findings(report: Report, fixed: Mapping[str, int], unsafe_fixes: bool) -> Iterator[str]:
    """Errors and warnings that are still there, by rule, and what each takes. `fixed` counts by rule."""
    found = [f for f in report.findings if f.severity != "info"]
    if not found:
        return
    yield f"Left {number(len(found), 'problem')}:"
    for code, of_rule in groupby(sorted(found, key=lambda f: f.code), key=lambda f: f.code):
        findings = list(of_rule)
        done = fixed.get(code, 0)
        share = f"{len(findings)} of {len(findings) + done}" if done else str(len(findings))
        whys = Counter(_what_it_takes(f, unsafe_fixes) for f in findings)
        if len(whys) == 1:
            yield f"- {share} x {code}: {next(iter(whys))}"
            continue
        yield f"- {share} x {code}:"
        yield from (f"    {count} x {why}" for why, count in whys.most_common())


def _what_it_takes(finding: Finding, unsafe_fixes: bool) -> str:
    fix = finding.fix
    if fix is not None and fix.edits and fix.applicability == "unsafe" and not unsafe_fixes:
        return "--unsafe-fixes would write it"
    if fix is not None and fix.edits and fix.applicability != "display":
        return "its fix was held back"
    told = fix.message if fix is not None and fix.message else finding.help
    held = f", {fix.held}" if fix is not None and fix.held else ""
    return one_line(f"by hand{held}: {told}") if told else f"by hand{held}"
