"""Room for recursion, for native code too."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")

_STACK = 512 * 1024 * 1024  # address space, not memory
_RECURSION = 40_000


def on_deep_stack(function: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
    """The function's result, called on a thread with a stack of its own."""
    results: list[Result] = []
    failures: list[BaseException] = []

    def target() -> None:
        try:
            results.append(function(*args, **kwargs))
        except BaseException as error:
            failures.append(error)

    recursion = sys.getrecursionlimit()
    sys.setrecursionlimit(max(recursion, _RECURSION))
    try:
        _start(target).join()
    finally:
        sys.setrecursionlimit(recursion)
    if failures:
        try:
            raise failures[0]
        finally:
            failures.clear()  # its traceback holds this frame, and all that the call made
    return results[0]


def _start(target: Callable[[], None]) -> threading.Thread:
    before = threading.stack_size(_STACK)
    thread = threading.Thread(target=target, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no address space for it
        threading.stack_size(before)
        thread.start()
    finally:
        threading.stack_size(before)
    return thread
