"""From what the processes wrote down to a trace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xlamig.knowledge.aten import is_client_only
from xlamig.observations import Cost, Event, EventKind, Trace
from xlamig.observe import via
from xlamig.observe.places import failure, spot
from xlamig.observe.steps import Steps
from xlamig.observe.trained import training

_CAUSES: dict[str, tuple[EventKind, str]] = {
    "shape": ("changing-shape", "input"),
    "mask": ("changing-shape", "mask"),
    "constant": ("changing-constant", "argument"),
    "number": ("changing-constant", "number"),
    "source": ("changing-path", "inputs"),
    "kept": ("recompile", "kept"),
    "path": ("changing-path", "branch"),
    "unknown": ("recompile", "unknown"),
}


def collect(folder: Path) -> Trace | None:
    """None when no process imported torch_xla, and none failed before."""
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    if not records:
        early = [json.loads(path.read_text()) for path in sorted(folder.glob("*.failure"))]
        return _without_steps(early[0]) if early else None
    record = max(records, key=_activity)
    failures = [r["exception"] for r in records if r["exception"]]
    steps = Steps(record["boundaries"])
    totals = record["totals"]
    return Trace(
        steps=steps.count,
        boundary=None if steps.place is None else spot(record["places"][steps.place]),
        steady=steps.steady,
        first=tuple(steps.costs[:3]),
        totals=Cost(totals["compiles"], totals["executions"], totals["device_to_host"]),
        events=tuple(sorted(_events(record, steps), key=_rank)),
        failure=failure(failures[0]) if failures else None,
        processes=len(records),
        device=record["device"],
        redirected=tuple(sorted(record["redirected"].items())),
        left=tuple(sorted(record["left"].items())),
        lines={name: {int(row): n for row, n in rows.items()} for name, rows in record["lines"].items()},
        training=record["training"] and training(record["training"]),
    )


def _rank(event: Event) -> tuple[float, int]:
    """The most expensive first, whether its seconds were waited or compiled."""
    return -(event.seconds or event.compile_seconds), -event.count


def _activity(record: dict[str, Any]) -> tuple[int, int, int]:
    losses = len(record["training"]["losses"]) if record["training"] else 0
    return len(record["boundaries"]), losses, sum(record["totals"].values())


def _without_steps(exception: dict[str, Any]) -> Trace:
    return Trace(
        steps=0,
        boundary=None,
        steady=None,
        first=(),
        totals=Cost(0, 0, 0),
        events=(),
        failure=failure(exception),
        processes=1,
        device="no device, torch_xla was never imported",
    )


def _events(record: dict[str, Any], steps: Steps) -> Iterator[Event]:
    for raw in record["events"]:
        kind, how, operators = _meaning(raw)
        seen = steps.of(raw["steps"])
        yield Event(
            kind=kind,
            via=how,
            spot=spot(raw["place"]),
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
            client_only=bool(operators) and all(map(is_client_only, operators)),
        )


def _cause(words: list[str], raw: dict[str, Any]) -> tuple[EventKind, str]:
    kind, how = _CAUSES[words[0]]
    if words[0] != "shape":
        return kind, how
    if words[-1] == "within":
        return kind, "save" if raw["place"] and via.is_save(raw["place"]) else "each"
    before, _, now = raw["example"].partition(" -> ")
    return kind, "batch" if _differ_in_rows(before, now) else how


def _differ_in_rows(before: str, now: str) -> bool:
    """Return whether all shapes differ in nothing but their first size, as those of a smaller batch do."""
    pairs = list(zip(before.split(", "), now.split(", "), strict=False))
    return all(a.partition("x")[2] == b.partition("x")[2] for a, b in pairs) and before != now


def _meaning(raw: dict[str, Any]) -> tuple[EventKind, str, tuple[str, ...]]:
    event, place = raw["event"], raw["place"]
    words = raw["detail"].split()
    operators = tuple(word for word in words if "::" in word and word != "aten::_local_scalar_dense")
    if event == "recompile":
        return *_cause(words, raw), ()
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
