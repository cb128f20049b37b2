"""JSON of a plan; docs/schemas/plan.schema.json describes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from xlamig import __version__
from xlamig.effort.comparison import Economics
from xlamig.effort.fill import MXU_SIZES
from xlamig.effort.model import MODEL_VERSION
from xlamig.effort.plan import Hours, Item, Plan
from xlamig.findings import Report
from xlamig.report import plan_step
from xlamig.report.context import Context
from xlamig.report.counts import count

SCHEMA_VERSION = 1
_WHOLE = ("low_hours", "likely_hours", "high_hours")


def render(plan: Plan, report: Report, context: Context, explain: bool = False) -> Iterator[str]:
    yield json.dumps(document(plan, report), indent=2)


def document(plan: Plan, report: Report) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        "model_version": MODEL_VERSION,
        "calibrated": False,
        "target": plan.target,
        "verdict": plan.verdict,
        "verdict_reason": plan.verdict_reason,
        "coverage": asdict(plan.coverage),
        "program": asdict(plan.provenance) if plan.provenance else None,
        "total_effort": dict(zip(_WHOLE, (round(hours, 2) for hours in plan.whole), strict=True)),
        "effort": _hours(plan.hours),
        "fixed_effort": {
            "low_hours": plan.fixed_low,
            "high_hours": plan.fixed_high,
            "lines_to_change": plan.lines.fixed,
        },
        "lines": asdict(plan.lines),
        "hours_per_day": plan.hours_per_day,
        "phases": [
            {
                "name": phase.phase,
                "title": phase.title,
                "effort": _hours(phase.hours),
                "items": [_item(item) for item in phase.items],
            }
            for phase in plan.phases
        ],
        "families": [
            {
                "prefix": family.prefix,
                "title": family.title,
                "sites": family.sites,
                "effort": _hours(family.hours),
            }
            for family in plan.families
        ],
        "optional": [_item(item) for item in plan.optional],
        "stacks": [asdict(stack) for stack in plan.stacks],
        "on_xla": list(plan.on_xla),
        "sides": [
            {"name": side.name, "sites": side.sites, "weight": side.weight, "effort": _hours(side.hours)}
            for side in plan.sides
        ],
        "placement": [
            {
                "stage": stage.title,
                "key": stage.key,
                "device": stage.device,
                "reasons": list(stage.reasons),
                "pieces": [
                    {"filename": piece.filename, "scope": piece.scope, "row": piece.row}
                    for piece in stage.pieces
                ],
                "codes": list(stage.codes),
            }
            for stage in plan.stages
        ],
        "placement_notes": list(plan.crossings),
        "sizes": [asdict(fill) | {"mxu": list(MXU_SIZES)} for fill in plan.fills],
        "history": [
            {
                "revision": point.revision,
                "date": point.date,
                "subject": point.subject,
                "verdict": point.verdict,
                "effort": _hours(point.hours),
            }
            for point in plan.history
        ],
        "economics": economics(plan.economics) if plan.economics else None,
        "step_costs": plan_step.document(plan.step) if plan.step else None,
        "dominated_by": asdict(plan.dominant) if plan.dominant else None,
        "terms": [asdict(term) for term in plan.terms],
        "findings_summary": asdict(count(report)),
        "files_skipped": [asdict(skipped) for skipped in report.skipped],
        "rule_errors": [asdict(error) for error in report.rule_errors],
    }


def economics(found: Economics) -> dict[str, Any]:
    """Every amount is an estimate in `currency`."""
    return {
        "currency": found.currency,
        "question": asdict(found.question),
        "gpu": asdict(found.gpu),
        "now": asdict(found.now),
        "migration": asdict(found.migration) if found.migration else None,
        "options": [asdict(option) for option in found.options],
        "assumptions": list(found.assumptions),
        "sources": list(found.sources),
    }


def _item(item: Item) -> dict[str, Any]:
    return {
        "title": f"{item.code} {item.name}",
        "code": item.code,
        "files": len(item.filenames),
        "filenames": list(item.filenames),
        "findings": item.findings,
        "sites": item.sites,
        "effort": _hours(item.hours),
        "verify": item.verify,
        "verify_command": item.command,
        "verify_counter": item.counter,
        "needs": list(item.needs),
        "unblocks": list(item.unblocks),
    }


def _hours(hours: Hours) -> dict[str, float]:
    return {
        "low_hours": round(hours.low, 2),
        "likely_hours": round(hours.likely, 2),
        "high_hours": round(hours.high, 2),
        "lines_to_change": hours.lines_to_change,
        "lines_fast": hours.lines_fast,
        "after_fix_hours": round(hours.after_fix, 2),
        "after_unsafe_fix_hours": round(hours.after_unsafe_fix, 2),
    }
