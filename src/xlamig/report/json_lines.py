"""One JSON object per finding and line, as in the `findings` of `--output-format json`."""

from __future__ import annotations

import json
from collections.abc import Iterator

from xlamig.findings import Report
from xlamig.report.context import Context
from xlamig.report.jsonformat import finding_document


def render(report: Report, context: Context) -> Iterator[str]:
    for finding in report.findings:
        yield json.dumps(finding_document(finding))
