"""Findings and reports for tests, with every field defaulted."""

from __future__ import annotations

from typing import Any

from xlamig.findings import Create, Edit, Effort, FileReport, Finding, Fix, Location, Range, Reason, Report


def a_range(row: int = 1, column: int = 1, length: int = 4, start: int | None = None) -> Range:
    first = (row - 1) * 100 + column - 1 if start is None else start
    return Range(first, first + length, Location(row, column), Location(row, column + length))


def span_of(text: str, part: str) -> Range:
    """Where `part` first stands in `text`."""
    start = text.index(part)
    return Range(start, start + len(part), _location(text, start), _location(text, start + len(part)))


def _location(text: str, offset: int) -> Location:
    before = text[:offset]
    return Location(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


def an_edit(filename: str = "train.py", place: Range | None = None, content: str = "new") -> Edit:
    return Edit(filename, None, place or a_range(), content)


def a_fix(applicability: Any = "safe", *edits: Edit, creates: tuple[Create, ...] = ()) -> Fix:
    return Fix("Replace it", applicability, edits or (an_edit(),), creates)


def a_finding(code: str = "XLA005", level: Any = "trivial", **values: Any) -> Finding:
    effort = Effort(
        level=level,
        unit=values.pop("unit", "site"),
        group=values.pop("group", ""),
        phase=values.pop("phase", "run"),
        optional=values.pop("optional", False),
    )
    row = values.pop("row", 1)
    defaults: dict[str, Any] = {
        "name": "cuda-synchronize",
        "severity": "error",
        "mechanism": "error",
        "frequency": "once",
        "confidence": "certain",
        "target": "torch_xla",
        "message": "`torch.cuda.synchronize()` raises on XLA",
        "filename": "train.py",
        "cell": None,
        "place": a_range(row),
        "fingerprint": f"{code}-{row}",
        "url": "https://example.org/rules/XLA005",
        "statement": f"statement {row}",
    }
    return Finding(code=code, effort=effort, **(defaults | values))


def a_reason(message: str = "called here", place: Range | None = None) -> Reason:
    return Reason(message, "train.py", place)


def a_report(*findings: Finding, target: str = "torch_xla", **values: Any) -> Report:
    by_name: dict[str, list[Finding]] = {}
    for finding in findings:
        by_name.setdefault(finding.filename, []).append(finding)
    files = tuple(FileReport(name, tuple(found), **values) for name, found in sorted(by_name.items()))
    return Report(target, files)
