"""Runs a program on torch_xla without executing a graph, and keeps the graphs it would execute."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def begin(settings: dict[str, Any]) -> None:
    """Called right after the program has imported torch_xla."""
    import torch

    from xlamig.observe.inside import cuda, start

    from .stage import Stage, install
    from .standins import StandIns

    stage = Stage(Path(os.environ[start.FOLDER]), settings["steps"])
    start.before_the_end(stage)
    modes: list[Callable[[], Any]] = [
        lambda: StandIns(stage.scope, stage.read, stage.fall_back, stage.forward)
    ]
    if settings["as_cuda"]:
        cuda.install(stage.redirect, stage.leave)
        modes.append(lambda: cuda.AsCuda(stage.redirect))
    if settings["dtype"]:
        modes.append(lambda: torch.autocast("xla", dtype=getattr(torch, settings["dtype"])))
    install(stage)
    start.in_every_thread(*modes)
