"""Record a program's training: losses, gradients, and every tensor that training leaves behind.

Keeps tensors where they are and reads them when the program has ended, so that no step pays for it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from zlib import crc32

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils._python_dispatch import _disable_current_modes

from . import hyperparameters, snapshot, variables
from .fingerprint import fingerprint, read
from .frames import Site, innermost, place
from .locate import Locate
from .modules import Modules

MOST_LOSSES = 400
GRADIENTS = 3  # steps of each optimizer whose gradients are kept
LONGER = 3  # times as many steps as asked for, until the loss has moved


class Training:
    """`losses` are what `backward` was called on, in order. The program ends before the first backward
    pass after `steps` optimizer steps; with `until_moved` a little later if its loss has not moved."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.steps = settings["steps"]
        self.until_moved = settings["until_moved"]
        self.perturbed = settings["perturb"]
        self.modules = Modules()
        self.losses: list[torch.Tensor] = []
        self.draws: list[int] = []
        self.optimizers: list[dict[str, Any]] = []
        self.by_optimizer: dict[int, dict[str, Any]] = {}
        self.kept: dict[str, torch.Tensor] = {}
        self.started: dict[str, torch.Tensor] = {}
        self.after_one: dict[str, torch.Tensor] = {}
        self.before: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self.saved: list[dict[str, Any]] = []
        self.low_precision = False
        self.locate = Locate(settings["locate"]) if settings["locate"] else None
        self.result: dict[str, Any] | None = None
        self._watch_losses()
        self._watch_optimizers()
        self._watch_saves()
        self._watch_precision()

    def _watch_losses(self) -> None:
        backward = torch.autograd.backward

        @functools.wraps(backward)
        def watched(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            with _disable_current_modes():
                self.kept = variables.kept_tensors(sys._getframe(1))
                if not self.after_one and any(one["steps"] for one in self.optimizers):
                    self.after_one = self._fingerprints()
            if self._is_over():
                self.finish()
                raise SystemExit(0)
            if isinstance(tensors, torch.Tensor) and tensors.numel() == 1 and len(self.losses) < MOST_LOSSES:
                self.losses.append(tensors.detach())
                self.draws.append(crc32(torch.get_rng_state().numpy().tobytes()))
            return backward(tensors, *args, **kwargs)

        torch.autograd.backward = watched

    def _is_over(self) -> bool:
        done = max((one["steps"] for one in self.optimizers), default=0)
        if not self.steps or done < self.steps:
            return False
        return not self.until_moved or done >= LONGER * self.steps or has_moved(self.losses)

    def _watch_optimizers(self) -> None:
        init = torch.optim.Optimizer.__init__

        @functools.wraps(init)
        def made(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            init(optimizer, *args, **kwargs)
            self.by_optimizer[id(optimizer)] = self._entry(optimizer, innermost(sys._getframe(1)))
            self.optimizers.append(self.by_optimizer[id(optimizer)])

        torch.optim.Optimizer.__init__ = made
        register_optimizer_step_pre_hook(self._about_to_step)

    def _entry(self, optimizer: Any, site: Site | None) -> dict[str, Any]:
        return {
            "optimizer": optimizer, "type": type(optimizer).__name__, "site": site, "steps": 0,
            "names": self._names(), "gradients": [], "hyperparameters": [],
        }  # fmt: skip

    def _names(self) -> dict[int, str]:
        return {id(tensor): name for name, tensor, _ in self.modules.tensors()}

    def _about_to_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        with _disable_current_modes(), torch.no_grad():
            self._note_step(optimizer)
        if self.locate:
            self.locate.step()

    def _note_step(self, optimizer: Any) -> None:
        entry = self.by_optimizer.setdefault(id(optimizer), self._entry(optimizer, None))
        if not self.started:
            self.started = self._fingerprints()
        parameters = snapshot.parameters_of(optimizer)
        for parameter in parameters:
            if id(parameter) not in self.before and parameter.requires_grad:
                self.before[id(parameter)] = (parameter, parameter.detach().clone())
        if self.perturbed:
            snapshot.perturb(parameters, coarse=self.low_precision)
        if any(id(p) not in entry["names"] for p in parameters):  # a move has replaced them
            entry["names"] |= self._names()
        if entry["steps"] < GRADIENTS:
            entry["gradients"].append({
                entry["names"].get(id(p), f"parameter {i}"): fingerprint(p.grad)
                for i, p in enumerate(parameters) if p.grad is not None
            })  # fmt: skip
        entry["steps"] += 1
        numbers = hyperparameters.of_groups(optimizer)
        if not entry["hyperparameters"] or entry["hyperparameters"][-1][1] != numbers:
            entry["hyperparameters"].append((entry["steps"], numbers))

    def _fingerprints(self) -> dict[str, torch.Tensor]:
        """Return those of every tensor that training may change, by name."""
        kept = {f"variable {path}": fingerprint(tensor) for path, tensor in self.kept.items()}
        return kept | {name: fingerprint(tensor) for name, tensor, _ in self.modules.tensors()}

    def _watch_saves(self) -> None:
        save: Callable[..., Any] = torch.save

        @functools.wraps(save)
        def saved(thing: Any, *args: Any, **kwargs: Any) -> Any:
            site = innermost(sys._getframe(1))
            self.saved.append({"site": site, "on_xla": snapshot.holds_xla(thing)})
            return save(thing, *args, **kwargs)

        torch.save = saved

    def _watch_precision(self) -> None:
        autocast: Any = torch.amp.autocast_mode.autocast
        enter = autocast.__enter__

        @functools.wraps(enter)
        def entered(context: Any) -> Any:
            self.low_precision |= context._enabled and context.fast_dtype.itemsize < 4
            return enter(context)

        autocast.__enter__ = entered

    def finish(self) -> dict[str, Any]:
        """Read everything; for when the program has ended, or is about to."""
        if self.result is None:
            with _disable_current_modes():
                self.result = self._summary()
        return self.result

    def _summary(self) -> dict[str, Any]:
        named = list(self.modules.tensors())
        entries = [one for one in self.optimizers if one["steps"]]
        changes = {id(now): fingerprint(now.detach() - then) for now, then in self.before.values()}
        held = {id(p) for one in entries for p in snapshot.parameters_of(one["optimizer"])}
        return read({
            "losses": [fingerprint(loss) for loss in self.losses],
            "draws": self.draws,
            "parameters": [
                snapshot.parameter(name, tensor, changes.get(id(tensor)), id(tensor) in held)
                for name, tensor, is_parameter in named if is_parameter
            ],
            "strangers": [
                snapshot.parameter(one["names"].get(id(p), ""), p, changes.get(id(p)), True)
                for one in entries
                for p in snapshot.parameters_of(one["optimizer"])
                if id(p) not in {id(tensor) for _, tensor, _ in named}
            ],
            "optimizers": [
                {"type": one["type"], "place": place(one["site"]), "steps": one["steps"],
                 "gradients": one["gradients"], "hyperparameters": one["hyperparameters"]}
                for one in entries
            ],
            "ties": snapshot.ties(named),
            "started": self.started,
            "after_one": self.after_one,
            "state": self._fingerprints(),
            "outputs": snapshot.evaluation_outputs(self.modules),
            "saved": [{"place": place(one["site"]), "on_xla": one["on_xla"]} for one in self.saved],
            "unsaved": snapshot.round_trip(self.modules),
            "operations": self.locate.located_tensors() if self.locate else [],
        })  # fmt: skip


def has_moved(losses: list[torch.Tensor]) -> bool:
    """Return whether the loss has fallen by more than it varies from one step to the next."""
    values = [one[0] for one in read([fingerprint(loss) for loss in losses]) if one[0] is not None]
    if len(values) < 8:
        return False
    quarter = len(values) // 4
    jumps = sorted(abs(b - a) for a, b in pairwise(values))
    fall = sum(values[:quarter]) / quarter - sum(values[-quarter:]) / quarter
    return fall > jumps[len(jumps) // 2] > 0
