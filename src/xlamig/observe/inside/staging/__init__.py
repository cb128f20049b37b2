"""Runs a program on torch_xla without executing a graph, and keeps the graphs it would execute."""

from __future__ import annotations

import faulthandler
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any


def begin(settings: dict[str, Any]) -> None:
    """Called right after the program has imported torch_xla."""
    import torch

    from xlamig.observe.inside import cuda, start
    from xlamig.observe.inside.redirect import Redirect

    from .stage import Stage, install
    from .standins import StandIns

    folder = Path(os.environ[start.FOLDER])
    stage = Stage(folder, settings["steps"])
    start.before_the_end(stage)
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    # torch_xla frees a graph by recursion: 8 MiB are enough for about 130,000 operators in a row.
    resource.setrlimit(resource.RLIMIT_STACK, (most, most))
    faulthandler.enable((folder / f"{os.getpid()}.crash").open("w"))  # torch_xla dies of a read that we miss
    install(stage)  # before the steps of a CUDA program are ended: an update counts for its own step
    modes: list[Callable[[], Any]] = [
        lambda: StandIns(stage.scope, stage.read, stage.fall_back, stage.forward)
    ]
    if settings["as_cuda"]:
        redirect = Redirect(torch.device("xla", 0), stage.redirect, stage.leave)
        cuda.install(redirect)
        modes.append(lambda: cuda.AsCuda(redirect))
    if settings["dtype"]:
        dtype = getattr(torch, settings["dtype"])
        # It stays open: a cache would keep the weights of the first step.
        modes.append(lambda: torch.autocast("xla", dtype=dtype, cache_enabled=False))
    start.in_every_thread(*modes)
