"""Read the remaining work from stored reports of other days."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from xlamig.config.settings import EffortSettings
from xlamig.effort.estimate import estimate
from xlamig.effort.model import MODEL_VERSION
from xlamig.effort.plan import Hours, Point
from xlamig.findings import Create, Effort, FileReport, Finding, Fix, Location, Range, Report

_DAY = re.compile(r"(?<!\d)(\d{4})-?(\d\d)-?(\d\d)(?!\d)")


def points(folder: Path, settings: EffortSettings) -> tuple[list[Point], list[str]]:
    """The plans and check reports in a folder, oldest first, and why files were left out.

    A report is a JSON file with a day in its name: `plan-2026-11-21.json`.
    """
    found: list[Point] = []
    left_out: list[str] = []
    for path in sorted(folder.glob("*.json")):
        day = _day(path.stem)
        try:
            document = json.loads(path.read_text("utf-8"))
            point = _point(document, path.name, settings) if day else None
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            point = None
        if not day:
            left_out.append(f"{path.name}: its name holds no date such as 2026-11-21")
        elif point is None:
            left_out.append(f"{path.name}: not a plan or check report of xlamig")
        else:
            found.append(Point(point.revision, day, point.subject, point.verdict, point.hours))
    return sorted(found, key=lambda point: point.date), left_out


def _day(name: str) -> str | None:
    for digits in _DAY.findall(name):
        try:
            return date(*map(int, digits)).isoformat()
        except ValueError:
            continue
    return None


def _point(document: Mapping[str, Any], name: str, settings: EffortSettings) -> Point:
    model = document["model_version"]
    subject = name if model == MODEL_VERSION else f"{name}, by model {model}"
    if "verdict" in document:
        effort = document["effort"]
        hours = Hours(
            low=float(effort["low_hours"]),
            likely=float(effort["likely_hours"]),
            high=float(effort["high_hours"]),
            lines_to_change=int(effort["lines_to_change"]),
            lines_fast=int(effort.get("lines_fast", 0)),
            after_fix=float(effort["after_fix_hours"]),
            after_unsafe_fix=float(effort["after_unsafe_fix_hours"]),
        )
        return Point("plan", "", subject, document["verdict"], hours)
    findings = tuple(map(_finding, document["findings"]))
    aside = tuple(map(_finding, document.get("set_aside", ())))
    names = dict.fromkeys(finding.filename for finding in (*findings, *aside))
    files = (
        FileReport(
            name,
            tuple(one for one in findings if one.filename == name),
            aside=tuple(one for one in aside if one.filename == name),
        )
        for name in names
    )
    plan = estimate(Report(document["target"], tuple(files)), settings)
    return Point("check", "", name, plan.verdict, plan.hours)


def _finding(told: Mapping[str, Any]) -> Finding:
    """As much of a finding as an estimate needs. Places are distinguished by row and column."""
    effort, fix = told["effort"], told["fix"]
    start, end = (Location(told[key]["row"], told[key]["column"]) for key in ("location", "end_location"))
    place = Range(start.row << 16 | start.column, end.row << 16 | end.column, start, end)
    writes = (Create("", ""),) if fix and (fix["edits"] or fix["creates"]) else ()
    return Finding(
        **{key: told[key] for key in _SAME},
        place=place,
        effort=Effort(
            effort["level"],
            effort["unit"],
            effort["group"],
            effort.get("phase", "run"),
            effort.get("optional", False),
        ),
        fix=Fix("", fix["applicability"], creates=writes) if fix else None,
        scope=told.get("scope", ""),
        statement=str(start.row),
        aside=told.get("aside"),
        also=tuple(replace(_finding(other), aside="job") for other in told.get("also", ())),
    )


_SAME = (
    "code", "name", "severity", "mechanism", "frequency", "confidence", "target", "message", "help",
    "filename", "cell", "url", "fingerprint",
)  # fmt: skip
