"""Runs a program without executing its graphs, and reads what it left: the graphs of its steps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xlamig.fits import Argument, Capture, Graph, GraphKind
from xlamig.observations import Failure, Spot
from xlamig.observe.fitting.ends import End, FitError
from xlamig.observe.launch import Exit, Program, Watch, launch, require
from xlamig.observe.places import failure, spot

STEPS = 4  # the first makes the optimizer's state, the second repeats
_ENTRY = "xlamig.observe.inside.staging"
_ENVIRONMENT = {"PJRT_DEVICE": "CPU", "XLA_HLO_DEBUG": "1"}  # graphs name the lines of their operators


_NO_BOUNDARY = (
    "The program never ends a step: call `torch_xla.sync()` after `optimizer.step()`. "
    "For a CUDA program, use --as-cuda."
)
_CHANGING = (
    "The graph is different in each of the {steps} steps: XLA would compile every step. "
    "`xlamig trace` shows the line that changes it."
)
_FAILED = "The program ended in {type} before a step repeated: {message}{place}"
_KILLED = "The program was ended by {signal} before a step repeated{place}"
_FRAME = re.compile(r'^  File "([^"]+)", line (\d+)', re.MULTILINE)
_SHORT = "The program ended after {steps} step(s), before one repeated: let it run 3 steps or more."


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    steps: int = STEPS
    as_cuda: bool = False
    dtype: str = ""  # of an autocast around the whole program


def capture(program: Program, asked: Asked, folder: Path) -> Capture:
    """Leave the graphs in `folder` and return what they are.

    Raises:
        LaunchError: the program cannot be started.
        FitError: no step repeats.
    """
    require(program, "torch_xla")
    watch = Watch(
        entry=_ENTRY,
        after="torch_xla",
        settings={name: getattr(asked, name) for name in Asked.__dataclass_fields__},
        bring=(("torch", "torch_xla"),) if asked.as_cuda else (),
        environment=_ENVIRONMENT,
    )
    ended = launch(program, watch, folder)
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("*.graphs"))]
    record = max(records, key=lambda one: one["boundaries"], default=None)
    if record is None:
        raise _without_record(ended, folder)
    found = read(record, folder)
    if not any(graph.kind == "training step" for graph in found.graphs):
        raise _without_step(record, ended, found)
    return found


def read(record: dict[str, Any], folder: Path) -> Capture:
    """Return the record of a process."""
    sites = tuple(spot(place) for place in record["sites"])
    graphs = [_graph(raw, sites, folder) for raw in record["graphs"] if raw["file"]]
    return Capture(
        graphs=_worth_compiling(graphs),
        steps=record["steps"],
        distinct=sum(raw["trains"] for raw in record["graphs"]),
        torch_xla=record["torch_xla"],
        reads=tuple((sites[place], count) for place, count in record["reads"]),
        fallbacks=tuple((sites[place], name, count) for place, name, count in record["fallbacks"]),
        redirected=tuple(sorted(record["redirected"].items())),
        failure=failure(record["exception"]) if record["exception"] else None,
    )


def _worth_compiling(graphs: Sequence[Graph]) -> tuple[Graph, ...]:
    """The steady step, the second most frequent graph, and that of an evaluation. A graph that is given
    no parameters says little about memory, and comes last."""
    steady = [one for one in graphs if one.kind != "training step" or one.count > 1]
    steady.sort(key=lambda one: (one.kind != "training step", not one.bytes_of("parameter"), -one.count))
    evaluations = [one for one in steady if one.kind == "evaluation" and one.bytes_of("parameter")]
    others = [one for one in steady[1:] if one not in evaluations[:1]]
    return (*steady[:1], *others[:1], *(one for one in evaluations[:1] if one not in steady[:1]))


def _graph(raw: dict[str, Any], sites: tuple[Spot | None, ...], folder: Path) -> Graph:
    return Graph(
        kind=_kind(raw),
        spot=sites[raw["place"]],
        count=raw["count"],
        arguments=tuple(_arguments(raw["arguments"])),
        outputs=tuple(_arguments(raw["outputs"])),
        file=str(folder / raw["file"]),
        sites=sites,
    )


def _kind(raw: dict[str, Any]) -> GraphKind:
    if raw["trains"]:
        return "training step"
    if raw["evaluates"]:
        return "evaluation"
    return "graph that a read executes" if raw["cause"] == "read" else "graph without an update"


def _arguments(raws: Sequence[dict[str, Any]]) -> Iterator[Argument]:
    for raw in raws:
        yield Argument(
            raw["role"], raw["name"], tuple(raw["shape"]), raw["dtype"], raw["bytes"], raw.get("output")
        )


def _without_record(ended: Exit, folder: Path) -> FitError:
    """Nothing was written: torch_xla was never imported, or the process was killed."""
    early = [json.loads(path.read_text()) for path in folder.glob("*.failure")]
    if early:
        return _explain_failure(failure(early[0]))
    if ended.killed_by:
        return FitError(_KILLED.format(signal=ended.killed_by, place=_crash(folder)), End.ENDED_EARLY)
    return FitError(_NO_BOUNDARY, End.NO_BOUNDARY)


def _without_step(record: dict[str, Any], ended: Exit, found: Capture) -> FitError:
    if found.failure:
        return _explain_failure(found.failure)
    if not record["boundaries"] or not found.steps:
        return FitError(_NO_BOUNDARY, End.NO_BOUNDARY)
    if found.steps >= 3:
        return FitError(_CHANGING.format(steps=found.steps), End.CHANGING)
    return FitError(_SHORT.format(steps=found.steps), End.ENDED_EARLY)


def _explain_failure(failure: Failure | None) -> FitError:
    assert failure is not None
    at = failure.spot
    place = f" ({at.filename}:{at.row})" if at else ""
    message = (failure.message.strip().splitlines() or [""])[0]
    return FitError(_FAILED.format(type=failure.type, message=message, place=place), End.ENDED_EARLY)


def _crash(folder: Path) -> str:
    """The line at which the process died, from the stack that it left."""
    for path in folder.glob("*.crash"):
        rows = _FRAME.findall(path.read_text())
        users = [(name, row) for name, row in rows if "/lib/python" not in name and "/xlamig/" not in name]
        if users:
            return f" at {users[0][0]}:{users[0][1]}: fit cannot stand in for what is read there"
    return ""
