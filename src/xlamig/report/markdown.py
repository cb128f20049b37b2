"""Markdown for a pull request or a job summary: counts by rule, then the findings by file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from xlamig.findings import SEVERITIES, FileReport, Finding, Report
from xlamig.report.context import Context, is_fixable, one_line
from xlamig.report.summary import summary

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#])")
_CODE = re.compile(r"(`[^`]*`)")


def render(report: Report, context: Context) -> Iterator[str]:
    yield f"## xlamig: {report.target}"
    yield ""
    for line in summary(report, context.unsafe_fixes):
        yield f"- {prose(line)}"
    if not report.findings:
        return
    yield ""
    yield from _rules(report)
    for file in report.files:
        if file.findings:
            yield ""
            yield from _file(file, context)


def _rules(report: Report) -> Iterator[str]:
    rows = Counter((f.code, f.name, f.severity, f.url) for f in report.findings)
    yield "| rule | severity | findings |"
    yield "|---|---|---:|"
    for (code, name, severity, url), count in sorted(
        rows.items(), key=lambda row: (SEVERITIES.index(row[0][2]), -row[1], row[0][0])
    ):
        yield f"| [{code}]({url}) {name} | {severity} | {count} |"


def _file(file: FileReport, context: Context) -> Iterator[str]:
    yield f"### {prose(one_line(file.filename))}"
    yield ""
    yield "| line | rule | what | instead |"
    yield "|---|---|---|---|"
    for finding in file.findings:
        mark = " (fixable)" if is_fixable(finding, context.unsafe_fixes) else ""
        cells = (_line(finding), f"{finding.code}{mark}", _cell(finding.message), _cell(finding.help))
        yield f"| {' | '.join(cells)} |"


def _line(finding: Finding) -> str:
    row = str(finding.place.location.row)
    return row if finding.cell is None else f"cell {finding.cell}, {row}"


def _cell(text: str) -> str:
    return prose(one_line(text))


def prose(text: str) -> str:
    """Escapes what Markdown would read, but for code spans; a bar ends a table's cell even in these."""
    parts = _CODE.split(text)
    return "".join(
        part.replace("|", "\\|") if part.startswith("`") and len(part) > 1 else _SPECIAL.sub(r"\\\1", part)
        for part in parts
    )
