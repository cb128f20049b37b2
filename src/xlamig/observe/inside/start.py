"""Begins to watch once torch_xla has been imported, and writes when the process ends."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from .recorder import Recorder

FOLDER = "XLAMIG_TRACE_FOLDER"


def begin(settings: dict[str, Any]) -> Recorder:
    """Called right after the program, or one that it started, has imported torch_xla."""
    from . import cuda, hooks
    from .mode import Watch
    from .recorder import Recorder
    from .training import Training

    on_cpu = settings.get("on_cpu")
    training = Training(settings["steps"] if on_cpu else 0) if settings.get("training") else None
    recorder = Recorder(Path(os.environ[FOLDER]), settings.get("steps", 0), training)
    _before_the_end(recorder)
    if on_cpu:
        _on_cpu()
        return recorder
    sites: dict[int, Any] = {}
    modes = threading.local()  # torch itself holds no reference to them

    def watch() -> None:
        modes.watch = Watch(recorder, sites)
        modes.watch.__enter__()
        if settings.get("as_cuda"):
            modes.as_cuda = cuda.AsCuda(recorder.redirect)
            modes.as_cuda.__enter__()

    hooks.install(recorder, sites)
    if settings.get("as_cuda"):
        cuda.install(recorder.redirect, recorder.leave, settings.get("sync", True))
    watch()
    recorder.write()
    _in_every_thread(watch)
    recorder.lines.start()
    return recorder


def _on_cpu() -> None:
    from . import cpu

    cpu.install()
    modes = threading.local()

    def map_devices() -> None:
        modes.cpu = cpu.AsCpu()
        modes.cpu.__enter__()

    map_devices()
    _in_every_thread(map_devices)


def _in_every_thread(action: Callable[[], None]) -> None:
    run = threading.Thread.run

    def started(self: threading.Thread) -> None:
        action()
        run(self)

    threading.Thread.run = started  # type: ignore[method-assign]


def _before_the_end(recorder: Recorder) -> None:
    """However the process ends, short of being killed."""
    sys.excepthook = sys.__excepthook__  # that of sitecustomize has done its part
    previous, leave = sys.excepthook, os._exit

    def failed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        recorder.failed(kind, error, trace)
        previous(kind, error, trace)

    def leaving(status: int) -> NoReturn:
        recorder.finish()
        leave(status)

    sys.excepthook = failed
    os._exit = leaving
    atexit.register(recorder.finish)
