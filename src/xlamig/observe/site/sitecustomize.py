"""Found by every Python that a traced program starts, before anything else runs.

It waits for the import of torch_xla and steps aside for the environment's own sitecustomize.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent


class _After:
    """A finder that tells when a module has been imported."""

    def __init__(self, name: str, action: Callable[[], object]) -> None:
        self.name, self.action = name, action

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            run = loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                self.action()

            loader.exec_module = exec_module
        return spec


def _begin(settings: dict[str, Any]) -> None:
    path = list(sys.path)
    sys.path.insert(0, settings["xlamig"])
    try:
        start = importlib.import_module("xlamig.observe.inside.start")
    finally:
        sys.path[:] = path
    start.begin(settings)


def _tell_early_failures(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """Of a program that ends before torch_xla is imported."""
    sys.__excepthook__(kind, error, trace)
    place = None
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if "/lib/python" not in name and not name.startswith("<"):
            place = {"filename": name, "row": trace.tb_lineno}
        trace = trace.tb_next
    failure = {"type": kind.__qualname__, "message": str(error)[:2000], "place": place}
    path = Path(os.environ["XLAMIG_TRACE_FOLDER"], f"{os.getpid()}-early.failure")
    path.write_text(json.dumps(failure))


def _watch() -> None:
    settings = json.loads(os.environ["XLAMIG_TRACE_SETTINGS"])
    sys.excepthook = _tell_early_failures
    sys.meta_path.insert(0, _After("torch_xla", lambda: _begin(settings)))
    if settings["as_cuda"]:
        sys.meta_path.insert(0, _After("torch", lambda: importlib.import_module("torch_xla")))


sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != _HERE]
if "XLAMIG_TRACE_FOLDER" in os.environ:
    _watch()
_next = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
if _next is not None and _next.loader is not None:
    _next.loader.exec_module(sys.modules[__name__])
