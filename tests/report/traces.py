"""Traces that every form has to show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from xlamig.observations import Cost, Event, EventKind, Failure, Spot, Trace

TEXT = """\
import torch_xla

device = torch_xla.device()
for batch in loader:
    batch = batch.to(device)
    loss = model(batch)  # \u6570
    loss.backward()
    total += loss.item()
    kept = batch[batch > 0]; print("</script>", 'a & b')
    torch_xla.sync()
"""


def text_of(filename: str) -> str | None:
    return TEXT if filename == "train.py" else None


def spot(part: str, text: str = TEXT, filename: str = "train.py") -> Spot:
    """Where `part` stands, which is on one line."""
    row, line = next((n, line) for n, line in enumerate(text.split("\n"), 1) if part in line)
    column = line.index(part) + 1
    return Spot(filename, row, column, row, column + len(part), "<module>")


def event(kind: EventKind = "host-read", via: str = "item", where: Spot | None = None, **more: Any) -> Event:
    plain = Event(kind, via, where, "step", 8, 0, 8, 8, 0, 0.25, 0.0, 8)
    return replace(plain, **more)


EVENTS = (
    event("step-boundary", "sync", spot("torch_xla.sync()"), device_to_host=0, seconds=2.0),
    event("host-read", "item", spot("loss.item()"), rule="XLA101", message="keep `total` on the device"),
    event(
        "dynamic-shape", "mask-read", spot("batch[batch > 0]"), operators=("aten::nonzero",), seconds=0.02,
        frequency="interval", steps_seen=3, rule="XLA202", message="`torch.where` keeps the shape",
    ),
    event(
        "changing-shape", "input", spot("batch.to(device)"), frequency="once", steps_seen=1, count=1,
        compiles=1, executions=0, device_to_host=0, seconds=0.0, compile_seconds=1.5,
        detail="8x4 -> 2x4", rule="XLA904",
    ),
    event("operator", "fallback", None, operators=("aten::median",), through="backward", seconds=0.0),
    event("transfer", "to-device", spot("batch.to(device)"), executions=0, device_to_host=0,
          host_to_device=8, seconds=0.0),
)  # fmt: skip
TRACE = Trace(
    steps=8,
    boundary=spot("torch_xla.sync()"),
    steady=Cost(0, 2.5, 1),
    first=(Cost(2, 3, 1), Cost(1, 3, 1), Cost(0, 3, 1)),
    totals=Cost(3, 24, 8),
    events=EVENTS,
    failure=None,
    processes=1,
    device="CPU (torch_xla 2.9.0)",
)
EMPTY = Trace(0, None, None, (), Cost(0, 0, 0), (), None, 1, "CPU (torch_xla 2.9.0)")
HEALTHY = replace(TRACE, steady=Cost(0, 1, 0), events=EVENTS[:1])
FAILURE = Failure(
    "RuntimeError", "no device\nat all", spot("loss.backward()"), "XLA001", "choose `device` once"
)
FAILED = replace(
    TRACE, failure=FAILURE, processes=2, redirected=(("Tensor.cuda", 3), ("device arguments", 1))
)
