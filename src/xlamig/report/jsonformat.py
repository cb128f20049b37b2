"""JSON of a check; docs/schemas/check.schema.json describes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from xlamig import __version__
from xlamig.effort.model import MODEL_VERSION
from xlamig.findings import Edit, Finding, Fix, Location, Reason, Report
from xlamig.report.context import Context
from xlamig.report.counts import count

SCHEMA_VERSION = 1


def render(report: Report, context: Context) -> Iterator[str]:
    yield json.dumps(document(report), indent=2)


def document(report: Report) -> dict[str, Any]:
    findings = [finding_document(finding) for finding in report.findings]
    aside = [{"aside": f.aside, **finding_document(f)} for f in report.aside]
    return {
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        "model_version": MODEL_VERSION,
        "target": report.target,
        "summary": asdict(count(report)),
        "created_files": _taken_out([*findings, *aside]),
        "findings": findings,
        "set_aside": aside,
        "files_skipped": [asdict(skipped) for skipped in report.skipped],
        "files_partly_analysed": [
            {"filename": file.filename, "functions": list(file.unfollowed)} for file in report.partly
        ],
        "rule_errors": [asdict(error) for error in report.rule_errors],
    }


def finding_document(finding: Finding) -> dict[str, Any]:
    effort = finding.effort
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "mechanism": finding.mechanism,
        "frequency": finding.frequency,
        "confidence": finding.confidence,
        "target": finding.target,
        "message": finding.message,
        "help": finding.help,
        "reasons": [_reason(reason) for reason in finding.reasons],
        "filename": finding.filename,
        "cell": finding.cell,
        "location": _location(finding.place.location),
        "end_location": _location(finding.place.end_location),
        "url": finding.url,
        "fix": _fix(finding.fix) if finding.fix else None,
        "effort": asdict(effort),
        "scope": finding.scope,
        "fingerprint": finding.fingerprint,
        "observed": finding.observed or None,
        "also": [finding_document(other) for other in finding.also],
    }


def _taken_out(findings: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Take the contents of the files that fixes create, mostly one helper module, out of the documents of
    findings, where each would repeat it. Return them by name; a fix keeps a content that is another one."""
    contents: dict[str, str] = {}
    waiting = list(findings)
    for finding in waiting:
        waiting += finding["also"]
        for create in finding["fix"]["creates"] if finding["fix"] else ():
            if contents.setdefault(create["filename"], create["content"]) == create["content"]:
                del create["content"]
    return contents


def _reason(reason: Reason) -> dict[str, Any]:
    location = _location(reason.place.location) if reason.place else None
    return {"message": reason.message, "filename": reason.filename, "location": location}


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "message": fix.message,
        "applicability": fix.applicability,
        "edits": [_edit(edit) for edit in fix.edits],
        "creates": [asdict(create) for create in fix.creates],
        "held": fix.held or None,
    }


def _edit(edit: Edit) -> dict[str, Any]:
    return {
        "filename": edit.filename,
        "cell": edit.cell,
        "location": _location(edit.place.location),
        "end_location": _location(edit.place.end_location),
        "content": edit.content,
    }


def _location(location: Location) -> dict[str, int]:
    return {"row": location.row, "column": location.column}
