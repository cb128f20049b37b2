"""SARIF 2.1.0, for code scanning services: results with their reasons and fixes, rules with their pages.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from xlamig import __version__
from xlamig.findings import Confidence, Edit, Finding, Fix, Range, Reason, Report, Severity
from xlamig.report.context import Context, in_cell, one_line

Level = Literal["error", "warning", "note"]

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
HOME = "https://xlamig.readthedocs.io/"
_LEVEL: Mapping[Severity, Level] = {"error": "error", "warning": "warning", "info": "note"}
_PRECISION: Mapping[Confidence, str] = {"certain": "very-high", "likely": "high", "possible": "medium"}
_START = {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1}


def render(report: Report, context: Context) -> Iterator[str]:
    yield json.dumps(document(report, context), indent=2)


def document(report: Report, context: Context) -> dict[str, Any]:
    first: dict[str, Finding] = {}
    for finding in report.findings:
        first.setdefault(finding.code, finding)
    codes = sorted(first)
    driver = {
        "name": "xlamig",
        "version": __version__,
        "informationUri": HOME,
        "rules": [_rule(first[code], context) for code in codes],
    }
    results = [_result(finding, codes.index(finding.code), context) for finding in report.findings]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report, context)],
        "results": results,
        "properties": {"target": report.target},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(finding: Finding, context: Context) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "id": finding.code,
        "name": finding.name,
        "shortDescription": {"text": finding.name.replace("-", " ")},
        "defaultConfiguration": {"level": _LEVEL[finding.severity]},
        "properties": {"tags": ["pytorch", "xla", finding.mechanism]},
    }
    if finding.url:
        rule["helpUri"] = finding.url
    page = context.page_of(finding.code)
    if page is not None:
        rule["help"] = {"text": page, "markdown": page}
    return rule


def _result(finding: Finding, index: int, context: Context) -> dict[str, Any]:
    message = f"{in_cell(finding)}{one_line(finding.message)}"
    if finding.help:
        message += f". Instead: {one_line(finding.help)}"
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVEL[finding.severity],
        "message": {"text": message},
        "locations": [_location(finding.filename, finding.place, finding.cell, context)],
        "partialFingerprints": {"xlamig/v1": finding.fingerprint},
        "properties": {
            "mechanism": finding.mechanism,
            "frequency": finding.frequency,
            "confidence": finding.confidence,
            "precision": _PRECISION[finding.confidence],
            "effort": finding.effort.level,
        },
    }
    places = (Reason(f"also here: {other.message}", other.filename, other.place) for other in finding.also)
    if related := [*finding.reasons, *places]:
        result["relatedLocations"] = [
            _because(number, reason, finding, context) for number, reason in enumerate(related)
        ]
    if finding.fix is not None and _is_writable(finding.fix):
        result["fixes"] = [_fix(finding.fix, context)]
    return result


def _because(number: int, reason: Reason, finding: Finding, context: Context) -> dict[str, Any]:
    """A reason about no place of its own is one about the file."""
    location = _location(reason.filename or finding.filename, reason.place, finding.cell, context)
    return {"id": number, **location, "message": {"text": one_line(reason.message)}}


def _location(filename: str, place: Range | None, cell: int | None, context: Context) -> dict[str, Any]:
    """Rows of a cell are no lines of the notebook's file: there the cell is named instead."""
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(filename, context)}}
    if place is not None and cell is None:
        physical["region"] = _region(place)
    location: dict[str, Any] = {"physicalLocation": physical}
    if cell is not None:
        location["logicalLocations"] = [{"name": f"cell {cell}", "kind": "module"}]
    return location


def _region(place: Range) -> dict[str, int]:
    start, end = place.location, place.end_location
    return {
        "startLine": start.row,
        "startColumn": start.column,
        "endLine": end.row,
        "endColumn": end.column,
    }


def _is_writable(fix: Fix) -> bool:
    """SARIF has no words for the cells of a notebook, and a fix is written as a whole or not at all."""
    return bool(fix.edits or fix.creates) and all(edit.cell is None for edit in fix.edits)


def _fix(fix: Fix, context: Context) -> dict[str, Any]:
    edits = sorted(fix.edits, key=lambda edit: (edit.filename, edit.place.start))
    changes = [
        _change(filename, [_replacement(edit) for edit in group], context)
        for filename, group in groupby(edits, key=lambda edit: edit.filename)
    ]
    for create in fix.creates:
        written = {"deletedRegion": _START, "insertedContent": {"text": create.content}}
        changes.append(_change(create.filename, [written], context))
    return {
        "description": {"text": one_line(fix.message)},
        "artifactChanges": changes,
        "properties": {"applicability": fix.applicability},
    }


def _change(filename: str, replacements: list[dict[str, Any]], context: Context) -> dict[str, Any]:
    return {"artifactLocation": {"uri": _uri(filename, context)}, "replacements": replacements}


def _replacement(edit: Edit) -> dict[str, Any]:
    return {"deletedRegion": _region(edit.place), "insertedContent": {"text": edit.content}}


def _invocation(report: Report, context: Context) -> dict[str, Any]:
    notes = [
        _notification("warning", skipped.filename, f"Skipped: {skipped.reason}", context)
        for skipped in report.skipped
    ] + [
        _notification("error", error.filename, f"Rule {error.code} failed: {error.message}", context)
        for error in report.rule_errors
    ]
    invocation: dict[str, Any] = {"executionSuccessful": not report.rule_errors}
    if notes:
        invocation["toolExecutionNotifications"] = notes
    return invocation


def _notification(level: Level, filename: str, text: str, context: Context) -> dict[str, Any]:
    return {
        "level": level,
        "message": {"text": one_line(text)},
        "locations": [_location(filename, None, None, context)],
    }


def _uri(filename: str, context: Context) -> str:
    path = context.in_project(filename)
    return Path(path).as_uri() if Path(path).is_absolute() else quote(os.fsencode(path))
