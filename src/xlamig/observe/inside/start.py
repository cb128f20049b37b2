"""Begins to watch once torch_xla has been imported, and writes when the process ends."""

from __future__ import annotations

import atexit
import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

FOLDER = "XLAMIG_TRACE_FOLDER"
SETTINGS = "XLAMIG_TRACE_SETTINGS"


def begin(settings: dict[str, Any]) -> None:
    """Called right after the program, or one that it started, has imported torch_xla."""
    from . import hooks
    from .mode import Watch
    from .recorder import Recorder

    recorder = Recorder(Path(os.environ[FOLDER]), settings.get("steps", 0))
    watch = Watch(recorder)
    hooks.install(recorder, watch)
    watch.__enter__()
    if settings.get("as_cuda"):
        from . import cuda

        cuda.install(recorder, settings.get("sync", True))
    previous = sys.excepthook

    def failed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        recorder.failed(kind, error, trace)
        previous(kind, error, trace)

    sys.excepthook = failed
    atexit.register(recorder.write)
