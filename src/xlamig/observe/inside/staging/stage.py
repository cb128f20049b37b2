"""Stands between a program and torch_xla: a step ends, and nothing is executed."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch_xla
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils._python_dispatch import _disable_current_modes

from xlamig.observe.inside import frames
from xlamig.observe.inside.frames import Site

from . import fallbacks, tensors
from .graphs import MOST, Graphs

_C = torch_xla._XLAC
_SEED = 101  # of every step: what a step does to the seed is executed, and nothing is
UNENDED = 12  # updates without a boundary, after which a program is said to have none


class Stage:
    """One per process. After `limit` steps that train the program is stopped."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.process = os.getpid()
        self.path = folder / f"{os.getpid()}.graphs"
        self.limit = limit
        self.graphs = Graphs(folder)
        self.sites: dict[Site | None, int] = {}
        self.forward: dict[int, Site | None] = {}
        self.reads: Counter[int] = Counter()
        self.pending_reads: Counter[int] = Counter()  # since the last boundary
        self.fallbacks: Counter[tuple[int, str]] = Counter()
        self.redirected: Counter[str] = Counter()
        self.left: Counter[str] = Counter()
        self.exception: dict[str, Any] | None = None
        self.boundaries = self.steps = self.updates = 0

    def number(self, site: Site | None) -> int:
        return self.sites.setdefault(site, len(self.sites))

    def scope(self, site: Site | None, backward: bool) -> str:
        """A name that survives lowering and compilation, by which the line is found again."""
        return f"{'B' if backward else 'L'}{self.number(site)}"

    def updated(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.updates += 1
        if self.updates >= UNENDED:
            raise SystemExit(0)

    def boundary(self, site: Site | None) -> None:
        """Everything pending would be executed here."""
        alive = tensors.alive()
        outputs = tensors.pending([*alive, *tensors.bases(alive)])
        if outputs:
            self.boundaries += 1
            self.steps += bool(self.updates)
            last = self.steps == self.limit
            self.graphs.see("boundary", self.number(site), outputs, self.boundaries, self.updates > 0, last)
        self.updates = 0
        self.pending_reads.clear()
        self.graphs.held = tensors.forget_values(alive)
        _C._xla_set_rng_seed(_SEED, "")
        self.forward.clear()
        if self.steps >= self.limit:
            raise SystemExit(0)

    def read(self, site: Site | None, tensor: torch.Tensor) -> bool:
        """The graph of one tensor would be executed here, and the program would wait for it. Return
        whether everything that was computed counts as executed."""
        number = self.number(site)
        self.reads[number] += 1
        self.pending_reads[number] += 1
        with _disable_current_modes():
            if tensors.pending([tensor]):
                self.graphs.see("read", number, [tensor], self.boundaries, False, False)
            if self.graphs.may_repeat("read", number) or self.pending_reads[number] % MOST:
                return False
            return self._shorten()

    def _shorten(self) -> bool:
        """A loop that samples adds to what is pending for ever: without gradients, that is forgotten."""
        if torch.is_grad_enabled() or self.updates:
            return False
        self.graphs.held |= tensors.forget_values(tensors.without_gradient(tensors.alive()))
        return True

    def fall_back(self, site: Site | None, operator: str) -> None:
        self.fallbacks[self.number(site), operator] += 1

    def redirect(self, name: str) -> None:
        self.redirected[name] += 1

    def leave(self, name: str) -> None:
        self.left[name] += 1

    def failed(self, kind: type[BaseException], error: BaseException, trace: Any) -> None:
        self.exception = frames.failure(kind, error, trace)
        self.finish()

    def finish(self) -> None:
        if os.getpid() != self.process:
            return
        content = {
            "torch_xla": torch_xla.__version__,
            "sites": [frames.place(site) for site in self.sites],
            "graphs": [graph.content() for graph in self.graphs.found.values()],
            "boundaries": self.boundaries,
            "steps": self.steps,
            "unended": self.updates,
            "reads": sorted(self.reads.items()),
            "fallbacks": [[place, name, count] for (place, name), count in self.fallbacks.items()],
            "redirected": self.redirected,
            "not_redirected": self.left,
            "exception": self.exception,
        }
        self.path.write_text(json.dumps(content))


def install(stage: Stage) -> None:
    """Replaces the functions of torch_xla that execute."""
    _C._xla_step_marker = _without_modes(lambda *a, **k: stage.boundary(frames.innermost(sys._getframe(3))))
    _C._xla_sync_live_tensors = _C._xla_step_marker
    _C._xla_sync_multi = lambda *a, **k: None
    _C._xla_wait_device_ops = lambda *a, **k: None
    _C._xla_get_cpu_tensors = lambda given: [torch.zeros(one.shape, dtype=one.dtype) for one in given]
    fallbacks.install()
    register_optimizer_step_post_hook(stage.updated)


def _without_modes(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def plain(*args: Any, **kwargs: Any) -> Any:
        with _disable_current_modes():
            return function(*args, **kwargs)

    return plain
