"""Ask the dispatcher about torch_tpu: which aten overloads have a kernel, and which have none."""

from __future__ import annotations

from functools import cache
from typing import Literal

import torch

KEY = "PrivateUse1"
Resolution = Literal["kernel", "composite", "none"]


@cache
def resolution(name: str) -> Resolution:
    """How a call of an overload, `aten::median.dim`, resolves on a tensor of torch_tpu. "composite" is made
    of other operators, which is no promise; "none" raises. Many operators are wrappers of their form
    with `out`: `aten::mish` is what `aten::mish.out` is."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    found = _in_table(name)
    if found != "composite" or has(name, "CompositeImplicitAutograd"):
        return found
    base = name.partition(".")[0]
    base = base.removesuffix("_") if not base.endswith("__") else base
    outs = {_in_table(out) for out in _outs(base) if has(out, "CPU")}
    return outs.pop() if len(outs) == 1 else "composite"


def _in_table(name: str) -> Resolution:
    for line in torch._C._dispatch_dump_table(name).splitlines():
        if line.startswith(f"{KEY}:"):
            text = line.lower()
            if "[kernel]" in text:
                return "kernel"
            return "composite" if "[math kernel]" in text or "[default backend kernel]" in text else "none"
    return "none"


def _outs(base: str) -> list[str]:
    names = _by_base().get(base.removeprefix("aten::"), [])
    return [n for n in names if "(a!)" in str(torch._C._get_schema(base, n.partition(".")[2]))]


@cache
def overloads() -> tuple[str, ...]:
    return tuple(sorted(n for n in torch._C._dispatch_get_all_op_names() if n.startswith("aten::")))


@cache
def _by_base() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in overloads():
        found.setdefault(name.removeprefix("aten::").partition(".")[0], []).append(name)
    return found


def of_base(base: str) -> dict[str, Resolution]:
    """The overloads of `median`, without those that write to `out`."""
    return {
        name: resolution(name)
        for name in _by_base().get(base, ())
        if not name.endswith(("out", "_out")) and "dimname" not in name.lower() and "names_" not in name
    }


def in_numbers() -> dict[str, int]:
    counts = {"kernel": 0, "composite": 0, "none": 0}
    for name in overloads():
        counts[resolution(name)] += 1
    return counts
