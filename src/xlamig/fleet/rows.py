"""Turn the result of one repository into rows of the tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from packaging.utils import canonicalize_name

from xlamig import __version__
from xlamig.artifacts.packages.requirement import pypi_name
from xlamig.config.settings import EffortSettings
from xlamig.effort.estimate import estimate
from xlamig.effort.model import MODEL_VERSION
from xlamig.effort.plan import Item, Plan
from xlamig.effort.sites import is_optional, is_work
from xlamig.engine.inventory import Inventory
from xlamig.findings import Finding, Report
from xlamig.fleet.job import Job
from xlamig.fleet.schema import SCHEMA_VERSION, Row, Rows

_QUOTED = re.compile(r"`([^`\n]+)`")
_NAME = re.compile(r"[\w-]+")
_DIGITS = 6  # of hours: sums of floats differ in the last place


@dataclass(frozen=True, slots=True)
class Scanned:
    """`missing` are files that the mirror does not hold."""

    inventory: Inventory
    effort: EffortSettings
    missing: int = 0


def all_rows(job: Job, revision: str, scanned: Scanned) -> Rows:
    report = scanned.inventory.report
    plan = estimate(report, scanned.effort)
    name = job.source.name
    return {
        "repositories": [_repository(job, revision, scanned, plan)],
        "findings": [_finding(name, finding) for finding in report.findings],
        "packages": [*_packages(name, scanned.inventory), *_blocking(name, report, scanned.effort, plan)],
        "kernels": list(_kernels(name, scanned.inventory)),
        "plans": list(_plan(name, plan)),
    }


def error_row(job: Job, revision: str, status: str, error: str) -> Row:
    """The one row of a repository that could not be scanned."""
    return {**_head(job, revision), "status": status, "error": error}


def _head(job: Job, revision: str) -> dict[str, str | float | None]:
    source = job.source
    return {
        "name": source.name,
        "location": source.location,
        "folder": source.folder,
        "wanted": source.revision,
        "revision": revision,
        "status": "ok",
        "error": "",
        "gpu": source.gpu,
        "gpu_hours": source.gpu_hours,
        "settings": job.settings,
        "tool_version": __version__,
        "model_version": MODEL_VERSION,
        "schema_version": SCHEMA_VERSION,
    }


def _repository(job: Job, revision: str, scanned: Scanned, plan: Plan) -> Row:
    report = scanned.inventory.report
    severities = [finding.severity for finding in report.findings]
    low, likely, high = plan.whole
    return {
        **_head(job, revision),
        "target": report.target,
        "verdict": plan.verdict,
        "verdict_reason": plan.verdict_reason,
        "files": plan.coverage.files,
        "files_skipped": len(report.skipped) + scanned.missing,
        "lines": plan.coverage.lines,
        "findings": len(severities),
        "errors": severities.count("error"),
        "warnings": severities.count("warning"),
        "lines_to_change": plan.lines.likely,
        "low_hours": round(low, _DIGITS),
        "likely_hours": round(likely, _DIGITS),
        "high_hours": round(high, _DIGITS),
        "after_fix_hours": round(likely - plan.hours.likely + plan.hours.after_fix, _DIGITS),
    }


def _finding(repository: str, finding: Finding) -> Row:
    quoted = _QUOTED.search(finding.message)
    return {
        "repository": repository,
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "mechanism": finding.mechanism,
        "frequency": finding.frequency,
        "confidence": finding.confidence,
        "level": finding.effort.level,
        "unit": finding.effort.unit,
        "phase": finding.effort.phase,
        "subject": quoted[1] if quoted else "",
        "message": finding.message,
        "filename": finding.filename,
        "cell": finding.cell,
        "row": finding.place.location.row,
        "column": finding.place.location.column,
        "scope": finding.scope,
        "fix": finding.fix.applicability if finding.fix else "",
        "fingerprint": finding.fingerprint,
    }


def _packages(repository: str, inventory: Inventory) -> Iterator[Row]:
    for package in inventory.packages:
        yield {
            "repository": repository,
            "package": package.name,
            "via": package.via,
            "version": package.version,
            "filename": package.filename,
            "files": package.files,
            "optional": package.optional,
            "code": "",
        }


def _blocking(repository: str, report: Report, effort: EffortSettings, plan: Plan) -> Iterator[Row]:
    """The packages that rules are about, each with the plan as it would be without these findings."""
    together: dict[str, list[Finding]] = {}
    for finding in report.findings:
        if finding.effort.unit == "dependency" and is_work(finding) and not is_optional(finding):
            together.setdefault(_package_in(finding), []).append(finding)
    for package, found in sorted(together.items()):
        rest = estimate(_without(report, found), effort)
        yield {
            "repository": repository,
            "package": package,
            "via": "rule",
            "version": "",
            "filename": min(finding.filename for finding in found),
            "files": len({finding.filename for finding in found}),
            "optional": False,
            "code": ",".join(sorted({finding.code for finding in found})),
            "hours_saved": round(plan.whole[1] - rest.whole[1], _DIGITS),
            "verdict_without": rest.verdict,
        }


def _package_in(finding: Finding) -> str:
    """Return the package's PyPI name, also for `flash_attn.flash_attn_func`, `torch==1.4`, `pytorch=1.2`."""
    quoted = _QUOTED.search(finding.message)
    name = _NAME.match(quoted[1] if quoted else finding.dependency)
    return pypi_name(canonicalize_name(name[0])) if name else ""


def _without(report: Report, findings: list[Finding]) -> Report:
    gone = {id(finding) for finding in findings}
    files = tuple(
        replace(file, findings=tuple(f for f in file.findings if id(f) not in gone)) for file in report.files
    )
    return replace(report, files=files)


def _kernels(repository: str, inventory: Inventory) -> Iterator[Row]:
    for kernel in inventory.kernels:
        yield {
            "repository": repository,
            "kernel": kernel.name,
            "kind": kernel.kind,
            "filename": kernel.filename,
            "row": kernel.row,
            "lines": kernel.lines,
            "operators": ",".join(kernel.operators),
            "features": ",".join(kernel.features),
        }


def _plan(repository: str, plan: Plan) -> Iterator[Row]:
    for phase in plan.phases:
        for item in phase.items:
            yield {"repository": repository, "phase": phase.phase, **_item(item)}
    if plan.fixed_high:
        likely = (plan.fixed_low + plan.fixed_high) / 2
        yield {
            "repository": repository,
            "phase": "fixed",
            "code": "",
            "name": "",
            "findings": 0,
            "sites": 0,
            "lines": round(plan.lines.fixed),
            "low_hours": plan.fixed_low,
            "likely_hours": likely,
            "high_hours": plan.fixed_high,
            "after_fix_hours": likely,
            "verify": "",
        }


def _item(item: Item) -> dict[str, str | float]:
    hours = item.hours
    return {
        "code": item.code,
        "name": item.name,
        "findings": item.findings,
        "sites": item.sites,
        "lines": hours.lines_to_change,
        "low_hours": round(hours.low, _DIGITS),
        "likely_hours": round(hours.likely, _DIGITS),
        "high_hours": round(hours.high, _DIGITS),
        "after_fix_hours": round(hours.after_fix, _DIGITS),
        "verify": item.verify,
    }
