"""Begins to watch once torch_xla has been imported, and writes when the process ends."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

if TYPE_CHECKING:
    from .recorder import Recorder

FOLDER = "XLAMIG_WATCH_FOLDER"
_DEFAULTS = {"steps": 0, "as_cuda": False, "on_cpu": False, "training": False}


class Ending(Protocol):
    """Record how the process ended."""

    def failed(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None: ...
    def finish(self) -> None: ...


def begin(settings: dict[str, Any]) -> Recorder:
    """Called right after the program, or one that it started, has imported torch_xla.

    Settings that are missing ask for nothing special: a recorder without limits on XLA.
    """
    import torch

    from . import cpu, cuda, factories, hooks, randomness
    from .mode import Watch
    from .recorder import Recorder
    from .redirect import Redirect
    from .training import Training

    settings = {**_DEFAULTS, **settings}
    training = Training(settings) if settings["training"] else None
    recorder = Recorder(Path(os.environ[FOLDER]), settings["steps"], training)
    before_the_end(recorder)
    if training:
        randomness.seed()
    redirect = Redirect(
        torch.device("cpu") if settings["on_cpu"] else torch.device("xla", 0),
        recorder.redirect,
        recorder.leave,
    )
    # The mode that is entered last is asked first.
    modes: list[Callable[[], Any]] = []
    if settings["on_cpu"]:
        cpu.install()
        modes += [randomness.DrawInOrder, cpu.AsCpu]
    else:
        sites: dict[int, Any] = {}
        hooks.install(recorder, sites)
        factories.install()
        if training:
            randomness.draw_on_cpu()
        modes.append(lambda: Watch(recorder, sites))
    if settings["as_cuda"]:
        cuda.install(redirect)
        modes.append(lambda: cuda.AsCuda(redirect))
    if training and training.locate:
        modes.append(lambda: training.locate)
    in_every_thread(*modes)
    recorder.write()
    if not settings["on_cpu"] and not training:
        recorder.lines.start()
    return recorder


def in_every_thread(*modes: Callable[[], Any]) -> None:
    """Enters what these make, in this thread and in all that start."""
    entered = threading.local()  # torch itself holds no reference to them
    run = threading.Thread.run

    def enter() -> None:
        entered.modes = [make() for make in modes]
        for mode in entered.modes:
            mode.__enter__()

    def started(self: threading.Thread) -> None:
        enter()
        run(self)

    enter()
    threading.Thread.run = started  # type: ignore[method-assign]


def before_the_end(recorder: Ending) -> None:
    """However the process ends, short of being killed."""
    leave = os._exit

    def failed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        recorder.failed(kind, error, trace)
        sys.__excepthook__(kind, error, trace)  # that of sitecustomize has done its part

    def leaving(status: int) -> NoReturn:
        recorder.finish()
        leave(status)

    sys.excepthook = failed
    os._exit = leaving
    atexit.register(recorder.finish)
