"""Runs a program on the kernels of torch_tpu, without a TPU, and returns what they refuse, by line."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from xlamig.observations import Cost, Event, EventKind, Frequency, Trace
from xlamig.observe.launch import Exit, Program, Watch, launch
from xlamig.observe.places import failure, spot

STEPS = 2
_ENVIRONMENT = {
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
    "TPU_SKIP_MDS_QUERY": "1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "true",
    "TPU_STDERR_LOG_LEVEL": "3",
    "TPU_MIN_LOG_LEVEL": "3",
}


def dry_run(program: Program, steps: int, versions: str) -> tuple[Exit, Trace | None]:
    """No trace for a program that never imports torch. Raises LaunchError."""
    watch = Watch(
        entry="xlamig.observe.inside.torch_tpu",
        after="torch",
        settings={"steps": steps},
        environment=_ENVIRONMENT,
    )
    with tempfile.TemporaryDirectory(prefix="xlamig-") as name:
        ended = launch(program, watch, Path(name))
        records = [json.loads(path.read_text()) for path in Path(name).glob("*.dryrun")]
    record = max(records, key=lambda one: one["operators"], default=None)
    return ended, record and read(record, len(records), f"torch_tpu without a TPU ({versions})")


def read(record: dict[str, Any], processes: int, device: str) -> Trace:
    """Return the record of a process as a trace, which `check --trace` reads like any other."""
    return Trace(
        steps=record["steps"],
        boundary=None,
        steady=None,
        first=(),
        totals=Cost(0, 0, 0),
        events=tuple(_event(raw, record["steps"]) for raw in record["events"]),
        failure=failure(record["exception"]) if record["exception"] else None,
        processes=processes,
        device=device,
        redirected=tuple(sorted(record["redirected"].items())),
        lines={name: {int(row): n for row, n in rows.items()} for name, rows in record["lines"].items()},
    )


def _event(raw: dict[str, Any], steps: int) -> Event:
    kind: EventKind = "unsupported-operator" if raw["kind"] == "refused" else raw["kind"]
    often: Frequency = "once" if raw["count"] == 1 else "step" if raw["count"] >= steps else "interval"
    name = raw["operator"].partition("::")[2]
    return Event(
        kind=kind,
        via="item" if name == "_local_scalar_dense" else name,
        spot=spot(raw["place"]),
        frequency=often,
        count=raw["count"],
        compiles=0,
        executions=0,
        device_to_host=raw["count"] if kind == "host-read" else 0,
        host_to_device=0,
        seconds=0.0,
        compile_seconds=0.0,
        steps_seen=min(raw["count"], steps),
        operators=(raw["operator"],),
        detail=raw["message"],
    )
