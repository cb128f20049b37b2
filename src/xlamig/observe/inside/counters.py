"""The counters of torch_xla that tell what a line cost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch_xla

_C = torch_xla._XLAC


class Totals(NamedTuple):
    """Since the process began, without what is ours."""

    compiles: int
    executions: int
    device_to_host: int
    host_to_device: int


_uncounted = Totals(0, 0, 0, 0)


def read(uploads: bool = True) -> tuple[int, int, int, int]:
    """The fields of Totals; this is called for every operator, and most upload nothing."""
    read_back = _C._xla_metric_data("TransferFromDeviceTime")
    uploaded = _C._xla_metric_data("TransferToDeviceTime") if uploads else None
    return (
        (_C._xla_counter_value("UncachedCompile") or 0) - _uncounted.compiles,
        (_C._xla_counter_value("ExecuteComputation") or 0) - _uncounted.executions,
        (read_back[0] if read_back else 0) - _uncounted.device_to_host,
        uploaded[0] - _uncounted.host_to_device if uploaded else 0,
    )


@contextmanager
def without_counting() -> Iterator[None]:
    """Leave out what happens within: it is ours and not the program's."""
    global _uncounted
    before = read()
    try:
        yield
    finally:
        spent = (now - then for now, then in zip(read(), before, strict=True))
        _uncounted = Totals(*(sum(pair) for pair in zip(_uncounted, spent, strict=True)))


def compile_seconds() -> float:
    data = _C._xla_metric_data("CompileTime")
    return data[1] / 1e9 if data else 0.0


def fallbacks() -> dict[str, int]:
    """How often each operator ran on the CPU instead."""
    names = [name for name in _C._xla_counter_names() if name.startswith(("aten::", "torchvision::"))]
    return {name: _C._xla_counter_value(name) or 0 for name in names}
