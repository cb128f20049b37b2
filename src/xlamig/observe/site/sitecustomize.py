"""Found by every Python that a watched program starts, before anything else runs.

It waits for an import and steps aside for the environment's own sitecustomize.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent


class _AfterImport:
    """A finder that calls `action` once, when the module has been executed; looking it up is no import."""

    def __init__(self, name: str, action: Callable[[], object]) -> None:
        self.name, self.action = name, action
        self.asking = False

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != self.name or self.asking:
            return None
        self.asking = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self.asking = False
        if spec is not None and spec.loader is not None:
            self._follow(spec.loader)
        return spec

    def _follow(self, loader: Any) -> None:
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                self.action()

        loader.exec_module = exec_module


def _begin(watch: dict[str, Any]) -> None:
    path = list(sys.path)
    sys.path.insert(0, watch["xlamig"])
    try:
        entry = importlib.import_module(watch["entry"])
    finally:
        sys.path[:] = path
    entry.begin(watch["settings"])


def _users_place(trace: Any) -> dict[str, Any] | None:
    """The innermost line of a traceback that is no library's."""
    place = None
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if not name.startswith("<") and "/lib/python" not in name and not name.startswith(str(_HERE)):
            place = {"filename": name, "row": trace.tb_lineno}
        trace = trace.tb_next
    return place


def _write_early_failure(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """For a program that ends before the import."""
    sys.__excepthook__(kind, error, trace)
    failure = {"type": kind.__qualname__, "message": str(error)[:2000], "place": _users_place(trace)}
    path = Path(os.environ["XLAMIG_WATCH_FOLDER"], f"{os.getpid()}-early.failure")
    path.write_text(json.dumps(failure))


def _watch() -> None:
    watch = json.loads(os.environ["XLAMIG_WATCH"])
    sys.excepthook = _write_early_failure
    sys.meta_path.insert(0, _AfterImport(watch["after"], lambda: _begin(watch)))
    for name, brought in watch["bring"].items():
        sys.meta_path.insert(0, _AfterImport(name, partial(importlib.import_module, brought)))


sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != _HERE]
if "XLAMIG_WATCH" in os.environ:
    _watch()
_next = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
if _next is not None and _next.loader is not None:
    _next.loader.exec_module(sys.modules[__name__])
