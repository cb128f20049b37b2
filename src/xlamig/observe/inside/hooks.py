"""Hook what a dispatch mode cannot see: step boundaries, uploads and printed tensors."""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from typing import Any

import torch._tensor_str
import torch_xla
from torch.utils._python_dispatch import _disable_current_modes

from .frames import Site, depth, in_loop, innermost
from .recorder import Recorder

_C = torch_xla._XLAC
_BOUNDARY = "_xla_step_marker"
_OTHERS = ("_xla_sync_multi", "_xla_tensors_from_aten", "_run_cached_graph", "_xla_wait_device_ops")


def install(recorder: Recorder, forward: dict[int, Site | None]) -> None:
    """Wraps the functions through which torch_xla's own Python goes."""
    setattr(_C, _BOUNDARY, _boundary(getattr(_C, _BOUNDARY), recorder, forward))
    for name in _OTHERS:
        setattr(_C, name, _watched(getattr(_C, name), name, recorder))
    printed = _watched(torch._tensor_str._str, "print", recorder)
    torch._tensor_str._str = printed


def _watched(function: Callable[..., Any], name: str, recorder: Recorder) -> Callable[..., Any]:
    @functools.wraps(function)
    def watched(*args: Any, **kwargs: Any) -> Any:
        started = time.perf_counter()
        result = function(*args, **kwargs)
        site = innermost(sys._getframe(1))
        if site is not None:  # else a thread of a loader
            recorder.settle(name, site, started)
        return result

    return watched


def _boundary(
    function: Callable[..., Any], recorder: Recorder, forward: dict[int, Site | None]
) -> Callable[..., Any]:
    @functools.wraps(function)
    def boundary(*args: Any, **kwargs: Any) -> Any:
        started = time.perf_counter()
        result = function(*args, **kwargs)
        # The counters are those of what was run; a sync that does not wait runs it in another thread.
        with _disable_current_modes():
            _C._xla_wait_device_ops.__wrapped__([])
        site = innermost(sys._getframe(1))
        recorder.settle(_BOUNDARY, site, started)
        forward.clear()
        recorder.boundary(site, depth(), in_loop(sys._getframe(1)))
        return result

    return boundary
