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


def begin(settings: dict[str, Any]) -> None:
    """Called right after the program, or one that it started, has imported torch_xla."""
    from . import cuda, hooks
    from .mode import Watch
    from .recorder import Recorder

    recorder = Recorder(Path(os.environ[FOLDER]), settings.get("steps", 0))
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
        cuda.install(recorder.redirect, settings.get("sync", True))
    watch()
    _in_every_thread(watch)
    _before_the_end(recorder)


def _in_every_thread(action: Callable[[], None]) -> None:
    run = threading.Thread.run

    def started(self: threading.Thread) -> None:
        action()
        run(self)

    threading.Thread.run = started  # type: ignore[method-assign]


def _before_the_end(recorder: Recorder) -> None:
    """However the process ends, short of being killed."""
    previous, leave = sys.excepthook, os._exit

    def failed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        recorder.failed(kind, error, trace)
        previous(kind, error, trace)

    def leaving(status: int) -> NoReturn:
        recorder.write()
        leave(status)

    sys.excepthook = failed
    os._exit = leaving
    atexit.register(recorder.write)
