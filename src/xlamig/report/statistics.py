"""How often each rule reports, most often first; as text or as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from xlamig.findings import Report
from xlamig.report.context import Context, is_fixable


def render(name: str, report: Report, context: Context) -> Iterator[str]:
    """`name` is the output format: "json", or anything else for text."""
    names = {finding.code: finding.name for finding in report.findings}
    counts = Counter(finding.code for finding in report.findings)
    fixable = Counter(
        finding.code for finding in report.findings if is_fixable(finding, context.unsafe_fixes)
    )
    codes = sorted(counts, key=lambda code: (-counts[code], code))
    if name == "json":
        rows = [
            {"code": code, "name": names[code], "count": counts[code], "fixable_count": fixable[code]}
            for code in codes
        ]
        yield json.dumps(rows, indent=2)
        return
    width = max((len(str(number)) for number in counts.values()), default=0)
    marked = any(fixable.values())
    for code in codes:
        mark = ("[*] " if fixable[code] else "    ") if marked else ""
        yield f"{counts[code]:>{width}}  {code}  {mark}{names[code]}"
