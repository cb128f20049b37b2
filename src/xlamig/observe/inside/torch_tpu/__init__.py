"""Runs a program on the kernels of torch_tpu without a TPU. Runs in the interpreter that has torch_tpu."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def begin(settings: dict[str, Any]) -> None:
    """Called right after the program has imported torch."""
    from xlamig.observe.inside import start

    from .log import Log

    log = Log(Path(os.environ[start.FOLDER]), settings["steps"])
    start.before_the_end(log)
    from . import redirect
    from .dry import DryRun

    redirect.install(log.redirected)
    start.in_every_thread(lambda: DryRun(log), lambda: redirect.ToTpu(log.redirected))
    log.lines.start()
