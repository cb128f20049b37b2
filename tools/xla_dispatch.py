"""Ask torch's dispatcher about every aten overload for a tensor on XLA."""

from __future__ import annotations

import re
from functools import cache

import torch


def dispatch() -> dict[str, str]:
    """`aten::abs` to "kernel" (torch_xla's own), "fallback" (the CPU), "composite" (made of other
    operators), or "none"."""
    names = sorted(n for n in torch._C._dispatch_get_all_op_names() if n.startswith("aten::"))
    return {name: _kind(name) for name in names}


def _kind(name: str) -> str:
    # Registrations alone do not tell: the computed table also holds what a composite resolves to.
    try:
        table = torch._C._dispatch_dump_table(name)
    except RuntimeError:
        return "none"
    line = next((line for line in table.splitlines() if line.startswith("XLA:")), "")
    label = match[1] if (match := re.search(r"\[([^\]]*)\]\s*$", line)) else ""
    if label == "kernel":
        return "kernel"
    return "fallback" if "backend fallback" in label else "composite" if label else "none"


@cache
def tags(counter: str) -> frozenset[str]:
    """The tags of all overloads of the operator that a counter is named after."""
    packet = getattr(torch.ops.aten, counter.removeprefix("aten::").partition(".")[0], None)
    if packet is None:
        return frozenset()
    return frozenset(
        str(tag).rpartition(".")[2] for o in packet.overloads() for tag in getattr(packet, o).tags
    )
