"""A trace for programs. The schema is docs/schemas/trace.schema.json."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from xlamig.observations import Cost, Event, Spot, Trace
from xlamig.report.trace_words import relative

SCHEMA_VERSION = 1
_NOWHERE = {"filename": None, "location": None, "end_location": None}


def render(trace: Trace) -> str:
    failure = trace.failure
    content = {
        "schema_version": SCHEMA_VERSION,
        "steps": trace.steps,
        "device": trace.device,
        "processes": trace.processes,
        "boundary": _place(trace.boundary),
        "steady_state": _cost(trace.steady),
        "first_steps": [asdict(cost) for cost in trace.first],
        "totals": asdict(trace.totals),
        "events": [_event(event) for event in trace.events],
        "lines": {
            relative(name): {str(row): steps for row, steps in sorted(rows.items())}
            for name, rows in trace.lines.items()
        },
        "redirected": dict(trace.redirected),
        "not_redirected": dict(trace.left),
        "exception": failure
        and {"type": failure.type, "message": failure.message, "rule": failure.rule, "advice": failure.advice}
        | (_place(failure.spot) or _NOWHERE),
    }
    return json.dumps(content, indent=2)


def _cost(cost: Cost | None) -> dict[str, Any] | None:
    return asdict(cost) if cost else None


def _place(spot: Spot | None) -> dict[str, Any] | None:
    if spot is None:
        return None
    return {
        "filename": relative(spot.filename),
        "location": {"row": spot.row, "column": spot.column},
        "end_location": {"row": spot.end_row, "column": spot.end_column},
    }


def _event(event: Event) -> dict[str, Any]:
    return (
        {"kind": event.kind, "via": event.via}
        | (_place(event.spot) or _NOWHERE)
        | {
            "scope": event.spot.scope if event.spot else None,
            "frequency": event.frequency,
            "count": event.count,
            "steps_seen": event.steps_seen,
            "seconds": round(event.seconds, 4),
            "compile_seconds": round(event.compile_seconds, 4),
            "compiles": event.compiles,
            "executions": event.executions,
            "device_to_host": event.device_to_host,
            "host_to_device": event.host_to_device,
            "backward": event.through == "backward",
            "operators": list(event.operators),
            "client_only": event.client_only,
            "detail": event.detail,
            "rule": event.rule,
            "message": event.message,
        }
    )
