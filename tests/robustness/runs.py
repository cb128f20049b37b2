"""Shared code of the tests of bad input."""

from __future__ import annotations

from collections.abc import Callable

from xlamig.findings import FileReport, Report

GOOD = b"import torch\ntorch.cuda.synchronize()\n"  # one finding, XLA005
Check = Callable[..., Report]


def report_of(report: Report, name: str) -> FileReport:
    return next(file for file in report.files if file.filename == name)
