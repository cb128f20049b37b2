"""From what the processes wrote down to a trace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xlamig.observations import Cost, Event, EventKind, Failure, Spot, Trace, Training
from xlamig.observe import via
from xlamig.observe.steps import Steps

_CAUSES: dict[str, tuple[EventKind, str]] = {
    "shape": ("changing-shape", "input"),
    "mask": ("changing-shape", "mask"),
    "constant": ("changing-constant", "argument"),
    "number": ("changing-constant", "number"),
    "path": ("changing-path", "branch"),
    "unknown": ("recompile", "unknown"),
}


def collect(folder: Path) -> Trace | None:
    """None when no process imported torch_xla, and none failed before."""
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    if not records:
        early = [json.loads(path.read_text()) for path in sorted(folder.glob("*.failure"))]
        return _without_steps(early[0]) if early else None
    record = max(records, key=lambda r: (len(r["boundaries"]), sum(r["totals"].values())))
    failures = [r["exception"] for r in records if r["exception"]]
    steps = Steps(record["boundaries"])
    totals = record["totals"]
    return Trace(
        steps=steps.count,
        boundary=None if steps.place is None else _spot(record["places"][steps.place]),
        steady=steps.steady,
        first=tuple(steps.costs[:3]),
        totals=Cost(totals["compiles"], totals["executions"], totals["device_to_host"]),
        events=tuple(sorted(_events(record, steps), key=lambda e: (-e.seconds, -e.count))),
        failure=_failure(failures[0]) if failures else None,
        processes=len(records),
        device=record["device"],
        redirected=tuple(sorted(record["redirected"].items())),
        left=tuple(sorted(record["left"].items())),
        lines={name: {int(row): n for row, n in rows.items()} for name, rows in record["lines"].items()},
        training=record["training"] and _training(record["training"]),
    )


def _without_steps(failure: dict[str, Any]) -> Trace:
    return Trace(
        steps=0,
        boundary=None,
        steady=None,
        first=(),
        totals=Cost(0, 0, 0),
        events=(),
        failure=_failure(failure),
        processes=1,
        device="no device, torch_xla was never imported",
    )


def _training(raw: dict[str, Any]) -> Training:
    losses = tuple(float(loss) for loss in raw["losses"])
    return Training(losses, raw["parameters"], raw["changed"], tuple(raw["devices"]))


def _spot(place: dict[str, Any] | None) -> Spot | None:
    if place is None:
        return None
    source = via.source_of(place["filename"])
    columns = [place["column"] + 1, place["end_column"] + 1]
    if source:
        columns = [
            source.column(place["row"], place["column"]),
            source.column(place["end_row"], place["end_column"]),
        ]
    return Spot(place["filename"], place["row"], columns[0], place["end_row"], columns[1], place["scope"])


def _failure(exception: dict[str, Any]) -> Failure:
    place = exception["place"]
    spot = place and Spot(place["filename"], place["row"], 1, place["row"], 1)
    return Failure(exception["type"], exception["message"], spot)


def _events(record: dict[str, Any], steps: Steps) -> Iterator[Event]:
    for raw in record["events"]:
        kind, how, operators = _meaning(raw)
        seen = steps.of(raw["steps"])
        yield Event(
            kind=kind,
            via=how,
            spot=_spot(raw["place"]),
            frequency=steps.frequency(seen),
            count=raw["count"],
            compiles=raw["compiles"],
            executions=raw["executions"],
            device_to_host=raw["device_to_host"],
            host_to_device=raw["host_to_device"],
            seconds=raw["seconds"],
            compile_seconds=raw["compile_seconds"],
            steps_seen=len(seen),
            through=raw["through"],
            operators=operators,
            detail=raw["example"],
        )


def _meaning(raw: dict[str, Any]) -> tuple[EventKind, str, tuple[str, ...]]:
    event, place = raw["event"], raw["place"]
    words = raw["detail"].split()
    operators = tuple(word for word in words if "::" in word and word != "aten::_local_scalar_dense")
    if event == "recompile":
        return *_CAUSES[words[0]], ()
    if event == "transfer":
        return "transfer", "to-device", ()
    if event == "_xla_step_marker":
        return "step-boundary", "sync", ()
    if "sizes" in words:
        mask = via.is_mask(place) if place else ""
        name = operators[0].partition("::")[2] if operators else event.split(".")[1]
        return "dynamic-shape", mask or name.strip("_"), operators
    if operators:
        return "operator", "fallback", operators
    if raw["device_to_host"]:
        return "host-read", "print" if event == "print" else via.via(place) if place else "call", ()
    return "execution", event, ()
