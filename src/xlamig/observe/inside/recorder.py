"""Collects what happened and where, and writes it down before anything can be lost."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
import torch_xla
from torch.utils._python_dispatch import _disable_current_modes

from . import counters, frames, steplog
from .frames import Site
from .lines import Lines
from .training import Training

EVERY = 1.0  # seconds between two writes, at a step boundary
_TAGS = {torch.Tag.data_dependent_output: "reads", torch.Tag.dynamic_output_shape: "sizes"}
_UPLOADS = {torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default, "_xla_tensors_from_aten"}


@dataclass(slots=True)
class Tally:
    """The count of one kind of event at one place."""

    count: int = 0
    compiles: int = 0
    executions: int = 0
    device_to_host: int = 0
    host_to_device: int = 0
    seconds: float = 0.0
    compile_seconds: float = 0.0
    example: str = ""  # of what differed
    steps: list[list[int]] = field(default_factory=list)  # [first, last] of runs of steps

    def seen_in(self, step: int) -> None:
        if self.steps and self.steps[-1][1] >= step - 1:
            self.steps[-1][1] = max(step, self.steps[-1][1])
        else:
            self.steps.append([step, step])


Key = tuple[str, str, Site | None, str]
"""(event, detail, place, where the backward pass was started or "")."""


class Recorder:
    """One per process. `limit` is the number of steps after which the program is stopped."""

    def __init__(self, folder: Path, limit: int = 0, training: Training | None = None) -> None:
        self.training = training
        self.trained: dict[str, Any] | None = None
        self.process = os.getpid()
        self.path = folder / f"{os.getpid()}-{time.time_ns()}.json"
        self.limit = limit
        self.tallies: dict[Key, Tally] = {}
        self.boundaries: list[tuple[int, int, counters.Totals]] = []  # (number of the place, depth, totals)
        self.places: dict[tuple[Site | None, Site | None], int] = {}
        self.log = steplog.Log()
        self.last = counters.Totals(*counters.read())
        self.compiled = counters.compile_seconds()
        self.fell_back = counters.fallbacks()
        self.exception: dict[str, Any] | None = None
        self.redirected: Counter[str] = Counter()
        self.left: Counter[str] = Counter()
        self.device = f"{os.environ.get('PJRT_DEVICE', 'XLA')} (torch_xla {torch_xla.__version__})"
        self.written = 0.0
        self.lines = Lines(lambda: len(self.boundaries))

    # ------------------------------------------------------------------ events

    def tally(self, event: str, detail: str, site: Site | None, through: str = "") -> Tally:
        tally = self.tallies.setdefault((event, detail, site, through), Tally())
        tally.count += 1
        tally.seen_in(len(self.boundaries))
        return tally

    def settle(self, what: Any, site: Site | None, started: float, through: str = "") -> None:
        """Attributes what changed since the last look to what has just run, an operator or a function."""
        uploads = what in _UPLOADS
        reading = counters.read(uploads)
        if reading[:3] == self.last[:3] and not uploads:
            return
        before = self.last
        now = self.last = counters.Totals(*(reading if uploads else counters.read()))
        if any(value < then for value, then in zip(now, before, strict=True)):
            return  # they were cleared, which torch.compile does with them
        operator = str(what)
        if now[:3] == before[:3]:
            if now != before:
                tally = self.tally("transfer", operator, site, through)
                tally.host_to_device += now.host_to_device - before.host_to_device
            return
        fallbacks = counters.fallbacks()
        new = [name for name, count in fallbacks.items() if count != self.fell_back.get(name, 0)]
        self.fell_back = fallbacks
        tags = " ".join([_tags(what), *(_tags(_operator(name)) for name in new)])
        tally = self.tally(operator, " ".join([tags, *new]), site, through)
        tally.compiles += now.compiles - before.compiles
        tally.executions += now.executions - before.executions
        tally.device_to_host += now.device_to_host - before.device_to_host
        tally.host_to_device += now.host_to_device - before.host_to_device
        tally.seconds += time.perf_counter() - started
        compiled = now.compiles != before.compiles
        differs = self.log.ran(site, compiled) if now.executions != before.executions else None
        if compiled:
            seconds = counters.compile_seconds()
            tally.compile_seconds += seconds - self.compiled
            if differs is not None:
                self._explain(differs, now.compiles - before.compiles, seconds - self.compiled)
            self.compiled = seconds

    def _explain(self, found: steplog.Difference, compiles: int, seconds: float) -> None:
        """Which line made the graph another one than those that the same line ran before."""
        within = " within" if found.within else ""
        tally = self.tally("recompile", f"{found.cause} {found.operator}{within}", found.site)
        tally.compiles += compiles
        tally.compile_seconds += seconds
        tally.example = tally.example or f"{found.before} -> {found.now}"

    def boundary(self, site: Site | None, depth: int, caller: Site | None = None) -> None:
        """A step ends here, for the call `caller` in a loop: the graph up to now was sent to the device.
        Where nothing was, as in front of what `torch_xla.step` and `torch_xla.compile` run, it goes on."""
        ended = self.boundaries[-1][2].executions if self.boundaries else 0
        if self.last.executions == ended:
            return
        self.log.end_step()
        number = self.places.setdefault((site, caller), len(self.places))
        self.boundaries.append((number, depth, self.last))
        if time.monotonic() - self.written > EVERY:
            self.write()
        limited = self.limit and not (self.training and self.training.losses)  # which ends by itself
        if limited and sum(place == number for place, _, _ in self.boundaries) >= self.limit:
            self.write()
            raise SystemExit(0)

    # ------------------------------------------------------------------ the end

    def failed(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self.exception = frames.failure(kind, error, trace)
        self.write()

    def redirect(self, name: str) -> None:
        self.redirected[name] += 1

    def leave(self, name: str) -> None:
        self.left[name] += 1

    def finish(self) -> None:
        """The last words of the process."""
        self.lines.stop()
        if self.training is not None and os.getpid() == self.process:
            with _disable_current_modes():
                self.trained = self.training.finish()
        self.write()

    def write(self) -> None:
        if os.getpid() != self.process:  # a fork of ours, which may not use the device anyway
            return
        self.written = time.monotonic()
        content = {
            "device": self.device,
            "totals": self.last._asdict(),
            "places": [frames.place(site) for site, _ in self.places],
            "boundaries": [[place, depth, *totals[:3]] for place, depth, totals in self.boundaries],
            "events": [
                {"event": event, "detail": detail, "place": frames.place(site), "through": through}
                | {name: getattr(tally, name) for name in Tally.__dataclass_fields__}
                for (event, detail, site, through), tally in list(self.tallies.items())
            ],
            "redirected": self.redirected,
            "left": self.left,
            "exception": self.exception,
            "training": self.trained,
            "lines": self.lines.by_file(),
        }
        temporary = self.path.with_suffix(".part")
        temporary.write_text(json.dumps(content))
        temporary.replace(self.path)


def _operator(name: str) -> Any:
    """Return the operator of "aten::scatter_reduce.two"; None if torch does not know it."""
    namespace, _, rest = name.partition("::")
    packet, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet, None), overload or "default", None)


def _tags(what: Any) -> str:
    return " ".join(word for tag, word in _TAGS.items() if tag in getattr(what, "tags", ()))
